import CordonBase
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonServiceHTTP
import CordonTestSupport
import Crypto
import Foundation
import HTTPTypes

/// A provider that signs in whom the test says, without a page.
final class FakeProvider: IssuerDocuments {
    /// Who is at the browser, and what the provider says of them.
    struct Person: Sendable {
        var id: String
        var name: String
        var roles: [String]
    }

    private struct Grant {
        var person: Person
        var challenge: String
        var thumbprint: String?
        var signedIn: Date
        /// How long the token is said to live, in seconds.
        var seconds: Int64
    }

    private struct State {
        var person: Person?
        var grants: [String: Grant] = [:]
        var signedIn: [String: Date] = [:]
    }

    static let path = "/idp"
    let clock: SettableClock
    /// Whether people choose on a page who they are, as in a browser.
    let hasPage: Bool
    let lifetime = Locked<Int64>(900)
    /// What an attacker makes of an answer on its way through the browser, who also knows what was asked.
    let tampering = Locked<(@Sendable (_ asked: [String: String], _ answer: [String: String]) -> [String: String])?>(
        nil)
    /// The forms that came to the token endpoint.
    let exchanges = Locked<[[String: String]]>([])
    /// Where it says that tokens are asked for, nil for its own address.
    let tokenEndpoint = Locked<String?>(nil)
    /// Whether it answers what it says of itself.
    let isReachable = Locked(true)
    private let key = SoftwareSigningKey()
    private let state = Locked(State())

    init(base: String, clock: SettableClock, hasPage: Bool = false) {
        address = Locked(base + Self.path)
        self.clock = clock
        self.hasPage = hasPage
    }

    private let address: Locked<String>
    var issuer: String { address.withLock { $0 } }

    func use(_ person: Person?) { state.withLock { $0.person = person } }

    var provider: EmbeddedProvider {
        EmbeddedProvider(
            path: Self.path, routes: [(.get, Self.path + "/authorize"), (.post, Self.path + "/token")],
            largestBody: 1 << 16,
            start: { [self] issuer in address.withLock { $0 = issuer.absoluteString } },
            answer: { [self] request, body in await answer(request, body ?? Data()) },
            answerToken: { [self] request, body, _ in token(request, body ?? Data()) }, endSessions: { _ in })
    }

    // MARK: Documents

    func keySet(of issuer: String) async throws(TokenRefusal) -> Data {
        let key = (try? JSONValue(parsing: MessageCoding.encode(key.publicKey))) ?? .null
        return Data(JSONValue.object(["keys": .array([key])]).text().utf8)
    }

    func discovery(of issuer: String) async throws(TokenRefusal) -> Data {
        guard isReachable.withLock(\.self) else { throw TokenRefusal(.issuerUnavailable, "it does not answer") }
        let tokens = tokenEndpoint.withLock { $0 } ?? issuer + "/token"
        return Data(
            JSONValue.object([
                "issuer": .string(issuer), "authorization_endpoint": .string(issuer + "/authorize"),
                "token_endpoint": .string(tokens), "jwks_uri": .string(issuer + "/keys"),
                "dpop_signing_alg_values_supported": ["ES256"],
                "authorization_response_iss_parameter_supported": true,
            ]).text().utf8)
    }

    // MARK: Endpoints

    private func answer(_ request: HTTPRequest, _ body: Data) async -> EmbeddedProvider.Answer {
        let path = request.path ?? ""
        if path.hasSuffix("/keys") { return (HTTPResponse(status: .ok), (try? await keySet(of: issuer)) ?? Data()) }
        if path.hasSuffix("/openid-configuration") {
            return (HTTPResponse(status: .ok), (try? await discovery(of: issuer)) ?? Data())
        }
        guard request.method == .get else { return token(request, body) }
        return hasPage && !path.contains("who=") ? page(path) : authorize(request)
    }

    private static let known = [ConsoleFixture.ada, ConsoleFixture.bea, ConsoleFixture.hedy]

    /// A page on which people choose who they are, whether the session ends in a moment, and whether they proved an hour ago who they are.
    private func page(_ path: String) -> EmbeddedProvider.Answer {
        let query = path.split(separator: "?", maxSplits: 1).last.map(String.init) ?? ""
        let links = Self.known.flatMap { [($0, ""), ($0, "-briefly"), ($0, "-earlier")] }.map { person, end in
            """
            <p><a id="\(person.id)\(end)" href="/idp/authorize?who=\(person.id)&amp;how=\(end)&amp;\
            \(query.replacing("&", with: "&amp;"))">\(person.name)\(end)</a></p>
            """
        }
        var head = HTTPResponse(status: .ok)
        head.headerFields[.contentType] = "text/html; charset=utf-8"
        return (head, Data("<!doctype html><title>Provider</title><h1>Who are you?</h1>\(links.joined())".utf8))
    }

    private func authorize(_ request: HTTPRequest) -> EmbeddedProvider.Answer {
        let query = (request.path ?? "").split(separator: "?", maxSplits: 1).last.map(String.init) ?? ""
        let asked = FormEncoding.unique(query) ?? [:]
        let now = clock.now
        if let who = asked["who"] { use(Self.known.first { $0.id == who }) }
        let (name, value) = state.withLock { state -> (String, String) in
            guard let person = state.person else { return ("error", "access_denied") }
            if asked["prompt"] == "login" || state.signedIn[person.id] == nil { state.signedIn[person.id] = now }
            let code = UUID().uuidString
            state.grants[code] = Grant(
                person: person, challenge: asked["code_challenge"] ?? "", thumbprint: asked["dpop_jkt"],
                signedIn: asked["how"] == "-earlier"
                    ? now.addingTimeInterval(-3_600) : state.signedIn[person.id] ?? now,
                seconds: asked["how"] == "-briefly" ? 5 : lifetime.withLock { $0 })
            return ("code", code)
        }
        var answer = ["state": asked["state"] ?? "", "iss": issuer, name: value]
        if let tampering = tampering.withLock({ $0 }) { answer = tampering(asked, answer) }
        var head = HTTPResponse(status: .seeOther)
        head.headerFields[.location] =
            (asked["redirect_uri"] ?? "") + "?" + FormEncoding.encode(answer.map { (key: $0.key, value: $0.value) })
        return (head, Data())
    }

    private func token(_ request: HTTPRequest, _ body: Data) -> EmbeddedProvider.Answer {
        let form = FormEncoding.unique(String(decoding: body, as: UTF8.self)) ?? [:]
        exchanges.withLock { $0.append(form) }
        let grant = state.withLock { $0.grants.removeValue(forKey: form["code"] ?? "") }
        let digest = Base64URL.encode(Data(SHA256.hash(data: Data((form["code_verifier"] ?? "").utf8))))
        guard let grant, grant.challenge == digest, let thumbprint = grant.thumbprint,
            let text = try? token(of: grant.person, signedIn: grant.signedIn, boundTo: thumbprint)
        else { return (HTTPResponse(status: .badRequest), Data(#"{"error":"invalid_grant"}"#.utf8)) }
        let answer: JSONValue = [
            "access_token": .string(text), "token_type": "DPoP", "expires_in": .integer(grant.seconds),
        ]
        return (HTTPResponse(status: .ok), Data(answer.text().utf8))
    }

    private func token(of person: Person, signedIn: Date, boundTo thumbprint: String) throws -> String {
        try signed([
            "aud": .string(ServiceServerConfiguration.usualAdministrationAudience),
            "scp": "DeviceManagementApps.ReadWrite.All",
            "client_id": "cordon-console", "roles": .array(person.roles.map(JSONValue.string)),
            "sub": .string(person.id),
            "oid": .string(person.id), "preferred_username": .string(person.name), "cnf": ["jkt": .string(thumbprint)],
            "auth_time": .integer(Int64(signedIn.timeIntervalSince1970)),
        ])
    }

    /// A token with which an app checks in.
    func checkInToken(of person: Person, boundTo key: JSONWebKey) throws -> String {
        try signed([
            "aud": .string(ServiceServerConfiguration.usualCheckInAudience), "scope": "mam.checkin",
            "client_id": "fieldnotes",
            "sub": .string(person.id), "oid": .string(person.id), "preferred_username": .string(person.name),
            "cnf": ["jkt": .string(key.thumbprint)], "auth_time": .integer(Int64(clock.now.timeIntervalSince1970)),
        ])
    }

    private func signed(_ claims: [String: JSONValue]) throws -> String {
        let time = Int64(clock.now.timeIntervalSince1970)
        var all = claims
        all["iss"] = .string(issuer)
        all["tid"] = .string(ConsoleFixture.tenant.rawValue)
        all["iat"] = .integer(time)
        all["exp"] = .integer(time + lifetime.withLock { $0 })
        all["jti"] = .string(UUID().uuidString)
        let header: JSONValue = ["alg": "ES256", "typ": "at+jwt", "kid": .string(key.publicKey.keyID)]
        let text = [header, .object(all)].map { Base64URL.encode(Data($0.text().utf8)) }.joined(separator: ".")
        return text + "." + Base64URL.encode(try key.signature(for: Data(text.utf8)))
    }
}
