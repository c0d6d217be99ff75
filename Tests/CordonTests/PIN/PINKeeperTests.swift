import CordonBase
import CordonPolicy
import CordonTestSupport
import CordonVault
import Foundation
import Testing

@testable import Cordon

/// AUTH-2, SRV-RS-045…049: what is kept of a PIN, and how guesses are counted.
@Suite(.timeLimit(.minutes(10))) struct PINKeeperTests {
    private final class Drawer: Sendable {
        let home = TemporaryFolder.newPath()
        let keys = InMemoryKeyStore()
        let clock = ManualClock()
        deinit { try? FileManager.default.removeItem(at: home) }

        var folder: URL { home.appending(path: "pins") }
        /// Where a key store in files keeps its keys, and the names of its secrets.
        var keyFolder: URL { home.appending(path: "keys") }
        var secrets: Set<String> {
            let names = try? FileManager.default.contentsOfDirectory(atPath: keyFolder.appending(path: "secrets").path)
            return Set((names ?? []).filter { $0.hasSuffix(".key") })
        }

        func seal(_ keys: (any KeyStore)? = nil, counter: (any StateCounter)? = nil) throws -> StateSeal {
            let numbers = try FileStateCounter(directory: home.appending(path: "counters"))
            return StateSeal(
                keyStore: keys ?? self.keys, folder: try StateFolder(home.appending(path: "life")),
                counter: counter ?? numbers, bundleID: "example.notes")
        }

        func keeper(
            cost: PINCost = PINCost(logRounds: 1), keys: (any KeyStore)? = nil, folder: URL? = nil,
            observer: @escaping @Sendable (String) -> Void = { _ in }
        ) throws -> PINKeeper {
            PINKeeper(
                folder: try StateFolder(folder ?? self.folder), seal: try seal(keys), clock: clock.clock, cost: cost,
                observer: { [self] step in withExtendedLifetime(self) { observer(step) } })
        }

        /// Counts a guess as another process does that the lock does not keep out.
        func countGuess(in folder: URL) { change(in: folder) { $0.failed += 1 } }

        /// Changes what is kept as such a process does.
        func change(in folder: URL, keys: (any KeyStore)? = nil, _ edit: (inout PINRecord) -> Void) {
            do {
                let file = try StateFolder(folder).file(FolderName.of("oid-a"))
                let state = SealedState<PINRecord>(file: file, purpose: "pin", seal: try seal(keys), former: .raw)
                guard case .value(var record) = try state.read() else {
                    Issue.record("no record")
                    return
                }
                edit(&record)
                try state.write(record)
            } catch { Issue.record(error) }
        }

        func bytes() throws -> Data {
            let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            return try files.reduce(Data()) { try $0 + Data(contentsOf: $1) }
        }
    }

    private static let rules = PINRequirements(AccessRequirements())

    @Test func `only the PIN itself is right, whatever way its characters are composed`() async throws {
        let keeper = try Drawer().keeper()
        var access = AccessRequirements()
        access.pinCharacterSet = .alphanumericAndSymbol
        #expect(try await keeper.set("caf\u{E9}1", of: "oid-a", requirements: PINRequirements(access)).isEmpty)
        #expect(try await keeper.check("cafe\u{301}1", of: "OID-A", limit: 9) == .right)
        #expect(try await keeper.check("cafe1", of: "oid-a", limit: 9) == .wrong(left: 8))
        #expect(try await keeper.check("caf\u{E9}1", of: "oid-b", limit: 9) == .noPIN)
    }

    @Test func `an extension checks no PIN that takes more memory than it has, and takes no guess for it`() async throws
    {
        let drawer = Drawer()
        _ = try await drawer.keeper(cost: PINCost(logRounds: 15)).set("2580", of: "oid-a", requirements: Self.rules)
        var small = try drawer.keeper(cost: .appExtension)
        small.memoryLimit = PINCost.extensionLimit
        let keeper = small
        await #expect(throws: ProtectionError(.stateUnwritable, "")) {
            _ = try await keeper.check("2580", of: "oid-a", limit: 5)
        }
        guard case .value(let record) = try keeper.contents(of: "oid-a") else {
            Issue.record("no record")
            return
        }
        #expect(record.failed == 0)
        // Nor does it look whether a new one was a former one.
        var access = AccessRequirements()
        access.previousPinBlockCount = 1
        await #expect(throws: ProtectionError(.stateUnwritable, "")) {
            try await keeper.set("9731", of: "oid-a", requirements: PINRequirements(access))
        }
        // The app makes it one that fits at the next right guess.
        #expect(try await drawer.keeper(cost: .appExtension).check("2580", of: "oid-a", limit: 5) == .right)
        #expect(try await keeper.check("2580", of: "oid-a", limit: 5) == .right)
        #expect(
            PINCost.appExtension.memory <= PINCost.extensionLimit && PINCost.standard.memory > PINCost.extensionLimit)
        let work = { (cost: PINCost) in cost.memory * cost.parallelism }
        #expect(work(.appExtension) == work(.standard), "no guess is cheaper there")
    }

    @Test func `a changed PIN keeps what it opens for who knew the one before, and a new one opens something else`()
        async throws
    {
        let keeper = try Drawer().keeper()
        let first = try await keeper.make("2580", of: "oid-a", requirements: Self.rules, inPlace: .any).pin?.key
        #expect(try await keeper.guess("2580", of: "oid-a", limit: 5).pin?.key == first)
        #expect(try await keeper.guess("2581", of: "oid-a", limit: 5).pin?.key == nil)
        let kept = try await keeper.make("9731", of: "oid-a", requirements: Self.rules, inPlace: .any, keeping: first)
            .pin?.key
        #expect(kept == first)
        #expect(try await keeper.guess("9731", of: "oid-a", limit: 5).pin?.key == first)
        let anew = try await keeper.make("8642", of: "oid-a", requirements: Self.rules, inPlace: .any).pin?.key
        #expect(anew != first)
        try await keeper.takeAway(from: "oid-a")
        #expect(try await keeper.guess("8642", of: "oid-a", limit: 5).pin?.key == nil)
    }

    @Test func `a PIN takes the place of the one that its person knows, and of no other that came meanwhile`()
        async throws
    {
        let keeper = try Drawer().keeper()
        let make = { (pin: String, place: PINKeeper.Place) in
            try await keeper.make(pin, of: "oid-a", requirements: Self.rules, inPlace: place).pin
        }
        let first = try #require(try await make("2580", .empty))
        let known = try #require(try await keeper.guess("2580", of: "oid-a", limit: 5).pin)
        #expect(known.verifier == first.verifier)
        await #expect(throws: ProtectionError(.stateUnwritable, "")) { _ = try await make("1111", .empty) }
        try await keeper.takeAway(from: "oid-a")
        await #expect(throws: ProtectionError(.stateUnwritable, "")) { _ = try await make("9731", .of(known.verifier)) }
        await #expect(throws: ProtectionError(.stateUnwritable, "")) { _ = try await make("9731", .empty) }
        #expect(try await keeper.check("9731", of: "oid-a", limit: 5) == .noPIN)
        // The same PIN, made anew after a sign-in, is another one.
        _ = try await make("2580", .any)
        await #expect(throws: ProtectionError(.stateUnwritable, "")) { _ = try await make("9731", .of(known.verifier)) }
        let again = try #require(try await keeper.guess("2580", of: "oid-a", limit: 5).pin)
        #expect(try await make("9731", .of(again.verifier)) != nil)
    }

    @Test func `a PIN that is taken away while another is being made is not replaced, whatever became of their lock`()
        async throws
    {
        let drawer = Drawer()
        let made = try await drawer.keeper().make("2580", of: "oid-a", requirements: Self.rules, inPlace: .any)
        let known = try #require(made.pin)
        let stopped = try drawer.keeper { step in
            if step == "making" { drawer.change(in: drawer.folder) { $0.end() } }
        }
        await #expect(throws: ProtectionError(.stateUnwritable, "")) {
            _ = try await stopped.make(
                "9731", of: "oid-a", requirements: Self.rules, inPlace: .of(known.verifier), keeping: known.key)
        }
        #expect(try await drawer.keeper().check("9731", of: "oid-a", limit: 5) == .noPIN)
    }

    @Test func `a process that comes too late with a PIN leaves the secrets of the other one's alone`() async throws {
        let drawer = Drawer()
        let keys = FileKeyStore(directory: drawer.keyFolder)
        _ = try await drawer.keeper(keys: keys).set("2580", of: "oid-a", requirements: Self.rules)
        let known = drawer.secrets
        let stopped = try drawer.keeper(keys: keys) {
            if $0 == "making" { drawer.change(in: drawer.folder, keys: keys) { $0.failed = 1 } }
        }
        await #expect(throws: ProtectionError(.stateUnwritable, "")) {
            _ = try await stopped.set("9731", of: "oid-a", requirements: Self.rules)
        }
        #expect(known.count == 1 && drawer.secrets == known)
        #expect(try await drawer.keeper(keys: keys).check("2580", of: "oid-a", limit: 5) == .right)
    }

    @Test func `no secret of a PIN outlives it, whatever became of its record`() async throws {
        let drawer = Drawer()
        let keeper = try drawer.keeper(keys: FileKeyStore(directory: drawer.keyFolder))
        let file = drawer.folder.appending(path: FolderName.of("oid-a") + ".json")
        _ = try await keeper.set("2580", of: "oid-a", requirements: Self.rules)
        let older = try Data(contentsOf: file)
        _ = try await keeper.check("1111", of: "oid-a", limit: 5)
        try older.write(to: file)
        _ = try await keeper.set("9731", of: "oid-a", requirements: Self.rules)
        #expect(drawer.secrets.count == 1, "a PIN that was made in place of one in doubt")
        let newer = try Data(contentsOf: file)
        _ = try await keeper.check("1111", of: "oid-a", limit: 5)
        try newer.write(to: file)
        try await keeper.takeAway(from: "oid-a")
        #expect(drawer.secrets.isEmpty, "a PIN in doubt that was taken away")
        _ = try await keeper.set("8642", of: "oid-a", requirements: Self.rules)
        try await keeper.remove("oid-a")
        #expect(drawer.secrets.isEmpty)
    }

    @Test(arguments: [false, true])
    func `a PIN ends also while its record is out of the way, and is not back with it`(isGarbled: Bool) async throws {
        let drawer = Drawer()
        let keeper = try drawer.keeper(keys: FileKeyStore(directory: drawer.keyFolder))
        let file = drawer.folder.appending(path: FolderName.of("oid-a") + ".json")
        for removes in [false, true] {
            let made = try await keeper.make("2580", of: "oid-a", requirements: Self.rules, inPlace: .any).pin?.key
            let record = try Data(contentsOf: file)
            if isGarbled {
                try Data(#"{"version":5}"#.utf8).write(to: file)
            } else {
                try FileManager.default.removeItem(at: file)
            }
            if removes {
                try await keeper.remove("oid-a")
            } else if isGarbled {
                await #expect(throws: ProtectionError(.stateUnwritable, "")) {
                    try await keeper.takeAway(from: "oid-a")
                }
            } else {
                try await keeper.takeAway(from: "oid-a")
            }
            try record.write(to: file)
            #expect(try await keeper.check("2580", of: "oid-a", limit: 5) == .noPIN)
            #expect(made != nil && drawer.secrets.isEmpty)
        }
    }

    @Test func `apps on one key store have PINs of their own`() async throws {
        let drawer = Drawer()
        let keeper = try drawer.keeper()
        let other = PINKeeper(
            folder: try StateFolder(drawer.home.appending(path: "other")),
            seal: StateSeal(
                keyStore: drawer.keys, folder: try StateFolder(drawer.home.appending(path: "life")),
                counter: try FileStateCounter(directory: drawer.home.appending(path: "counters")),
                bundleID: "example.other"), clock: drawer.clock.clock, cost: PINCost(logRounds: 1), observer: { _ in })
        _ = try await keeper.set("2580", of: "oid-a", requirements: Self.rules)
        _ = try await other.set("9731", of: "oid-a", requirements: Self.rules)
        #expect(try await keeper.check("2580", of: "oid-a", limit: 5) == .right)
        try await other.remove("oid-a")
        #expect(try await keeper.check("2580", of: "oid-a", limit: 5) == .right)
    }

    @Test func `a PIN whose end was cut off opens nothing any more, and is a former one`() async throws {
        let drawer = Drawer()
        let keeper = try drawer.keeper()
        var access = AccessRequirements()
        access.previousPinBlockCount = 1
        let rules = PINRequirements(access)
        _ = try await keeper.set("2580", of: "oid-a", requirements: rules)
        let file = drawer.folder.appending(path: FolderName.of("oid-a") + ".json")
        // The disk takes nothing: a folder is in the record's place once its secret has gone.
        let interrupted = PINKeeper(
            folder: try StateFolder(drawer.folder), seal: try drawer.seal(), clock: drawer.clock.clock,
            cost: PINCost(logRounds: 1),
            observer: { step in
                guard step == "ended" else { return }
                try? FileManager.default.moveItem(at: file, to: file.appendingPathExtension("aside"))
                try? FileManager.default.createDirectory(at: file, withIntermediateDirectories: true)
            })
        await #expect(throws: ProtectionError.self) { try await interrupted.takeAway(from: "oid-a") }
        try FileManager.default.removeItem(at: file)
        try FileManager.default.moveItem(at: file.appendingPathExtension("aside"), to: file)
        #expect(try await keeper.check("2580", of: "oid-a", limit: 5) == .noPIN)
        #expect(try await keeper.set("2580", of: "oid-a", requirements: rules) == [.usedBefore])
        #expect(try await keeper.set("9731", of: "oid-a", requirements: rules).isEmpty)
    }

    @Test func `the last guess uses the PIN up, the right one then too`() async throws {
        let drawer = Drawer()
        let keeper = try drawer.keeper()
        _ = try await keeper.set("2580", of: "oid-a", requirements: Self.rules)
        #expect(try await keeper.check("1111", of: "oid-a", limit: 2) == .wrong(left: 1))
        #expect(try await keeper.check("1112", of: "oid-a", limit: 2) == .wrong(left: 0))
        #expect(try await keeper.check("2580", of: "oid-a", limit: 2) == .exhausted)
        #expect(try await keeper.check("2580", of: "oid-a", limit: 3) == .noPIN, "a milder policy gives none back")
    }

    @Test func `guesses after the third wait longer and longer, by the machine's uptime`() async throws {
        let drawer = Drawer()
        let keeper = try drawer.keeper()
        _ = try await keeper.set("2580", of: "oid-a", requirements: Self.rules)
        for _ in 0..<3 { _ = try await keeper.check("1111", of: "oid-a", limit: 99) }
        #expect(try await keeper.check("2580", of: "oid-a", limit: 99) == .tooSoon(.seconds(5)))
        drawer.clock.advance(.seconds(2), wall: .seconds(100_000))
        #expect(try await keeper.check("2580", of: "oid-a", limit: 99) == .tooSoon(.seconds(3)))
        drawer.clock.advance(.seconds(3))
        #expect(try await keeper.check("1111", of: "oid-a", limit: 99) == .wrong(left: 95))
        #expect(try await keeper.check("2580", of: "oid-a", limit: 99) == .tooSoon(.seconds(10)))
        drawer.clock.reboot(after: .seconds(100_000))
        #expect(try await keeper.check("2580", of: "oid-a", limit: 99) == .tooSoon(.seconds(5)))
        #expect(PINKeeper.pause(after: 60_000) == .seconds(3600))
    }

    @Test func `a process with a clock of its own waits between guesses within its own run`() async throws {
        let drawer = Drawer()
        func keeper(_ boot: String, _ uptime: Int) throws -> PINKeeper {
            var keeper = try drawer.keeper()
            keeper.clock = ProtectionClock(
                now: { Date() }, sleep: { _ in }, boot: { BootReading(boot: boot, uptime: .seconds(uptime)) })
            return keeper
        }
        _ = try await keeper("boot", 900_000).set("2580", of: "oid-a", requirements: Self.rules)
        for _ in 0..<3 { _ = try await keeper("boot", 900_000).check("1111", of: "oid-a", limit: 99) }
        // Each process, with an uptime that its user has set, would have waited long enough.
        for (process, uptime) in [("process 1", 1_000_000), ("process 2", 2_000_000)] {
            #expect(
                try await keeper(process, uptime).check("2580", of: "oid-a", limit: 99) == .tooSoon(.seconds(5)))
        }
        #expect(
            try await keeper("process 2", 2_000_002).check("2580", of: "oid-a", limit: 99) == .tooSoon(.seconds(3)))
        #expect(try await keeper("process 2", 2_000_005).check("1111", of: "oid-a", limit: 99) == .wrong(left: 95))
        // Nor does a guess there cost the machine's own processes their pause.
        #expect(try await keeper("boot", 900_010).check("2580", of: "oid-a", limit: 99) == .tooSoon(.seconds(10)))
        #expect(try await keeper("boot", 900_020).check("2580", of: "oid-a", limit: 99) == .right)
    }

    @Test func `many guesses at once are counted one by one`() async throws {
        let keeper = try Drawer().keeper()
        _ = try await keeper.set("2580", of: "oid-a", requirements: Self.rules)
        let checks = try await withThrowingTaskGroup(of: PINKeeper.Check.self) { group in
            for _ in 0..<8 { group.addTask { try await keeper.check("1111", of: "oid-a", limit: 3) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(checks.count { $0 == .exhausted } == 5)
        #expect(Set(checks.compactMap { if case .wrong(let left) = $0 { left } else { nil } }) == [0, 1, 2])
    }

    @Test(arguments: ["read", "count"], [false, true])
    func
        `of processes that were stopped before they counted one guess, one alone tries it, whatever became of their lock`(
            step: String, isCopy: Bool
        ) async throws
    {
        let drawer = Drawer()
        _ = try await drawer.keeper().set("2580", of: "oid-a", requirements: Self.rules)
        // Copies of a home share the counter, and not the lock.
        let other = isCopy ? drawer.home.appending(path: "copy") : drawer.folder
        if isCopy { try FileManager.default.copyItem(at: drawer.folder, to: other) }
        let isTried = Locked(false)
        let stopped = try drawer.keeper { reached in
            if reached == step { drawer.countGuess(in: other) }
            if reached == "derive" { isTried.withLock { $0 = true } }
        }
        await #expect(throws: ProtectionError(.stateUnwritable, "")) {
            try await stopped.check("2580", of: "oid-a", limit: 5)
        }
        #expect(!isTried.withLock { $0 })
        #expect(try await drawer.keeper(folder: other).check("1111", of: "oid-a", limit: 5) == .wrong(left: 3))
    }

    @Test func `a process that was stopped while it noted that the person was there gives back no guess`() async throws
    {
        let drawer = Drawer()
        let counter = try StuckCounter(directory: drawer.home.appending(path: "counters"))
        let keeper = PINKeeper(
            folder: try StateFolder(drawer.folder), seal: try drawer.seal(counter: counter), clock: drawer.clock.clock,
            cost: PINCost(logRounds: 1), observer: { _ in })
        _ = try await keeper.set("2580", of: "oid-a", requirements: Self.rules)
        // Asked for once without the lock, once under it, and once when it is written.
        counter.steps.withLock { $0 = [{}, {}, { drawer.countGuess(in: drawer.folder) }] }
        await #expect(throws: ProtectionError(.stateUnwritable, "")) {
            try await keeper.recordActivity(
                of: "oid-a", at: ClockReading(drawer.clock.clock), askedAfter: .seconds(1800))
        }
        #expect(try await keeper.check("1111", of: "oid-a", limit: 5) == .wrong(left: 3))
    }

    @Test func `former PINs may not come back while the policy remembers them`() async throws {
        let keeper = try Drawer().keeper()
        var access = AccessRequirements()
        access.previousPinBlockCount = 2
        let rules = PINRequirements(access)
        for pin in ["1111", "2222", "3333"] {
            #expect(try await keeper.set(pin, of: "oid-a", requirements: rules).isEmpty)
        }
        #expect(try await keeper.set("3333", of: "oid-a", requirements: rules) == [.usedBefore])
        #expect(try await keeper.set("2222", of: "oid-a", requirements: rules) == [.usedBefore])
        #expect(try await keeper.set("1111", of: "oid-a", requirements: rules).isEmpty)
    }

    @Test func `nothing on disk tells the PIN, the account or the counter, and no change of it goes unseen`()
        async throws
    {
        let drawer = Drawer()
        let keeper = try drawer.keeper()
        _ = try await keeper.set("258025802580", of: "oid-a", requirements: Self.rules)
        let kept = try drawer.bytes()
        for marker in ["258025802580", "oid-a", "failed", "salt"] {
            #expect(kept.range(of: Data(marker.utf8)) == nil)
        }
        let plain = try JSONEncoder().encode(["failed": 1])
        #expect((kept + plain).range(of: Data("failed".utf8)) != nil, "the same scan finds what is planted")
        let stranger = try drawer.keeper(keys: InMemoryKeyStore())
        #expect(try await stranger.check("258025802580", of: "oid-a", limit: 5) == .noPIN)
        guard case .doubtful(.damaged) = try stranger.contents(of: "oid-a") else {
            Issue.record("another device's key opened the record")
            return
        }
    }

    @Test func `the record of one account does not do for another`() async throws {
        let drawer = Drawer()
        let keeper = try drawer.keeper()
        _ = try await keeper.set("2580", of: "oid-a", requirements: Self.rules)
        _ = try await keeper.set("9731", of: "oid-b", requirements: Self.rules)
        let (a, b) = (FolderName.of("oid-a") + ".json", FolderName.of("oid-b") + ".json")
        try Data(contentsOf: drawer.folder.appending(path: b)).write(to: drawer.folder.appending(path: a))
        guard case .doubtful(.damaged) = try keeper.contents(of: "oid-a") else {
            Issue.record("the other account's record opened")
            return
        }
    }

    @Test func `a PIN kept at another cost is kept at the present one after it was entered`() async throws {
        let drawer = Drawer()
        _ = try await drawer.keeper().set("2580", of: "oid-a", requirements: Self.rules)
        let dearer = try drawer.keeper(cost: PINCost(logRounds: 4))
        #expect(try await dearer.check("2580", of: "oid-a", limit: 5) == .right)
        guard case .value(let record) = try dearer.contents(of: "oid-a") else { return }
        #expect(record.verifier?.isOf(PINCost(logRounds: 4)) == true)
        #expect(try await dearer.check("2580", of: "oid-a", limit: 5) == .right)
    }

    @Test func `no stored cost can exhaust the device`() throws {
        let greedy = PINCost(logRounds: 63, blockSize: 1 << 30, parallelism: 1 << 30)
        #expect(greedy.memory <= 256 << 20)
        let stored = Data(
            #"{"cost":{"logRounds":40,"blockSize":8,"parallelism":1},"salt":"AAAAAAAAAAAAAAAAAAAAAA==","tag":"AA=="}"#
                .utf8)
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(PINVerifier.self, from: stored) }
    }

    @Test func `a counter that cannot be kept stops the guess before it is tried`() async throws {
        let drawer = Drawer()
        let tried = Locked(false)
        let keeper = PINKeeper(
            folder: try StateFolder(drawer.folder), seal: try drawer.seal(), clock: drawer.clock.clock,
            cost: PINCost(logRounds: 1),
            observer: { [folder = drawer.folder] step in
                if step == "count" {
                    // The place of the record is taken by a folder, over which no file is renamed.
                    for name in (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
                    where name.hasSuffix(".json") {
                        try? FileManager.default.removeItem(at: folder.appending(path: name))
                        try? FileManager.default.createDirectory(
                            at: folder.appending(path: name), withIntermediateDirectories: true)
                    }
                }
                if step == "derive" { tried.withLock { $0 = true } }
            })
        _ = try await keeper.set("2580", of: "oid-a", requirements: Self.rules)
        await #expect(throws: ProtectionError(.stateUnwritable, "")) {
            try await keeper.check("2580", of: "oid-a", limit: 5)
        }
        #expect(!tried.withLock { $0 })
    }

    @Test func `a record that was put back gives back no guess, however often`() async throws {
        let drawer = Drawer()
        let keeper = try drawer.keeper()
        _ = try await keeper.set("2580", of: "oid-a", requirements: Self.rules)
        let file = drawer.folder.appending(path: FolderName.of("oid-a") + ".json")
        let full = try Data(contentsOf: file)
        for _ in 0..<3 {
            #expect(try await keeper.check("1111", of: "oid-a", limit: 5) != .noPIN)
        }
        for _ in 0..<100 {
            try full.write(to: file)
            #expect(try await keeper.check("1111", of: "oid-a", limit: 5) == .noPIN)
        }
        #expect(try await keeper.check("2580", of: "oid-a", limit: 5) == .noPIN, "not even the right one is looked at")
        _ = try await keeper.set("9731", of: "oid-a", requirements: Self.rules)
        #expect(try await keeper.check("9731", of: "oid-a", limit: 5) == .right)
    }

    @Test
    func `a record that was removed is not taken for one that never was, and one that came back after its end is none`()
        async throws
    {
        let drawer = Drawer()
        let keeper = try drawer.keeper()
        _ = try await keeper.set("2580", of: "oid-a", requirements: Self.rules)
        let file = drawer.folder.appending(path: FolderName.of("oid-a") + ".json")
        let kept = try Data(contentsOf: file)
        try FileManager.default.removeItem(at: file)
        guard case .doubtful(.missing) = try keeper.contents(of: "oid-a") else {
            Issue.record("a record that was removed counts as absent")
            return
        }
        try kept.write(to: file)
        try await keeper.remove("oid-a")
        guard case .absent = try keeper.contents(of: "oid-a") else {
            Issue.record("the end of a record is not its absence")
            return
        }
        try kept.write(to: file)
        guard case .doubtful(.removed) = try keeper.contents(of: "oid-a") else {
            Issue.record("a record came back after its end")
            return
        }
    }
}
