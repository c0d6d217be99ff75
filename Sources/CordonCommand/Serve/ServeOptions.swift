import ArgumentParser
import CordonBase
import CordonConsole
import CordonIdentity
import CordonPolicy
import CordonService
import CordonServiceHTTP
import Foundation

/// What `cordon serve` can be told; a flag wins over the environment, that over the configuration file, and that over
/// the default.
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

    @Option(help: "The service's certificate and those above it, in PEM; the service notices replaced files.")
    var tlsCertificate: String?

    @Option(help: "The private key of the certificate, in PEM, mode 0600 or 0640.")
    var tlsKey: String?

    @Option(help: "The origin of a console whose pages may read the administration routes.")
    var consoleOrigin: String?

    @Option(help: "The client id of the console at /console; with --development there is one already.")
    var consoleClient: String?

    @Option(help: "The file with the console's client secret, mode 0600; none for a public client.")
    var consoleSecretFile: String?

    @Flag(help: "Serve no console.")
    var noConsole = false

    @Flag(help: "Every request comes through a proxy that sets X-Forwarded-Proto, which links then follow.")
    var behindProxy = false

    @Option(help: "Where Prometheus metrics answer, such as 127.0.0.1:9464; never in public.")
    var metrics: String?

    @Option(help: "The most connections at once, event streams included; more are closed. (default: 10000)")
    var maxConnections: Int?

    @Option(help: "The longest life of a check-in token in seconds; 0 for any. (default: 7200)")
    var maxTokenSeconds: Int?

    @Option(
        help: "Where policies differ in a number: mostRestrictive or recommended. (default: mostRestrictive)",
        transform: Self.numbers)
    var numericConflict: NumericConflict?

    @Option(
        help:
            "How many seconds ago a person may have signed in who wipes, or does what else cannot be undone; 0 for any. (default: 900)"
    )
    var stepUpSeconds: Int?

    @Option(help: "A JSON file with people and groups, read at the start and whenever it changes.")
    var directory: String?

    @Option(help: "The https address to post alerts to; needs --alert-secret-file.")
    var alertWebhook: String?

    @Option(help: "The file with the secret that signs alerts: whsec_ and Base64, mode 0600 or 0640.")
    var alertSecretFile: String?

    @Option(help: "Whether a person whom the directory does not know is added when they enrol: create or refuse.")
    var firstSignIn: ServeConfigurationFile.FirstSignIn?

    @Option(help: "The password of every person in a new development directory, instead of random ones.")
    var developmentPassword: String?

    @Option(help: "How much to log on standard error; info has a line for each answer. (default: notice)")
    var logLevel: ServeLogging.Level?

    @Option(help: "The form of the log: text for people, json for collectors. (default: text)")
    var logFormat: ServeLogging.Format?

    /// The settings in force.
    ///
    /// - Parameter environment: Where settings of the environment come from.
    /// - Throws: ``CommandFailure`` with the status that fits.
    func plan(environment: [String: String] = ProcessInfo.processInfo.environment) throws -> ServePlan {
        let base = try config.map { try ServeConfigurationFile(path: $0) } ?? ServeConfigurationFile()
        let set = try base.overridden(by: environment)
        let folder = URL(fileURLWithPath: dataDirectory ?? set.dataDirectory ?? "cordon-data", isDirectory: true)
        let text = database ?? set.database ?? "sqlite:\(folder.appending(path: "service.sqlite").path)"
        var plan = ServePlan(
            isDevelopment: development, database: try ServiceDatabase(text), folder: folder,
            server: try server(set), developmentPassword: developmentPassword)
        plan.hasFolder = (dataDirectory ?? set.dataDirectory) != nil
        plan.logging = ServeLogging(
            level: logLevel ?? set.logLevel ?? .notice, format: logFormat ?? set.logFormat ?? .text)
        plan.directory = (directory ?? set.directory).map { URL(fileURLWithPath: $0) }
        plan.alerts = try receiver(
            alertWebhook ?? set.alertWebhook, alertSecretFile ?? set.alertSecretFile, of: "alerts",
            hint: "give both --alert-webhook and --alert-secret-file")
        plan.audit = try receiver(
            set.auditWebhook, set.auditSecretFile, of: "the audit log",
            hint: "give both auditWebhook and auditSecretFile")
        plan.console = try console(set)
        plan.console?.webhookHost = plan.alerts?.webhook.host(percentEncoded: false)
        plan.service.numericConflict = numericConflict ?? set.numericConflict ?? .mostRestrictive
        // As with the limits of requests: a trial has a few people and many devices.
        if development { plan.service.registrationsPerPerson = 1_000_000 }
        try applyChanges(set, to: &plan.service)
        // A directory that is kept says who belongs; without one, everyone whom the provider lets sign in does.
        let usual = plan.directory == nil ? ServeConfigurationFile.FirstSignIn.create : .refuse
        plan.service.createsPeopleAtSignIn = !development && (firstSignIn ?? set.firstSignIn ?? usual) == .create
        return plan
    }

    /// How much one person may have, what is asked of changes by which people lose data, how fast others are told, and how long what has
    /// ended is kept.
    private func applyChanges(_ set: ServeConfigurationFile, to service: inout ServiceConfiguration) throws {
        func number(_ value: Int?, _ name: String, _ range: ClosedRange<Int>) throws -> Int? {
            guard let value, !range.contains(value) else { return value }
            throw CommandFailure(
                .badInput, "\(name) is \(value)", hint: "use \(range.lowerBound) to \(range.upperBound)")
        }
        if let most = try number(set.registrationsPerPerson, "registrationsPerPerson", 1...1_000_000) {
            service.registrationsPerPerson = most
        }
        if let people = try number(set.wipeBudget, "wipeBudget", 0...1_000_000) { service.wipeBudget = people }
        if let people = try number(set.impactLimit, "impactLimit", 0...1_000_000) { service.impactLimit = people }
        if let seconds = try number(set.approvalDelaySeconds, "approvalDelaySeconds", 60...86_400) {
            service.approvalDelay = .seconds(seconds)
        }
        if let days = try number(set.versionRetentionDays, "versionRetentionDays", 1...36_500) {
            service.versionRetention = .seconds(days * 86_400)
        }
        if let apps = try number(set.announcementsPerSecond, "announcementsPerSecond", 1...1_000_000) {
            service.announcementsPerSecond = apps
        }
        try ServeRetention.apply(set.retentionDays ?? [:], to: &service)
    }

    private func receiver(
        _ address: String?, _ file: String?, of what: String, hint: String
    ) throws -> ServePlan.Alerts? {
        switch (address, file) {
        case (let address?, let file?):
            try ShownAddress.check(address, of: what)
            // Not repeated: receivers are told apart by what stands in their addresses.
            guard let url = URL(string: address) else {
                throw CommandFailure(
                    .badInput, "the address that takes \(what) is not a URL", hint: "give an https address")
            }
            return ServePlan.Alerts(webhook: url, secretFile: URL(fileURLWithPath: file))
        case (nil, nil): return nil
        default: throw CommandFailure(.badInput, "\(what) needs an address and a secret", hint: hint)
        }
    }

    /// The console; nil where it is switched off or no client is named.
    private func console(_ set: ServeConfigurationFile) throws -> ConsoleConfiguration? {
        let known = development ? ConsoleConfiguration.developmentClient : nil
        guard !noConsole, set.console != false, let client = consoleClient ?? set.consoleClient ?? known else {
            return nil
        }
        var console = ConsoleConfiguration(clientID: client)
        if let scopes = set.consoleScopes { console.scopes = scopes }
        guard let path = consoleSecretFile ?? set.consoleSecretFile else { return console }
        guard let bytes = try? DurableFile.readPrivate(URL(fileURLWithPath: path), limit: 4 << 10) else {
            throw CommandFailure(
                .badInput, "\(path): the console's client secret cannot be read",
                hint: "Put the secret alone into the file, with mode 0600.")
        }
        guard let text = SecretText.text(of: bytes) else {
            throw CommandFailure(
                .badInput, "\(path): the console's client secret is not UTF-8",
                hint: "Put the secret alone into the file, as text.")
        }
        console.clientSecret = text.trimmingCharacters(in: .whitespacesAndNewlines)
        return console
    }

    private static func numbers(_ word: String) throws -> NumericConflict {
        guard let value = NumericConflict(rawValue: word) else {
            throw ValidationError("use \(NumericConflict.allCases.map(\.rawValue).joined(separator: " or "))")
        }
        return value
    }

    private func server(_ set: ServeConfigurationFile) throws -> ServiceServerConfiguration {
        let address = try ListenAddress(listen ?? set.listen ?? "127.0.0.1:8080")
        var server = ServiceServerConfiguration(tenant: TenantID(tenant ?? set.tenant ?? ""))
        server.host = address.host
        server.port = address.port
        let issuers =
            issuer.isEmpty ? set.issuers ?? [] : issuer.map { IssuerSettings(issuer: $0, profile: set.profile(of: $0)) }
        server.issuers = issuers.map(\.issuer)
        for issuer in issuers {
            try ShownAddress.check(issuer.issuer, of: "issuers")
            if let flaw = URLComponents(string: issuer.issuer).map(AddressFlaw.init(of:)) ?? .malformed {
                throw CommandFailure(
                    .badInput, "issuers: \(ShownAddress.quoted(issuer.issuer)) \(flaw.predicate)",
                    hint: "give issuer of the provider's discovery document, such as https://login.example.org")
            }
            try ShownAddress.check(issuer.profile?.tokenIssuer, of: "issuers.tokenIssuer")
            server.issuerProfiles[issuer.issuer] = issuer.profile
        }
        server.isBehindProxy = behindProxy || set.behindProxy ?? false
        // A person never meets a limit by hand, and demos and tests must not.
        if development { server.limits = .development }
        if let text = publicURL ?? set.publicURL {
            try ShownAddress.check(text, of: "publicUrl")
            guard let url = URL(string: text) else {
                throw CommandFailure(.badInput, "\(text) is not a URL", hint: "give the address that clients use")
            }
            server.publicURL = url
        }
        server.consoleOrigin = consoleOrigin ?? set.consoleOrigin
        try ShownAddress.check(server.consoleOrigin, of: "consoleOrigin")
        server.roleMapping = (set.roles ?? [:]).mapValues { Set($0) }
        if let seconds = stepUpSeconds ?? set.stepUpSeconds {
            guard (0...86_400).contains(seconds) else {
                throw CommandFailure(.badInput, "a step-up of \(seconds) seconds", hint: "use 0 to 86400; 0 is off")
            }
            server.stepUpAge = seconds == 0 ? nil : seconds
        }
        if let most = maxConnections ?? set.maxConnections { server.maximumConnections = most }
        if let seconds = maxTokenSeconds ?? set.maxTokenSeconds {
            guard seconds == 0 || (60...86_400).contains(seconds) else {
                throw CommandFailure(
                    .badInput, "a token life of \(seconds) seconds", hint: "use 60 to 86400; 0 is for any")
            }
            server.longestCheckInToken = seconds == 0 ? nil : seconds
        }
        if let audience = set.checkInAudience { server.checkInAudience = audience }
        if let apps = set.appAttestApps, !apps.isEmpty {
            server.appAttest = AppAttestSettings(
                apps: Set(apps), allowsDevelopment: set.appAttestDevelopment ?? false)
        }
        if let audiences = set.administrationAudiences { server.administrationAudiences = Set(audiences) }
        if let text = metrics ?? set.metrics {
            let address = try ListenAddress(text)
            server.metrics = ListeningAddress(host: address.host, port: address.port)
        }
        switch (tlsCertificate ?? set.tlsCertificate, tlsKey ?? set.tlsKey) {
        case (let chain?, let key?):
            server.certificate = CertificateFiles(
                chain: URL(fileURLWithPath: chain), privateKey: URL(fileURLWithPath: key))
        case (nil, nil): break
        default:
            throw CommandFailure(
                .badInput, "a certificate needs its key and a key its certificate",
                hint: "give both --tls-certificate and --tls-key")
        }
        return server
    }
}

extension ServeConfigurationFile.FirstSignIn: ExpressibleByArgument {}
extension ServeLogging.Level: ExpressibleByArgument {}
extension ServeLogging.Format: ExpressibleByArgument {}
