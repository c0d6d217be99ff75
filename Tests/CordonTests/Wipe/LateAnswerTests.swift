import CordonBase
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonTesting
import CordonVault
import Foundation
import Testing

@testable import Cordon

/// What began before a wipe keeps nothing of the account after it.
@Suite(.timeLimit(.minutes(10))) struct LateAnswerTests {
    enum Question: String, CaseIterable {
        case notice
        case pin
        case newPIN
    }

    /// What is left of the account: names in the data folder, and entries of the key store.
    private func traces(_ house: Gatehouse) throws -> [String] {
        let name = FolderName.of(house.account)
        return try FileManager.default.subpathsOfDirectory(atPath: house.device.folder.path)
            .filter { $0.contains(name) && !$0.hasPrefix("data/counters/") && !$0.hasPrefix("data/wipes/") }
    }

    @Test(arguments: Question.allCases)
    func `a question that is answered after a wipe leaves no trace of the account`(_ question: Question) async throws {
        let house = try await Gatehouse(isLasting: true)
        let first = try await house.enrolled()
        if question == .pin {
            #expect(await first.launch(house.account).isOpen)
            await first.gate.keys.finishChanges(house.account)
        }
        let protection = question == .pin ? try await house.start() : first
        house.clock.advance(.seconds(7200))
        let wipe = { @Sendable [account = house.account] in
            do throws(ProtectionError) { try await protection.wipe(account) } catch { Issue.record(error) }
        }
        await house.person.set { person in
            switch question {
            case .notice: person.beforeNotice = { if $0.kind == .managed { await wipe() } }
            case .pin: person.beforePIN = wipe
            case .newPIN: person.beforeNewPIN = wipe
            }
        }
        let outcome = await protection.launch(house.account)
        #expect(outcome.result == .wiped)
        #expect(try traces(house) == [])
        let keys = try FileManager.default.contentsOfDirectory(
            atPath: house.device.folder.appending(path: "keys").path)
        let unused = try await Gatehouse(isLasting: true)
        let empty = try await unused.enrolled()
        try await empty.wipe(unused.account)
        let usual = try FileManager.default.contentsOfDirectory(
            atPath: unused.device.folder.appending(path: "keys").path)
        #expect(keys.count == usual.count, "the key store keeps what it keeps after any wipe")
    }

    @Test func `a PIN that is being checked while it is removed does not come back`() async throws {
        let house = try await Gatehouse(isLasting: true)
        let removal = Locked<Task<Void, Never>?>(nil)
        let protection = try await house.opened()
        let pins = PINKeeper(
            folder: try StateFolder(house.device.folder.appending(path: "data/pins")), seal: protection.context.seal,
            clock: house.clock.clock, cost: PINCost(logRounds: 10)
        ) { step in
            guard step == "derive" else { return }
            removal.withLock { $0 = Task { try? await protection.wipe(house.account) } }
        }
        _ = try? await pins.guess("2580", of: house.account, limit: 5)
        await removal.withLock { $0 }?.value
        #expect(protection.enrolledAccounts.isEmpty)
        #expect(house.pinFiles.isEmpty)
    }

    @Test func `a check-in that is answered after a wipe finds nothing put back, and notes nothing`() async throws {
        let device = try Device()
        let latch = Latch()
        try await device.publish(["printBlocked": .bool(true)])
        let first = try await device.start()
        #expect(await first.enroll(device.account) == .newPolicies)
        let protection = try await device.start {
            $0.transport = HeldAnswers(device.service, to: "/checkins", latch: latch)
        }
        let events = EventCatch(protection)
        let checkIn = Task { await protection.checkIn(device.account.id) }
        await latch.waitForArrival()
        try await protection.wipe(device.account.id)
        await latch.open()
        _ = await checkIn.value
        #expect(device.files(in: "launch").filter { $0.hasSuffix(".json") } == [])
        let isRolledBack = { @Sendable (event: ProtectionEvent) in
            if case .stateRolledBack = event { true } else { false }
        }
        #expect(await events.count(where: isRolledBack) == 0)
    }

    @Test func `telemetry that waits for a token while the account is wiped names it nowhere`() async throws {
        let device = try Device()
        let latch = Latch()
        try await device.publish(["printBlocked": .bool(true)])
        let protection = try await device.start()
        #expect(await protection.enroll(device.account) == .newPolicies)
        await device.sessions.set { $0.latch = latch }
        let work = Task { await protection.performDueWork() }
        await latch.waitForArrival()
        try await protection.wipe(device.account.id)
        await latch.open()
        _ = await work.value
        await protection.performDueWork()
        let ledger = await protection.telemetry.ledger()
        #expect(ledger.allSatisfy { $0.event.account == nil && $0.event.tenant == nil })
        let file = device.folder.appending(path: "data/telemetry/ledger.jsonl")
        let bytes = (try? Data(contentsOf: file)) ?? Data()
        for name in [device.account.id.rawValue, device.account.tenant.rawValue] {
            #expect(bytes.range(of: Data(name.utf8)) == nil)
        }
    }

    @Test func `an account that is removed while its conditions are looked at is not said to be open`() async throws {
        let device = try Device()
        let protection = Locked<AppProtection?>(nil)
        try await device.publish(["printBlocked": .bool(true)])
        let app = try await device.start { configuration in
            configuration.deviceFacts = { account in
                try? await protection.withLock { $0 }?.wipe(account)
                return Gatehouse.soundDevice
            }
        }
        #expect(await app.enroll(device.account) == .newPolicies)
        protection.withLock { $0 = app }
        let outcome = await app.launch(device.account.id)
        protection.withLock { $0 = nil }
        #expect(app.enrolledAccounts.isEmpty && outcome.result == .wiped)
    }

    @Test func `a vault makes no key for an account that its app has no more`() async throws {
        let device = try Device()
        let protection = try await device.enrolled()
        let vault = protection.context.vault
        try await protection.wipe(device.account.id)
        await #expect(throws: VaultError(.unknownAccount, "")) {
            _ = try await vault.createAccountKey(for: device.account.id)
        }
        #expect(device.keys == [])
        #expect(await protection.enroll(device.account) == .newPolicies)
        #expect(device.keys.count == 1)
    }
}
