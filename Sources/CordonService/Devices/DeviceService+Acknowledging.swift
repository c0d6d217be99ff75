internal import CordonIdentity
public import CordonProtocol
internal import Foundation
internal import Logging

extension DeviceService {
    /// Takes what an app reports of a command; the same report again changes nothing (SRV-CI-020).
    ///
    /// - Returns: What a wipe has come to, by its receipt where there is one; nil for another command.
    /// - Throws: ``ServiceError``: `notFound` for an unknown command, `invalid` for a missing or false receipt.
    @discardableResult
    public func acknowledge(
        _ acknowledgement: Acknowledgement, registration id: String, by caller: DeviceCaller
    ) async throws(ServiceError) -> Acknowledgement.Phase? {
        return try await store.change(for: caller) { change in
            let registration = try change.registration(id, of: caller)
            if let command = try change.record(IssuedCommand.self, acknowledgement.commandID) {
                try change.note(acknowledgement, of: command, from: registration)
                return nil
            }
            let receipt = try verifiedReceipt(of: acknowledgement, from: registration)
            // Nobody signs the phase: something on the way could make a failure, or a beginning, of a wipe that succeeded.
            let phase = receipt.map { $0.succeeded ? .succeeded : .failed } ?? acknowledgement.phase
            var found = try change.record(WipeOperation.self, acknowledgement.commandID)
            if found == nil {
                // It was heard and put away: a stranger who has the receipt would raise its alert again.
                if phase == .failed, registration.endedWipes?.contains(acknowledgement.commandID) == true {
                    return phase
                }
                found = try ownWipe(receipt, of: registration, at: change.now)
            }
            guard var operation = found, operation.registrationID == id else {
                throw ServiceError(.notFound, "no command of the registration has this id")
            }
            // One that failed may succeed at last.
            guard operation.state.awaitsReport || operation.state == .failed && phase == .succeeded else {
                if operation.state == .cancelled {
                    throw ServiceError(.conflict, "the wipe was cancelled before it was delivered")
                }
                return phase
            }
            let actor = AuditRecord.Actor(registration)
            switch phase {
            case .started:
                // Of one that has ended, only how it ended still counts.
                if operation.state.isOpen, operation.state != .acknowledged {
                    try wipes.step(&operation, to: .acknowledged, by: actor, in: change)
                }
            case .succeeded:
                guard receipt != nil else { throw ServiceError(.invalid, "a finished wipe needs a receipt") }
                try succeed(&operation, registration, acknowledgement, in: &change)
            case .failed:
                try requireNoOtherFailure(than: operation, at: change.now, in: change)
                operation.failure = receipt?.failures.prefix(8).map { $0.prefix(200) }.joined(separator: "; ")
                operation.receipt = acknowledgement.receipt
                var details = acknowledgement.receipt.map { proof($0, of: registration) } ?? [:]
                details["cause"] = operation.cause
                details["failure"] = operation.failure
                try wipes.step(&operation, to: .failed, by: actor, in: change, details: details)
                try retry(&operation, of: registration, in: &change)
            }
            return phase
        }
    }

    /// Keeps the receipt and closes the registration with everything that was open (SRV-TG-30).
    private func succeed(
        _ operation: inout WipeOperation, _ registration: Registration, _ acknowledgement: Acknowledgement,
        in change: inout Change
    ) throws(ServiceError) {
        let actor = AuditRecord.Actor(registration)
        operation.receipt = acknowledgement.receipt
        operation.failure = nil
        try endSuccessors(of: operation, in: change)
        // What was issued anew in its place does not go on for its success, and is put behind it below: links never form a circle.
        operation.successorID = nil
        var details = acknowledgement.receipt.map { proof($0, of: registration) } ?? [:]
        details["cause"] = operation.cause
        try wipes.step(
            &operation, to: .succeeded, by: actor, in: change,
            details: details)
        for var other in try change.openOperations(of: registration.id) {
            other.failure = "another wipe of the registration had removed everything"
            try wipes.step(&other, to: .expired, by: .service, in: change)
        }
        // What failed or lapsed before needs no one's attention any more.
        try end([.failed, .expired], before: operation, of: registration.id, in: change)
        var closed = registration
        closed.missedWipe = nil
        try change.removeRecoveryShares(of: registration)
        guard registration.state != .wiped else { return try change.save(closed) }
        if registration.state == .active {
            try change.endCommands(of: registration)
            change.noteClosing(registration.id)
        }
        // Also where it was closed before: what comes back from before the wipe is known by it.
        closed.close(.wiped, at: change.now)
        closed.lastSync = change.now
        try change.save(closed)
        try change.audit(actor, "registration.wiped", "registration/\(registration.id)")
    }

    /// Has a wipe stand for those of a registration before it, so that they need no one's attention any more.
    private func end(
        _ states: Set<WipeOperation.State>, before operation: WipeOperation, of registrationID: String,
        in change: Change
    ) throws(ServiceError) {
        for var earlier in try change.records(WipeOperation.self, where: (.registration, registrationID))
        where earlier.id != operation.id && states.contains(earlier.state) && earlier.successorID == nil {
            earlier.successorID = operation.id
            try change.save(earlier)
        }
    }

    /// Ends what was issued in place of a wipe that had succeeded: what the app has since it registered again is new, and stays.
    private func endSuccessors(of operation: WipeOperation, in change: Change) throws(ServiceError) {
        var next = operation.successorID
        while let id = next, var successor = try change.record(WipeOperation.self, id) {
            if successor.state.isOpen {
                successor.failure = "the wipe before it had removed everything"
                try wipes.step(&successor, to: .expired, by: .service, in: change)
            }
            next = successor.successorID
        }
    }

    /// Issues a failed wipe again, a limited number of times; afterwards operators are told (SRV-TG-29).
    private func retry(
        _ operation: inout WipeOperation, of registration: Registration, in change: inout Change
    ) throws(ServiceError) {
        // No app could fetch a wipe of a closed registration, and one that was issued in the place of this one goes on alone.
        guard registration.state == .active, operation.successorID == nil,
            operation.attempt < configuration.wipeAttempts, operation.reason != .conditional
        else {
            // Of one that goes on in another's place, that one counts.
            guard operation.successorID == nil else { return }
            // What a block asks for after the last attempt has failed before, and operators were told.
            guard operation.attempt <= configuration.wipeAttempts else {
                for id in try change.installs(of: registration) {
                    try end([.failed], before: operation, of: id, in: change)
                }
                return
            }
            return try wipes.raiseAlert(about: operation, in: change)
        }
        operation.successorID =
            try wipes.request(
                of: registration, reason: operation.reason, by: .service, attempt: operation.attempt + 1,
                after: operation, in: change
            ).id
        try change.save(operation)
        try change.note(.commandWaiting, for: registration.id)
    }

    /// The receipt, checked against the registration's key and against everything that it must be about.
    private func verifiedReceipt(
        of acknowledgement: Acknowledgement, from registration: Registration
    ) throws(ServiceError) -> WipeReceipt? {
        guard let text = acknowledgement.receipt else { return nil }
        guard text.utf8.count <= WipeReceipt.largestText else {
            throw ServiceError(.invalid, "the receipt is larger than \(WipeReceipt.largestText) bytes")
        }
        let receipt: WipeReceipt
        do {
            receipt = try WipeReceipt(verifying: text, signedBy: registration.key)
        } catch {
            throw ServiceError(.invalid, "the receipt is not acceptable: \(error.reason)")
        }
        guard receipt.isBounded else {
            throw ServiceError(
                .invalid,
                "the receipt lists more than \(WipeReceipt.mostKeyIDs) keys or \(WipeReceipt.mostFailures) failures")
        }
        guard receipt.isPlausible else {
            throw ServiceError(.invalid, "the receipt ends before it begins or counts below zero")
        }
        guard receipt.commandID == acknowledgement.commandID, receipt.tenant == registration.account.tenant,
            receipt.registrationID == registration.id, receipt.account == registration.account.id,
            folded(receipt.bundleID) == folded(registration.application.bundleID)
        else { throw ServiceError(.invalid, "the receipt is about something else") }
        return receipt
    }

    /// The operation of a wipe that the device decided itself, or that is not kept any more, proved by a receipt (SRV-TG-31).
    ///
    /// - Throws: ``ServiceError`` with code `invalid` for an id that a URL could not carry: no one could look at the wipe.
    private func ownWipe(
        _ receipt: WipeReceipt?, of registration: Registration, at now: Date
    ) throws(ServiceError) -> WipeOperation? {
        // One that lapsed and was put away still counts once it succeeded, also where its registration is closed.
        let owed = receipt?.succeeded == true ? registration.missedWipe : nil
        guard let receipt, registration.state == .active || owed != nil else { return nil }
        try checkDirectoryID(receipt.commandID)
        var operation = WipeOperation(
            id: receipt.commandID, registrationID: registration.id, account: registration.account.id,
            bundleID: registration.application.bundleID, reason: owed ?? .conditional, requestedBy: registration.id,
            requested: now, notAfter: now, version: ids.token(), state: .acknowledged)
        operation.cause = receipt.cause.map { String($0.prefix(64)) }
        return operation
    }

    /// Refuses another failure of a wipe that the device decided itself, or that a block asks for after the last attempt, while one of
    /// the last day stands: its data is known to be on the device still, and the audit log keeps each receipt for ever.
    ///
    /// A device whose wipe succeeds at last is heard at once, and one that failed again hands its receipt in later.
    private func requireNoOtherFailure(
        than operation: WipeOperation, at now: Date, in records: some StorageReader
    ) throws(ServiceError) {
        func isWithoutEnd(_ wipe: WipeOperation) -> Bool {
            wipe.reason == .conditional || wipe.attempt > configuration.wipeAttempts
        }
        guard isWithoutEnd(operation) else { return }
        let day: TimeInterval = 86_400
        let failed = try records.records(WipeOperation.self, where: (.registration, operation.registrationID))
            .filter { isWithoutEnd($0) && $0.state == .failed }.map(\.modified)
            // One of a later day failed while the clock was ahead.
            .filter { abs(now.timeIntervalSince($0)) < day }.max()
        guard let failed else { return }
        let left = day - max(0, now.timeIntervalSince(failed))
        throw ServiceError(
            .tooManyRequests, "a wipe that had failed for good was reported as failed less than a day ago",
            retryAfterSeconds: Int(left.rounded(.up)))
    }

    /// What an auditor needs to check a receipt without the service.
    private func proof(_ receipt: String, of registration: Registration) -> [String: String] {
        let key = (try? MessageCoding.encode(registration.key)).map { String(decoding: $0, as: UTF8.self) }
        return ["receipt": receipt, "key": key ?? ""]
    }
}

extension WipeOperation.State {
    /// Whether a report of the device still changes something; a late one after expiry does, because it is true.
    public var awaitsReport: Bool { isOpen || self == .expired }
}
