import CordonBase
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

/// SRV-CI-013, 022…024, 089 over HTTP.
@Suite struct ReportRoutesTests {
    /// A service with one enrolled device; its registration.
    private func enrolled(
        _ body: @escaping @Sendable (TestService, TestClient, TestDevice, RegistrationResult) async throws -> Void
    ) async throws {
        let service = try await TestService()
        _ = try await service.publishPolicy()
        try await service.test { client in
            let device = TestDevice()
            try await body(service, client, device, try await client.register(device))
        }
    }

    private func path(_ result: RegistrationResult, _ rest: String) -> String {
        "/mam/v1/registrations/\(result.registrationID)" + rest
    }

    @Test func `compliance is answered with its number`() async throws {
        try await enrolled { _, client, device, result in
            let answer = try await client.send(
                .post, path(result, "/compliance"), as: device,
                RemediationRequest(silent: true, health: [.rootedDevice]))
            #expect(answer.status == .ok)
            #expect(answer.json["status"] == 1 && answer.json["textID"] == "rootedDevice")
        }
    }

    @Test func `a share for recovery is kept, given out after a fresh sign-in alone, and forgotten`() async throws {
        try await enrolled { service, client, device, result in
            let share = RecoveryShare(sealed: Base64URL.encode(Data(repeating: 7, count: 60)))
            let route = path(result, "/recovery-share")
            #expect(try await client.send(.put, route, as: device, share).status == .noContent)
            let answer = try await client.send(.post, route, as: device)
            #expect(answer.status == .ok && answer.json["sealed"] == .string(share.sealed))
            for time in [Int64(service.clock.now.timeIntervalSince1970) - 301, nil] {
                var claims = TestIssuer.checkInClaims(
                    device.person, key: device.key.publicKey, at: service.clock.now)
                claims["auth_time"] = time.map { .integer($0) }
                let token = try service.issuer.token(claims)
                let refused = try await client.send(.post, route, as: device, nil, .init(token: token))
                #expect(refused.status == .unauthorized)
                #expect(refused.headers[.wwwAuthenticate]?.contains("insufficient_user_authentication") == true)
            }
            let stranger = try await client.send(.post, route, as: TestDevice(tag: "tag-2"))
            #expect(stranger.status == .forbidden)
            #expect(
                try await client.send(.post, route, as: device, nil, .init(omitsToken: true)).status == .unauthorized)
            #expect(try await client.send(.delete, route, as: device).status == .noContent)
            #expect(try await client.send(.post, route, as: device).status == .notFound)
        }
    }

    @Test func `telemetry is accepted, and refused with the place of the fault`() async throws {
        try await enrolled { _, client, device, _ in
            let good = ReportedEvent(.appLaunch, privacy: .requiredService, data: .usage, time: 1)
            let kept = try await client.send(.post, "/mam/v1/telemetry", as: device, TelemetryBatch(events: [good]))
            #expect(kept.status == .accepted && kept.json["accepted"] == 1)
            let bad = ReportedEvent(.appLaunch, privacy: .requiredService, data: .typing, time: 1)
            let refused = try await client.send(
                .post, "/mam/v1/telemetry", as: device, TelemetryBatch(events: [good, bad]))
            #expect(refused.status == .badRequest)
            #expect(refused.json["detail"]?.string?.contains("events[1]") == true)
            let large = ReportedEvent(
                .sdkAction, privacy: .requiredService, data: .usage, time: 1,
                words: ["action": String(repeating: "x", count: TelemetryBatch.largestBody)])
            let tooLarge = try await client.send(
                .post, "/mam/v1/telemetry", as: device, TelemetryBatch(events: [large]))
            #expect(tooLarge.status == .contentTooLarge)
        }
    }

    @Test func `logs come in pieces, and every answer says how much is here`() async throws {
        try await enrolled { service, client, device, result in
            let asked = try await service.service.administration.requestLogs(
                ofRegistration: result.registrationID, as: TestService.owner)
            let path = path(result, "/logs/\(asked.id)")
            @Sendable func put(_ range: String, _ bytes: String) async throws -> TestResponse {
                let token = try client.token(device)
                let headers: HTTPFields = [
                    .authorization: "DPoP \(token)", .contentRange: range,
                    .dpop: try await client.proof(device, .put, path, token: token),
                ]
                return try await client.client.execute(
                    uri: path, method: .put, headers: headers, body: ByteBuffer(string: bytes))
            }
            let first = try await put("bytes 0-2/5", "abc")
            #expect(first.status == .noContent && first.headers[.uploadOffset] == "3")
            #expect(try await put("bytes */5", "").headers[.uploadOffset] == "3")
            #expect(try await put("bytes 4-4/5", "e").status == .conflict)
            for range in ["bytes 3-4/5", "bytes 3-9/5", "3-4/5", "bytes 4-3/5", ""] {
                #expect(try await put(range, "d").status == .badRequest, "\(range)")
            }
            #expect(try await put("bytes 3-4/5", "de").headers[.uploadOffset] == "5")
            let logs = try await client.administer(.get, "/admin/v1/logs/\(asked.id)")
            #expect(String(buffer: logs.body) == "abcde")
        }
    }

    @Test func `the version in a header is as good as in the body`() async throws {
        try await enrolled { service, client, device, result in
            let found = try Self.version(of: result.envelope)
            let envelope = try #require(found)
            var changes = TestClient.Changes()
            changes.headers[.ifNoneMatch] = "W/\"\(envelope)\""
            let same = try await client.send(
                .post, path(result, "/checkins"), as: device, device.checkIn(at: service.clock.now), changes)
            #expect(same.json["unchanged"] == true)
            changes.headers[.ifNoneMatch] = "\"another\""
            let other = try await client.send(
                .post, path(result, "/checkins"), as: device, device.checkIn(at: service.clock.now), changes)
            #expect(other.json["unchanged"] == false)
        }
    }

    @Test func `an app may say why it unregisters`() async throws {
        try await enrolled { service, client, device, result in
            let answer = try await client.send(
                .delete, path(result, ""), as: device,
                UnenrollmentReport(reason: .accountRemoved, doWipe: false, succeeded: true))
            #expect(answer.status == .noContent)
            let records = try await service.service.administration.auditRecords(AuditQuery(), as: TestService.owner)
            #expect(records.last?.details["reason"] == "accountRemoved")
        }
    }

    private static func version(of envelope: String) throws -> String? {
        let payload = envelope.split(separator: ".")[1]
        return try JSONValue(parsing: Base64URL.decode(payload) ?? Data())["version"]?.string
    }
}
