internal import CordonBase
internal import CordonProtocol
internal import Crypto
internal import Foundation

extension FakeIdentityProvider {
    /// An access token in the JWT profile (RFC 9068), bound to a key where there is one (RFC 7800).
    func accessToken(
        _ person: FakePerson, _ scopes: [String], _ resource: String?, _ thumbprint: String?
    ) -> String {
        let issued = now().timeIntervalSince1970.rounded(.down)
        var claims: [String: Any] = [
            "iss": issuer, "sub": person.subject, "aud": resource ?? issuer + "/userinfo", "client_id": clientID,
            "iat": issued, "exp": issued + accessTokenLifetime, "jti": UUID().uuidString,
            "scope": scopes.joined(separator: " "), "preferred_username": person.userName,
        ]
        claims["oid"] = person.objectID
        claims["tid"] = person.tenant
        if !person.roles.isEmpty { claims["wids"] = person.roles }
        if let thumbprint { claims["cnf"] = ["jkt": thumbprint] }
        return signed(claims, ["alg": "ES256", "typ": "at+jwt", "kid": key.publicKey.keyID], by: key)
    }

    /// An ID token, wrong in the ways that the faults ask for.
    func idToken(_ person: FakePerson, nonce: String?, accessToken: String) -> String {
        let issued = now().timeIntervalSince1970.rounded(.down)
        let hash = SHA256.hash(data: Data(accessToken.utf8))
        var claims: [String: Any] = [
            "iss": issuer, "sub": person.subject, "aud": clientID, "iat": issued, "exp": issued + 3_600,
            "auth_time": issued - authenticationAge, "at_hash": Base64URL.encode(Data(hash.prefix(16))),
            "preferred_username": person.userName, "name": person.name,
        ]
        claims["oid"] = person.objectID
        claims["tid"] = person.tenant
        claims["nonce"] = nonce
        if faults.contains(.expiredIDToken) { claims["exp"] = issued - 301 }
        if faults.contains(.futureIDToken) { claims["iat"] = issued + 301 }
        if faults.contains(.foreignAudience) { claims["aud"] = "another-app" }
        if faults.contains(.emptyAudience) { claims["aud"] = [String]() }
        if faults.contains(.foreignParty) {
            claims["aud"] = [clientID, "another-app"]
            claims["azp"] = "another-app"
        }
        if faults.contains(.foreignIssuerInIDToken) { claims["iss"] = "https://id.attacker.example" }
        if faults.contains(.wrongNonce) { claims["nonce"] = "another-nonce" }
        if faults.contains(.noNonce) { claims["nonce"] = nil }
        if faults.contains(.wrongAccessTokenHash) { claims["at_hash"] = "AAAAAAAAAAAAAAAAAAAAAA" }
        if faults.contains(.fractionalAuthenticationTime) { claims["auth_time"] = issued + 0.25 }
        var header = ["alg": "ES256", "kid": key.publicKey.keyID]
        if faults.contains(.unknownKeyID) { header["kid"] = "nobody" }
        if faults.contains(.noKeyID) { header["kid"] = nil }
        if faults.contains(.unsignedIDToken) {
            header["alg"] = "none"
            return part(header) + "." + part(claims) + "."
        }
        if faults.contains(.symmetricIDToken) {
            header["alg"] = "HS256"
            let text = part(header) + "." + part(claims)
            let secret = SymmetricKey(data: key.publicKey.x + key.publicKey.y)
            let code = HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: secret)
            return text + "." + Base64URL.encode(code.withUnsafeBytes { Data($0) })
        }
        return signed(claims, header, by: faults.contains(.forgedIDToken) ? SoftwareSigningKey() : key)
    }

    private func signed(_ claims: [String: Any], _ header: [String: String], by key: SoftwareSigningKey) -> String {
        let text = part(header) + "." + part(claims)
        let signature = (try? key.signature(for: Data(text.utf8))) ?? Data()
        return text + "." + Base64URL.encode(signature)
    }

    private func part(_ object: [String: Any]) -> String {
        Base64URL.encode((try? JSONSerialization.data(withJSONObject: object, options: .sortedKeys)) ?? Data())
    }
}
