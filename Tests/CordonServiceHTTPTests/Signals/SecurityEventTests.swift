import CordonBase
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import CordonTestSupport
import CordonTesting
import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import Testing

@testable import CordonServiceHTTP

/// SRV-CI-091: security event tokens, pushed by a provider (RFC 8417, RFC 8935) or fetched from it (RFC 8936).
@Suite struct SecurityEventTests {
    private static let revoked = "https://schemas.openid.net/secevent/caep/event-type/session-revoked"
    static let disabled = "https://schemas.openid.net/secevent/risc/event-type/account-disabled"
    static let enabled = "https://schemas.openid.net/secevent/risc/event-type/account-enabled"

    func token(
        _ service: TestService, _ event: String, subject: JSONValue? = nil, claims: [String: JSONValue?] = [:],
        header: [String: JSONValue] = [:], signedBy signer: SoftwareSigningKey? = nil
    ) throws -> String {
        let person: JSONValue = [
            "format": "iss_sub", "iss": .string(TestIssuer.name), "sub": .string(TestPerson.workerA.id),
        ]
        var members: [String: JSONValue] = [
            "iss": .string(TestIssuer.name), "aud": .string(ServiceServerConfiguration.usualCheckInAudience),
            "iat": .integer(Int64(service.clock.now.timeIntervalSince1970)), "jti": .string(UUID().uuidString),
            "sub_id": subject ?? person, "events": .object([event: [:]]),
        ]
        for (name, value) in claims { members[name] = value }
        return try service.issuer.token(
            members, header: ["typ": "secevent+jwt"].merging(header) { $1 }, signedBy: signer)
    }

    private func push(_ client: TestClient, _ token: String, type: String = "application/secevent+jwt") async throws
        -> TestResponse
    {
        try await client.client.execute(
            uri: SecurityEventRoutes.path, method: .post, headers: [.contentType: type],
            body: ByteBuffer(string: token))
    }

    private func word(
        in answer: TestResponse, _ service: TestService, of registration: String
    ) async throws -> ContactProof {
        let devices = service.service.devices
        let keys = try await devices.keySet(of: TestService.tenant).verified(
            pin: try await devices.discoveryFacts(of: TestService.tenant).rootKeyThumbprint, at: service.clock.now)
        return try ContactProof(
            verifying: answer.json["contact"]?.string ?? "", by: keys, forRegistration: registration)
    }

    @Test func `a revoked session ends the tokens from before, in check-in and in administration`() async throws {
        let service = try await TestService()
        _ = try await service.publishPolicy()
        try await service.test { client in
            let device = TestDevice()
            let id = try await client.register(device).registrationID
            let old = try client.token(device)
            let administrator = TestIssuer.administrationClaims(at: service.clock.now)
            service.clock.advance(by: 60)
            #expect(try await push(client, token(service, Self.revoked)).status == .accepted)
            let path = "/mam/v1/registrations/\(id)/checkins"
            let refused = try await client.send(
                .post, path, as: device, device.checkIn(at: service.clock.now), .init(token: old))
            #expect(refused.status == .unauthorized && refused.problem == "access-token")
            #expect(try await word(in: refused, service, of: id).isAccountDisabled == false)
            // Made in the second of the event, and so perhaps before it.
            let same = try await client.send(.post, path, as: device, device.checkIn(at: service.clock.now))
            #expect(same.status == .unauthorized)
            service.clock.advance(by: 1)
            let fresh = try await client.send(.post, path, as: device, device.checkIn(at: service.clock.now))
            #expect(fresh.status == .ok)
            // Others' sessions go on.
            #expect(
                try await client.administer(.get, "/v1.0/me", claims: administrator).status != .unauthorized)
            let ada: JSONValue = ["format": "opaque", "id": "oid-ada"]
            #expect(try await push(client, token(service, Self.revoked, subject: ada)).status == .accepted)
            #expect(
                try await client.administer(.get, "/v1.0/me", claims: administrator).status == .unauthorized)
        }
    }

    @Test func `a disabled account is refused until it is enabled`() async throws {
        let service = try await TestService()
        _ = try await service.publishPolicy()
        try await service.test { client in
            let device = TestDevice()
            let id = try await client.register(device).registrationID
            let path = "/mam/v1/registrations/\(id)/checkins"
            let email: JSONValue = ["format": "email", "email": .string(TestPerson.workerA.name)]
            #expect(try await push(client, token(service, Self.disabled, subject: email)).status == .accepted)
            service.clock.advance(by: 5)
            let refused = try await client.send(.post, path, as: device, device.checkIn(at: service.clock.now))
            #expect(refused.status == .forbidden && refused.json["code"] == 200)
            #expect(refused.json["type"]?.string == ProblemDetails.accountDisabled)
            #expect(refused.json["contact"]?.string?.split(separator: ".").count == 3, "the signed word of it")
            // A moment of a JWT may be between seconds.
            let moment = try JSONValue(parsing: Data("\(service.clock.now.timeIntervalSince1970 + 0.5)".utf8))
            let enabled = try token(service, Self.enabled, claims: ["iat": moment])
            #expect(try await push(client, enabled).status == .accepted)
            let again = try await client.send(.post, path, as: device, device.checkIn(at: service.clock.now))
            #expect(again.status == .ok)
        }
    }

    @Test func `a disabled account's app learns it with a revoked token and without one, and gets its wipe`()
        async throws
    {
        // SRV-TG-32: the provider gives such an account no tokens any more.
        let service = try await TestService()
        _ = try await service.publishPolicy()
        try await service.test { client in
            let device = TestDevice()
            let id = try await client.register(device).registrationID
            let path = "/mam/v1/registrations/\(id)/checkins"
            let old = try client.token(device)
            func ask(_ changes: TestClient.Changes) async throws -> TestResponse {
                try await client.send(.post, path, as: device, device.checkIn(at: service.clock.now), changes)
            }
            // What takes back that it was disabled is signed as well.
            let enabled = try await ask(.init(omitsToken: true))
            #expect(enabled.status == .unauthorized && enabled.problem == "access-token")
            #expect(try await word(in: enabled, service, of: id).isAccountDisabled == false)
            service.clock.advance(by: 60)
            #expect(try await push(client, token(service, Self.disabled)).status == .accepted)
            for changes in [TestClient.Changes(token: old), .init(omitsToken: true)] {
                let refused = try await ask(changes)
                #expect(refused.status == .forbidden && refused.problem == "account-disabled")
            }
            // Only the holder of the registration's key is told.
            let stranger = try await client.send(
                .post, path, as: TestDevice(), device.checkIn(at: service.clock.now), .init(omitsToken: true))
            #expect(stranger.status == .unauthorized && stranger.json["contact"] == nil)
            #expect(try await ask(.init(omitsToken: true, omitsProof: true)).problem == "access-token")

            _ = try await service.service.administration.requestWipe(
                ofUser: TestPerson.workerA.id, deviceTag: device.tag, as: TestService.owner)
            let wiped = try await ask(.init(omitsToken: true))
            #expect(wiped.status == .ok && wiped.json["statusCode"] == 102)
        }
    }

    @Test
    func `tokens end at once where a disabled account stays as it is, and the provider has nothing to send again`()
        async throws
    {
        var configuration = ServiceConfiguration()
        configuration.wipeBudget = 0
        let storage = CountingStorage()
        let service = try await TestService(storage: storage, configuration: configuration)
        let policy = try await service.publishPolicy()
        _ = try await service.service.administration.updatePolicy(
            policy.id, changes: ["appActionIfUnableToAuthenticateUser": "wipe"], ifVersion: nil, as: TestService.owner)
        try await service.test { client in
            let device = TestDevice()
            let id = try await client.register(device).registrationID
            let path = "/mam/v1/registrations/\(id)/checkins"
            let old = try client.token(device)
            service.clock.advance(by: 60)
            let event = try token(service, Self.disabled)
            // What is known of this person alone, however many have lost their sessions.
            let reads = try await storage.reads {
                let answer = try await push(client, event)
                #expect(answer.status == .accepted)
            }
            #expect(reads[.revocation]?.one == 1 && reads[.revocation]?.all == 0)
            let refused = try await client.send(
                .post, path, as: device, device.checkIn(at: service.clock.now), .init(token: old))
            #expect(refused.status == .unauthorized && refused.problem == "access-token")
            #expect(try await push(client, event).status == .accepted)
        }
        let user = try await service.service.administration.user(TestPerson.workerA.id, as: TestService.owner)
        #expect(user.accountEnabled)
    }

    @Test
    func `what no trusted provider signed for this service changes nothing, and is told in the words of RFC 8935`()
        async throws
    {
        let service = try await TestService()
        let stranger = SoftwareSigningKey()
        let other: JSONValue = ["format": "iss_sub", "iss": "https://other.example", "sub": "oid-a"]
        let future = Int64(service.clock.now.timeIntervalSince1970) + 3_600
        let cases: [(String, String)] = [
            ("invalid_key", try token(service, Self.disabled, signedBy: stranger)),
            ("invalid_key", try token(service, Self.disabled, header: ["kid": "none"])),
            ("invalid_issuer", try token(service, Self.disabled, claims: ["iss": "https://other.example"])),
            ("invalid_audience", try token(service, Self.disabled, claims: ["aud": "https://other.example"])),
            ("invalid_audience", try token(service, Self.disabled, claims: ["aud": JSONValue?.none])),
            ("invalid_request", try token(service, Self.disabled, header: ["typ": "at+jwt"])),
            ("invalid_request", try token(service, Self.disabled, header: ["alg": "none"])),
            ("invalid_request", try token(service, Self.disabled, claims: ["iat": .integer(future)])),
            ("invalid_request", try token(service, Self.disabled, claims: ["jti": JSONValue?.none])),
            ("invalid_request", try token(service, Self.disabled, subject: other)),
            ("invalid_request", "x.y.z"),
        ]
        try await service.test { client in
            for (code, text) in cases {
                let answer = try await push(client, text)
                #expect(answer.status == .badRequest)
                #expect(answer.json["err"]?.string == code, "\(answer.json)")
            }
            let good = try token(service, Self.disabled)
            #expect(try await push(client, good, type: "application/jwt").status == .badRequest)
            #expect(try await push(client, token(service, "https://example.test/unknown")).status == .accepted)
        }
        #expect(
            try await service.service.administration.user(TestPerson.workerA.id, as: TestService.owner).accountEnabled)
        #expect(try await service.service.provisioning.sessionRevocations(of: TestService.tenant).isEmpty)
    }

    @Test
    func `an event that calls a person by sub counts where tokens say oid, and one about no known person is told`()
        async throws
    {
        let log = LogRecorder()
        let service = try await TestService(logger: log.logger)
        _ = try await service.publishPolicy()
        try await service.test { client in
            let device = TestDevice()
            func claims() -> [String: JSONValue] {
                TestIssuer.checkInClaims(device.person, key: device.key.publicKey, at: service.clock.now)
                    .merging(["sub": "pairwise-1"]) { $1 }
            }
            let old = try service.issuer.token(claims())
            let registered = try await client.send(
                .post, "/mam/v1/registrations", as: device, device.registration, .init(token: old))
            let id = try #require(
                registered.json["registrationId"]?.string ?? registered.json["registrationID"]?.string)
            let path = "/mam/v1/registrations/\(id)/checkins"
            let administrator = TestIssuer.administrationClaims(at: service.clock.now).merging(["sub": "pairwise-2"]) {
                $1
            }
            service.clock.advance(by: 60)
            func bySub(_ sub: String) -> JSONValue {
                ["format": "iss_sub", "iss": .string(TestIssuer.name), "sub": .string(sub)]
            }
            #expect(
                try await push(client, token(service, Self.revoked, subject: bySub("pairwise-1"))).status == .accepted)
            let refused = try await client.send(
                .post, path, as: device, device.checkIn(at: service.clock.now), .init(token: old))
            #expect(refused.status == .unauthorized)
            #expect(!log.lines.contains { $0.contains("a person who is not known here") })
            // A person who never enrolled has tokens too, and is known by nothing else.
            #expect(
                try await push(client, token(service, Self.revoked, subject: bySub("pairwise-2"))).status == .accepted)
            #expect(try await client.administer(.get, "/v1.0/me", claims: administrator).status == .unauthorized)
            #expect(log.lines.contains { $0.contains("a person who is not known here") })

            #expect(
                try await push(client, token(service, Self.disabled, subject: bySub("pairwise-1"))).status == .accepted)
            let disabled = try await client.send(
                .post, path, as: device, device.checkIn(at: service.clock.now),
                .init(token: try service.issuer.token(claims())))
            #expect(disabled.problem == "account-disabled")
        }
    }

    @Test func `a provider's word ends the sessions of its own people, and of no person of another provider`()
        async throws
    {
        let second = "https://partner.example.test"
        let service = try await TestService(issuers: [TestIssuer.name, second])
        try await service.test { client in
            let first = TestIssuer.administrationClaims(at: service.clock.now)
            var other = first
            other["iss"] = .string(second)
            let (staff, partner) = (first, other)
            func isIn(_ claims: [String: JSONValue]) async throws -> Bool {
                try await client.administer(.get, "/v1.0/groups", claims: claims).status == .ok
            }
            func revoke(by issuer: String, _ subject: JSONValue) async throws -> TestResponse {
                try await push(
                    client, token(service, Self.revoked, subject: subject, claims: ["iss": .string(issuer)]))
            }
            service.clock.advance(by: 5)
            let names: [JSONValue] = [
                ["format": "email", "email": "ada@contoso.example"],
                ["format": "account", "uri": "acct:ada@contoso.example"],
                ["format": "opaque", "id": .string(IssuerMark.text(of: second) + "oid-ada")],
                ["format": "iss_sub", "iss": .string(TestIssuer.name), "sub": "oid-ada"],
            ]
            for name in names {
                let refused = try await revoke(by: second, name)
                #expect(refused.json["err"] == "invalid_request", "\(name)")
            }
            var signedIn = [try await isIn(staff), try await isIn(partner)]
            #expect(signedIn == [true, true])
            let theirs = try await revoke(by: second, ["format": "opaque", "id": "oid-ada"])
            #expect(theirs.status == .accepted)
            signedIn = [try await isIn(staff), try await isIn(partner)]
            #expect(signedIn == [true, false])
            let ours = try await revoke(by: TestIssuer.name, ["format": "opaque", "id": "OID-ADA"])
            #expect(ours.status == .accepted)
            signedIn = [try await isIn(staff), try await isIn(partner)]
            #expect(signedIn == [false, false])
        }
    }

    @Test func `an event counts also where a later one in its token is refused`() async throws {
        let service = try await TestService()
        try await service.test { client in
            let administrator = TestIssuer.administrationClaims(at: service.clock.now)
            func isIn() async throws -> Bool {
                try await client.administer(.get, "/v1.0/me", claims: administrator).status != .unauthorized
            }
            #expect(try await isIn())
            service.clock.advance(by: 5)
            func about(_ id: String) -> JSONValue { ["subject": ["format": "opaque", "id": .string(id)]] }
            let text = try token(
                service, Self.revoked,
                claims: [
                    "sub_id": JSONValue?.none,
                    "events": [
                        Self.revoked: about("oid-ada"), Self.disabled: about(String(repeating: "x", count: 300)),
                    ],
                ])
            #expect(try await push(client, text).status == .badRequest)
            #expect(try await !isIn())
        }
    }

    @Test func `an event reads what is known of its person alone, however many there were`() async throws {
        let storage = CountingStorage()
        let service = try await TestService(storage: storage)
        try await service.test { client in
            for person in ["oid-1", "oid-2"] {
                let reads = try await storage.reads {
                    let event = try token(service, Self.revoked, subject: ["format": "opaque", "id": .string(person)])
                    #expect(try await push(client, event).status == .accepted)
                }
                // The first of all has nothing to go on from.
                #expect(reads[.revocation]?.one == 1 && (reads[.revocation]?.all == 0) == (person == "oid-2"))
            }
        }
    }

    @Test func `a provider that cannot be asked for its keys is told to come again`() async throws {
        let service = try await TestService()
        service.issuer.published.withLock { $0 = nil }
        try await service.test { client in
            let answer = try await push(client, try token(service, Self.disabled))
            #expect(answer.status == .serviceUnavailable && answer.headers[.retryAfter] == "30")
        }
    }
}
