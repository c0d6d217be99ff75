import CordonPolicy
import CordonProtocol
import CordonService
import CordonServiceHTTP
import CordonTestSupport
import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import Testing

/// Every route against what strangers, thieves and broken clients send. Each of it is refused with a reason in the route's own
/// form; nothing of it is an error of the service, shows another person's data, or stops the service.
@Suite(.timeLimit(.minutes(20))) struct HostileRouteTests {
    @Test func `no route opens to a stranger, or to a token that is not for it`() async throws {
        let attacked = try await AttackedService()
        let now = attacked.test.clock.now
        let (issuer, key) = (attacked.test.issuer, attacked.device.key.publicKey)
        let administration = TestIssuer.administrationClaims(at: now)
        let checkIn = TestIssuer.checkInClaims(.workerA, key: key, at: now)
        func with(_ changes: [String: JSONValue]) -> [String: JSONValue] { administration.merging(changes) { $1 } }
        let owner = try issuer.token(administration)
        let good = "Bearer \(owner)"
        var credentials: [(name: String, fields: [String])] = [
            ("nothing", []), ("an empty field", [""]), ("a scheme alone", ["Bearer"]), ("no token", ["Bearer "]),
            ("a password", ["Basic b3duZXI6b3duZXI="]), ("the token without scheme", [owner]),
            ("two good tokens", [good, good]), ("two tokens in one field", ["\(good), \(good)"]),
            ("a token and a word", ["\(good) x"]), ("a token with a control character", ["Bearer \u{1}\(owner)"]),
            ("an opaque token", ["Bearer 2YotnFZFEjr1zCsicMWpAA"]),
            ("a token of 20 KiB", ["Bearer " + String(repeating: "a", count: 20 << 10)]),
            ("dots", ["Bearer .."]), ("many dots", ["Bearer " + String(repeating: ".", count: 1_000)]),
        ]
        let signed: [(name: String, claims: [String: JSONValue], header: [String: JSONValue])] = [
            ("unsigned", administration, ["alg": "none"]), ("an ID token", administration, ["typ": "JWT"]),
            ("a proof as token", administration, ["typ": "dpop+jwt"]),
            ("a security event as token", administration, ["typ": "secevent+jwt"]),
            ("another key", administration, ["kid": "unknown"]),
            ("a path as key", administration, ["kid": "../../etc"]),
            ("critical", administration, ["crit": ["x"]]),
            ("for both sides", with(["aud": ["api://cordon/check-in", "api://cordon/administration"]]), [:]),
            ("for nobody", with(["aud": []]), [:]),
            ("for another", with(["aud": "https://graph.microsoft.com.evil"]), [:]),
            ("ended", with(["exp": .integer(1)]), [:]), ("endless text", with(["exp": "never"]), [:]),
            ("of the future", with(["iat": .integer(1 << 52)]), [:]),
            ("of a far future", with(["nbf": .integer(.max)]), [:]),
            ("of another tenant", with(["tid": "fabrikam"]), [:]),
            ("of another issuer", with(["iss": "https://evil.test"]), [:]),
            ("of no issuer", with(["iss": .null]), [:]),
            ("of a list of issuers", with(["iss": [.string(TestIssuer.name)]]), [:]),
        ]
        for token in signed {
            credentials.append((token.name, ["Bearer " + (try issuer.token(token.claims, header: token.header))]))
        }
        let (ours, theirs) = (try issuer.token(checkIn), try issuer.token(checkIn, signedBy: SoftwareSigningKey()))
        credentials += [
            ("forged", ["Bearer \(theirs)"]), ("a device's without proof", ["DPoP \(ours)"]),
            ("a device's as Bearer", ["Bearer \(ours)"]),
        ]
        let all = credentials
        try await attacked.test.test { client in
            for (index, target) in attacked.targets.enumerated() where target.isGuarded {
                // One gate stands before all of Graph's routes: every tenth meets everything.
                let isSample = target.side == .graph && index % 10 != 0
                for credential in isSample ? all.prefix(1) + all.suffix(3) : all[...] {
                    var headers: HTTPFields = [.contentType: "application/json"]
                    headers[values: .authorization] = credential.fields
                    let answer = try await client.raw(target.method, target.path, target.body?.text(), headers)
                    attacked.judge(answer, target, credential.name)
                    // A receipt in the body can be the evidence there, so a body that is none is what is refused.
                    let refusals = target.path.hasSuffix("/acknowledgements") ? [400, 401, 404] : [401, 404]
                    #expect(refusals.contains(answer.status.code), "\(target), \(credential.name): \(answer.status)")
                }
                // Where tokens must not be looked for.
                for path in isSample ? [] : ["?access_token=\(owner)", "?token=\(owner)", "#\(owner)"] {
                    var headers: HTTPFields = [.cookie: "access_token=\(owner)"]
                    headers[.init("X-Authorization") ?? .referer] = good
                    let answer = try await client.raw(target.method, target.path + path, target.body?.text(), headers)
                    #expect([401, 404].contains(answer.status.code), "\(target), \(path.prefix(9)): \(answer.status)")
                }
            }
        }
        try await attacked.expectWhole()
    }

    /// What devices may never do: a token of the other side, and a good token with another person's registration.
    @Test func `no device reaches another's registration by any route`() async throws {
        let attacked = try await AttackedService()
        let thief = TestDevice(tag: "tag-thief", person: .workerB)
        try await attacked.test.test { client in
            let ids = [
                attacked.registration, attacked.registration.uppercased(), attacked.registration + "%00", "..",
                "%2e%2e",
                "", "*", "\(attacked.registration)%2f..%2f\(attacked.registration)", "%ff", "1 or 1=1",
                String(repeating: "a", count: 5_000),
            ]
            for target in attacked.targets where target.side == .device && target.path.contains(attacked.registration) {
                for id in ids {
                    // The limits are not what is tried here.
                    attacked.test.clock.advance(by: 3_600)
                    let path = target.path.replacing(attacked.registration, with: id)
                    guard URL(string: path) != nil else { continue }
                    let answer = try await client.raw(
                        as: thief, target.method, path, target.body?.text(), [.contentType: "application/json"])
                    attacked.judge(answer, target, "with \(id.prefix(40))")
                    #expect(answer.json["envelope"] == nil)
                }
            }
            let administrator = try attacked.ownerToken()
            for target in attacked.targets where target.side == .device {
                let answer = try await client.raw(
                    target.method, target.path, target.body?.text(),
                    [.authorization: "Bearer \(administrator)", .contentType: "application/json"])
                attacked.judge(answer, target, "with an owner's token")
            }
        }
        let owner = TestService.owner
        let registrations = try await attacked.test.service.administration.registrations(.init(), as: owner)
        #expect(registrations.first { $0.id == attacked.registration }?.state == .active)
        try await attacked.expectWhole()
    }

    /// Bodies that are not what they say, or not JSON, each with how its sender calls it.
    static let bodies: [(name: String, text: String, headers: HTTPFields)] = [
        ("XML", "<a/>", [.contentType: "application/xml"]),
        ("a form", "a=b", [.contentType: "application/x-www-form-urlencoded"]),
        ("no type that there is", "{}", [.contentType: "\u{1}"]),
        ("UTF-16", "{}", [.contentType: "application/json; charset=utf-16"]),
        ("brotli", "{}", [.contentType: "application/json", .contentEncoding: "br"]),
        ("two packings", "{}", [.contentType: "application/json", .contentEncoding: "gzip, gzip"]),
        ("gzip that is none", "{}", [.contentType: "application/json", .contentEncoding: "gzip"]),
        ("half an object", "{\"a\":", [.contentType: "application/json"]),
        ("a trailing comma", "{\"a\":1,}", [.contentType: "application/json"]),
        ("a comment", "{/**/}", [.contentType: "application/json"]),
        ("two values", "{} {}", [.contentType: "application/json"]),
        ("a member twice", "{\"displayName\":\"a\",\"displayName\":\"b\"}", [.contentType: "application/json"]),
        ("a member twice, once escaped", "{\"kind\":\"a\",\"k\\u0069nd\":\"b\"}", [.contentType: "application/json"]),
        ("depth", String(repeating: "[", count: 100_000), [.contentType: "application/json"]),
        (
            "closed depth", String(repeating: "{\"a\":", count: 500) + "1" + String(repeating: "}", count: 500),
            [.contentType: "application/json"]
        ),
        ("a raw control character", "{\"a\":\"\u{1}\"}", [.contentType: "application/json"]),
        ("half a surrogate pair", "{\"a\":\"\\ud800\"}", [.contentType: "application/json"]),
        ("not a number", "{\"a\":NaN}", [.contentType: "application/json"]),
        ("a number without end", "{\"a\":1e999999999}", [.contentType: "application/json"]),
        ("2 MiB", "{\"a\":\"" + String(repeating: "x", count: 2 << 20) + "\"}", [.contentType: "application/json"]),
        ("a list", "[]", [.contentType: "application/json"]), ("a text", "\"x\"", [.contentType: "application/json"]),
        ("null", "null", [.contentType: "application/json"]),
    ]

    @Test func `a body that is not what a route reads is refused before it does anything`() async throws {
        let attacked = try await AttackedService()
        let test = attacked.test
        try await test.test { client in
            for target in attacked.targets where target.body != nil {
                for body in Self.bodies {
                    let answer: TestResponse
                    if target.side == .device {
                        // The limits are not what is tried here.
                        test.clock.advance(by: 3_600)
                        answer = try await client.raw(
                            as: attacked.device, target.method, target.path, body.text, body.headers)
                    } else {
                        var headers = body.headers
                        headers[.authorization] = "Bearer \(try attacked.ownerToken())"
                        answer = try await client.raw(target.method, target.path, body.text, headers)
                    }
                    // A number that no type holds may be a member that no route reads.
                    attacked.judge(
                        answer, target, body.name,
                        mayPass: Self.readsNoBody(target) || body.name == "a number without end")
                }
            }
        }
        try await attacked.expectWhole()
    }

    /// Actions that say with their path all that they do, and read nothing.
    private static func readsNoBody(_ target: AttackedService.Target) -> Bool {
        let last = target.path.split(separator: "/").last ?? ""
        return [
            "wipeAndBlockManagedApps", "unblockManagedApps", "revokeSignInSessions", "hasPayloadLinks", "file",
        ].contains(last)
    }

    /// Twisted spellings of paths below one that needs an owner.
    static let paths = [
        "/admin/v1/%61udit", "/admin/v1/audit%00", "/admin/v1/audit%0d%0aX:1", "/admin/v1/audit;x=y",
        "/admin/v1/..;/audit",
        "/admin/v1/./audit", "/admin//v1/audit", "//admin/v1/audit", "/admin/v1/users/%2e%2e/settings",
        "/admin/v1/users/..%2fsettings/data", "/admin/v1/users/%252e%252e/data", "/admin/v1/users/oid-a%00/data",
        "/admin/v1/users/oid-a%2fdata", "/admin/v1/users/%c0%ae%c0%ae/data", "/admin/v1/users/%ff%fe/data",
        "/admin/v1/users/%e2%80%ae/data", "/admin/v1/users/\\..\\/data", "/mam/v1/keys/../../../admin/v1/audit",
        "/healthz/../admin/v1/audit", "/ADMIN/V1/AUDIT", "/beta/users('oid-a')", "/beta/users(%27oid-a%27)",
        "/beta/users('a''b')", "/beta/users('a", "/beta/users(oid-a)(oid-b)", "/beta/%24batch/..", "/beta/users/%2f",
        "/beta/users/oid-a%2fmemberOf", "/beta/groups/%00", "/beta/deviceAppManagement/managedAppRegistrations/%2e%2e",
        "/scim/v2/Users/%2e%2e%2fGroups", "/scim/v2/Users/oid-a%00", "/scim/v2/../../admin/v1/audit",
        "/.well-known/../admin/v1/audit", "/" + String(repeating: "../", count: 100) + "etc/passwd",
        "/beta/" + String(repeating: "a/", count: 2_000), "/admin/v1/logs/%2e%2e%2f%2e%2e%2fkeys%2froot.key",
        "/admin/v1/users/%/data", "/admin/v1/users/%zz/data", "*", "", "?", "http://evil.test/admin/v1/audit",
    ]

    @Test(arguments: [false, true]) func `a twisted path leads nowhere but where it says`(isOwner: Bool) async throws {
        let attacked = try await AttackedService()
        try await attacked.test.test { client in
            for path in Self.paths {
                for method in [HTTPRequest.Method.get, .post, .delete, .put, .patch, .options, .trace, .connect] {
                    var headers: HTTPFields = [:]
                    if isOwner { headers[.authorization] = "Bearer \(try attacked.ownerToken())" }
                    let answer = try await client.raw(method, path, nil, headers)
                    let target = AttackedService.Target(method: method, path: path, side: .graph, body: nil)
                    attacked.judge(answer, target, "twisted", mayPass: isOwner && method == .get || method == .options)
                    let text = String(buffer: answer.body)
                    #expect(!text.contains("root:") && !text.contains("PRIVATE"), "\(path)")
                }
            }
        }
        try await attacked.expectWhole()
    }

    @Test func `a route takes its own methods alone, whatever a header says`() async throws {
        let attacked = try await AttackedService()
        let known = Set(attacked.targets.map(\.description))
        let methods: [HTTPRequest.Method] = [.get, .post, .put, .patch, .delete, .options, .trace, .connect]
        let odd = ["PROPFIND", "get", "G", "LOCK"].compactMap(HTTPRequest.Method.init(rawValue:))
        try await attacked.test.test { client in
            for path in Set(attacked.targets.filter(\.isGuarded).map(\.path)) {
                for method in methods + odd where !known.contains("\(method.rawValue) \(path)") {
                    let headers: HTTPFields = [.authorization: "Bearer \(try attacked.ownerToken())"]
                    let answer = try await client.raw(method, path, nil, headers)
                    let target = AttackedService.Target(method: method, path: path, side: .graph, body: nil)
                    // OPTIONS says which methods there are, and does nothing.
                    attacked.judge(answer, target, "another method", mayPass: method == .options)
                }
                // What some frameworks take for the method.
                guard !known.contains("DELETE \(path)"), known.contains("GET \(path)"), !path.hasSuffix("/events")
                else {
                    continue
                }
                for name in ["X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"] {
                    var headers: HTTPFields = [.authorization: "Bearer \(try attacked.ownerToken())"]
                    if let name = HTTPField.Name(name) { headers[name] = "DELETE" }
                    _ = try await client.raw(.get, path, nil, headers)
                }
            }
        }
        try await attacked.expectWhole()
    }

    /// Odd values of parameters that lists and reports take, by the side whose words they are.
    static let parameters: [(side: AttackedService.Side, queries: [String])] = [
        (
            .graph,
            [
                "$top=-1", "$top=0", "$top=99999999999999999999", "$top=1e9", "$top=0x10", "$top=", "$top=1&$top=2",
                "$skip=-1", "$skip=9223372036854775807", "$skiptoken=x", "$skiptoken=%00",
                "$skiptoken=" + String(repeating: "A", count: 9_000), "$filter=", "$filter=id", "$filter=id eq",
                "$filter=nosuch eq 'x'", "$filter=(((", "$filter=" + String(repeating: "(", count: 5_000),
                "$filter=not not not id eq 'x'", "$filter=id gt 1e400",
                "$filter=contains(id,'" + String(repeating: "a", count: 9_000) + "')", "$orderby=id desc desc",
                "$orderby=;drop", "$select=%00", "$select=" + String(repeating: "id,", count: 3_000),
                "$expand=users($expand=users)", "$count=maybe", "$search=%22", "$apply=x", "&&&&", "=", "%", "a=%zz",
            ]
        ),
        (
            .provisioning,
            [
                "filter=userName eq", "filter=" + String(repeating: "(", count: 5_000),
                "startIndex=-9223372036854775808", "startIndex=9223372036854775807", "startIndex=x", "count=-1",
                "count=99999999999999999999", "attributes=%00", "&&&&", "%",
            ]
        ),
        (
            .administrator,
            [
                "after=-1", "after=9223372036854775807", "after=x", "limit=0", "limit=-1", "limit=9223372036854775807",
                "at=9999-99-99", "at=x", "at=-271821-04-20T00:00:00Z", "at=275760-09-13T00:00:00Z", "with=..",
                "wipe=maybe", "user=%00", "user=%ff", "&&&&", "%",
            ]
        ),
    ]

    @Test func `an odd parameter is refused or means nothing, and never is an error of the service`() async throws {
        let attacked = try await AttackedService()
        try await attacked.test.test { client in
            for target in attacked.targets where target.method == .get {
                for parameter in Self.parameters.first(where: { $0.side == target.side })?.queries ?? [] {
                    let separator = target.path.contains("?") ? "&" : "?"
                    let path = target.path + separator + parameter.replacing(" ", with: "%20")
                    let answer = try await client.raw(
                        .get, path, nil, [.authorization: "Bearer \(try attacked.ownerToken())"])
                    let whole = String(parameter.prefix(40))
                    // An owner may see all of it; what counts is that it is an answer.
                    if answer.status.kind != .successful && answer.status.code != 304 && answer.status.code != 302 {
                        attacked.judge(answer, target, whole)
                    }
                }
            }
        }
        try await attacked.expectWhole()
    }
}
