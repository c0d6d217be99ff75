import ArgumentParser
import CordonIdentity
import CordonServiceHTTP
import Foundation
import Logging

/// What `cordon serve` can be told; a flag wins over the configuration file, and that over the default.
struct ServeOptions: ParsableArguments {
    @Flag(help: "Use the embedded identity provider and a directory of a few people; on loopback only.")
    var development = false

    @Option(help: "Where to keep everything: sqlite:PATH, or memory: to keep nothing.")
    var database: String?

    @Option(help: "Where to listen, such as 127.0.0.1:8080; port 0 lets the system choose.")
    var listen: String?

    @Option(help: "The folder for the database, signing keys and the development directory.")
    var dataDirectory: String?

    @Option(help: "A JSON file with these settings.")
    var config: String?

    @Option(help: "The issuer of an OpenID provider whose tokens are accepted. May repeat.")
    var issuer: [String] = []

    @Option(help: "The organisation's tenant id, as the provider's tokens say it.")
    var tenant: String?

    @Option(help: "The address that clients use, when a proxy stands in front.")
    var publicURL: String?

    @Option(help: "The password of everybody in a new development directory, instead of random ones.")
    var developmentPassword: String?

    @Option(help: "How much to say on standard error.")
    var logLevel: LogLevel = .notice

    /// How much a service says.
    enum LogLevel: String, ExpressibleByArgument, CaseIterable {
        case debug, info, notice, warning, error

        /// The logger's word for it.
        var level: Logger.Level {
            switch self {
            case .debug: .debug
            case .info: .info
            case .notice: .notice
            case .warning: .warning
            case .error: .error
            }
        }
    }

    /// The settings in force.
    ///
    /// - Throws: ``CommandFailure`` with the status that fits.
    func plan() throws -> ServePlan {
        let file = try config.map { try ServeConfigurationFile(path: $0) }
        let folder = URL(fileURLWithPath: dataDirectory ?? file?.dataDirectory ?? "cordon-data", isDirectory: true)
        let address = try ListenAddress(listen ?? file?.listen ?? "127.0.0.1:8080")
        let text = database ?? file?.database ?? "sqlite:\(folder.appending(path: "service.sqlite").path)"
        var server = ServiceServerConfiguration(tenant: TenantID(tenant ?? file?.tenant ?? ""))
        server.host = address.host
        server.port = address.port
        server.issuers = issuer.isEmpty ? file?.issuers ?? [] : issuer
        if let text = publicURL ?? file?.publicURL {
            guard let url = URL(string: text) else {
                throw CommandFailure(.badInput, "\(text) is no URL", hint: "give the address that clients use")
            }
            server.publicURL = url
        }
        if let audience = file?.checkInAudience { server.checkInAudience = audience }
        if let audiences = file?.administrationAudiences { server.administrationAudiences = Set(audiences) }
        return ServePlan(
            isDevelopment: development, database: try ServiceDatabase(text), folder: folder, server: server,
            developmentPassword: developmentPassword)
    }
}
