internal import CordonIdentity
internal import CordonProtocol
internal import Foundation

extension DeviceService {
    /// What is known of the app behind a registration, for checking what comes next; the app, and the evidence before, nil for none.
    ///
    /// - Throws: ``ServiceError`` as every call of a registration's does.
    public func evidence(
        ofRegistration id: String, by caller: DeviceCaller
    ) async throws(ServiceError) -> (bundleID: String, known: VerifiedEvidence?) {
        let now = store.now
        let lifetime = configuration.registrationLifetime
        return try await store.read(for: caller) { records in
            let registration = try records.activeRegistration(id, of: caller, at: now, lifetime: lifetime)
            return (registration.application.bundleID, registration.evidence)
        }
    }

    /// Keeps evidence that was found good.
    ///
    /// - Throws: ``ServiceError`` with code `conflict` where the counter of the key is not above that of the evidence that is kept: it was used before, or
    ///   another request was faster.
    public func keepEvidence(
        _ evidence: VerifiedEvidence, ofRegistration id: String, by caller: DeviceCaller
    ) async throws(ServiceError) {
        let now = store.now
        let lifetime = configuration.registrationLifetime
        try await store.change(for: caller) { change in
            var registration = try change.activeRegistration(id, of: caller, at: now, lifetime: lifetime)
            var evidence = evidence
            if let known = registration.evidence, known.keyID == evidence.keyID {
                // An attestation that is sent again takes nothing of the counter back.
                guard evidence.counter > known.counter || evidence.counter == 0 else {
                    throw ServiceError(.conflict, "the evidence was used before")
                }
                evidence.counter = max(evidence.counter, known.counter)
            } else {
                try change.audit(
                    of: &registration, "registration.evidence",
                    details: ["app": evidence.app, "environment": evidence.environment])
            }
            registration.evidence = evidence
            try change.save(registration)
        }
    }

    /// Notes that evidence was refused; where there was good evidence before, the app is among the flagged ones until good evidence comes.
    public func noteRefusedEvidence(ofRegistration id: String, by caller: DeviceCaller) async throws(ServiceError) {
        let now = store.now
        let lifetime = configuration.registrationLifetime
        try await store.change(for: caller) { change in
            var registration = try change.activeRegistration(id, of: caller, at: now, lifetime: lifetime)
            guard registration.evidence != nil, registration.evidence?.refused == nil else { return }
            registration.evidence?.refused = now
            try change.audit(of: &registration, "registration.evidenceRefused")
            try change.save(registration)
        }
    }
}
