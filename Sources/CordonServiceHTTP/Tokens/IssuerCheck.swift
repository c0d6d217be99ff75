internal import CordonPolicy
internal import CordonSignatures
internal import Foundation

/// What a provider's own documents say against the settings that the service has for it.
package struct IssuerCheck: Sendable, Encodable {
    /// The provider.
    package var issuer: String
    /// What would be refused, or could not work.
    package var problems: [String] = []
    /// What may be as it should be, and is worth a look.
    package var notes: [String] = []

    /// Asks every provider of the configuration.
    package static func all(
        of configuration: ServiceServerConfiguration, documents: any IssuerDocuments = NetworkIssuerDocuments()
    ) async -> [IssuerCheck] {
        var checks: [IssuerCheck] = []
        for (index, issuer) in configuration.issuers.enumerated() {
            var check = IssuerCheck(issuer: issuer)
            await check.ask(configuration.profile(of: issuer), isFirst: index == 0, documents)
            checks.append(check)
        }
        return checks
    }

    private mutating func ask(_ profile: IssuerProfile, isFirst: Bool, _ documents: any IssuerDocuments) async {
        do {
            let document = try await documents.discovery(of: issuer)
            let keys = PublishedKeys(try await documents.keySet(of: issuer), for: .accessToken)
            if keys?.keys(named: nil).isEmpty ?? true {
                problems.append("it publishes no key that this service reads: every token would be refused")
            }
            let ids = keys?.ids ?? []
            if Set(ids).count < ids.count {
                notes.append("it publishes several keys under one id: \(IssuerKeys.mostTried) of them are tried")
            }
            guard let metadata = try? JSONValue(parsing: document) else {
                problems.append("its discovery document is not JSON")
                return
            }
            look(at: metadata, profile, isFirst: isFirst)
        } catch {
            problems.append(error.reason + (error.note.map { ": \($0)" } ?? ""))
        }
    }

    private mutating func look(at metadata: JSONValue, _ profile: IssuerProfile, isFirst: Bool) {
        func words(_ name: String) -> [String]? { metadata[name]?.array?.compactMap(\.string) }
        for name in ["authorization_endpoint", "token_endpoint"] where metadata[name]?.string == nil {
            problems.append("its discovery document has no \(name): no person could sign in")
        }
        let algorithms = words("id_token_signing_alg_values_supported") ?? []
        if !algorithms.isEmpty, algorithms.allSatisfy({ SignatureAlgorithm(named: $0) == nil }) {
            problems.append("it announces no signature by a key pair, such as ES256 or RS256")
        }
        // What AD FS calls it; the provider's own people would be refused otherwise.
        if let other = metadata["access_token_issuer"]?.string, other != profile.tokenIssuer ?? issuer {
            problems.append(
                "its access tokens name another issuer: set tokenIssuer to \(TokenRefusalLog.plain(other))")
        }
        // Only people of the first provider check in.
        guard isFirst else { return }
        let proofs = words("dpop_signing_alg_values_supported") ?? []
        switch profile.checkInProof {
        case .token where !proofs.contains("ES256"):
            problems.append(
                "it does not announce DPoP with ES256, so check-in tokens would be bound to no key: turn it on there, or set "
                    + "checkInProof to registration")
        case .registration where proofs.contains("ES256"):
            notes.append("it announces DPoP with ES256: without checkInProof, check-in tokens would be bound to a key")
        default: break
        }
        if words("code_challenge_methods_supported")?.contains("S256") != true {
            notes.append(
                "it does not announce PKCE with S256: if it does it all the same, apps set requiresAnnouncedS256 to false"
            )
        }
        let asked = profile.tokenRequest?.scopes ?? [TokenRules.checkInScope]
        if let announced = words("scopes_supported") {
            for scope in asked + ["offline_access"] where !announced.contains(scope) {
                notes.append("it does not announce the scope \(scope), which apps ask for")
            }
        }
        if metadata["device_authorization_endpoint"]?.string == nil {
            notes.append(
                "it has no device_authorization_endpoint: signing in with a code on another device is not possible")
        }
    }
}
