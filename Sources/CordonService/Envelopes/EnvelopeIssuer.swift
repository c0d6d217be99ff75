internal import CordonIdentity
internal import CordonPolicy
internal import CordonProtocol
internal import Foundation

/// Makes and signs the envelopes that registrations get.
struct EnvelopeIssuer: Sendable {
    let keys: KeyRing
    /// How long an envelope is acceptable as new where no policy says less.
    let usualLifetime: Duration

    /// Signs the next envelope and remembers it in the registration, which the caller saves in the same transaction:
    /// its sequence is durable before any app sees it (SRV-CI-085).
    ///
    /// - Parameters:
    ///   - appliedSequence: The device's own sequence, which was checked; a store restored from a backup goes on above it.
    ///   - hasContact: Whether it answers a check-in, and goes out with a ``ContactProof``.
    func issue(
        _ content: EnvelopeContent, commands: [Command], nonce: String, appliedSequence: Int64, hasContact: Bool,
        for registration: inout Registration, in change: Change
    ) throws(ServiceError) -> String {
        let (tenant, now) = (change.tenant, change.now)
        let issued = Int64(now.timeIntervalSince1970)
        let sequence = max(registration.lastEnvelope?.sequence ?? 0, appliedSequence) + 1
        let envelope = PolicyEnvelope(
            tenant: tenant, registrationID: registration.id, account: registration.account.id,
            bundleID: registration.application.bundleID, sequence: sequence, version: content.version, nonce: nonce,
            issuedAt: issued, expiresAt: issued + lifetime(under: content.policy), policy: content.policy,
            configurations: content.configurations, allowedAccounts: content.allowedAccounts,
            workingTime: content.extras.clock,
            telemetryDisabled: content.extras.service?.telemetry == .off ? true : nil, commands: commands,
            compliance: content.extras.compliance, service: content.extras.service,
            logRequests: content.extras.logRequests, hasContact: hasContact ? true : nil)
        let signer = try keys.signer(.envelope, of: tenant, in: change, at: now)
        let signed: SignedEnvelope
        do {
            signed = try SignedEnvelope(signing: envelope, with: signer)
        } catch {
            throw ServiceError(.internalError, "an envelope could not be signed: \(error.reason)")
        }
        if content.references != registration.applied { registration.driftSince = registration.driftSince ?? now }
        let before = registration.lastEnvelope
        registration.lastEnvelope = Registration.IssuedEnvelope(
            sequence: sequence, version: content.version, digest: signed.digest, policies: content.references,
            hasPolicy: content.policy != nil)
        registration.lastEnvelope?.rules = content.rules.digest
        registration.lastEnvelope?.epoch = try change.settings().epoch
        registration.announced = nil
        try noteRules(content, sequence, after: before, for: &registration, in: change)
        return signed.text
    }

    /// Writes down what is delivered where what it says differs from before. What an envelope says besides, such as working time, is no
    /// part of it.
    private func noteRules(
        _ content: EnvelopeContent, _ sequence: Int64, after before: Registration.IssuedEnvelope?,
        for registration: inout Registration, in change: Change
    ) throws(ServiceError) {
        let accounts = content.allowedAccounts?.map(\.id.rawValue)
        if let before, before.rules == content.rules.digest, let since = before.rulesSince,
            let known = try change.record(DeliveredRules.self, DeliveredRules.storageID(registration.id, since)),
            known.policies == content.references, known.allowedAccounts == accounts
        {
            registration.lastEnvelope?.rulesSince = since
            registration.lastEnvelope?.isApplied = before.isApplied
            return
        }
        registration.lastEnvelope?.rulesSince = sequence
        try change.save(
            DeliveredRules(
                registrationID: registration.id, sequence: sequence, version: content.version, delivered: change.now,
                policies: content.references, allowedAccounts: accounts,
                previous: before == nil ? 0 : before?.rulesSince))
    }

    /// How long an envelope is acceptable as new: never beyond the offline-wipe period (SRV-CI-083).
    private func lifetime(under policy: EffectivePolicy?) -> Int64 {
        let usual = usualLifetime.wholeSeconds
        let offline = policy?.policy.launch.periodOfflineBeforeWipe.wholeSeconds ?? 0
        return offline > 0 ? min(usual, offline) : usual
    }
}
