import CordonBase
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonTesting
import CordonVault
import Foundation
import Testing

@testable import Cordon

/// What closes a gate besides its conditions, and what a closed one closes.
@Suite(.timeLimit(.minutes(10))) struct GateClosingTests {
    @Test func `an account that is enrolled again stands before a closed gate`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.opened()
        #expect(await protection.unenroll(house.account, wiping: false) == .unenrolled)
        #expect(await protection.enroll(house.device.account) == .newPolicies)
        #expect(!protection.gate.isOpen(for: house.account))
    }

    @Test func `a gate that is passed while the app leaves the front stays closed until it comes back`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.enrolled()
        await house.person.set { $0.beforeNotice = { _ in await protection.suspend() } }
        let outcome = await protection.launch(house.account)
        #expect(outcome.result == .cancelled)
        #expect(!protection.gate.isOpen(for: house.account))
        await house.person.set { $0.beforeNotice = { _ in } }
        #expect(await protection.resume(house.account).isOpen)
    }

    @Test func `an attempt at a gate that was never tried does not open it after something has closed it`() async throws
    {
        let protection = try await Device().start()
        let gates = GateStates(protection.context)
        let epoch = gates.epoch(of: "oid-a")
        #expect(!gates.closeIfTried("oid-a"))
        #expect(gates.open("oid-a", in: epoch) == .wasClosed)
        #expect(gates.open("oid-a", in: gates.epoch(of: "oid-a")) == .opened)
        #expect(gates.closeIfTried("oid-a"))
    }

    @Test func `a gate that was open without rules closes with the first ones, is told of and passed again`()
        async throws
    {
        let house = try await Gatehouse()
        await house.device.service.set { $0.policy = nil }
        let protection = try await house.start()
        #expect(await protection.enroll(house.device.account) == .noPolicyTargeted)
        #expect(await protection.launch(house.account).isOpen)
        let events = EventCatch(protection)
        try await house.device.publish([:], asksForPIN: true)
        #expect(await protection.checkIn(house.account) == .newPolicies)
        let closed = ProtectionEvent.gate(account: house.account, .closed([GateState.notPassed]))
        #expect(await events.has(closed))
        try await until { await house.person.asked.contains { if case .newPIN = $0 { true } else { false } } }
        try await until { protection.gate.isOpen(for: house.account) }
        #expect(await events.count { $0 == closed } == 1)
    }

    @Test(arguments: [true, false])
    func `an open gate is told to be closed, once, where another process has removed the account`(
        isTried: Bool
    ) async throws {
        let house = try await Gatehouse()
        let protection =
            isTried
            ? try await house.opened()
            : try await house.enrolled(["pinRequired": .bool(false)]) { $0.interface = nil }
        #expect(protection.gate.isOpen(for: house.account))
        let events = EventCatch(protection)
        let other = try await house.start()
        #expect(await other.unenroll(house.account, wiping: false) == .unenrolled)
        for _ in 0..<2 { await protection.performDueWork() }
        let closed = ProtectionEvent.gate(account: house.account, .closed([GateState.notPassed]))
        #expect(await events.has(closed))
        #expect(await events.count { $0 == closed } == 1)
    }

    @Test func `rules that cannot be stored close an open gate, and the person is told without coming back`()
        async throws
    {
        let house = try await Gatehouse()
        let protection = try await house.opened()
        let lock = house.device.folder.appending(path: "data/registrations.lock")
        try? FileManager.default.removeItem(at: lock)
        try FileManager.default.createDirectory(at: lock, withIntermediateDirectories: false)
        try await house.device.publish(["printBlocked": .bool(true)], asksForPIN: true)
        #expect(await protection.checkIn(house.account) == .internalError)
        #expect(!protection.gate.isOpen(for: house.account))
        try await until { await !house.person.shown(.blocked).isEmpty }
    }

    @Test func `watching a gate ends with the enrolment`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.opened()
        let account = house.account
        let watching = Task { await protection.gate.watch(account) }
        await house.clock.waitForSleeper(of: .seconds(300))
        #expect(await protection.unenroll(account) == .unenrolled)
        house.clock.advance(.seconds(301))
        await watching.value
    }

    @Test func `who stops watching a gate in the middle of a look closes nothing`() async throws {
        let house = try await Gatehouse()
        let watching = Locked<Task<Void, Never>?>(nil)
        let protection = try await house.opened { configuration in
            configuration.deviceFacts = { _ in
                watching.withLock { $0 }?.cancel()
                await Task.yield()
                return Gatehouse.soundDevice
            }
        }
        let events = EventCatch(protection)
        watching.withLock { $0 = Task { [account = house.account] in await protection.gate.watch(account) } }
        await house.clock.waitForSleeper(of: .seconds(300))
        house.clock.advance(.seconds(301))
        await watching.withLock { $0 }?.value
        #expect(protection.gate.isOpen(for: house.account))
        #expect(await events.count { if case .gate(_, .closed) = $0 { true } else { false } } == 0)
    }

    @Test func `a file is not handed out where the gate closes while it is opened`() async throws {
        let (device, keys) = (try Device(), ObservedKeys())
        try await device.publish([:])
        let protection = try await device.start { $0.keyStore = keys }
        await protection.enroll(device.account)
        let account = device.account.id
        try await protection.files.write(Data("plan".utf8), as: "plan.txt", of: account)
        try await keys.whenUsed(account, in: protection) { protection.gate.leftFront() }
        await #expect(throws: ProtectionError(.gateClosed, "")) {
            _ = try await protection.files.open("plan.txt", of: account, writing: false)
        }
        #expect(!keys.isWaiting)
    }

    @Test(arguments: ["decrypt", "decrypt to a copy", "provide"])
    func `who wants a file at a path of the app's own is told that the gate closed meanwhile, and no copy stays`(
        way: String
    ) async throws {
        let (device, keys) = (try Device(), ObservedKeys())
        try await device.publish(["appDataEncryptionType": .string("whenDeviceLocked")])
        let protection = try await device.start { $0.keyStore = keys }
        await protection.enroll(device.account)
        let account = device.account.id
        let (file, copy) = (device.folder.appending(path: "plan"), device.folder.appending(path: "copy"))
        try Data("plan".utf8).write(to: file)
        try await protection.files.protect(file, for: account)
        try await keys.whenUsed(account, in: protection) { protection.gate.leftFront() }
        await #expect(throws: ProtectionError(way == "provide" ? .denied : .gateClosed, "")) {
            switch way {
            case "decrypt": try await protection.files.decrypt(file)
            case "provide": try await protection.files.provide(file, of: .managed(account), toCopy: copy)
            default: try await protection.files.decrypt(file, toCopy: copy)
            }
        }
        #expect(!keys.isWaiting)
        #expect(!FileManager.default.fileExists(atPath: copy.path) && protection.files.owner(of: copy) == nil)
        #expect(protection.files.owner(of: file) == account)
    }

    @Test func `a closed gate keeps a file that exists from being opened for writing, and lets new ones be made`()
        async throws
    {
        let house = try await Gatehouse()
        let protection = try await house.enrolled()
        try await protection.files.write(Data("plan".utf8), as: "plan.txt", of: house.account)
        await #expect(throws: ProtectionError(.gateClosed, "")) {
            _ = try await protection.files.open("plan.txt", of: house.account, writing: true)
        }
        try await protection.files.write(Data("plan B".utf8), as: "plan.txt", of: house.account)
        try await protection.files.open("new.txt", of: house.account, writing: true).close()
        await protection.launch(house.account)
        try await protection.files.open("plan.txt", of: house.account, writing: true).close()
        #expect(try await protection.files.read("plan.txt", of: house.account) == Data("plan B".utf8))
    }
}
