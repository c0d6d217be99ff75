import ArgumentParser
import CordonServiceHTTP
import Foundation
import Logging

/// `cordon serve`: the management service, until it is told to stop.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Run the management service.",
        discussion: """
            Prints one line of JSON with its address when it answers. SIGTERM lets requests under way finish.

            Examples:
              cordon serve --development
              cordon serve --config /etc/cordon/service.json
            """,
        subcommands: [ServeRunCommand.self, ServeConfigCommand.self], defaultSubcommand: ServeRunCommand.self)
}

/// `cordon serve` without a subcommand.
struct ServeRunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Run the management service (the default).", shouldDisplay: false)

    @OptionGroup var options: ServeOptions

    func run() async throws {
        let plan = try options.plan()
        var logger = Logger(label: "cordon.serve") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = options.logLevel.level
        let running = try await RunningService.open(plan, logger: logger)
        defer { running.close() }
        let upkeep = Task { await running.keepUp(logger: logger) }
        defer { upkeep.cancel() }
        do throws(ServiceServerError) {
            try await running.server.run(handlesSignals: true) { address in
                let report = running.report(at: address)
                if plan.isDevelopment { Self.warn() }
                try? Terminal.json(report, pretty: false)
                Terminal.talk("cordon answers at \(report.address); its apps pin the root key \(report.rootKey)")
            }
        } catch {
            throw CommandFailure(error)
        }
        Terminal.talk("cordon has stopped")
    }

    private static func warn() {
        Terminal.talk(
            Style.yellow("For development only:")
                + " the embedded identity provider and its directory are no protection. "
                + "Use an OpenID provider of your own for anything else.")
    }
}
