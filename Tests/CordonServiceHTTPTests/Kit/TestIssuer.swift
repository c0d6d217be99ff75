import CordonBase
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import CordonServiceHTTP
import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore

/// An OpenID provider reduced to what matters here: keys that it publishes and tokens that it signs.
final class TestIssuer: IssuerDocuments {
    static let name = "https://login.example.test"

    let key = SoftwareSigningKey()
    /// How often the keys were fetched.
    let fetches = Locked(0)
    /// What the provider publishes; nil while it is down.
    let published: Locked<JSONValue?>

    init() {
        published = Locked(.object(["keys": .array([Self.json(key.publicKey)])]))
    }

    func keySet(of issuer: String) async throws(TokenRefusal) -> Data {
        fetches.withLock { $0 += 1 }
        guard let document = published.withLock({ $0 }) else { throw TokenRefusal(.issuerUnavailable, "down") }
        return Data(document.text().utf8)
    }

    func publish(_ keys: [JSONValue]) { published.withLock { $0 = .object(["keys": .array(keys)]) } }

    static func json(_ key: JSONWebKey) -> JSONValue {
        (try? JSONValue(parsing: MessageCoding.encode(key))) ?? .null
    }

    /// A token with these claims; header members may be replaced.
    func token(
        _ claims: [String: JSONValue], header: [String: JSONValue] = [:], signedBy signer: SoftwareSigningKey? = nil
    )
        throws -> String
    {
        let signer = signer ?? key
        var members: [String: JSONValue] = ["alg": "ES256", "typ": "at+jwt", "kid": .string(key.publicKey.keyID)]
        members.merge(header) { _, new in new }
        let signed =
            Base64URL.encode(Data(JSONValue.object(members).text().utf8)) + "."
            + Base64URL.encode(Data(JSONValue.object(claims).text().utf8))
        return signed + "." + Base64URL.encode(try signer.signature(for: Data(signed.utf8)))
    }

    /// The claims of a good check-in token.
    static func checkInClaims(
        _ person: TestPerson, key: JSONWebKey, at now: Date, tenant: String = TestService.tenant.rawValue
    ) -> [String: JSONValue] {
        common(at: now, tenant: tenant).merging([
            "aud": .string(ServiceServerConfiguration.usualCheckInAudience), "sub": .string(person.id),
            "oid": .string(person.id), "preferred_username": .string(person.name), "scope": "mam.checkin",
            "client_id": "fieldnotes", "cnf": ["jkt": .string(key.thumbprint)],
            "auth_time": .integer(Int64(now.timeIntervalSince1970) - 5),
        ]) { _, new in new }
    }

    /// The claims of a good administration token.
    static func administrationClaims(
        roles: [String] = ["owner"],
        scopes: String = "DeviceManagementApps.ReadWrite.All Group.ReadWrite.All", at now: Date,
        tenant: String = TestService.tenant.rawValue
    ) -> [String: JSONValue] {
        common(at: now, tenant: tenant).merging([
            "aud": .string(ServiceServerConfiguration.usualAdministrationAudience), "sub": "oid-ada",
            "oid": "oid-ada", "preferred_username": "ada@contoso.example", "scp": .string(scopes),
            "client_id": "cordon-cli", "roles": .array(roles.map(JSONValue.string)),
            "auth_time": .integer(Int64(now.timeIntervalSince1970) - 5),
        ]) { _, new in new }
    }

    private static func common(at now: Date, tenant: String) -> [String: JSONValue] {
        let time = Int64(now.timeIntervalSince1970)
        return [
            "iss": .string(name), "tid": .string(tenant), "iat": .integer(time), "exp": .integer(time + 600),
            "jti": .string(UUID().uuidString),
        ]
    }
}

/// A person of the test organisation.
struct TestPerson: Sendable {
    let id: String
    let name: String

    static let workerA = TestPerson(id: "oid-a", name: "worker-a@contoso.example")
    static let workerB = TestPerson(id: "oid-b", name: "worker-b@contoso.example")
}
