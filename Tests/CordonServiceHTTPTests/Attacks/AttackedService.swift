import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import CordonTestSupport
import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import Testing

@testable import CordonGraph
@testable import CordonServiceHTTP

/// A service with one of everything, all of its routes, and what a hostile request may at most bring about.
struct AttackedService {
    /// Who a route is for, and so in which form it refuses.
    enum Side {
        case device, administrator, provisioning, graph, authority, securityEvents, open
    }

    /// A route with a path that leads to something.
    struct Target: CustomStringConvertible {
        let method: HTTPRequest.Method
        let path: String
        let side: Side
        /// A body that the route takes, nil where it reads none.
        let body: JSONValue?

        var description: String { "\(method.rawValue) \(path)" }

        /// Whether nothing but a token or a proof opens it.
        var isGuarded: Bool { [.device, .administrator, .provisioning, .graph].contains(side) }
    }

    let fixture: RouteFixture
    let targets: [Target]
    /// The registration of worker A, and the device that has its key.
    let registration: String
    let device: TestDevice

    var test: TestService { fixture.test }

    /// Words that stand in the store and that no refusal repeats.
    static let secrets = ["worker-b@contoso.example", "planted-secret"]

    init() async throws {
        let fixture = try await RouteFixture()
        self.fixture = fixture
        let (service, owner, own) = (fixture.test.service, TestService.owner, TestDevice(tag: "tag-attacked"))
        device = own
        _ = try await service.administration.createPolicy(
            .iosManagedAppProtection, document: ["displayName": "planted-secret"], as: owner)
        let id = try await fixture.test.test { try await $0.register(own).registrationID }
        registration = id
        var targets = fixture.routes.map {
            Target(method: $0.method, path: "/beta/" + fixture.path(of: $0), side: .graph, body: fixture.body(of: $0))
        }
        targets.append(
            Target(
                method: .post, path: "/v1.0/$batch", side: .graph,
                body: ["requests": [["id": "1", "method": "GET", "url": "/me"]]]))
        for route in fixture.test.routes where !route.contains("*") && !route.hasPrefix("HEAD ") {
            let parts = route.split(separator: " ", maxSplits: 1).map(String.init)
            guard parts.count == 2, let method = HTTPRequest.Method(rawValue: parts[0]),
                !["/v1.0", "/beta"].contains(parts[1].lowercased())
            else { continue }
            targets.append(
                Target(
                    method: method, path: Self.path(parts[1], registration: id), side: Self.side(of: parts[1]),
                    body: Self.body(of: "\(parts[0]) \(parts[1])")))
        }
        self.targets = targets
    }

    private static func side(of path: String) -> Side {
        switch path {
        case _ where path.hasPrefix("/mam/v1/keys"): .open
        case _ where path.hasPrefix("/mam/"): .device
        case _ where path.hasPrefix("/scim/"): .provisioning
        case "/cordon/v1/security-events": .securityEvents
        // The report is signed by the device's own key and carries no token.
        case _ where path.hasPrefix("/cordon/v1/devices/") && path.hasSuffix("/session"): .open
        case _ where path.hasPrefix("/admin/") || path.hasPrefix("/cordon/"): .administrator
        case _ where path.hasPrefix("/:tenant") || path.hasPrefix("/common"): .authority
        default: .open
        }
    }

    private static func path(_ pattern: String, registration: String) -> String {
        var parts = pattern.split(separator: "/").map(String.init)
        for (index, part) in parts.enumerated() where part.hasPrefix(":") {
            parts[index] =
                switch index > 0 ? parts[index - 1] : "" {
                case "registrations": registration
                case "users", "Users": TestPerson.workerA.id
                case "Groups": TestService.group
                case "": TestService.tenant.rawValue
                default: "1"
                }
        }
        return "/" + parts.joined(separator: "/")
    }

    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Vectors/bodies")

    private static func seed(_ name: String) -> JSONValue? {
        (try? Data(contentsOf: folder.appending(path: name + ".json"))).flatMap { try? JSONValue(parsing: $0) }
    }

    /// A body of the right form for the routes that read one.
    static func body(of route: String) -> JSONValue? {
        switch route {
        case "POST /mam/v1/registrations": seed("registration")
        case "POST /mam/v1/registrations/:id/checkins": seed("check-in")
        case "POST /mam/v1/registrations/:id/acknowledgements": seed("acknowledgement")
        case "POST /mam/v1/registrations/:id/compliance": ["silent": true, "health": []]
        case "POST /mam/v1/telemetry": seed("telemetry")
        case "PUT /admin/v1/settings": seed("settings")
        case "PUT /admin/v1/allowedAccounts": ["accounts": [["id": "oid-a", "userPrincipalName": "a@contoso.example"]]]
        case "PUT /admin/v1/users/:id/workingTime": ["status": "clockedIn", "asOf": "2027-01-15T08:00:00Z"]
        case "POST /admin/v1/keys": ["role": "envelope", "activeFrom": "2027-02-15T08:00:00Z"]
        case "PUT /admin/v1/roles/:id": ["displayName": "R", "permissions": ["read"], "members": ["writers"]]
        case "PUT /admin/v1/moving": ["moving": false]
        case "POST /admin/v1/impact": ["wipe": "oid-a"]
        case "POST /admin/v1/registrations/:id/commands": ["kind": "refreshConfig"]
        case "POST /scim/v2/Users", "PUT /scim/v2/Users/:id": seed("person")
        case "POST /scim/v2/Groups", "PUT /scim/v2/Groups/:id": seed("group")
        case "PATCH /scim/v2/Users/:id", "PATCH /scim/v2/Groups/:id": seed("patch")
        case "POST /cordon/v1/devices": ["request": "a.b.c", "name": "Desk"]
        case "POST /cordon/v1/devices/:id/session": ["statement": "a.b.c"]
        default: nil
        }
    }

    /// An owner's token for every side but the devices'.
    func ownerToken() throws -> String {
        try test.issuer.token(TestIssuer.administrationClaims(at: test.clock.now))
    }

    /// What a request may be answered; records everything else as an issue.
    ///
    /// - Parameter mayPass: Whether the request may be carried out: what is odd about it may be of no matter to the route.
    func judge(
        _ answer: TestResponse, _ target: Target, _ what: String, mayPass: Bool = false,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let status = Int(answer.status.code)
        let text = String(buffer: answer.body)
        let place: Comment = "\(target), \(what): \(status) \(text.prefix(200))"
        // What this service does not do at all, and what only the provider could answer.
        if status == 501, answer.json["error"]?["code"]?.string == "NotImplemented" { return }
        if status == 503, target.side == .authority { return }
        if (200..<300).contains(status) {
            #expect(mayPass, place, sourceLocation: sourceLocation)
            return
        }
        #expect((400..<500).contains(status), place, sourceLocation: sourceLocation)
        for secret in Self.secrets { #expect(!text.contains(secret), place, sourceLocation: sourceLocation) }
        // A HEAD request has no body, and neither has the answer to one.
        guard target.method != .head else { return }
        #expect(isExplained(answer), place, sourceLocation: sourceLocation)
    }

    /// Whether a refusal says in the form of any side what is wrong.
    private func isExplained(_ answer: TestResponse) -> Bool {
        let (body, status) = (answer.json, Int64(answer.status.code))
        return body["type"]?.string?.hasPrefix("urn:cordon:problem:") == true && body["status"]?.integer == status
            || body["error"]?["code"]?.string?.isEmpty == false
            || body["schemas"] == ["urn:ietf:params:scim:api:messages:2.0:Error"]
                && body["status"]?.string == String(status)
            || body["err"]?.string?.isEmpty == false || body["error"]?.string?.isEmpty == false
    }

    /// Sees that the service lives, that the log is whole, and that nothing of the organisation went.
    func expectWhole(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        try await test.test { client in
            let health = try await client.client.execute(uri: "/healthz", method: .get)
            #expect(health.status == .ok, sourceLocation: sourceLocation)
        }
        let (administration, owner) = (test.service.administration, TestService.owner)
        let people = try await administration.users(as: owner).map(\.id)
        #expect(Set(people).isSuperset(of: ["oid-a", "oid-b"]), sourceLocation: sourceLocation)
        let policies = try await administration.policies(of: Set(PolicyKind.allCases), as: owner)
        #expect(
            policies.contains { $0.document["displayName"]?.string == "planted-secret" },
            sourceLocation: sourceLocation)
        var last: Int64 = 0
        while true {
            let page = try await administration.auditRecords(.init(after: last, limit: 1_000), as: owner)
            for record in page {
                #expect(record.sequence == last + 1, sourceLocation: sourceLocation)
                last = record.sequence
            }
            guard page.count == 1_000 else { break }
        }
        #expect(last > 0, sourceLocation: sourceLocation)
    }
}

extension TestClient {
    /// Sends bytes as they are.
    func raw(
        _ method: HTTPRequest.Method, _ path: String, _ body: String? = nil, _ headers: HTTPFields = [:]
    ) async throws -> TestResponse {
        try await client.execute(
            uri: path, method: method, headers: headers, body: body.map { ByteBuffer(string: $0) })
    }

    /// Sends bytes as a device that has a good token and proof.
    func raw(
        as device: TestDevice, _ method: HTTPRequest.Method, _ path: String, _ body: String?, _ headers: HTTPFields
    ) async throws -> TestResponse {
        var headers = headers
        let token = try token(device)
        headers[.authorization] = "DPoP \(token)"
        headers[.dpop] = try await proof(device, method, path, token: token)
        return try await raw(method, path, body, headers)
    }
}
