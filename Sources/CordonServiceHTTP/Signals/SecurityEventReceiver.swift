import CordonService

/// Has security event tokens of the trusted providers take effect, however they came here (SRV-CI-091).
struct SecurityEventReceiver: Sendable {
    let events: SecurityEventVerifier
    let provisioning: Provisioning
    let revoked: RevokedSessions

    /// Takes one token; taken again it changes nothing more.
    ///
    /// - Parameter sender: The provider whose stream it came from; nil where its signature alone says whose it is.
    func take(_ token: String, from sender: String? = nil) async throws {
        let (issuer, signals) = try await events.signals(in: token, from: sender)
        for signal in signals {
            let (person, isKnown) = try await provisioning.apply(signal, from: issuer, of: revoked.tenant)
            // Before the next signal, which may be refused.
            try await revoked.reload(person: person)
            guard !isKnown else { continue }
            events.refusals.note(
                "a security event is about a person who is not known here", code: "unknown-subject",
                reason: "compare what its subject is called with oid and sub of the provider's tokens", of: issuer)
        }
    }
}
