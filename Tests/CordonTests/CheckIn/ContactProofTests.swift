import Cordon
import CordonBase
import CordonPolicy
import CordonProtocol
import CordonTestSupport
import CordonTesting
import Foundation
import Testing

/// The time without contact counts from what the service signed.
@Suite(.timeLimit(.minutes(10))) struct ContactProofTests {
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

    @Test func `an answer that the service signed is contact, also after a restart`() async throws {
        let (device, time, protection) = try await enrolled()
        time.advance(by: 3600)
        #expect(await protection.checkIn(device.account.id) == .policiesUnchanged)
        #expect(lastCheckIn(protection) == time.now)
        let restarted = try await device.start()
        #expect(device.mayPrint(restarted))
        #expect(lastCheckIn(restarted) == time.now)
    }

    @Test func `contact that keys under the next root key have signed counts after a restart`() async throws {
        let (device, time, protection) = try await enrolled()
        time.advance(by: 3600)
        #expect(await protection.checkIn(device.account.id) == .policiesUnchanged)
        let former = SoftwareSigningKey().publicKey.thumbprint
        let next = device.service.root.publicKey.thumbprint
        let restarted = try await device.start(pin: former) { $0.nextRootKey = next }
        #expect(device.mayPrint(restarted))
        #expect(lastCheckIn(restarted) == time.now)
        #expect(await restarted.checkIn(device.account.id) == .policiesUnchanged)
        // The control: an app that does not know the next root key denies.
        #expect(!device.mayPrint(try await device.start(pin: former)))
    }

    @Test func `a key that left the service's set makes no contact, although a recorded set still has it`() async throws
    {
        let (device, time, protection) = try await enrolled()
        let (newest, gone) = (SoftwareSigningKey(), SoftwareSigningKey())
        // The control: a newer set counts.
        try await have(device.service, sign: newest, version: 2, at: time.now)
        #expect(await protection.checkIn(device.account.id) == .newPolicies)
        try await have(device.service, sign: gone, version: 1, at: time.now)
        #expect(await !protection.checkIn(device.account.id).didSucceed)
    }

    /// Has the service sign by another key, which is the only one in its set.
    private func have(
        _ service: ScriptedService, sign key: SoftwareSigningKey, version: Int64, at now: Date
    ) async throws {
        let set = try SignedKeySet(
            [key.publicKey], version: version, validFrom: .distantPast, until: now + 86_400, root: service.root)
        await service.set {
            $0.forger = key
            $0.keySet = set
        }
    }

    @Test func `an app that was in touch starts without a network after its envelope's key has left the set`()
        async throws
    {
        let (device, time, protection) = try await enrolled()
        try await have(device.service, sign: SoftwareSigningKey(), version: 2, at: time.now)
        #expect(await protection.checkIn(device.account.id).didSucceed)
        await device.service.set { $0.isUnreachable = true }
        #expect(device.mayPrint(protection))
        #expect(device.mayPrint(try await device.start()))
        await device.service.set { $0.isUnreachable = false }
        #expect(await protection.checkIn(device.account.id) == .policiesUnchanged, "it is asked for once")
    }

    @Test func `an answer to another request, of another registration or by another key is no contact`() async throws {
        let (device, time, protection) = try await enrolled()
        let before = time.now
        time.advance(by: 3600)
        let changes: [@Sendable (inout ContactProof) -> Void] = [
            { $0.nonce = "another" }, { $0.registrationID = "registration-2" }, { $0.clientTime += 1 },
        ]
        for change in changes {
            await device.service.set { $0.changeContact = change }
            #expect(await !protection.checkIn(device.account.id).didSucceed)
        }
        await device.service.set {
            $0.changeContact = { _ in }
            $0.forger = SoftwareSigningKey()
        }
        #expect(await !protection.checkIn(device.account.id).didSucceed)
        #expect(lastCheckIn(protection) == before)
    }

    @Test func `who answers in the service's place without its key makes no contact, and an older service still does`()
        async throws
    {
        let (device, time, protection) = try await enrolled()
        time.advance(by: 3600)
        await device.service.set {
            $0.signsContact = false
            $0.forger = SoftwareSigningKey()
        }
        #expect(await !protection.checkIn(device.account.id).didSucceed)
        // An older service signs its envelopes.
        await device.service.set { $0.forger = nil }
        #expect(await protection.checkIn(device.account.id) == .newPolicies)
        #expect(lastCheckIn(protection) == time.now)
    }

    @Test(arguments: [false, true])
    func
        `an answer that nobody signed is no contact, right after enrolment or after an envelope whose word was taken off`(
            _ hasEnvelope: Bool
        ) async throws
    {
        let time = TestTime()
        let device = try Device(time: time)
        let protection = try await device.enrolled(["printBlocked": .bool(false)])
        await device.service.set { $0.signsContact = false }
        if hasEnvelope {
            time.advance(by: 3600)
            #expect(await protection.checkIn(device.account.id) == .newPolicies)
        }
        let before = time.now
        time.advance(by: 3600)
        await device.service.set {
            $0.sparesEnvelopes = true
            $0.forger = SoftwareSigningKey()
        }
        #expect(await !protection.checkIn(device.account.id).didSucceed)
        #expect(lastCheckIn(protection) == before)
    }

    @Test func `a later moment than the service signed is not believed, although the record is sealed`() async throws {
        let (device, time, _) = try await enrolled()
        let name = try #require(device.files(in: "registrations").first { $0.hasSuffix(".json") })
        let file = device.folder.appending(path: "data/registrations/\(name)")
        let stored = try JSONValue(parsing: device.contents(ofState: file))
        var members = try #require(stored.object)
        members["lastCheckIn"] = .string((time.now + 86_400).formatted(.iso8601))
        try device.seal(JSONValue.object(members).text(), inState: file)
        #expect(!device.mayPrint(try await device.start()))
    }

    @Test func `a whole home that was put back, counter and all, is found at the next check-in and takes a sign-in`()
        async throws
    {
        let house = try await Gatehouse()
        let protection = try await house.opened()
        await protection.checkIn(house.account)
        let data = house.device.folder.appending(path: "data")
        let copy = house.device.folder.appending(path: "copy")
        try TemporaryFolder.copy(data, to: copy)
        for _ in 0..<3 { await protection.checkIn(house.account) }
        try TemporaryFolder.putBack(copy, at: data)
        let restarted = try await house.start()
        #expect(await restarted.launch(house.account).isOpen, "nothing here knows of it")
        await house.person.set { $0.signIns = [.cancelled] }
        await house.person.forgetAsked()
        #expect(await restarted.checkIn(house.account).didSucceed)
        #expect(!restarted.gate.isOpen(for: house.account))
        try await until { await house.person.asked.contains { if case .signIn = $0 { true } else { false } } }
        try await until { await house.person.asked.last == .handedBack }
        await restarted.suspend()
        await house.person.set { person in
            person.signIns = [.signedIn("oid-a")]
            person.newPINs = [.chosen("9731")]
        }
        let outcome = await restarted.resume(house.account)
        #expect(outcome.isOpen)
        #expect(outcome.steps.map(\.kind).contains(.newPIN))
        await restarted.checkIn(house.account)
        #expect(restarted.gate.isOpen(for: house.account), "once is enough")
    }

    @Test func `who puts an older home back cannot hide it by removing the registration before the check-in`()
        async throws
    {
        let (device, _, protection) = try await enrolled()
        let (data, copy) = (device.folder.appending(path: "data"), device.folder.appending(path: "copy"))
        try TemporaryFolder.copy(data, to: copy)
        for _ in 0..<3 { await protection.checkIn(device.account.id) }
        try TemporaryFolder.putBack(copy, at: data)
        let restarted = try await device.start()
        let name = try #require(device.files(in: "registrations").first { $0.hasSuffix(".json") })
        try FileManager.default.removeItem(at: data.appending(path: "registrations/\(name)"))
        let events = EventCatch(restarted)
        await restarted.checkIn(device.account.id)
        #expect(await events.has(.stateRolledBack(account: device.account.id)))
    }

    @Test(arguments: [false, true])
    func `a registration that is missing or damaged at a check-in counts as it is known, and takes no PIN away`(
        isMissing: Bool
    ) async throws {
        let house = try await Gatehouse()
        let protection = try await house.opened()
        await protection.checkIn(house.account)
        let pins = Set(house.pinFiles)
        let name = try #require(house.device.files(in: "registrations").first { $0.hasSuffix(".json") })
        let file = house.device.folder.appending(path: "data/registrations/\(name)")
        if isMissing { try FileManager.default.removeItem(at: file) } else { try Data("{}".utf8).write(to: file) }
        let events = EventCatch(protection)
        for _ in 0..<2 { #expect(await protection.checkIn(house.account).didSucceed) }
        let rollbacks = await events.count { if case .stateRolledBack = $0 { true } else { false } }
        #expect(rollbacks == 0)
        #expect(protection.gate.isOpen(for: house.account) && !pins.isEmpty && Set(house.pinFiles) == pins)
    }

    @Test func `where nothing outside the folder counts, services that sign their answers hear of it`() async throws {
        let (device, _, protection) = try await enrolled()
        await protection.checkIn(device.account.id)
        #expect(await device.service.checkIns.map(\.health) == [[], [.uncountedState]])
        let safe = try await device.start { $0.stateCounter = SafeCounter() }
        await safe.checkIn(device.account.id)
        await safe.checkIn(device.account.id)
        #expect(await device.service.checkIns.last?.health == [])
    }
}

/// A counter that outlives everything.
private struct SafeCounter: StateCounter {
    private let numbers = KeptNumbers()
    var survivesRestore: Bool { true }
    func value(of name: String) -> Int64 { numbers.kept.withLock { $0[name] ?? 0 } }
    func raise(_ name: String, to number: Int64) {
        numbers.kept.withLock { $0[name] = max($0[name] ?? 0, number) }
    }
}

private final class KeptNumbers: Sendable {
    let kept = Locked<[String: Int64]>([:])
}
