internal import CordonBase
internal import CordonIdentity
internal import CordonProtocol
internal import Foundation
internal import Logging

/// What an organisation commands besides a wipe (SRV-CI-006). Each command is done once, however often its envelope comes; one that a kill
/// has cut off, or that could not be done yet, is begun again.
actor Commands {
    private let context: ProtectionContext
    private let service: ServiceAccess
    private let changes: AccountChanges
    /// What is being done: a registration that a command renews is answered with the same command.
    private var underWay: Set<String> = []

    init(_ context: ProtectionContext, service: ServiceAccess, changes: AccountChanges) {
        self.context = context
        self.service = service
        self.changes = changes
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { context.domain.unownedExecutor }

    /// Obeys the commands of an envelope that are no wipes; the status of a registration that one of them renewed.
    ///
    /// - Parameter register: Makes a registration anew in place of one.
    func obey(
        _ commands: [Command], registering register: @Sendable (RegistrationRecord) async -> EnrollmentStatus
    ) async -> EnrollmentStatus? {
        var status: EnrollmentStatus?
        for command in commands where command.kind != .wipe {
            guard isToBegin(command) else {
                // The service says it again as long as it has not heard how it ended.
                if let succeeded = unreportedEnd(of: command) { await acknowledge(command, succeeded) }
                continue
            }
            underWay.insert(command.id)
            defer { underWay.remove(command.id) }
            let succeeded: Bool
            switch command.kind {
            case .wipe: continue
            case .refreshConfiguration:
                context.events.post(.configurationChanged(account: command.account))
                succeeded = true
            case .collectLogs:
                // The command ends here: what becomes of the request, and when, is the person's to say.
                let request = LogRequest(id: command.id, notAfter: command.notAfter)
                guard await changes.requestLogs([request], of: command.account) else { continue }
                succeeded = true
            case .reRegister:
                // Without an enrolled account there is nothing to renew (221).
                let end: EnrollmentStatus =
                    if let record = context.accounts[command.account] { await register(record) } else {
                        .reenrollmentOfUnenrolledAccount
                    }
                status = end
                // What passes by itself has the command wait for its envelope to come again. After anything else each check-in would make
                // another registration.
                guard !Self.passing.contains(end) else { continue }
                succeeded = end.didSucceed
            case .resetPIN:
                guard await changes.resetPIN(of: command.account, evenIfFilesAreLost: false) else { continue }
                succeeded = true
            case .unknown:
                context.configuration.logger.warning("a command is not known to this version and was left undone")
                succeeded = false
            }
            context.events.post(.commandEnded(account: command.account, command, succeeded: succeeded))
            recordEnd(of: command, untold: succeeded)
            await acknowledge(command, succeeded)
        }
        return status
    }

    /// Takes the PINs away that stored rules command away, where a kill has kept the commands from their ends. The contact that brought them
    /// counts all the same: who knows the PIN, and ends the app at each check-in, would keep it. So an extension does it, too.
    func resumeResets(_ commands: [Command]) async {
        for command in commands where !hasEnded(command) && isToBegin(command) {
            underWay.insert(command.id)
            defer { underWay.remove(command.id) }
            guard await changes.resetPIN(of: command.account, evenIfFilesAreLost: false) else { continue }
            context.events.post(.commandEnded(account: command.account, command, succeeded: true))
            recordEnd(of: command, untold: true)
        }
    }

    private func hasEnded(_ command: Command) -> Bool {
        context.pending.begunCommands?.first { $0.id == command.id }.map { $0.hasEnded != false } ?? false
    }

    /// How a registration ends that may succeed in a moment.
    private static let passing: Set<EnrollmentStatus> = [
        .discoveryFailed, .enrollmentNetworkFailure, .checkInNetworkFailure, .timedOut, .registrationGone,
    ]

    /// Notes a command durably, and tells whether to begin it: not if it has ended, or could not be noted. The reset of a PIN begins
    /// without a note, too: filling the disk must not keep the old PIN. While nothing can be noted, each start takes away what was made since.
    private func isToBegin(_ command: Command) -> Bool {
        // As long as stored rules command it, see ``ProtectionContext/isDue(_:for:)``, it must not be begun again.
        let contacts = context.accounts.records.values.map(\.lastCheckIn)
        let passed = min(context.configuration.clock.now(), contacts.min() ?? .distantFuture).timeIntervalSince1970
        var isOpen = true
        do {
            try context.pending.change { work in
                var begun = (work.begunCommands ?? []).filter { Double($0.notAfter) > passed || $0.id == command.id }
                if let known = begun.first(where: { $0.id == command.id }) {
                    isOpen = known.hasEnded == false && !underWay.contains(command.id)
                } else {
                    begun.append(.init(id: command.id, notAfter: command.notAfter, hasEnded: false))
                }
                work.begunCommands = begun
            }
        } catch {
            context.configuration.logger.error("a command could not be noted")
            return command.kind == .resetPIN && isOpen && !underWay.contains(command.id)
        }
        return isOpen
    }

    /// Notes that a command has ended.
    ///
    /// - Parameter succeeded: How, until the service has heard of it; nil once it has.
    private func recordEnd(of command: Command, untold succeeded: Bool?) {
        do {
            try context.pending.change { work in
                guard let index = work.begunCommands?.firstIndex(where: { $0.id == command.id }) else { return }
                work.begunCommands?[index].hasEnded = true
                work.begunCommands?[index].untold = succeeded
            }
        } catch {
            context.configuration.logger.error("how a command ended could not be noted")
        }
    }

    /// How a command ended of whose end the service has not heard; nil for every other.
    private func unreportedEnd(of command: Command) -> Bool? {
        context.pending.begunCommands?.first { $0.id == command.id }?.untold
    }

    /// Tells the service how a command ended, now or when its envelope comes again.
    private func acknowledge(_ command: Command, _ succeeded: Bool) async {
        guard let record = context.accounts[command.account],
            let session = try? await service.session(for: command.account, discovery: record.discovery)
        else { return }
        let report = Acknowledgement(
            commandID: command.id, phase: succeeded ? .succeeded : .failed, time: context.configuration.clock.now())
        do {
            try await session.client.acknowledge(report, registration: record.registrationID)
        } catch {
            context.log("the service could not be told how a command ended", error)
            return
        }
        recordEnd(of: command, untold: nil)
    }
}
