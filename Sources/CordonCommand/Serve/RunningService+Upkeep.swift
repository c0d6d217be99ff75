import CordonBase
import CordonIdentity
import CordonProtocol
import CordonService
import CordonServiceHTTP
import Foundation
import Logging

extension RunningService {
    /// How often a directory file is looked at.
    private static let look = Duration.seconds(30)
    /// Maintenance happens every so many looks: once an hour.
    private static let looksPerMaintenance = 120

    /// How often all people are recounted, to correct the figures where they are wrong.
    private static let recount = Duration.seconds(86_400)

    /// What is wrong is logged every so many looks: every ten minutes.
    private static let looksPerWarning = 20

    /// What a service does by itself while it runs: puts away what has run out, delivers alerts, and follows the directory file. Returns
    /// when the task is cancelled; a failure is logged and tried again. A service whose locks were removed ends: another one may run
    /// on its store.
    func keepUp(logger: Logger) async {
        var looks = 0
        while !Task.isCancelled {
            guard claim.isCurrent else {
                logger.critical("the locks of the service were removed; it ends")
                return await server.shutDown()
            }
            if looks.isMultiple(of: Self.looksPerMaintenance) { await maintain(logger: logger) }
            looks += 1
            await signAuditHead(logger: logger)
            await keepAuditMark(logger: logger)
            await watch(logger: logger, isLogging: looks % Self.looksPerWarning == 1)
            await releaseApproved(logger: logger)
            await deliverAlerts(logger: logger)
            await deliverAudit(logger: logger)
            service.resumeAnnouncing(of: tenant)
            await deliverNotices()
            guard (try? await Task.sleep(for: Self.look)) != nil else { return }
            do {
                try await followDirectory(logger: logger)
            } catch {
                hold(error, logger: logger)
            }
        }
    }

    /// Tells the process's supervisor that it lives, as long as the store answers. A store that fails is an answer too, because a
    /// new start would not help it; one that does not answer is not. Returns when the task is cancelled.
    func showLife(to manager: NotifySocket?) async {
        guard let manager, let pause = manager.signOfLife else { return }
        while !Task.isCancelled {
            _ = try? await service.devices.readiness(of: tenant)
            manager.tell(.alive)
            guard (try? await Task.sleep(for: pause)) != nil else { return }
        }
    }

    /// Recounts all people once a day, the first time a day after the start; takes its time beside everything else. Returns when the
    /// task is cancelled.
    func keepCounting(logger: Logger) async {
        while (try? await Task.sleep(for: Self.recount)) != nil {
            do {
                _ = try await service.checkCounts(of: tenant)
            } catch {
                guard !Task.isCancelled else { return }
                logger.error("people could not be counted anew", metadata: ["code": "\(error.code.rawValue)"])
            }
        }
    }

    private func maintain(logger: Logger) async {
        do {
            let jump = try await service.clockJump(of: tenant)
            clockJump.withLock { $0 = jump }
            guard jump == nil else { return }
            try await service.performMaintenance(of: tenant)
        } catch {
            // The service is stopping; the next start catches up.
            guard !Task.isCancelled else { return }
            logger.error("maintenance failed", metadata: ["code": "\(error.code.rawValue)"])
        }
    }

    /// Measures the machine and the folder for the metrics, and finds what needs an administrator's attention.
    func watch(logger: Logger, isLogging: Bool) async {
        let readiness: Result<RootKeyState, ServiceError>
        do { readiness = .success(try await service.devices.readiness(of: tenant)) } catch {
            readiness = .failure(error)
        }
        let isRestored = (try? await service.restoration(of: tenant)) ?? nil
        let workload = try? await service.workload(of: tenant)
        let providers = await server.lookAtProviders()
        guard !Task.isCancelled else { return }
        let watch = ServiceWatch(
            folder,
            ServiceWatch.Facts(
                readiness: readiness, isRestored: isRestored != nil, isAuditChanged: isAuditChanged.withLock { $0 },
                directoryProblem: directoryProblem.withLock { $0 }, clockJump: clockJump.withLock { $0 },
                certificateEnds: server.certificateEnds, providers: providers, started: started,
                workload: workload, store: store, isDevelopment: isDevelopment),
            at: Date())
        conditions.withLock { $0 = watch.conditions }
        server.note(watch.gauges, watch.conditions)
        guard isLogging else { return }
        for condition in watch.conditions {
            logger.error(
                "\(condition.message)", metadata: condition.details.mapValues { Logger.MetadataValue.string($0) })
        }
    }

    /// Posts what is the matter to the receiver of alerts.
    func deliverNotices() async {
        guard let alerts else { return }
        let found = conditions.withLock { $0 }
        for notice in notices.withLock({ $0.due(found, at: Date()) }) {
            let isDelivered = await alerts.deliver(notice, of: tenant)
            notices.withLock { $0.note(notice, delivered: isDelivered, at: Date()) }
            // Most likely the receiver is down.
            guard isDelivered else { return }
        }
    }

    /// Keeps the newest record of the audit log beside the store, unless the store has lost the one that was kept before.
    func keepAuditMark(logger: Logger) async {
        do {
            guard let last = try await service.lastAuditRecord(of: tenant) else { return }
            let known = auditMark.withLock { $0 }
            guard known?.sequence != last.sequence || known?.hash != last.hash else { return }
            if let known, try await !service.hasAuditRecord(known.sequence, hash: known.hash, of: tenant) {
                logger.error(
                    "the audit log was changed outside the service", metadata: ["sequence": "\(known.sequence)"])
                isAuditChanged.withLock { $0 = true }
                return
            }
            let mark = AuditMark(
                tenant: tenant, sequence: last.sequence, hash: last.hash,
                time: Date(timeIntervalSince1970: TimeInterval(last.time)))
            try mark.write(in: folder)
            auditMark.withLock { $0 = mark }
        } catch {
            // A service that is told to stop cuts its own look at the store off, and looks once more when it closes.
            guard !Task.isCancelled else { return }
            let reason = (error as? ServiceError)?.reason ?? "the file beside the store cannot be written"
            logger.error("the head of the audit log could not be kept", metadata: ["reason": "\(reason)"])
        }
    }

    /// Releases changes that were approved on this machine.
    func releaseApproved(logger: Logger) async {
        for id in ApprovalFolder.approved(in: folder) {
            do {
                try await service.releaseChange(id, of: tenant)
                logger.notice("a change was released on this machine", metadata: ["change": "\(id)"])
            } catch {
                // The store may be busy; what does not wait any more never will.
                guard [.notFound, .conflict].contains(error.code) else { continue }
                logger.error(
                    "a change could not be released", metadata: ["change": "\(id)", "reason": "\(error.reason)"])
            }
            ApprovalFolder.remove(id, in: folder)
        }
    }

    private func signAuditHead(logger: Logger) async {
        do { try await service.signAuditHead(of: tenant) } catch {
            guard !Task.isCancelled else { return }
            logger.error("the head of the audit log was not signed", metadata: ["code": "\(error.code.rawValue)"])
        }
    }

    /// Posts the audit log to its receiver.
    func deliverAudit(logger: Logger) async {
        guard let auditReceiver else { return }
        do {
            try await service.deliverAudit(of: tenant) { await auditReceiver.deliver($0, of: tenant) }
        } catch {
            logger.error("the audit log could not be delivered", metadata: ["code": "\(error.code.rawValue)"])
        }
    }

    private func deliverAlerts(logger: Logger) async {
        guard let alerts else { return }
        do {
            try await service.deliverAlerts(of: tenant) { await alerts.deliver($0, of: tenant) }
        } catch {
            logger.error("alerts could not be delivered", metadata: ["code": "\(error.code.rawValue)"])
        }
    }

    /// Follows the directory file from the start on. Where the store has people, the service goes on without a file that is unusable, as it
    /// does while it runs: apps check in, and the directory stays as it is.
    ///
    /// - Throws: ``CommandFailure`` as ``followDirectory(logger:)`` throws it, on a store without people.
    func beginFollowingDirectory(logger: Logger) async throws(CommandFailure) {
        do { try await followDirectory(logger: logger) } catch {
            guard error.status == .badInput, (try? await service.provisioning.hasPeople(of: tenant)) == true else {
                throw error
            }
            hold(error, logger: logger)
        }
    }

    /// Notes why the directory stays as it is.
    private func hold(_ failure: CommandFailure, logger: Logger) {
        logger.error("the directory file cannot be used", metadata: ["reason": "\(failure.message)"])
        directoryProblem.withLock { $0 = failure.message }
    }

    /// Brings the directory to what the file says, if it changed since the last time. A file that waits for a person is tried again
    /// at the next look, and the directory stays as it is meanwhile.
    ///
    /// - Throws: ``CommandFailure`` with status `badInput` when the file or something in it is unusable.
    func followDirectory(logger: Logger) async throws(CommandFailure) {
        guard let file = directory else { return }
        let changed =
            (try? FileManager.default.attributesOfItem(atPath: file.path))?[.modificationDate] as? Date ?? .distantPast
        guard directoryRead.withLock({ $0 != changed }) else {
            // One that could not be followed was put back.
            return directoryProblem.withLock { $0 = nil }
        }
        let content = try DirectoryFile.read(file)
        do {
            let changes = try await service.provisioning.synchronize(content, from: "directory-file", of: tenant)
            logger.notice(
                "the directory file was read",
                metadata: ["saved": "\(changes.saved)", "removed": "\(changes.removed)"])
        } catch {
            guard error.code == .waiting else { throw CommandFailure(error) }
            let problem = "\(error.reason); cordon serve approve \(error.place ?? "") releases it"
            let known = directoryProblem.withLock { $0 }
            directoryProblem.withLock { $0 = problem }
            guard known != problem else { return }
            return logger.error("the directory file waits", metadata: ["reason": "\(problem)"])
        }
        directoryRead.withLock { $0 = changed }
        directoryProblem.withLock { $0 = nil }
    }
}
