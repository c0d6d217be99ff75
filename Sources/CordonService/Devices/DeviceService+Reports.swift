internal import CordonIdentity
public import CordonProtocol
public import Foundation

extension DeviceService {
    /// Looks at compliance anew, with what the device finds wrong with itself now (SRV-CI-022).
    public func compliance(
        _ request: RemediationRequest, registration id: String, by caller: DeviceCaller
    ) async throws(ServiceError) -> ComplianceReport {
        let now = store.now
        let lifetime = configuration.registrationLifetime
        guard request.health.count <= 16 else { throw ServiceError(.invalid, "health has more than 16 entries") }
        return try await store.change(for: caller) { change in
            var registration = try change.activeRegistration(id, of: caller, at: now, lifetime: lifetime)
            _ = try change.entitledUser(registration.account)
            if registration.health != request.health {
                registration.note(request.health, at: now)
                try change.save(registration)
            }
            return ComplianceReport.of(
                health: request.health, isBlocked: try change.isBlocked(registration.account.id),
                hasWipe: try change.hasWipe(of: registration))
        }
    }

    /// Takes events of the registration that the caller's key belongs to, as far as the organisation wants them; the
    /// number that was kept (SRV-CI-023).
    ///
    /// Of one person and app no more than 1,000 events are kept of one day; what comes after is left out.
    ///
    /// - Throws: ``ServiceError``: `invalid` naming each event that is refused, and then nothing is kept; status 213
    ///   where the key has no registration.
    public func acceptTelemetry(_ batch: TelemetryBatch, by caller: DeviceCaller) async throws(ServiceError) -> Int {
        guard batch.events.count <= TelemetryBatch.mostEvents else {
            throw ServiceError(
                .invalid, "the batch is too large",
                problems: [.init(member: "events", reason: "more than \(TelemetryBatch.mostEvents)")])
        }
        let problems = batch.events.enumerated().compactMap { index, event in
            event.fault.map { ServiceError.Problem(member: "events[\(index)]", reason: $0) }
        }
        guard problems.isEmpty else { throw ServiceError(.invalid, "events were refused", problems: problems) }
        return try await store.change(for: caller) { change in
            let ofKey = try change.records(Registration.self, where: (.key, caller.keyThumbprint))
            guard let registration = ofKey.first(where: { $0.state == .active }) else {
                throw ServiceError.enrollment(.notEnrolled, "the key has no registration")
            }
            guard registration.account.id == caller.account.id else {
                throw ServiceError.enrollment(
                    .notEnrolledAccount, "the access token is of another account than the registration")
            }
            let level = (try change.settings().service ?? .usual).telemetry
            let wanted = batch.events.filter { level == .optional || level == .required && $0.privacy != .optional }
            guard !wanted.isEmpty else { return 0 }
            let name = TelemetryDay.name(of: change.now)
            let user = caller.account.id.rawValue
            let bundleID = registration.application.bundleID
            var record =
                try change.record(TelemetryRecord.self, TelemetryRecord.id(name, user, bundleID))
                ?? TelemetryRecord(day: name, received: change.now, userID: user, bundleID: bundleID)
            let kept = Array(wanted.prefix(max(0, TelemetryRecord.mostEvents - record.events.count)))
            guard !kept.isEmpty else { return 0 }
            record.received = change.now
            record.events += kept
            try change.save(record)
            // Counted at once, so that neither the report nor the clearing away reads events.
            var day = try change.record(TelemetryDay.self, name) ?? TelemetryDay(day: name)
            day.add(kept)
            day.isCleared = nil
            try change.save(day)
            return kept.count
        }
    }

    /// Takes a piece of logs that were asked for; the number of bytes that are here now (SRV-CI-024).
    ///
    /// A piece that is here already changes nothing, so that an upload can go on after it broke off; an
    /// empty one only asks how much is here.
    ///
    /// - Parameters:
    ///   - offset: Where the piece begins.
    ///   - total: The bytes of the whole upload.
    /// - Throws: ``ServiceError``: `notFound` when no administrator asked or the time is over, `conflict` when bytes are missing
    ///   before the offset, `invalid` when it is too large, or smaller than a 1024th of the whole and not its end.
    public func receiveLogs(
        _ piece: Data, at offset: Int, of total: Int, request: String, registration id: String, by caller: DeviceCaller
    ) async throws(ServiceError) -> Int {
        guard (1...LogRequest.largestUpload).contains(total), (0...LogRequest.largestPiece).contains(piece.count),
            offset >= 0, offset <= total - piece.count,
            // Of any upload about a thousand pieces at most, which are read, and removed, in one transaction.
            piece.isEmpty || offset + piece.count == total || piece.count * 1_024 >= total
        else {
            throw ServiceError(
                .invalid, "the piece is not acceptable",
                problems: [
                    .init(
                        member: "Content-Range",
                        reason:
                            "pieces of at most \(LogRequest.largestPiece) bytes, \(LogRequest.largestUpload) in all, "
                            + "and none but the last smaller than a 1024th of all"
                    )
                ])
        }
        let now = store.now
        let lifetime = configuration.registrationLifetime
        return try await store.change(for: caller) { change in
            let registration = try change.activeRegistration(id, of: caller, at: now, lifetime: lifetime)
            guard var collection = try change.record(LogCollection.self, request),
                collection.registrationID == id, now < collection.notAfter
            else { throw ServiceError(.notFound, "no administrator asked for these logs") }
            guard collection.total ?? total == total, offset <= collection.received else {
                throw ServiceError(.conflict, "the upload goes on at \(collection.received)")
            }
            guard offset == collection.received, !piece.isEmpty else { return collection.received }
            collection.total = total
            collection.received += piece.count
            if collection.isComplete { collection.completed = now }
            try change.save(LogPiece(collectionID: request, offset: offset, bytes: piece))
            try change.save(collection)
            if collection.isComplete {
                try change.audit(
                    AuditRecord.Actor(registration), "logs.received", "registration/\(id)",
                    details: ["request": request, "bytes": String(total)])
            }
            return collection.received
        }
    }
}
