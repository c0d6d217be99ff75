import CordonBase
import CordonPolicy
import CordonProtocol
import CordonService
import CordonTestSupport
import Foundation
import HTTPTypes
import HummingbirdTesting
import Testing

@testable import CordonServiceHTTP

/// Evidence over HTTP, bound to a registration, its key and a nonce of the service.
@Suite struct EvidenceRoutesTests {
    private static let app = "9XK3M7QW2P.\(TestDevice.bundleID)"

    /// An enrolled device that has an authenticator.
    private struct Stage: Sendable {
        let service: TestService
        let client: TestClient
        let device: TestDevice
        let id: String
        let maker: MadeAuthenticator

        func evidence(
            _ make: (Data) throws -> (attestation: Data?, assertion: Data?), nonce: String? = nil,
            registration: String? = nil
        ) async throws -> AppEvidence {
            let fresh = try await client.nonce()
            let challenge = AppEvidence.challenge(
                registrationID: registration ?? id, keyThumbprint: device.key.publicKey.thumbprint,
                nonce: nonce ?? fresh)
            let made = try make(challenge)
            return AppEvidence(
                .appleAppAttest, keyID: Base64URL.encode(maker.keyID), nonce: nonce ?? fresh,
                attestation: made.attestation.map { Base64URL.encode($0) },
                assertion: made.assertion.map { Base64URL.encode($0) })
        }

        func send(_ evidence: AppEvidence) async throws -> TestResponse {
            try await client.send(.post, "/mam/v1/registrations/\(id)/evidence", as: device, evidence)
        }

        func attest(_ lie: MadeAuthenticator.Lie = .init()) async throws -> TestResponse {
            try await send(evidence { (try maker.attestation($0, lie), nil) })
        }

        func assert(_ counter: UInt32) async throws -> TestResponse {
            try await send(evidence { (nil, try maker.assertion($0, counter: counter)) })
        }

        func flagged() async throws -> [FlaggedApp] {
            try await service.service.administration.flaggedApps(as: TestService.owner)
        }
    }

    private func enrolled(
        asksFor app: String? = app, _ body: @escaping @Sendable (Stage) async throws -> Void
    ) async throws {
        let maker = try MadeAuthenticator(app: Self.app, at: SettableClock().now)
        let service = try await TestService(
            appAttest: app.map { AppAttestSettings(apps: [$0]) }, attestationRoot: maker.root)
        _ = try await service.publishPolicy()
        try await service.test { client in
            let device = TestDevice()
            let result = try await client.register(device)
            try await body(
                Stage(service: service, client: client, device: device, id: result.registrationID, maker: maker))
        }
    }

    @Test func `an app attests its key, asserts by it, and is noted once in the audit log`() async throws {
        try await enrolled { stage in
            let attested = try await stage.attest()
            #expect(attested.status == .ok && attested.json["nextEvidenceSeconds"] == 86_400)
            #expect(try await stage.assert(1).status == .ok)
            #expect(try await stage.assert(2).status == .ok)
            let records = try await stage.service.service.administration.auditRecords(
                AuditQuery(), as: TestService.owner)
            let noted = records.filter { $0.action == "registration.evidence" }
            #expect(noted.count == 1 && noted.first?.details["app"] == Self.app)
            #expect(try await stage.flagged().isEmpty)
        }
    }

    @Test func `an assertion that was used is refused, flags the app, and good evidence takes the flag away`()
        async throws
    {
        try await enrolled { stage in
            #expect(try await stage.attest().status == .ok)
            #expect(try await stage.assert(3).status == .ok)
            let again = try await stage.assert(3)
            #expect(again.status == .unprocessableContent)
            #expect(again.json["type"]?.string?.hasSuffix("evidence") == true)
            #expect(try await stage.flagged().map(\.reasons) == [["appEvidence"]])
            #expect(try await stage.assert(4).status == .ok)
            #expect(try await stage.flagged().isEmpty)
        }
    }

    @Test func `evidence is an input and no gate: an app whose evidence was refused checks in as before`() async throws
    {
        try await enrolled { stage in
            #expect(try await stage.attest().status == .ok)
            #expect(try await stage.assert(0).status == .unprocessableContent)
            let checkIn = try await stage.client.send(
                .post, "/mam/v1/registrations/\(stage.id)/checkins", as: stage.device,
                stage.device.checkIn(at: stage.service.clock.now))
            #expect(checkIn.status == .ok)
        }
    }

    @Test func `an attestation that is sent again does not take the count back`() async throws {
        try await enrolled { stage in
            let evidence = try await stage.evidence { (try stage.maker.attestation($0), nil) }
            #expect(try await stage.send(evidence).status == .ok)
            let used = try await stage.evidence { (nil, try stage.maker.assertion($0, counter: 9)) }
            #expect(try await stage.send(used).status == .ok)
            #expect(try await stage.send(evidence).status == .ok)
            #expect(try await stage.send(used).status == .unprocessableContent)
        }
    }

    @Test func `evidence about another registration, with an old nonce or by an unknown key is refused`() async throws {
        try await enrolled { stage in
            let other = try await stage.evidence({ (try stage.maker.attestation($0), nil) }, registration: "other")
            #expect(try await stage.send(other).status == .unprocessableContent)
            let old = try await stage.evidence { (try stage.maker.attestation($0), nil) }
            stage.service.clock.advance(by: 301)
            let late = try await stage.send(old)
            #expect(late.status == .unauthorized && late.json["type"]?.string?.hasSuffix("proof-nonce") == true)
            #expect(try await stage.assert(1).status == .conflict)
            let both = try await stage.evidence {
                (try stage.maker.attestation($0), try stage.maker.assertion($0, counter: 1))
            }
            #expect(try await stage.send(both).status == .badRequest)
            #expect(try await stage.flagged().isEmpty, "nothing good was there before")
        }
    }

    @Test func `a service that expects none has no such route to an app, and one of another app refuses it`()
        async throws
    {
        try await enrolled(asksFor: nil) { stage in
            let answer = try await stage.attest()
            #expect(answer.status == .notFound)
        }
        try await enrolled(asksFor: "9XK3M7QW2P.org.example.other") { stage in
            let answer = try await stage.attest()
            #expect(answer.status == .unprocessableContent)
        }
    }
}
