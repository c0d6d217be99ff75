import ArgumentParser
import CordonProtocol
import CordonService
import CordonServiceHTTP
import Foundation
import Logging

/// `cordon serve`: the management service, until it is told to stop.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Run the management service.",
        discussion: """
            Prints one line of JSON with its address as soon as it answers. On SIGTERM it finishes the requests under way and stops.

            Every option but --development, --config and --development-password is also a setting of the file, and \
            CORDON_… in the environment. Step by step: docs/operating.md.

            Examples:
              cordon serve --development
              cordon serve --config /etc/cordon/service.json
            """,
        subcommands: [ServeConfigCommand.self, ServeTokenCommand.self, ServeApproveCommand.self])

    @OptionGroup var options: ServeOptions

    func run() async throws {
        let plan = try options.plan()
        let logger = plan.logging.logger(label: "cordon.serve")
        let running = try await RunningService.open(plan, logger: logger)
        let manager = NotifySocket()
        let upkeep = Task { await running.keepUp(logger: logger) }
        let counting = Task { await running.keepCounting(logger: logger) }
        let watchdog = Task { await running.showLife(to: manager) }
        let failure = await serve(running, plan, manager, logger)
        manager?.tell(.stopping)
        upkeep.cancel()
        counting.cancel()
        watchdog.cancel()
        // Nothing may read the store while its log is written back.
        await upkeep.value
        await counting.value
        await watchdog.value
        let hasClaim = running.claim.isCurrent
        await running.close(logger: logger)
        guard hasClaim else {
            // Tried again by a service manager: the next start is refused if another process has taken folder or store.
            throw CommandFailure(
                .writeFailed, "\(plan.folder.path): the locks of the service were removed while it ran",
                hint: "Leave service.lock, and the store's file that ends in .lock, where they are.")
        }
        if let failure { throw CommandFailure(failure) }
        if plan.logging.format == .text { Terminal.talk("cordon has stopped") }
    }

    /// Serves until told to stop; what ended it otherwise.
    private func serve(
        _ running: RunningService, _ plan: ServePlan, _ manager: NotifySocket?, _ logger: Logger
    ) async -> ProgramError? {
        do {
            try await running.server.run(handlesSignals: true) { address in
                let report = running.report(at: address)
                try? Terminal.json(report, pretty: false)
                manager?.tell(.ready, .status("answers at \(report.address)"))
                // Collectors of JSON lines want nothing else on standard error.
                guard plan.logging.format == .text else {
                    if plan.isDevelopment {
                        logger.warning("for development only: the embedded provider protects nothing")
                    }
                    if plan.service.createsPeopleAtSignIn { logger.notice("\(ServeReport.opensEnrolment)") }
                    return
                }
                if plan.isDevelopment { Self.warn() }
                for line in report.lines(of: plan) { Terminal.talk(line) }
            }
        } catch {
            return error
        }
        return nil
    }

    private static func warn() {
        Terminal.talk(
            Style.yellow("For development only:")
                + " the embedded identity provider and its directory protect nothing. "
                + "Use an OpenID provider of your own for anything else.")
    }
}
