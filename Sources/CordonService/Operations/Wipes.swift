internal import CordonIdentity
internal import CordonPolicy
internal import CordonProtocol
internal import Foundation
internal import Logging

/// What happens to wipes: asked for, delivered, reported, lapsed, failed for good.
struct Wipes: Sendable {
    private let targeting: Targeting
    private let ids: RandomID
    /// How long a wipe waits at least.
    private let lifetime: Duration
    private let logger: Logger

    init(targeting: Targeting, ids: RandomID, lifetime: Duration, logger: Logger) {
        self.targeting = targeting
        self.ids = ids
        self.lifetime = lifetime
        self.logger = logger
    }

    /// Moves a wipe on, saves it and writes the step down; the only way in which a state changes.
    func step(
        _ operation: inout WipeOperation, to state: WipeOperation.State, by actor: AuditRecord.Actor,
        in change: Change, details: [String: String] = [:]
    ) throws(ServiceError) {
        operation.move(to: state, at: change.now)
        operation.version = ids.token()
        try change.save(operation)
        try change.audit(
            actor, "wipe.\(state.rawValue)", "operation/\(operation.id)",
            details: details.merging(["registration": operation.registrationID]) { detail, _ in detail })
    }

    /// The commands that the next envelope carries: every open wipe in time, and one for a blocked person (SRV-TG-24);
    /// where there is none, every other open command.
    ///
    /// A pending wipe becomes delivered, in the transaction that also issues the envelope. A wipe that lapsed without a receipt
    /// is asked for again, delivered or not: the answer may have been lost, and the app may hold everything still.
    func deliver(
        to registration: inout Registration, isBlocked: Bool, in change: Change
    ) throws(ServiceError) -> [Command] {
        var open: [WipeOperation] = []
        for var operation in try change.openOperations(of: registration.id) {
            if operation.notAfter <= change.now {
                registration.missedWipe = operation.reason
                try step(&operation, to: .expired, by: .service, in: change)
            } else {
                open.append(operation)
            }
        }
        if open.isEmpty, let reason = isBlocked ? .user : registration.missedWipe {
            // A block asks without end: what it asks for goes on counting, so that its failure is heard once.
            let failed = isBlocked ? try change.lastFailedWipe(of: registration) : nil
            open.append(
                try request(
                    of: registration, reason: reason, by: .service, attempt: (failed?.attempt ?? 0) + 1, after: failed,
                    in: change))
        }
        if registration.missedWipe != nil, let next = open.first {
            try replaceLapsed(of: registration.id, by: next, in: change)
        }
        registration.missedWipe = nil
        var commands: [Command] = []
        for var operation in open {
            if operation.state == .pending {
                try step(&operation, to: .delivered, by: .service, in: change)
            }
            commands.append(operation.command)
        }
        // What is about to be wiped has nothing else to do.
        return commands.isEmpty ? try change.deliverCommands(to: registration) : commands
    }

    /// Has a wipe go on for those of a registration that lapsed: what is still reported of one of them counts for it, too.
    func replaceLapsed(of registrationID: String, by next: WipeOperation, in change: Change) throws(ServiceError) {
        for var lapsed in try change.records(WipeOperation.self, where: (.registration, registrationID))
        where lapsed.state == .expired && lapsed.successorID == nil {
            lapsed.successorID = next.id
            try change.save(lapsed)
        }
    }

    /// Adds a pending wipe of one registration.
    ///
    /// - Parameters:
    ///   - end: When it lapses; where nil, when the app has long wiped itself (SRV-TG-28).
    ///   - earlier: The wipe that this one goes on for, because it failed or its registration was replaced.
    func request(
        of registration: Registration, reason: Command.Reason, by actor: AuditRecord.Actor,
        until end: Date? = nil, attempt: Int = 1, after earlier: WipeOperation? = nil,
        in change: Change
    ) throws(ServiceError) -> WipeOperation {
        var lapse = change.now
        if let end { lapse = end } else { lapse += try wipeLifetime(of: registration, in: change) }
        let operation = WipeOperation(
            id: ids.token(), registrationID: registration.id, account: registration.account.id,
            bundleID: registration.application.bundleID, reason: reason, requestedBy: earlier?.requestedBy ?? actor.id,
            requested: change.now, notAfter: lapse,
            attempt: attempt, version: ids.token())
        try change.save(operation)
        var details = ["registration": registration.id, "attempt": String(attempt), "reason": reason.rawValue]
        details["after"] = earlier?.id
        try change.audit(
            actor, "wipe.request", "operation/\(operation.id)",
            details: details)
        return operation
    }

    /// How long a wipe waits, in seconds: as long as the rules that the app has in force let it be offline and four days,
    /// never shorter than usual (SRV-TG-28).
    ///
    /// The rules may have become stricter since the app last heard, and an app that may not be offline so long asks first.
    private func wipeLifetime(of registration: Registration, in change: Change) throws(ServiceError) -> Double {
        let snapshot = try targeting.snapshot(of: change.tenant, in: change)
        let known = snapshot.protections(among: registration.lastEnvelope?.policies ?? [])
        // A policy that cannot be read is no reason not to wipe.
        let launch = (try? snapshot.effectivePolicy(of: known))??.policy.policy.launch
        let offline = (launch?.periodOfflineBeforeWipe ?? .zero) + .seconds(4 * 86_400)
        return Double(max(offline, lifetime).wholeSeconds)
    }

    /// Keeps an alert about a wipe that has failed and is not tried again.
    func raiseAlert(about operation: WipeOperation, in change: Change) throws(ServiceError) {
        logger.warning("a wipe has failed for good", metadata: ["operation": "\(operation.id)"])
        let alert = OperatorAlert(
            id: ids.token(), kind: .wipeFailed, time: change.now, operationID: operation.id,
            registrationID: operation.registrationID, userID: operation.account.rawValue,
            bundleID: operation.bundleID, attempts: operation.attempt)
        try change.save(alert)
        try change.audit(.service, "wipe.alert", "operation/\(operation.id)", details: ["alert": alert.id])
    }
}

extension WipeOperation {
    /// The command as an envelope carries it.
    fileprivate var command: Command {
        Command(
            id: id, kind: .wipe, account: account, reason: reason, issuedAt: Int64(requested.timeIntervalSince1970),
            notAfter: Int64(notAfter.timeIntervalSince1970))
    }
}

extension [Command] {
    /// Whether a wipe is among them.
    var hasWipe: Bool { contains { $0.kind == .wipe } }
}
