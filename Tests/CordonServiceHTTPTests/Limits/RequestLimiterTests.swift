import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import CordonTestSupport
import Foundation
import HTTPTypes
import HummingbirdTesting
import Testing

@testable import CordonServiceHTTP

/// SRV-CI-090.
@Suite struct RequestLimiterTests {
    private static let start = Date(timeIntervalSince1970: 1_800_000_000)

    private func caller(_ person: String, _ key: SoftwareSigningKey = SoftwareSigningKey()) -> DeviceCaller {
        DeviceCaller(
            account: ManagedAccount(
                id: AccountID(person), tenant: TestService.tenant, userPrincipalName: "\(person)@contoso.example"),
            key: key.publicKey)
    }

    /// How many of so many requests at once get through.
    private func admitted(_ count: Int, _ admit: () throws -> Void) -> Int {
        (0..<count).count { _ in (try? admit()) != nil }
    }

    @Test func `a registration has ten at once and one a minute after that`() {
        let limiter = RequestLimiter(.documented)
        let app = caller("a")
        #expect(admitted(30) { try limiter.admitCheckIn(app, at: Self.start) } == 10)
        let later = Self.start.addingTimeInterval(120)
        #expect(admitted(30) { try limiter.admitCheckIn(app, at: later) } == 2)
    }

    @Test func `a key has as large a share of remembered proofs as its app may need`() {
        #expect(CheckInLimits.documented.proofsOfKey == 256)
        #expect(CheckInLimits.development.proofsOfKey == 25_000_000)
    }

    @Test func `a person's apps share sixty an hour, and others are not concerned`() {
        let limiter = RequestLimiter(.documented)
        var through = 0
        for _ in 0..<10 {
            let app = caller("a")
            through += admitted(10) { try limiter.admitCheckIn(app, at: Self.start) }
        }
        #expect(through == 60)
        let other = caller("b")
        #expect(admitted(10) { try limiter.admitCheckIn(other, at: Self.start) } == 10)
    }

    @Test func `an app that is held back takes nothing from the person's other apps`() {
        let limiter = RequestLimiter(.documented)
        let app = caller("a")
        _ = admitted(100) { try limiter.admitCheckIn(app, at: Self.start) }
        let other = caller("a")
        #expect(admitted(10) { try limiter.admitCheckIn(other, at: Self.start) } == 10)
    }

    @Test func `a person enrols five times an hour, whatever the case of the id`() {
        let limiter = RequestLimiter(.documented)
        var through = 0
        for index in 0..<8 {
            let app = caller(index.isMultiple(of: 2) ? "a" : "A")
            through += admitted(1) { try limiter.admitRegistration(app, at: Self.start) }
        }
        #expect(through == 5)
        let app = caller("a")
        let later = Self.start.addingTimeInterval(720)
        #expect(admitted(3) { try limiter.admitRegistration(app, at: later) } == 1)
    }

    @Test func `the memory is bounded and keeps those who asked last`() {
        let limiter = RequestLimiter(.documented, capacity: 100)
        let app = caller("last")
        for index in 0..<500 {
            _ = admitted(1) {
                try limiter.admitRegistration(caller("p\(index)"), at: Self.start.addingTimeInterval(Double(index)))
            }
        }
        let moment = Self.start.addingTimeInterval(500)
        #expect(admitted(9) { try limiter.admitRegistration(app, at: moment) } == 5)
    }

    @Test func `of who has the whole share again nothing is remembered, and who has not stays held back`() {
        let limiter = RequestLimiter(.documented)
        for index in 0..<5_000 {
            let moment = Self.start.addingTimeInterval(Double(index))
            #expect(admitted(1) { try limiter.admitStatement(ofDevice: "\(index)", at: moment) } == 1)
        }
        #expect(limiter.count <= 1_100)
        let moment = Self.start.addingTimeInterval(5_000)
        #expect(admitted(12) { try limiter.admitStatement(ofDevice: "often", at: moment) } == 10)
        for index in 5_000..<10_000 {
            _ = admitted(1) { try limiter.admitStatement(ofDevice: "\(index)", at: moment) }
        }
        #expect(admitted(1) { try limiter.admitStatement(ofDevice: "often", at: moment) } == 0)
        #expect(admitted(12) { try limiter.admitStatement(ofDevice: "often", at: moment.addingTimeInterval(10)) } == 1)
    }

    @Test func `who asks too often is told when to come back, and reports have a share of their own`() async throws {
        let service = try await TestService()
        _ = try await service.publishPolicy()
        try await service.test { client in
            let device = TestDevice()
            let id = try await client.register(device).registrationID
            var statuses: [Int] = []
            for _ in 0..<12 {
                let answer = try await client.send(
                    .post, "/mam/v1/registrations/\(id)/checkins", as: device, device.checkIn(at: service.clock.now))
                statuses.append(answer.status.code)
                guard answer.status == .tooManyRequests else { continue }
                #expect(answer.headers[.retryAfter] == "60")
                #expect(answer.json["retryAfter"] == 60)
                #expect(answer.problem == "too-many-requests")
            }
            #expect(statuses == Array(repeating: 200, count: 10) + [429, 429])
            let report = Acknowledgement(commandID: "none", phase: .started, time: service.clock.now, receipt: nil)
            let answer = try await client.send(
                .post, "/mam/v1/registrations/\(id)/acknowledgements", as: device, report)
            #expect(answer.status == .notFound)
        }
    }

    @Test func `reports of what was never asked for are limited, and that of an issued command comes through`()
        async throws
    {
        let service = try await TestService()
        _ = try await service.publishPolicy()
        try await service.test { client in
            let device = TestDevice()
            let registration = try await client.register(device)
            let path = "/mam/v1/registrations/\(registration.registrationID)"
            let operation = try await service.service.administration.requestWipe(
                ofUser: TestPerson.workerA.id, deviceTag: device.tag, as: TestService.owner)[0]
            let command = try await service.service.administration.requestCommand(
                .refreshConfiguration, ofRegistration: registration.registrationID, as: TestService.owner)
            func receipt(_ id: String) throws -> String {
                try WipeReceipt(
                    commandID: id, tenant: TestService.tenant, registrationID: registration.registrationID,
                    account: registration.account.id, bundleID: TestDevice.bundleID, destroyedKeyIDs: ["k"], files: 1,
                    bytes: 1, started: service.clock.now, finished: service.clock.now, failures: []
                ).signed(by: device.key)
            }
            func report(_ id: String, _ phase: Acknowledgement.Phase, _ receipt: String? = nil) async throws -> Int {
                let report = Acknowledgement(
                    commandID: id, phase: phase, time: service.clock.now, receipt: receipt)
                return try await client.send(.post, path + "/acknowledgements", as: device, report).status.code
            }
            var statuses: [Int] = []
            for number in 0..<12 { statuses.append(try await report("made-up-\(number)", .started)) }
            #expect(statuses == Array(repeating: 404, count: 10) + [429, 429])
            #expect(try await report(command.id, .succeeded) == 204)
            #expect(try await report(command.id, .succeeded) == 429)
            #expect(try await report(operation.id, .started) == 204)
            // Even an app that says so over and over is heard in the end.
            for _ in 0..<40 { #expect(try await report(operation.id, .started) == 204) }
            #expect(try await report(operation.id, .succeeded, receipt(operation.id)) == 204)
            #expect(
                try await service.service.administration.operation(operation.id, as: TestService.owner).state
                    == .succeeded)
            // A receipt that a stranger found stands for its own wipe and for no other command.
            let found = TestClient.Changes(omitsToken: true, omitsProof: true)
            let forged = Acknowledgement(
                commandID: "another", phase: .started, time: service.clock.now, receipt: try receipt(operation.id))
            let answer = try await client.send(.post, path + "/acknowledgements", as: device, forged, found)
            #expect(answer.status == .unauthorized)
        }
    }

    @Test func `a report that no honest device sends is too large`() async throws {
        let service = try await TestService()
        _ = try await service.publishPolicy()
        try await service.test { client in
            let device = TestDevice()
            let path = "/mam/v1/registrations/\(try await client.register(device).registrationID)/acknowledgements"
            let report = Acknowledgement(
                commandID: "c", phase: .failed, time: service.clock.now,
                receipt: String(repeating: "x", count: Acknowledgement.largestBody))
            #expect(try await client.send(.post, path, as: device, report).status == .contentTooLarge)
        }
    }
}
