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

/// A wipe ends the session before it reports, so its report needs no token, and a receipt not even a proof.
@Suite struct AcknowledgementRoutesTests {
    private struct Wiped {
        let device: TestDevice
        let registration: RegistrationResult
        let operation: WipeOperation
        var path: String { "/mam/v1/registrations/\(registration.registrationID)/acknowledgements" }

        func receipt(at now: Date, signedBy key: SoftwareSigningKey? = nil) throws -> String {
            try WipeReceipt(
                commandID: operation.id, tenant: TestService.tenant, registrationID: registration.registrationID,
                account: registration.account.id, bundleID: TestDevice.bundleID, destroyedKeyIDs: ["k-1"], files: 2,
                bytes: 10, started: now, finished: now, failures: []
            ).signed(by: key ?? device.key)
        }
    }

    /// A registration with a wipe that was delivered in a check-in.
    private func delivered(_ client: TestClient) async throws -> Wiped {
        let service = client.service
        _ = try await service.publishPolicy()
        let device = TestDevice()
        let registration = try await client.register(device)
        let operations = try await service.service.administration.requestWipe(
            ofUser: TestPerson.workerA.id, deviceTag: device.tag, as: TestService.owner)
        let answer = try await client.send(
            .post, "/mam/v1/registrations/\(registration.registrationID)/checkins", as: device,
            device.checkIn(at: service.clock.now))
        #expect(answer.json["statusCode"]?.integer == 102)
        return Wiped(device: device, registration: registration, operation: try #require(operations.first))
    }

    @Test func `a failed wipe says in Graph what could not be removed`() async throws {
        // SRV-TG-29
        let service = try await TestService()
        try await service.test { client in
            let wiped = try await delivered(client)
            let receipt = try WipeReceipt(
                commandID: wiped.operation.id, tenant: TestService.tenant,
                registrationID: wiped.registration.registrationID, account: wiped.registration.account.id,
                bundleID: TestDevice.bundleID, destroyedKeyIDs: [], files: 0, bytes: 0, started: service.clock.now,
                finished: service.clock.now, failures: ["a file is held open"]
            ).signed(by: wiped.device.key)
            let report = Acknowledgement(
                commandID: wiped.operation.id, phase: .failed, time: service.clock.now, receipt: receipt)
            #expect(PrometheusText(service.metrics).text.contains(#"cordon_wipe_reports_total{phase="failed"} 0"#))
            #expect(try await client.send(.post, wiped.path, as: wiped.device, report).status == .noContent)
            #expect(PrometheusText(service.metrics).text.contains(#"cordon_wipe_reports_total{phase="failed"} 1"#))
            let list =
                "/v1.0/deviceAppManagement/managedAppRegistrations/\(wiped.registration.registrationID)/operations"
            let operations = try await client.administer(.get, list).json["value"]?.array ?? []
            let failed = try #require(operations.first { $0["id"]?.string == wiped.operation.id })
            #expect(failed["state"] == "failed" && failed["failureReason"] == "a file is held open")
            // The next attempt has no failure yet, and no member that says so.
            #expect(operations.count == 2 && operations.filter { $0["failureReason"] != nil }.count == 1)
        }
    }

    @Test func `a report needs no token, only the registration's key`() async throws {
        let service = try await TestService()
        try await service.test { client in
            let wiped = try await delivered(client)
            let report = Acknowledgement(
                commandID: wiped.operation.id, phase: .succeeded, time: service.clock.now,
                receipt: try wiped.receipt(at: service.clock.now))
            let bare = TestClient.Changes(omitsToken: true)
            #expect(try await client.send(.post, wiped.path, as: wiped.device, report, bare).status == .noContent)
            let operation = try await service.service.administration.operation(
                wiped.operation.id, as: TestService.owner)
            #expect(operation.state == .succeeded)
            // The answer may have been lost; the same report again is fine.
            #expect(try await client.send(.post, wiped.path, as: wiped.device, report, bare).status == .noContent)
        }
    }

    @Test func `a receipt is evidence enough, without token and without proof`() async throws {
        let service = try await TestService()
        try await service.test { client in
            let wiped = try await delivered(client)
            let nothing = TestClient.Changes(omitsToken: true, omitsProof: true)
            let begun = Acknowledgement(commandID: wiped.operation.id, phase: .started, time: service.clock.now)
            #expect(
                try await client.send(.post, wiped.path, as: wiped.device, begun, nothing).status == .unauthorized)
            let forged = Acknowledgement(
                commandID: wiped.operation.id, phase: .succeeded, time: service.clock.now,
                receipt: try wiped.receipt(at: service.clock.now, signedBy: SoftwareSigningKey()))
            #expect(
                try await client.send(.post, wiped.path, as: wiped.device, forged, nothing).status == .unauthorized)
            let report = Acknowledgement(
                commandID: wiped.operation.id, phase: .succeeded, time: service.clock.now,
                receipt: try wiped.receipt(at: service.clock.now))
            for _ in 0..<2 {
                #expect(
                    try await client.send(.post, wiped.path, as: wiped.device, report, nothing).status == .noContent)
            }
            let operation = try await service.service.administration.operation(
                wiped.operation.id, as: TestService.owner)
            #expect(operation.state == .succeeded)
        }
    }

    @Test func `a report is counted as what its receipt says`() async throws {
        let service = try await TestService()
        try await service.test { client in
            let wiped = try await delivered(client)
            let report = Acknowledgement(
                commandID: wiped.operation.id, phase: .failed, time: service.clock.now,
                receipt: try wiped.receipt(at: service.clock.now))
            let nothing = TestClient.Changes(omitsToken: true, omitsProof: true)
            #expect(try await client.send(.post, wiped.path, as: wiped.device, report, nothing).status == .noContent)
            #expect(PrometheusText(service.metrics).text.contains(#"cordon_wipe_reports_total{phase="succeeded"} 1"#))
            #expect(PrometheusText(service.metrics).text.contains(#"cordon_wipe_reports_total{phase="failed"} 0"#))
        }
    }

    @Test func `a report with a token works as well`() async throws {
        let service = try await TestService()
        try await service.test { client in
            let wiped = try await delivered(client)
            let report = Acknowledgement(commandID: wiped.operation.id, phase: .started, time: service.clock.now)
            #expect(try await client.send(.post, wiped.path, as: wiped.device, report).status == .noContent)
        }
    }

    @Test func `another key cannot report, with or without a receipt of its own`() async throws {
        let service = try await TestService()
        try await service.test { client in
            let wiped = try await delivered(client)
            let stranger = TestDevice()
            let report = Acknowledgement(
                commandID: wiped.operation.id, phase: .succeeded, time: service.clock.now,
                receipt: try wiped.receipt(at: service.clock.now, signedBy: stranger.key))
            let answer = try await client.send(.post, wiped.path, as: stranger, report, .init(omitsToken: true))
            #expect(answer.status == .unauthorized)
            let own = try await client.send(.post, wiped.path, as: wiped.device, report, .init(omitsToken: true))
            #expect(own.status == .badRequest)
            let operation = try await service.service.administration.operation(
                wiped.operation.id, as: TestService.owner)
            #expect(operation.state == .delivered)
        }
    }

    @Test func `an unknown registration and an unknown command tell a stranger nothing`() async throws {
        let service = try await TestService()
        try await service.test { client in
            let wiped = try await delivered(client)
            let report = Acknowledgement(commandID: "no-such-command", phase: .started, time: service.clock.now)
            let bare = TestClient.Changes(omitsToken: true)
            let unknown = "/mam/v1/registrations/no-such-registration/acknowledgements"
            #expect(try await client.send(.post, unknown, as: wiped.device, report, bare).status == .unauthorized)
            #expect(try await client.send(.post, wiped.path, as: wiped.device, report, bare).status == .notFound)
        }
    }

    @Test func `every other route still needs a token`() async throws {
        let service = try await TestService()
        try await service.test { client in
            let wiped = try await delivered(client)
            let path = "/mam/v1/registrations/\(wiped.registration.registrationID)"
            let bare = TestClient.Changes(omitsToken: true)
            let checkIn = wiped.device.checkIn(at: service.clock.now)
            #expect(
                try await client.send(.post, path + "/checkins", as: wiped.device, checkIn, bare).status
                    == .unauthorized)
            #expect(try await client.send(.delete, path, as: wiped.device, nil, bare).status == .unauthorized)
            #expect(try await client.send(.get, path + "/events", as: wiped.device, nil, bare).status == .unauthorized)
        }
    }

    @Test func `a report about a registration that does not exist is refused before its body is read`() async throws {
        let service = try await TestService()
        try await service.test { client in
            // Were it read, it would be refused as no JSON.
            let answer = try await client.client.execute(
                uri: "/mam/v1/registrations/none/acknowledgements", method: .post,
                headers: [.contentType: "application/json"], body: ByteBuffer(string: "{"))
            #expect(answer.status == .unauthorized)
        }
    }

}
