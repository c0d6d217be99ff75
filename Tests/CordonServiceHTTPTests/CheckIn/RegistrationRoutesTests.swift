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

@Suite struct RegistrationRoutesTests {
    @Test func `a device registers, and the same key again finds its registration`() async throws {
        let service = try await TestService()
        _ = try await service.publishPolicy()
        let device = TestDevice()
        try await service.test { client in
            let first = try await client.send(.post, "/mam/v1/registrations", as: device, device.registration)
            #expect(first.status == .created)
            let id = try #require(first.json["registrationID"]?.string)
            #expect(first.headers[.location] == "\(TestService.base)/mam/v1/registrations/\(id)")
            let again = try await client.send(.post, "/mam/v1/registrations", as: device, device.registration)
            #expect(again.status == .ok)
            #expect(again.json["registrationID"]?.string == id)
        }
    }

    @Test func `a person who cannot be added at the first sign-in is told why, and so are operators`() async throws {
        let log = LogRecorder()
        var configuration = ServiceConfiguration()
        configuration.createsPeopleAtSignIn = true
        let service = try await TestService(configuration: configuration, logger: log.logger)
        _ = try await service.publishPolicy()
        let long = String(repeating: "a", count: 256)
        let refused: [(TestPerson, String)] = [
            (TestPerson(id: "https://login.example.test/cleo", name: "cleo@contoso.example"), "the id of the account"),
            (TestPerson(id: "cleo o'clock", name: "cleo@contoso.example"), "the id of the account"),
            (TestPerson(id: long, name: "cleo@contoso.example"), "the id of the account"),
            (TestPerson(id: "oid-other", name: "Worker-A@contoso.example"), "another person"),
        ]
        try await service.test { client in
            for (person, reason) in refused {
                let device = TestDevice(person: person)
                let answer = try await client.send(.post, "/mam/v1/registrations", as: device, device.registration)
                #expect(answer.status == .forbidden && answer.json["code"] == 200, "\(person.id)")
                #expect(answer.json["detail"]?.string?.contains(reason) == true, "\(answer.json)")
                let line = log.lines.last { $0.contains("first sign-in") }
                #expect(line?.hasPrefix("notice") == true && line?.contains(reason) == true, "\(person.id)")
            }
        }
        #expect(!log.lines.contains { $0.contains("cleo") || $0.contains("oid-other") })
        #expect(try await service.service.administration.users(as: TestService.owner).count == 2)
    }

    @Test func `the first envelope is signed for this registration and carries the policy`() async throws {
        let service = try await TestService()
        _ = try await service.publishPolicy()
        let device = TestDevice()
        try await service.test { client in
            let result = try await client.register(device)
            let answer = try await client.client.execute(uri: "/mam/v1/keys", method: .get)
            #expect(answer.headers[.cacheControl] == "public, max-age=3600")
            let keys = try MessageCoding.decode(SignedKeySet.self, from: Data(answer.body.readableBytesView))
            let pin = try await service.service.devices.discoveryFacts(of: TestService.tenant).rootKeyThumbprint
            let envelope = try SignedEnvelope(result.envelope).verified(
                by: keys.verified(pin: pin, at: service.clock.now),
                for: .init(
                    tenant: TestService.tenant, registrationID: result.registrationID, account: result.account.id,
                    bundleID: TestDevice.bundleID))
            #expect(envelope.policy != nil)
        }
    }

    @Test func `what tokens must be is said in the words of RFC 9728, and how long keys may be kept by the operator`()
        async throws
    {
        // SRV-CI-079, SRV-CI-016
        let service = try await TestService()
        try await service.test { client in
            let document = try await client.client.execute(
                uri: "/.well-known/oauth-protected-resource", method: .get)
            #expect(document.status == .ok)
            #expect(document.json["resource"]?.string == ServiceServerConfiguration.usualCheckInAudience)
            #expect(document.json["authorization_servers"] == [.string(TestIssuer.name)])
            #expect(document.json["scopes_supported"] == ["mam.checkin"])
            #expect(document.json["dpop_bound_access_tokens_required"] == true)
            func age() async throws -> String? {
                try await client.client.execute(uri: "/mam/v1/keys", method: .get).headers[.cacheControl]
            }
            #expect(try await age() == "public, max-age=3600")
            var settings = ServiceSettings()
            settings.keySetMaxAgeSeconds = 120
            try await service.service.administration.setServiceSettings(settings, as: TestService.owner)
            #expect(try await age() == "public, max-age=120")
        }
    }

    @Test func `a person without entitlement gets 403 and code 200`() async throws {
        let service = try await TestService()
        try await service.test { client in
            let device = TestDevice(person: TestPerson(id: "oid-x", name: "x@contoso.example"))
            let answer = try await client.send(.post, "/mam/v1/registrations", as: device, device.registration)
            #expect(answer.status == .forbidden)
            #expect(answer.headers[.contentType] == ProblemDetails.mediaType)
            #expect(answer.json["code"]?.integer == 200)
            #expect(answer.json["traceId"]?.string == answer.headers[.requestID])
        }
    }

    @Test func `a blocked person gets 423 with the wipe inside`() async throws {
        let service = try await TestService()
        _ = try await service.publishPolicy()
        let device = TestDevice()
        try await service.test { client in
            let result = try await client.register(device)
            try await service.service.administration.blockUser(TestPerson.workerA.id, as: TestService.owner)
            let answer = try await client.send(
                .post, "/mam/v1/registrations/\(result.registrationID)/checkins", as: device,
                device.checkIn(at: service.clock.now))
            #expect(answer.status.code == 423)
            #expect(answer.json["statusCode"]?.integer == 102)
            #expect(answer.json["envelope"]?.string != nil)
        }
    }

    @Test func `unregistering answers 204 and a check-in then code 220`() async throws {
        let service = try await TestService()
        _ = try await service.publishPolicy()
        let device = TestDevice()
        try await service.test { client in
            let path = "/mam/v1/registrations/\(try await client.register(device).registrationID)"
            #expect(try await client.send(.delete, path, as: device).status == .noContent)
            let answer = try await client.send(
                .post, path + "/checkins", as: device, device.checkIn(at: service.clock.now))
            #expect(answer.status == .gone)
            #expect(answer.json["code"]?.integer == 220)
        }
    }

    @Test func `the discovery document leads to the rest`() async throws {
        let service = try await TestService()
        try await service.test { client in
            let answer = try await client.client.execute(uri: ServiceDiscovery.path, method: .get)
            let document = try MessageCoding.decode(ServiceDiscovery.self, from: Data(answer.body.readableBytesView))
            #expect(document.tenant == TestService.tenant)
            #expect(document.issuer.absoluteString == TestIssuer.name)
            #expect(document.checkIn.absoluteString == TestService.base + "/mam/v1")
            #expect(document.keys.absoluteString == TestService.base + "/mam/v1/keys")
            #expect(document.scope == "mam.checkin")
        }
    }

    @Test func `bodies that are too large, too deep or no JSON are refused before they are read further`() async throws
    {
        let service = try await TestService()
        let device = TestDevice()
        try await service.test { client in
            let path = "/mam/v1/registrations"
            let bodies: [(String, Int)] = [
                (String(repeating: " ", count: CheckInRoutes.largestBody + 1), 413),
                (String(repeating: "[", count: 10_000), 400), ("{\"nonce\":1,\"nonce\":2}", 400), ("not json", 400),
                ("{}", 400),
            ]
            for (body, status) in bodies {
                let token = try client.token(device)
                let answer = try await client.client.execute(
                    uri: path, method: .post,
                    headers: [
                        .authorization: "DPoP \(token)", .contentType: "application/json",
                        .dpop: try await client.proof(device, .post, path, token: token),
                    ], body: ByteBuffer(string: body))
                #expect(answer.status.code == status, "\(body.prefix(20))")
                #expect(answer.headers[.contentType] == ProblemDetails.mediaType)
            }
        }
    }
}
