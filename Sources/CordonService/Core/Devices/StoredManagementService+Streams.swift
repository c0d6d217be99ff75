internal import CordonIdentity
public import CordonProtocol
internal import Foundation

extension StoredManagementService {
    /// Closes a registration, as ``DeviceReporting/unregister(_:report:by:)`` says; a closed one stays closed.
    public func unregister(
        _ id: String, report: UnenrollmentReport?, by caller: DeviceCaller
    ) async throws(ServiceError) {
        let now = self.now
        try await change(caller.tenant) { [self] transaction, pending throws(ServiceError) in
            var registration = try transaction.registration(id, of: caller)
            guard registration.state == .active else { return }
            guard try transaction.openOperations(of: id).isEmpty else {
                throw ServiceError(
                    .conflict, "a wipe is under way", hint: "Check in, carry the wipe out and send its receipt.")
            }
            registration.state = .unregistered
            try transaction.save(registration)
            pending.noteClosing(id)
            try endCommands(of: registration, at: now, in: transaction)
            try transaction.audit(
                AuditRecord.Actor(registration), "registration.unregister", "registration/\(id)", of: caller.tenant,
                at: now,
                details: report.map {
                    ["reason": $0.reason.rawValue, "doWipe": String($0.doWipe), "succeeded": String($0.succeeded)]
                } ?? [:])
        }
    }

    /// A stream of what changes, as ``DeviceService/events(ofRegistration:after:by:)`` says.
    public func events(
        ofRegistration id: String, after eventID: Int64?, by caller: DeviceCaller
    ) async throws(ServiceError) -> AsyncStream<ServiceEvent> {
        let now = self.now
        let lifetime = configuration.registrationLifetime
        let address = EventHub.Address(tenant: caller.tenant, registrationID: id)
        // Subscribed before the store is read, so that nothing falls between.
        let (stream, token) = events.subscribe(address)
        let missed: [ServiceEvent]
        do throws(ServiceError) {
            missed = try await storage.read(caller.tenant) { records throws(ServiceError) in
                _ = try records.activeRegistration(id, of: caller, at: now, lifetime: lifetime)
                guard let eventID, let bookmark = try records.record(EventBookmark.self, id) else { return [] }
                // An id from the future is of a store that was restored since: everything may have been missed.
                return bookmark.events(after: eventID <= bookmark.lastID ? eventID : 0)
            }
        } catch {
            events.cancel(token, at: address)
            throw error
        }
        for event in missed { events.deliver(event, to: token, at: address) }
        return stream
    }
}
