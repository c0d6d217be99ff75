internal import CordonBase
internal import CordonIdentity
internal import CordonPolicy
internal import CordonProtocol
internal import Foundation
internal import Logging

/// What an organisation commands besides a wipe (SRV-CI-006). Each command is begun once, however often its envelope comes.
extension AppProtection {
    /// Obeys the commands of an envelope that are no wipes; the status of a registration that one of them made anew.
    func obey(_ commands: [Command]) async -> EnrollmentStatus? {
        var status: EnrollmentStatus?
        for command in commands where command.kind != .wipe {
            guard notesAsNew(command) else {
                // The service says it again as long as it has not heard how it ended.
                if let succeeded = untoldEnd(of: command) { await acknowledge(command, succeeded) }
                continue
            }
            let succeeded: Bool
            switch command.kind {
            case .wipe: continue
            case .refreshConfiguration:
                broadcast.post(.configurationChanged(account: command.account))
                succeeded = true
            case .collectLogs:
                noteLogRequests([LogRequest(id: command.id, notAfter: command.notAfter)], for: command.account)
                // What became of it is told by the logs themselves.
                continue
            case .reRegister:
                status = await registerAnew(command.account)
                succeeded = status?.didSucceed ?? false
            case .resetPIN: succeeded = records[command.account] != nil ? await resetPIN(of: command.account) : false
            case .unknown:
                configuration.logger.warning("a command is not known to this version and was left undone")
                succeeded = false
            }
            broadcast.post(.commandEnded(account: command.account, command, succeeded: succeeded))
            note(command, endedUntold: succeeded)
            await acknowledge(command, succeeded)
        }
        return status
    }

    /// Notes a command durably; false where it was begun before, or could not be noted.
    private func notesAsNew(_ command: Command) -> Bool {
        let now = Int64(configuration.clock.now().timeIntervalSince1970)
        var isNew = false
        do throws(ProtectionError) {
            try pending.change { work in
                var begun = (work.begunCommands ?? []).filter { $0.notAfter > now }
                isNew = !begun.contains { $0.id == command.id }
                if isNew { begun.append(PendingWork.BegunCommand(id: command.id, notAfter: command.notAfter)) }
                work.begunCommands = begun
            }
        } catch {
            configuration.logger.error("a command could not be noted and was not begun")
            return false
        }
        return isNew
    }

    /// Notes how a command ended, until the service has heard of it; nil once it has.
    private func note(_ command: Command, endedUntold succeeded: Bool?) {
        do throws(ProtectionError) {
            try pending.change { work in
                guard let index = work.begunCommands?.firstIndex(where: { $0.id == command.id }) else { return }
                work.begunCommands?[index].untold = succeeded
            }
        } catch {
            configuration.logger.error("how a command ended could not be noted")
        }
    }

    /// How a command ended of whose end the service has not heard; nil for every other.
    private func untoldEnd(of command: Command) -> Bool? {
        pending.begunCommands?.first { $0.id == command.id }?.untold
    }

    /// Makes a registration anew; without an enrolled account there is none (221).
    private func registerAnew(_ account: AccountID) async -> EnrollmentStatus {
        guard let record = records[account] else { return .reenrollmentOfUnenrolledAccount }
        do throws(ServiceFailure) {
            return try await register(
                record.account, with: record.discovery, from: .appRegistered, inPlaceOf: record)
        } catch {
            context.log("the registration could not be made anew", error)
            return error.status(network: .enrollmentNetworkFailure)
        }
    }

    /// Tells the service how a command ended, now or when its envelope comes again.
    private func acknowledge(_ command: Command, _ succeeded: Bool) async {
        guard let record = records[command.account],
            let session = try? await session(for: command.account, discovery: record.discovery)
        else { return }
        let report = Acknowledgement(
            commandID: command.id, phase: succeeded ? .succeeded : .failed, time: configuration.clock.now())
        do throws(ServiceFailure) {
            try await session.client.acknowledge(report, registration: record.registrationID)
        } catch {
            context.log("the service could not be told how a command ended", error)
            return
        }
        note(command, endedUntold: nil)
    }
}
