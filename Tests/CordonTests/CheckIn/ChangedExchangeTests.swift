import CordonBase
import CordonPolicy
import CordonProtocol
import CordonTestSupport
import CordonTesting
import Foundation
import Testing

@testable import Cordon

/// What somebody between app and service changes of a check-in, where every signature in it is the service's own, counts for nothing.
@Suite(.timeLimit(.minutes(10))) struct ChangedExchangeTests {
    private func enrolled() async throws -> (Device, TestTime, AppProtection) {
        let time = TestTime()
        let device = try Device(time: time)
        let protection = try await device.enrolled(["printBlocked": .bool(false)])
        await device.service.set { $0.sparesEnvelopes = true }
        #expect(await protection.checkIn(device.account.id) == .policiesUnchanged)
        return (device, time, protection)
    }

    private func lastCheckIn(_ protection: AppProtection) -> Date? {
        protection.diagnostics.report().accounts.first?.lastCheckIn
    }

    private static let takeEnvelopeOff: @Sendable (inout CheckInResponse) -> Void = { answer in
        answer.envelope = nil
        (answer.unchanged, answer.statusCode) = (true, .policiesUnchanged)
    }

    @Test func `an answer whose envelope was taken off is no contact, and the offline limit ends it`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.opened(["pinRequired": .bool(false)])
        let service = house.device.service
        await service.set { $0.sparesEnvelopes = true }
        #expect(await protection.checkIn(house.account).didSucceed)
        #expect(house.device.mayPrint(protection))
        try await house.device.publish(["printBlocked": .bool(true)])
        await service.set { $0.changeAnswer = Self.takeEnvelopeOff }
        for _ in 0..<5 {
            house.clock.advance(.seconds(5 * 3600))
            #expect(await !protection.checkIn(house.account).didSucceed)
        }
        #expect(await protection.resume(house.account).reasons.map(\.rule) == ["launch.offline"])
        await service.set { $0.changeAnswer = { _ in } }
        #expect(await protection.resume(house.account).isOpen)
        #expect(!house.device.mayPrint(protection))
    }

    @Test func `where the envelope was taken off one answer, the next one has to bring a whole one`() async throws {
        let (device, time, protection) = try await enrolled()
        time.advance(by: 3600)
        try await device.publish(["printBlocked": .bool(true)])
        let isFirst = Locked(true)
        await device.service.set { service in
            service.changeAnswer = { answer in
                let isChanged = isFirst.withLock { first in
                    defer { first = false }
                    return first
                }
                if isChanged { Self.takeEnvelopeOff(&answer) }
            }
        }
        #expect(await protection.checkIn(device.account.id) == .newPolicies)
        #expect(!device.mayPrint(protection))
        #expect(await device.service.checkIns.last?.appliedDigest == nil)
        #expect(lastCheckIn(protection) == time.now)
    }

    @Test func `an envelope whose word was taken off is not taken, and hides no older copy of the home`() async throws {
        let (device, time, protection) = try await enrolled()
        let (data, copy) = (device.folder.appending(path: "data"), device.folder.appending(path: "copy"))
        try TemporaryFolder.copy(data, to: copy)
        for _ in 0..<8 { await protection.checkIn(device.account.id) }
        try TemporaryFolder.putBack(copy, at: data)
        let restarted = try await device.start()
        let before = lastCheckIn(restarted)
        await device.service.set {
            $0.changeAnswer = { $0.contact = nil }
            $0.sparesEnvelopes = false
        }
        for _ in 0..<2 {
            time.advance(by: 3600)
            #expect(await !restarted.checkIn(device.account.id).didSucceed)
        }
        #expect(lastCheckIn(restarted) == before)
        await device.service.set { $0.changeAnswer = { _ in } }
        let events = EventCatch(restarted)
        #expect(await restarted.checkIn(device.account.id).didSucceed)
        #expect(await events.has(.stateRolledBack(account: device.account.id)))
    }

    @Test func `an envelope that the word does not name is refused, and the rules in force stay`() async throws {
        let (device, time, protection) = try await enrolled()
        let before = time.now
        time.advance(by: 3600)
        try await device.publish(["printBlocked": .bool(true)])
        await device.service.set { $0.changeContact = { $0.envelopeDigest = "another" } }
        #expect(await !protection.checkIn(device.account.id).didSucceed)
        #expect(device.mayPrint(protection) && lastCheckIn(protection) == before)
        await device.service.set { $0.changeContact = { _ in } }
        #expect(await protection.checkIn(device.account.id) == .newPolicies)
        #expect(await device.service.checkIns.last?.refusedEnvelopes?.map(\.code) == ["replayed"])
    }

    @Test func `a service that names no envelope in its word is asked for a whole one each time`() async throws {
        let (device, time, protection) = try await enrolled()
        await device.service.set {
            $0.changeContact = { $0.envelopeDigest = nil }
            $0.change = { $0.hasContact = nil }
            $0.comparesBodies = false
        }
        for _ in 0..<2 {
            time.advance(by: 3600)
            #expect(await protection.checkIn(device.account.id) == .newPolicies)
            #expect(lastCheckIn(protection) == time.now)
        }
        await device.service.set { $0.changeAnswer = Self.takeEnvelopeOff }
        #expect(await !protection.checkIn(device.account.id).didSucceed)
    }

    /// A member of a check-in that decides what is answered.
    enum Member: CaseIterable {
        case management, stateGeneration, appliedDigest, health

        func change(_ request: inout CheckInRequest) {
            switch self {
            case .management: request.application.management = .mdm
            case .stateGeneration: request.stateGeneration = (request.stateGeneration ?? 0) + 1_000
            case .appliedDigest: request.appliedDigest = "of-the-envelope-that-is-held-back"
            case .health: request.health = [.rootedDevice]
            }
        }
    }

    @Test(arguments: Member.allCases)
    func `a check-in that was changed on its way is none, and nothing follows from it`(member: Member) async throws {
        let (device, time, protection) = try await enrolled()
        let before = time.now
        time.advance(by: 3600)
        let count = await device.service.checkIns.count
        await device.service.set { service in
            service.changeBody = { path, body in
                guard path.hasSuffix("/checkins"),
                    var request = try? MessageCoding.decode(CheckInRequest.self, from: body)
                else { return body }
                member.change(&request)
                return (try? MessageCoding.encode(request)) ?? body
            }
        }
        #expect(await !protection.checkIn(device.account.id).didSucceed)
        #expect(lastCheckIn(protection) == before)
        #expect(await device.service.checkIns.count == count)
        await device.service.set { $0.changeBody = { $1 } }
        let events = EventCatch(protection)
        #expect(await protection.checkIn(device.account.id).didSucceed)
        #expect(await events.count { if case .stateRolledBack = $0 { true } else { false } } == 0)
        #expect(device.mayPrint(protection))
    }

    @Test func `an enrolment that was changed on its way is none`() async throws {
        let device = try Device()
        try await device.publish([:])
        await device.service.set { service in
            service.changeBody = { path, body in
                guard path.hasSuffix("/registrations"),
                    var request = try? MessageCoding.decode(RegistrationRequest.self, from: body)
                else { return body }
                request.application.management = .mdm
                return (try? MessageCoding.encode(request)) ?? body
            }
        }
        let protection = try await device.start()
        #expect(await !protection.enroll(device.account).didSucceed)
        #expect(protection.enrolledAccounts.isEmpty)
        await device.service.set { $0.changeBody = { $1 } }
        #expect(await protection.enroll(device.account) == .newPolicies)
    }

    @Test func `a key that signs no proof which names a body signs one that names none`() async throws {
        let service = ScriptedService()
        let url = try #require(URL(string: "https://service.test"))
        let client = ServiceClient(
            discovery: try await ServiceClient.discover(at: url, over: service), transport: service,
            signer: FormerBrokersKey(), now: { Date() })
        let request = RegistrationRequest(
            application: ApplicationFacts(bundleID: "example.notes", version: "1.0"),
            device: DeviceDescription(tag: "tag-1", osVersion: "1.0", model: "test"), source: .appRegistered,
            nonce: "n")
        await service.set { $0.comparesBodies = false }
        #expect(try await client.register(request, token: service.token).account == service.account)
        // One that did not answer may sign such a proof the next time.
        let silent = ServiceClient(
            discovery: client.discovery, transport: service, signer: FormerBrokersKey(code: .signingFailed),
            now: { Date() })
        await #expect(throws: ServiceFailure.self) { _ = try await silent.register(request, token: service.token) }
        await service.set { $0.comparesBodies = true }
        await #expect(throws: ServiceFailure.self) { _ = try await client.register(request, token: service.token) }
    }

    /// The app on an older copy of its home, where a folder is in the way of every launch record.
    private func onOlderHome(_ device: Device, _ protection: AppProtection) async throws -> (AppProtection, lock: URL) {
        let (data, copy) = (device.folder.appending(path: "data"), device.folder.appending(path: "copy"))
        try TemporaryFolder.copy(data, to: copy)
        for _ in 0..<3 { await protection.checkIn(device.account.id) }
        try TemporaryFolder.putBack(copy, at: data)
        let restarted = try await device.start()
        #expect(device.mayPrint(restarted), "nothing here knows of it")
        let lock = data.appending(path: "launch.lock")
        try? FileManager.default.removeItem(at: lock)
        try FileManager.default.createDirectory(at: lock, withIntermediateDirectories: false)
        return (restarted, lock)
    }

    @Test func `a wipe is carried out also where it cannot be noted that a sign-in is due`() async throws {
        let (device, _, protection) = try await enrolled()
        let (restarted, _) = try await onOlderHome(device, protection)
        await device.service.set { $0.commands = [.wipe()] }
        #expect(await restarted.checkIn(device.account.id) == .wipeReceived)
        #expect(restarted.enrolledAccounts.isEmpty)
    }

    @Test func `a wipe that has lapsed when the answer comes ends no doubt`() async throws {
        let (device, time, protection) = try await enrolled()
        let (restarted, _) = try await onOlderHome(device, protection)
        let notAfter = Int64(time.now.timeIntervalSince1970) + 60
        time.advance(by: 120)
        await device.service.set {
            $0.commands = [
                Command(id: "c1", kind: .wipe, account: "oid-a", reason: .device, issuedAt: 0, notAfter: notAfter)
            ]
        }
        #expect(await !restarted.checkIn(device.account.id).didSucceed)
        #expect(!device.mayPrint(restarted))
    }

    @Test func `a number that no app comes to is not taken over`() async throws {
        let (device, _, protection) = try await enrolled()
        let events = EventCatch(protection)
        await device.service.set { $0.changeContact = { $0.stateGeneration = (1 << 30) - 1 } }
        for _ in 0..<2 { #expect(await protection.checkIn(device.account.id).didSucceed) }
        #expect(await events.count { if case .stateRolledBack = $0 { true } else { false } } == 0)
    }

    @Test func `an older home stays denied for as long as it cannot be noted that a sign-in is due`() async throws {
        let (device, _, protection) = try await enrolled()
        let id = device.account.id
        let (restarted, lock) = try await onOlderHome(device, protection)
        for _ in 0..<5 {
            #expect(await !restarted.checkIn(id).didSucceed)
            #expect(!device.mayPrint(restarted))
        }
        // A registration that somebody has the app make anew ends the denial as little.
        let registration = await device.service.registration
        await device.service.set { $0.registration = "another" }
        #expect(await !restarted.checkIn(id).didSucceed)
        #expect(!device.mayPrint(restarted))
        await device.service.set { $0.registration = registration }
        try FileManager.default.removeItem(at: lock)
        #expect(await restarted.checkIn(id).didSucceed)
        #expect(restarted.context.launchRecord(of: id).mustSignIn == true)
        #expect(try await device.start().context.launchRecord(of: id).mustSignIn == true, "also after a restart")
    }
}

/// The key of a session that a broker holds which knows no proofs with the digest of a body.
private struct FormerBrokersKey: MessageSigner {
    private let key = SoftwareSigningKey()
    var code = ProtocolError.Code.unsupported

    var publicKey: JSONWebKey { key.publicKey }

    func signature(for bytes: Data) throws(ProtocolError) -> Data {
        let payload = String(decoding: bytes, as: UTF8.self).split(separator: ".").last.map(String.init)
        let claims = payload.flatMap { Base64URL.decode($0) }.flatMap { try? JSONValue(parsing: $0).object }
        guard claims?["bodyDigest"] == nil else { throw ProtocolError(code, "the broker does not sign this") }
        return try key.signature(for: bytes)
    }
}
