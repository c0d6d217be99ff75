import Foundation
import HTTPTypes
import Logging

extension DevelopmentIdentityProvider {
    /// The revocation endpoint (RFC 7009). A text that is no token of ours is answered like one that is gone.
    func revoke(_ request: ProviderRequest, issuer: String) throws(OAuthError) -> ProviderAnswer {
        let client = try authenticatedClient(request, issuer: issuer)
        let token = try request.form.required("token")
        if let (family, _) = family(ofRefreshToken: token) {
            guard family.grant.clientID == client.id else { throw Self.foreignToken }
            revoke(grant: family.grant.id)
            logger.info("refresh token revoked", metadata: ["client": "\(client.id)"])
        } else if let claims = signingKey.claims(AccessTokenClaims.self, in: token, typ: "at+jwt") {
            guard claims.client_id == client.id else { throw Self.foreignToken }
            let expires = Date(timeIntervalSince1970: TimeInterval(claims.exp))
            revokedTokens.insert(true, for: claims.jti, until: expires, at: clock())
        }
        return ProviderAnswer(status: .ok, headers: [.cacheControl: "no-store"])
    }

    private static let foreignToken = OAuthError(.invalidGrant, "the token belongs to another client")

    /// Ends a grant: its refresh tokens at once, its access tokens at this provider; elsewhere they run out.
    func revoke(grant id: String) {
        let now = clock()
        families.remove(id, at: now)
        revokedGrants.insert(true, for: id, until: now.addingTimeInterval(seconds(\.accessToken)), at: now)
    }

    /// Ends every grant and session of a person, for unenrolment, a block or a finished wipe (SRV-CI-081).
    ///
    /// - Parameters:
    ///   - id: the object id; an unknown one ends nothing.
    ///   - clientID: only grants of this client, sessions stay; nil means all of them and the sessions too.
    /// - Returns: how many refresh chains ended.
    @discardableResult
    public func revokeGrants(ofPerson id: String, clientID: String? = nil) -> Int {
        func concerns(_ grant: ProviderGrant) -> Bool {
            grant.personID == id && (clientID == nil || grant.clientID == clientID)
        }
        let ended = families.removeAll { concerns($0.grant) }
        for grant in ended { revoke(grant: grant) }
        codes.removeAll { concerns($0.grant) }
        devices.removeAll { device in
            if case .approved(let grant) = device.state { concerns(grant) } else { false }
        }
        if clientID == nil { sessions.removeAll { $0.personID == id } }
        logger.info("grants revoked", metadata: ["person": "\(id)", "chains": "\(ended.count)"])
        return ended.count
    }
}
