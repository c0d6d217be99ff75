internal import CordonIdentity
public import CordonProtocol
internal import Foundation

extension StoredManagementService {
    /// What the time-keeping system said last of a person.
    public func workingTime(
        ofUser id: String, as administrator: Administrator
    ) async throws(ServiceError) -> WorkingTimeReport? {
        try require(.read, of: administrator)
        return try await storage.read(administrator.tenant) { records throws(ServiceError) in
            try records.record(WorkingTimeRecord.self, try records.user(id).storageID)?.time
        }
    }

    /// Takes what the time-keeping system says; the person's apps are told.
    public func setWorkingTime(
        _ time: WorkingTimeReport, ofUser id: String, as administrator: Administrator
    ) async throws(ServiceError) {
        try require(.writeDirectory, of: administrator)
        let now = self.now
        guard time.validUntil.map({ $0 > time.asOf }) ?? true, time.asOf >= 0,
            time.asOf <= Int64(now.timeIntervalSince1970) + 300
        else {
            throw ServiceError(
                .invalid, "the working time is not acceptable",
                problems: [.init(member: "asOf", reason: "in the future, or not before validUntil")])
        }
        try await change(administrator.tenant) { transaction, pending throws(ServiceError) in
            let user = try transaction.user(id)
            let known = try transaction.record(WorkingTimeRecord.self, user.storageID)?.time
            // Reports may overtake each other on their way; the later one stays.
            guard known.map({ $0.asOf <= time.asOf && $0 != time }) ?? true else { return }
            try transaction.save(WorkingTimeRecord(userID: user.id, time: time))
            for registration in try transaction.records(Registration.self, where: (.user, user.storageID))
            where registration.state == .active {
                try pending.note(.policyChanged, for: registration.id, in: transaction)
            }
            try transaction.audit(
                AuditRecord.Actor(administrator), "workingTime.set", "user/\(user.id)", of: administrator.tenant,
                at: now, details: ["state": time.state.rawValue])
        }
    }
}
