internal import CordonPolicy
package import CordonService
internal import CordonSignatures
package import Foundation

/// Why a token would be accepted or not, for an operator who sets a provider up. It holds what the token says, but not the token.
package struct TokenExplanation: Sendable, Encodable {
    /// What one side of the service makes of the token.
    package struct Side: Sendable, Encodable {
        /// Whether the token is accepted.
        package var isAccepted: Bool
        /// Everything that speaks against it, the most telling first.
        package var refusals: [String]
        /// What the person or program may do with it; the organisation's own roles are not looked at.
        package var roles: [String]?

        private enum CodingKeys: String, CodingKey {
            case isAccepted = "accepted"
            case refusals, roles
        }
    }

    /// What a token says, under the names that do not depend on its provider.
    package struct Facts: Sendable, Encodable {
        package var issuer: String
        package var type: String?
        package var audiences: [String]
        package var id: String?
        package var name: String?
        package var client: String?
        package var tenant: String?
        package var isProgram: Bool
        package var isBoundToKey: Bool
        package var scopes: [String]
        package var roles: [String]
        package var groups: [String]
        /// The names of all claims of the token.
        package var claims: [String]
        /// Whether the provider left the groups out, because they are too many for a token.
        package var lacksGroups: Bool
        /// In seconds, from `iat` to `exp`.
        package var lifetime: Double?
        /// In seconds, from `auth_time` to now.
        package var signedInAgo: Double?
    }

    /// Why nothing more can be said: the token is not one of a trusted provider; nil where it is.
    package var refusal: String?
    /// What the token says, where a trusted provider signed it.
    package var facts: Facts?
    /// What the sides make of it.
    package var checkIn: Side?
    package var administration: Side?

    /// Whether either side accepts it.
    package var isAccepted: Bool { checkIn?.isAccepted == true || administration?.isAccepted == true }
}

extension AccessTokenVerifier {
    /// What speaks for and against a token on either side.
    ///
    /// - Parameter roleMapping: The roles of groups and people by the configuration.
    package func explain(
        _ text: String, roleMapping: [String: Set<AdministratorRole>] = [:], now: Date = Date()
    ) async -> TokenExplanation {
        var issuer: String?
        let signed: SignedClaims
        do {
            signed = try await signedClaims(of: HashedText(text), naming: &issuer, isOfAnyType: true)
        } catch {
            if error.code == .untrustedIssuer, let named = Self.unverifiedIssuer(of: text) {
                let note = error.note.map { ": \($0)" } ?? ""
                return TokenExplanation(refusal: "\(error.reason), by its own word \(named)\(note)")
            }
            let note = error.note.map { ": \($0)" } ?? ""
            return TokenExplanation(refusal: error.reason + note + (issuer.map { " (issuer \($0))" } ?? ""))
        }
        let moment = moment
        func side(_ audience: TokenAudience) -> TokenExplanation.Side {
            let refusals =
                [typeRefusal(of: signed)].compactMap(\.self) + refusals(of: signed, for: audience, at: moment)
            let isAdministration = audience == .administration
            let roles = AdministrationGate.roles(of: token(signed, at: moment), mapping: roleMapping)
            return TokenExplanation.Side(
                isAccepted: refusals.isEmpty,
                refusals: refusals.map { refusal in
                    refusal.reason + (refusal.note.map { ": \($0)" } ?? "")
                },
                roles: isAdministration ? roles.map(\.rawValue).sorted() : nil)
        }
        let claims = signed.claims
        return TokenExplanation(
            facts: TokenExplanation.Facts(
                issuer: claims.issuer, type: signed.type, audiences: claims.audiences, id: claims.id,
                name: claims.userPrincipalName, client: claims.clientID, tenant: claims.tenant,
                isProgram: claims.isOfApplication, isBoundToKey: claims.keyThumbprint != nil,
                scopes: claims.scopes.sorted(), roles: claims.roles.sorted(), groups: claims.groups.sorted(),
                claims: claims.names, lacksGroups: claims.lacksGroups,
                lifetime: claims.issued.map { claims.expires - $0 },
                signedInAgo: claims.authenticated.map { now.timeIntervalSince1970 - $0 }),
            checkIn: side(.checkIn), administration: side(.administration))
    }

    /// What the settings have to say for the type of a token to be accepted; nil where it is.
    private func typeRefusal(of signed: SignedClaims) -> TokenRefusal? {
        let profile = signed.trusted.profile
        guard !profile.accepts(type: signed.type) else { return nil }
        let shown = IssuerProfile.showing(signed.claims.names).joined(separator: ", ")
        let type = signed.type.map(TokenRefusalLog.plain) ?? IssuerProfile.untyped
        return Self.wrongType(
            profile,
            note:
                "put \(type) into tokenTypes, and into accessTokenClaims a claim that the provider's ID tokens never have; "
                + (shown.isEmpty ? "this token has none that could be" : "of this token's that may be \(shown)"))
    }

    /// What a text that no one has verified says of where it comes from, fit for a terminal.
    private static func unverifiedIssuer(of text: String) -> String? {
        SignedText.unverifiedPayload(of: text).flatMap { try? JSONValue(parsing: $0) }?["iss"]?.string
            .map(TokenRefusalLog.plain)
    }
}
