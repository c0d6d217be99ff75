import CordonBase
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonServiceHTTP
import Foundation

/// An OpenID provider reduced to a key and tokens that it signs; its key travels to the service's process in a file.
struct Issuer: IssuerDocuments {
    static let name = "https://login.example.test"

    let key: SoftwareSigningKey

    func keySet(of issuer: String) async throws(TokenRefusal) -> Data {
        let published = (try? MessageCoding.encode(["keys": [key.publicKey]])) ?? Data()
        return published
    }

    /// A check-in token of a person's app, bound to a key; the person has just signed in.
    func checkInToken(_ account: ManagedAccount, boundTo key: JSONWebKey) throws -> String {
        try token([
            "aud": .string(ServiceServerConfiguration.usualCheckInAudience), "sub": .string(account.id.rawValue),
            "oid": .string(account.id.rawValue), "preferred_username": .string(account.userPrincipalName),
            "scope": "mam.checkin", "client_id": "benchmark", "cnf": ["jkt": .string(key.thumbprint)],
            "tid": .string(account.tenant.rawValue), "auth_time": .integer(Int64(Date().timeIntervalSince1970)),
        ])
    }

    /// A token of an owner, who may do everything and has just signed in.
    func ownerToken(of tenant: TenantID) throws -> String {
        try token([
            "aud": .string(ServiceServerConfiguration.usualAdministrationAudience), "sub": "owner", "oid": "owner",
            "preferred_username": "owner@contoso.example", "scp": "DeviceManagementApps.ReadWrite.All",
            "client_id": "benchmark", "roles": ["owner"], "tid": .string(tenant.rawValue),
            "auth_time": .integer(Int64(Date().timeIntervalSince1970)),
        ])
    }

    private func token(_ claims: [String: JSONValue]) throws -> String {
        let now = Int64(Date().timeIntervalSince1970)
        var all = claims
        all["iss"] = .string(Self.name)
        all["iat"] = .integer(now)
        all["exp"] = .integer(now + 3_600)
        all["jti"] = .string(UUID().uuidString)
        let header: JSONValue = ["alg": "ES256", "typ": "at+jwt", "kid": .string(key.publicKey.keyID)]
        let signed =
            Base64URL.encode(Data(header.text().utf8)) + "." + Base64URL.encode(Data(JSONValue.object(all).text().utf8))
        return signed + "." + Base64URL.encode(try key.signature(for: Data(signed.utf8)))
    }
}
