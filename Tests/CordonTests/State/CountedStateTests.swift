import CordonBase
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonTestSupport
import CordonTesting
import Foundation
import Testing

@testable import Cordon

/// What an app keeps about itself, against who removes it, edits it or puts it back: nothing opens by it that was closed.
@Suite(.timeLimit(.minutes(10))) struct CountedStateTests {
    private static let offline: [String: JSONValue] = [
        "pinRequired": .bool(false), "periodOfflineBeforeAccessCheck": .string("PT12H"),
    ]

    private func file(_ folder: String, of house: Gatehouse) throws -> URL {
        let name = try #require(house.device.files(in: folder).first { $0.hasSuffix(".json") })
        return house.device.folder.appending(path: "data/\(folder)/\(name)")
    }

    private func remove(_ folders: [String], of house: Gatehouse) {
        for folder in folders {
            try? FileManager.default.removeItem(at: house.device.folder.appending(path: "data/\(folder)"))
        }
    }

    /// Copies a file aside; the answer puts it back.
    private func kept(_ file: URL) throws -> () throws -> Void {
        let bytes = try Data(contentsOf: file)
        return { try bytes.write(to: file) }
    }

    @Test(arguments: [["pins", "launch"], ["pins", "launch", "life"], ["pins", "launch", "counters"]])
    func `whatever else is removed with the PIN, the person signs in before a new one`(folders: [String]) async throws {
        let house = try await Gatehouse()
        _ = try await house.opened()
        remove(folders, of: house)
        let restarted = try await house.start()
        let outcome = await restarted.launch(house.account)
        #expect(outcome.steps.filter { $0.kind != .checkIn }.map(\.kind) == [.signIn, .newPIN])
        #expect(restarted.enrolledAccounts.count == 1, "and nothing is deleted")
    }

    @Test func `who puts back what was remembered before the first PIN signs in as well`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.enrolled()
        let putBack = try kept(file("launch", of: house))
        #expect(await protection.launch(house.account).isOpen)
        remove(["pins"], of: house)
        try putBack()
        let outcome = await (try house.start()).launch(house.account)
        #expect(outcome.steps.map(\.kind) == [.signIn, .newPIN])
    }

    @Test func `an enrolment after everything but the vault was removed gives no PIN without a sign-in`() async throws {
        let house = try await Gatehouse()
        _ = try await house.opened()
        remove(["pins", "launch", "registrations", "life", "counters"], of: house)
        let restarted = try await house.start()
        #expect(restarted.enrolledAccounts.isEmpty)
        #expect(await restarted.enroll(house.device.account) == .newPolicies)
        #expect(await restarted.launch(house.account).steps.map(\.kind) == [.managedNotice, .signIn, .newPIN])
    }

    @Test func `a key record that was damaged before the enrolment counts as one that is there`() async throws {
        let house = try await Gatehouse()
        _ = try await house.opened()
        remove(["pins", "launch", "registrations", "life", "counters"], of: house)
        let keys = house.device.folder.appending(path: "data/vault/keys")
        for name in try FileManager.default.contentsOfDirectory(atPath: keys.path) where name.hasSuffix(".key") {
            try Data(count: 512).write(to: keys.appending(path: name))
        }
        let restarted = try await house.start()
        #expect(await restarted.enroll(house.device.account) == .newPolicies)
        // Put back once a PIN was made, it would open everything with that.
        #expect(restarted.context.launchRecord(of: house.account).hadPIN)
    }

    @Test(arguments: ["lastCheckIn", "isAccountDisabled"])
    func `no edit of a registration opens what too long without contact has closed`(member: String) async throws {
        let house = try await Gatehouse()
        _ = try await house.opened(Self.offline)
        await house.goOffline()
        house.clock.advance(.seconds(86_400))
        #expect(await (try house.start()).launch(house.account).result == .blocked)
        let registration = try file("registrations", of: house)
        var members = try #require(try JSONValue(parsing: house.device.contents(ofState: registration)).object)
        members[member] =
            member == "lastCheckIn" ? .string(house.clock.clock.now().formatted(.iso8601)) : .bool(false)
        try Data(JSONValue.object(members).text().utf8).write(to: registration)
        let edited = try await house.start()
        #expect(await !edited.launch(house.account).isOpen)
        #expect(!edited.gate.isOpen(for: house.account))
    }

    @Test func `removing what the clock has shown does not give back the time without contact`() async throws {
        for isRestored in [false, true] {
            let house = try await Gatehouse()
            _ = try await house.opened(Self.offline)
            let putBack = try kept(house.device.folder.appending(path: "data/life/life.json"))
            await house.goOffline()
            house.clock.advance(.seconds(86_400))
            #expect(await (try house.start()).launch(house.account).result == .blocked)
            if isRestored {
                try putBack()
            } else {
                try FileManager.default.removeItem(at: house.device.folder.appending(path: "data/life/life.json"))
            }
            // An hour after the last contact, as far as the wall clock goes.
            house.clock.reboot(after: .seconds(60), wall: .seconds(-23 * 3600))
            let restarted = try await house.start()
            let outcome = await restarted.launch(house.account)
            #expect(outcome.reasons.map(\.rule) == ["launch.clock-turned-back"])
            #expect(!outcome.isOpen)
            await house.goOnline()
            await restarted.performDueWork()
            #expect(await restarted.resume(house.account).isOpen, "contact settles what time it is")
        }
    }

    @Test func `an account whose registration is removed is denied, and put back it is as old as before`() async throws
    {
        let house = try await Gatehouse()
        let protection = try await house.opened(Self.offline)
        try await protection.files.write(Data("plan".utf8), as: "plan.txt", of: house.account)
        let registration = try file("registrations", of: house)
        let putBack = try kept(registration)
        try FileManager.default.removeItem(at: registration)
        await house.goOffline()
        let without = try await house.start()
        #expect(without.enrolledAccounts.isEmpty)
        #expect(!house.device.mayPrint(without))
        #expect(throws: ProtectionError(denied: PolicyDecision(reasons: []))) {
            _ = try without.permit(for: Question(.print, owner: .managed(house.account)))
        }
        await #expect(throws: ProtectionError.self) { _ = try await without.files.read("plan.txt", of: house.account) }
        house.clock.advance(.seconds(86_400))
        try putBack()
        let again = try await house.start()
        #expect(await again.launch(house.account).reasons.map(\.rule) == ["launch.offline"])
        await house.goOnline()
        #expect(await again.resume(house.account).isOpen)
        #expect(try await again.files.read("plan.txt", of: house.account) == Data("plan".utf8))
    }

    @Test func `an account that left without a wipe is not denied as one whose registration was removed`() async throws
    {
        let device = try Device()
        let protection = try await device.enrolled(["printBlocked": .bool(false)])
        #expect(await protection.unenroll(device.account.id, wiping: false) == .unenrolled)
        let restarted = try await device.start()
        let events = EventCatch(restarted)
        let asides = await events.count {
            if case .stateSetAside(let reason) = $0 { !reason.hasPrefix("mark") } else { false }
        }
        #expect(asides == 0)
    }

    @Test func `what a wipe removed does not come back with its files`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.opened()
        let files = try ["registrations", "launch", "pins"].map { try file($0, of: house) }
        let putBack = try files.map { try kept($0) }
        try await protection.wipe(house.account)
        for put in putBack { try put() }
        let restarted = try await house.start()
        #expect(restarted.enrolledAccounts.isEmpty)
        #expect(await restarted.enroll(house.device.account) == .newPolicies)
        #expect(await restarted.launch(house.account).steps.contains(LaunchStep(.signIn, .done)))
    }

    @Test func `without an interface, what was remembered and is in doubt closes reading and ways out`() async throws {
        let device = try Device()
        let protection = try await device.enrolled(["printBlocked": .bool(false)])
        let account = device.account.id
        try await protection.files.write(Data("plan".utf8), as: "plan.txt", of: account)
        #expect(try await protection.files.read("plan.txt", of: account) == Data("plan".utf8))
        try FileManager.default.removeItem(at: device.folder.appending(path: "data/launch"))
        let restarted = try await device.start()
        #expect(!restarted.gate.isOpen(for: account))
        await #expect(throws: ProtectionError(.gateClosed, "")) {
            _ = try await restarted.files.read("plan.txt", of: account)
        }
        #expect(throws: ProtectionError(denied: PolicyDecision(reasons: []))) {
            _ = try restarted.permit(for: Question(.print, owner: .managed(account)))
        }
        #expect(restarted.enrolledAccounts == [device.account])
    }

    enum Loss: CaseIterable { case removed, emptied, folder }

    @Test(arguments: Loss.allCases)
    func `a counter that was lost asks for a sign-in, deletes nothing, and counts again afterwards`(loss: Loss)
        async throws
    {
        let house = try await Gatehouse()
        let folder = house.device.folder.appending(path: "counters")
        let counter = try FileStateCounter(directory: folder)
        let protection = try await house.opened { $0.stateCounter = counter }
        try await protection.files.write(Data("plan".utf8), as: "plan.txt", of: house.account)
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            let place = folder.appending(path: name)
            try FileManager.default.removeItem(at: place)
            switch loss {
            case .removed: break
            case .emptied: try Data().write(to: place)
            case .folder: try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
            }
        }
        await house.goOffline()
        let offline = try await house.start { $0.stateCounter = counter }
        #expect(await !offline.launch(house.account).isOpen, "what holds is not known before the service was asked")
        #expect(offline.enrolledAccounts.count == 1)
        await house.goOnline()
        let online = try await house.start { $0.stateCounter = counter }
        let outcome = await online.launch(house.account)
        #expect(outcome.isOpen)
        #expect(outcome.steps.map(\.kind).contains(.signIn))
        #expect(try await online.files.read("plan.txt", of: house.account) == Data("plan".utf8))
        await online.suspend()
        let again = try await house.start { $0.stateCounter = counter }
        #expect(await again.launch(house.account).steps.isEmpty)
    }

    @Test func `a home that the version before has left is taken over with its PIN, and refused when it is put back`()
        async throws
    {
        let house = try await Gatehouse()
        _ = try await house.opened()
        try house.device.makeFormer()
        let data = house.device.folder.appending(path: "data")
        let copy = house.device.folder.appending(path: "copy")
        try TemporaryFolder.copy(data, to: copy)
        await house.goOffline()
        house.clock.advance(.seconds(3600))
        let upgraded = try await house.start()
        #expect(upgraded.enrolledAccounts == [house.device.account])
        #expect(await upgraded.launch(house.account).steps == [LaunchStep(.pin, .done)])
        await upgraded.gate.keys.finishChanges(house.account)
        for folder in ["registrations", "life", "launch", "pins"] {
            let text = try String(contentsOf: file(folder, of: house), encoding: .utf8)
            #expect(text.contains(#""version":4"#), "\(folder)")
        }
        for folder in ["registrations", "life", "launch", "pins"] {
            try TemporaryFolder.putBack(copy.appending(path: folder), at: data.appending(path: folder))
        }
        let restored = try await house.start()
        #expect(!house.device.mayPrint(restored))
        #expect(await !restored.launch(house.account).isOpen)
    }

    @Test(.timeLimit(.minutes(10))) func `killed at any step of the taking over, the next start ends it`() async throws
    {
        let device = try Device(isLasting: true)
        try await device.publish(["printBlocked": .bool(false)])
        let counters = device.folder.appending(path: "counters")
        let person = ScriptedPerson()
        let counter = try FileStateCounter(directory: counters)
        let first = try await device.start {
            $0.stateCounter = counter
            $0.interface = person
            $0.pinCost = PINCost(logRounds: 1)
        }
        #expect(await first.enroll(device.account) == .newPolicies)
        let rules = PINRequirements(AccessRequirements())
        #expect(try await first.context.pinsForTests().set("2580", of: device.account.id, requirements: rules).isEmpty)
        try device.makeFormer(counters: counters)
        let pin = device.service.root.publicKey.thumbprint
        await device.service.set { $0.isUnreachable = true }
        let pristine = device.folder.appending(path: "pristine")
        let data = device.folder.appending(path: "data")
        try FileManager.default.copyItem(at: data, to: pristine)
        let path = device.folder.path
        for step in 0..<40 {
            try TemporaryFolder.putBack(pristine, at: data)
            try? FileManager.default.removeItem(at: counters)
            var hasEnded = true
            let result = await #expect(processExitsWith: .failure, observing: []) {
                [path = path as String, pin = pin as String, step = step as Int] in
                let device = Device(at: URL(filePath: path))
                let counter = DyingCounter(
                    try FileStateCounter(directory: URL(filePath: path + "/counters")), after: step)
                _ = try await device.start(pin: pin) { $0.stateCounter = counter }
                // Nothing is left to take over: this process ends in another way than the others.
                exit(3)
            }
            if case .signal? = result?.exitStatus { hasEnded = false }
            let next = try await device.start { $0.stateCounter = counter }
            #expect(next.enrolledAccounts == [device.account], "step \(step)")
            #expect(device.mayPrint(next), "step \(step)")
            guard case .value(let record) = try next.context.pinsForTests().contents(of: device.account.id) else {
                Issue.record("the PIN was lost at step \(step)")
                return
            }
            #expect(record.verifier != nil)
            #expect(next.context.seal.refusesUncounted, "step \(step)")
            guard !hasEnded else {
                #expect(step > 8, "the steps are few: \(step)")
                return
            }
        }
        Issue.record("the taking over never ended")
    }

    @Test func `what says that a newer version has written it does not give back the time without contact`()
        async throws
    {
        let house = try await Gatehouse()
        _ = try await house.opened(Self.offline)
        await house.goOffline()
        house.clock.advance(.seconds(86_400))
        #expect(await (try house.start()).launch(house.account).result == .blocked)
        let life = house.device.folder.appending(path: "data/life/life.json")
        try Data(#"{"version":5}"#.utf8).write(to: life)
        house.clock.reboot(after: .seconds(60), wall: .seconds(-23 * 3600))
        let restarted = try await house.start()
        let outcome = await restarted.launch(house.account)
        #expect(!outcome.isOpen && outcome.reasons.map(\.rule) == ["launch.clock-turned-back"])
        await house.goOnline()
        await restarted.performDueWork()
        #expect(await restarted.resume(house.account).isOpen, "contact settles what time it is")
        #expect(try Data(contentsOf: life) == Data(#"{"version":5}"#.utf8), "and it stays as it is")
    }

    @Test func `a PIN is taken away also where that cannot be noted`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.opened()
        try Data(#"{"version":5}"#.utf8).write(to: house.device.folder.appending(path: "data/life/life.json"))
        let command = Command(
            id: "c1", kind: .resetPIN, account: house.account, reason: .device, issuedAt: 0, notAfter: 9_000_000_000)
        await house.device.service.set { $0.commands = [command] }
        await house.person.set { $0.signIns = [.cancelled] }
        _ = await protection.checkIn(house.account)
        try await until { !protection.gate.isOpen(for: house.account) }
        let restarted = try await house.start()
        #expect(await restarted.launch(house.account).steps.map(\.kind).contains(.signIn))
    }

    enum Harm: String, CaseIterable {
        case removed
        case garbage
        case newer

        func harm(_ file: URL) throws {
            switch self {
            case .removed: try FileManager.default.removeItem(at: file)
            case .garbage: try Data("garbage".utf8).write(to: file)
            case .newer: try Data(#"{"version":5}"#.utf8).write(to: file)
            }
        }
    }

    @Test(arguments: Harm.allCases, [false, true])
    func `who signs out of an account whose registration was harmed leaves nothing behind`(
        harm: Harm, isRestarted: Bool
    ) async throws {
        let house = try await Gatehouse()
        var protection = try await house.opened(["pinRequired": .bool(false)])
        try await protection.files.write(Data("plan".utf8), as: "plan", of: house.account)
        let registration = try file("registrations", of: house)
        let putBack = try kept(registration)
        try harm.harm(registration)
        if isRestarted { protection = try await house.start() }
        #expect(await protection.unenroll(house.account).didSucceed)
        #expect(protection.enrolledAccounts.isEmpty && house.device.keys.isEmpty)
        try putBack()
        let last = try await house.start()
        #expect(await !last.launch(house.account).isOpen || last.enrolledAccounts.isEmpty)
        await #expect(throws: ProtectionError.self) { _ = try await last.files.read("plan", of: house.account) }
        #expect(house.device.keys.isEmpty)
    }

    @Test func `a removal without a registration that could not be finished is taken up by the work that is due`()
        async throws
    {
        let house = try await Gatehouse()
        _ = try await house.opened(["pinRequired": .bool(false)])
        try Harm.removed.harm(try file("registrations", of: house))
        let sessions = house.device.sessions
        await sessions.set { $0.endFailure = HeldSessions.refusal }
        #expect(await (try house.start()).unenroll(house.account) == .wipeIncomplete)
        #expect(await sessions.ended.isEmpty)
        await sessions.set { $0.endFailure = nil }
        let restarted = try await house.start()
        await restarted.performDueWork()
        #expect(await sessions.ended == [house.account])
        #expect(restarted.context.pending.leaving?.isEmpty != false)
    }
}

extension ProtectionContext {
    /// The PINs of an app, at no cost.
    fileprivate func pinsForTests() throws -> PINKeeper {
        PINKeeper(
            folder: try StateFolder(configuration.dataDirectory.appending(path: "pins")), seal: seal,
            clock: configuration.clock, cost: PINCost(logRounds: 1), observer: { _ in })
    }
}

/// A counter in whose process another hand strikes, after so many numbers were raised.
private struct DyingCounter: StateCounter {
    private let counter: FileStateCounter
    private let left: Locked<Int>

    init(_ counter: FileStateCounter, after raised: Int) {
        self.counter = counter
        left = Locked(raised)
    }

    func value(of name: String) throws -> Int64 { try counter.value(of: name) }

    func raise(_ name: String, to number: Int64) throws {
        let isLast = left.withLock { left in
            left -= 1
            return left < 0
        }
        if isLast { Program.dieByAnotherHand() }
        try counter.raise(name, to: number)
    }
}
