import CordonBase
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

@testable import CordonServiceHTTP

/// A proof names the body that it was made for: what somebody changes of it on the way is refused before anything of it is kept.
@Suite struct ChangedBodyTests {
    private func enrolled(
        _ body: @escaping @Sendable (TestService, TestClient, TestDevice, RegistrationResult) async throws -> Void
    ) async throws {
        let service = try await TestService(
            appAttest: AppAttestSettings(apps: ["9XK3M7QW2P.\(TestDevice.bundleID)"]))
        _ = try await service.publishPolicy()
        try await service.test { client in
            let device = TestDevice()
            try await body(service, client, device, try await client.register(device))
        }
    }

    /// Sends a body with a proof for another one.
    private static func send(
        _ method: HTTPRequest.Method, _ path: String, as device: TestDevice, _ sent: Data, provingFor proved: Data,
        by client: TestClient, fields: HTTPFields = [:]
    ) async throws -> TestResponse {
        let token = try client.token(device)
        var headers = fields
        headers[.authorization] = "DPoP \(token)"
        headers[.dpop] = try await client.proof(device, method, path, token: token, body: proved)
        if !sent.isEmpty, headers[.contentType] == nil { headers[.contentType] = "application/json" }
        return try await client.client.execute(
            uri: path, method: method, headers: headers, body: ByteBuffer(bytes: sent))
    }

    @Test func `a check-in whose facts were changed on the way is refused, and none of them is kept`() async throws {
        try await enrolled { service, client, device, result in
            let path = "/mam/v1/registrations/\(result.registrationID)/checkins"
            var honest = device.checkIn(
                1, digest: SignedEnvelope(result.envelope).digest, at: service.clock.now)
            honest.stateGeneration = 5
            let proved = try MessageCoding.encode(honest)
            let changes: [@Sendable (inout CheckInRequest) -> Void] = [
                { $0.application.management = .mdm }, { $0.stateGeneration = (1 << 30) - 1 },
                { $0.appliedDigest = "another" }, { $0.health = [.rootedDevice] },
            ]
            for change in changes {
                var request = honest
                change(&request)
                let answer = try await Self.send(
                    .post, path, as: device, try MessageCoding.encode(request), provingFor: proved, by: client)
                #expect(answer.status == .badRequest && answer.problem == "malformed-body")
            }
            let answer = try await Self.send(.post, path, as: device, proved, provingFor: proved, by: client)
            #expect(answer.status == .ok && answer.json["unchanged"] == true)
            let contact = try await Self.contact(of: answer, in: service, of: result.registrationID)
            #expect(contact.stateGeneration == 5)
            let kept = try await service.service.administration.registration(
                result.registrationID, as: TestService.owner)
            #expect(kept.application.management == nil)
        }
    }

    @Test func `the word names the envelope that the answer brings, or the one that stays in force`() async throws {
        try await enrolled { service, client, device, result in
            let path = "/mam/v1/registrations/\(result.registrationID)/checkins"
            let first = SignedEnvelope(result.envelope).digest
            let same = try await client.send(
                .post, path, as: device, device.checkIn(1, digest: first, at: service.clock.now))
            #expect(same.json["envelope"] == nil)
            #expect(try await Self.contact(of: same, in: service, of: result.registrationID).envelopeDigest == first)
            let new = try await client.send(.post, path, as: device, device.checkIn(at: service.clock.now))
            let text = try #require(new.json["envelope"]?.string)
            #expect(
                try await Self.contact(of: new, in: service, of: result.registrationID).envelopeDigest
                    == SignedEnvelope(text).digest)
            let receiver = SignedEnvelope.Receiver(
                tenant: TestService.tenant, registrationID: result.registrationID, account: result.account.id,
                bundleID: TestDevice.bundleID)
            let keys = try await Self.keys(of: service)
            #expect(try SignedEnvelope(text).verified(by: keys, for: receiver).hasContact == true)
            #expect(try SignedEnvelope(result.envelope).verified(by: keys, for: receiver).hasContact == nil)
        }
    }

    @Test func `a version in a header adds nothing to a check-in whose proof names its body`() async throws {
        try await enrolled { service, client, device, result in
            let payload = result.envelope.split(separator: ".")[1]
            let version = try JSONValue(parsing: Base64URL.decode(payload) ?? Data())["version"]?.string ?? ""
            let whole = try MessageCoding.encode(device.checkIn(at: service.clock.now))
            let answer = try await Self.send(
                .post, "/mam/v1/registrations/\(result.registrationID)/checkins", as: device, whole, provingFor: whole,
                by: client, fields: [.ifNoneMatch: "\"\(version)\""])
            #expect(answer.json["unchanged"] == false && answer.json["envelope"]?.string != nil)
        }
    }

    @Test func `a registration that was changed on the way makes none`() async throws {
        let service = try await TestService()
        _ = try await service.publishPolicy()
        try await service.test { client in
            let device = TestDevice()
            var changed = device.registration
            changed.application.management = .mdm
            let answer = try await Self.send(
                .post, "/mam/v1/registrations", as: device, try MessageCoding.encode(changed),
                provingFor: try MessageCoding.encode(device.registration), by: client)
            #expect(answer.status == .badRequest && answer.problem == "malformed-body")
            let registrations = try await service.service.administration.registrations(.init(), as: TestService.owner)
            #expect(registrations.isEmpty)
        }
    }

    @Test func `every route of apps that reads a body compares it with the proof`() async throws {
        try await enrolled { service, client, device, result in
            let logs = try await service.service.administration.requestLogs(
                ofRegistration: result.registrationID, as: TestService.owner)
            let registration = "/mam/v1/registrations/\(result.registrationID)"
            let share = RecoveryShare(sealed: Base64URL.encode(Data(repeating: 7, count: 60)))
            let report = UnenrollmentReport(reason: .appDecision, doWipe: true, succeeded: true)
            let bodies: [(HTTPRequest.Method, String, Data, HTTPFields)] = [
                (.put, registration + "/recovery-share", try MessageCoding.encode(share), [:]),
                (
                    .post, registration + "/compliance",
                    try MessageCoding.encode(RemediationRequest(silent: true, health: [])), [:]
                ),
                (.post, "/mam/v1/telemetry", try MessageCoding.encode(TelemetryBatch(events: [])), [:]),
                (.put, registration + "/logs/\(logs.id)", Data("abc".utf8), [.contentRange: "bytes 0-2/3"]),
                (
                    .post, registration + "/acknowledgements",
                    try MessageCoding.encode(
                        Acknowledgement(commandID: "c", phase: .started, time: service.clock.now)), [:]
                ),
                (
                    .post, registration + "/evidence",
                    try MessageCoding.encode(AppEvidence(.appleAppAttest, keyID: "k", nonce: "n")), [:]
                ),
                (.delete, registration, try MessageCoding.encode(report), [:]),
                (.delete, registration, Data(), [:]),
            ]
            for (method, path, body, fields) in bodies {
                let refused = try await Self.send(
                    method, path, as: device, body, provingFor: Data("another".utf8), by: client, fields: fields)
                #expect(refused.status == .badRequest && refused.problem == "malformed-body", "\(method) \(path)")
            }
            // The control: what the proof names is taken.
            let taken = try await Self.send(
                .delete, registration, as: device, try MessageCoding.encode(report),
                provingFor: try MessageCoding.encode(report), by: client)
            #expect(taken.status == .noContent)
        }
    }

    private static func keys(of service: TestService) async throws -> JSONWebKeySet {
        let pin = try await service.service.devices.discoveryFacts(of: TestService.tenant).rootKeyThumbprint
        return try await service.service.devices.keySet(of: TestService.tenant)
            .verified(pin: pin, at: service.clock.now)
    }

    private static func contact(
        of answer: TestResponse, in service: TestService, of registration: String
    ) async throws -> ContactProof {
        try ContactProof(
            verifying: answer.json["contact"]?.string ?? "", by: try await keys(of: service),
            forRegistration: registration)
    }
}
