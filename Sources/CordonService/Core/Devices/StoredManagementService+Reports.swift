internal import CordonIdentity
public import CordonProtocol
internal import Foundation

extension StoredManagementService {
    /// Looks at compliance anew, as ``DeviceReporting/compliance(_:registration:by:)`` says.
    public func compliance(
        _ request: RemediationRequest, registration id: String, by caller: DeviceCaller
    ) async throws(ServiceError) -> ComplianceReport {
        let now = self.now
        let lifetime = configuration.registrationLifetime
        guard request.health.count <= 16 else { throw ServiceError(.invalid, "health has more than 16 entries") }
        return try await change(caller.tenant) { transaction, _ throws(ServiceError) in
            var registration = try transaction.activeRegistration(id, of: caller, at: now, lifetime: lifetime)
            let user = try transaction.entitledUser(registration.account)
            if registration.health != request.health {
                registration.note(request.health, at: now)
                try transaction.save(registration)
            }
            return ComplianceReport.of(
                health: request.health, isBlocked: try transaction.record(UserBlock.self, user.storageID) != nil,
                hasWipe: try !transaction.openOperations(of: id).isEmpty)
        }
    }

    /// Takes down what launch conditions did and which envelopes were refused; what was reported before is left out,
    /// since an app that does not hear the answer reports again, and so is what goes beyond a day's share: nothing is ever
    /// removed from the audit log. The next record says how many were left out.
    func noteReports(
        of request: CheckInRequest, in registration: inout Registration, at now: Date,
        of transaction: some StorageTransaction
    ) throws(ServiceError) {
        let tenant = registration.account.tenant
        let actor = AuditRecord.Actor(registration)
        let target = "registration/\(registration.id)"
        var share =
            registration.reportShare.flatMap { $0.isOf(now) ? $0 : nil }
            ?? Registration.ReportShare(now, leftOut: registration.reportShare?.leftOut ?? 0)
        var known = registration.outcomes ?? []
        for outcome in request.outcomes ?? [] where !known.contains(outcome) {
            known.append(outcome)
            guard let leftOut = share.take() else { continue }
            var details = ["check": outcome.check, "time": String(outcome.time)]
            details["threshold"] = outcome.threshold
            details["observed"] = outcome.observed
            if leftOut > 0 { details["leftOut"] = String(leftOut) }
            try transaction.audit(
                actor, "launch.\(outcome.action.rawValue)", target, of: tenant, at: now, details: details)
        }
        registration.outcomes = known.isEmpty ? nil : Array(known.suffix(Registration.mostOutcomes))
        var refused = registration.refusedEnvelopes ?? []
        for refusal in request.refusedEnvelopes ?? [] {
            let time = String(Int64(refusal.time.timeIntervalSince1970))
            guard !refused.contains("\(refusal.code)@\(time)") else { continue }
            refused.append("\(refusal.code)@\(time)")
            guard let leftOut = share.take() else { continue }
            var details = ["code": refusal.code, "time": time]
            if leftOut > 0 { details["leftOut"] = String(leftOut) }
            try transaction.audit(
                actor, "envelope.refused", target, of: tenant, at: now, outcome: .failed, details: details)
        }
        if request.hasReports { registration.reportShare = share }
        registration.refusedEnvelopes = refused.isEmpty ? nil : Array(refused.suffix(Registration.mostOutcomes))
    }
}

extension CheckInRequest {
    /// Whether it reports what must be written down.
    var hasReports: Bool { outcomes?.isEmpty == false || refusedEnvelopes?.isEmpty == false }
}
