import CordonBase
import CordonIdentity
import CordonProtocol
import CordonTestSupport
import CordonVault
import Crypto
import Foundation
import Testing

@testable import Cordon

/// Records that a killed process has written and not counted: who collects them has no stock of records for later.
@Suite(.timeLimit(.minutes(10))) struct AbortedWriteTests {
    private final class Home: Sendable {
        let place = TemporaryFolder.newPath()
        let counter: StuckCounter
        let seal: StateSeal

        init() throws {
            counter = try StuckCounter(directory: place.appending(path: "counters"))
            seal = StateSeal(
                keyStore: InMemoryKeyStore(), folder: try StateFolder(place.appending(path: "life")), counter: counter,
                bundleID: "example.notes")
        }
        deinit { try? FileManager.default.removeItem(at: place) }

        func record(in folder: String = "first") throws -> SealedState<LaunchRecord> {
            let folder = try StateFolder(place.appending(path: folder))
            return SealedState(file: folder.file("record"), purpose: "launch", seal: seal, former: .raw)
        }

        func bytes() throws -> Data { try Data(contentsOf: try record().file.url) }
        func put(_ bytes: Data) throws { try bytes.write(to: try record().file.url) }

        /// What is on the disk after a process was killed that had written the record, and not counted it.
        func aborted(_ value: LaunchRecord) throws -> Data {
            counter.isStuck.withLock { $0 = true }
            defer { counter.isStuck.withLock { $0 = false } }
            #expect(try !record().write { _ in value }.isCounted)
            return try bytes()
        }
    }

    private static let (lax, strict) = (LaunchRecord(noticeSeen: true), LaunchRecord(noticeSeen: false, hadPIN: true))

    private func isOlder(_ home: Home) throws -> Bool {
        if case .doubtful(.older) = try home.record().read() { true } else { false }
    }

    private func value(_ home: Home) throws -> LaunchRecord? {
        if case .value(let value) = try home.record().read() { value } else { nil }
    }

    @Test func `a record of another app counts where the counter knows none, and not once it has lost its numbers`()
        throws
    {
        let home = try Home()
        var state = try home.record()
        state.isShared = true
        try state.write(Self.lax)
        func loseNumbers() throws {
            let numbers = home.place.appending(path: "counters")
            for name in try FileManager.default.contentsOfDirectory(atPath: numbers.path) {
                try FileManager.default.removeItem(at: numbers.appending(path: name))
            }
        }
        func counts() throws -> Bool { if case .value = try state.read() { true } else { false } }
        try loseNumbers()
        #expect(try counts())
        try loseNumbers()
        try home.counter.raise(StateSeal.lostNumbers, to: 1)
        guard case .doubtful(.uncounted) = try state.read() else {
            Issue.record("who kept the record has its guesses again")
            return
        }
        try state.write(Self.strict)
        #expect(try counts(), "a change settles it")
    }

    @Test func `what a killed process has written counts, and nothing that was there before`() throws {
        let home = try Home()
        try home.record().write(Self.lax)
        let before = try home.bytes()
        _ = try home.aborted(Self.strict)
        #expect(try value(home) == Self.strict)
        try home.put(before)
        #expect(try isOlder(home), "who has read the new one has counted it")
    }

    @Test func `a record that was not counted counts no more once another one was written`() throws {
        let home = try Home()
        try home.record().write(Self.strict)
        let before = try home.bytes()
        let stock = try (0..<4).map { _ in
            defer { try? home.put(before) }
            return try home.aborted(Self.lax)
        }
        try home.record().write(Self.strict)
        for bytes in stock {
            try home.put(bytes)
            #expect(try isOlder(home))
        }
    }

    @Test func `no chain of records that were not counted leads ahead of the counter`() throws {
        let home = try Home()
        try home.record().write(Self.strict)
        let before = try home.bytes()
        // Each is written after the one that was not counted.
        let stock = try (0..<8).map { _ in try home.aborted(Self.lax) }
        try home.put(before)
        for number in 0..<8 {
            try home.record().write(Self.strict)
            let written = try home.bytes()
            for bytes in stock {
                try home.put(bytes)
                #expect(try isOlder(home), "after \(number)")
            }
            try home.put(written)
            #expect(try value(home) == Self.strict)
        }
    }

    @Test func `a stock that was collected while each record was read counts no more either`() throws {
        let home = try Home()
        try home.record().write(Self.strict)
        let stock = try (0..<6).map { _ in
            let bytes = try home.aborted(Self.lax)
            #expect(try value(home) == Self.lax)
            return bytes
        }
        try home.record().write(Self.strict)
        for bytes in stock {
            try home.put(bytes)
            #expect(try isOlder(home))
        }
    }

    @Test func `of processes that write at the same time one alone has written, whatever became of their lock`() throws
    {
        let home = try Home()
        try home.record().write(Self.lax)
        let other = try home.record(in: "second")
        try home.bytes().write(to: other.file.url)
        let isOtherCounted = Locked(false)
        let isCounted = try home.record().write { _ in
            // The other home's process goes on while this one is stopped.
            isOtherCounted.withLock { $0 = (try? other.write { _ in Self.strict }.isCounted) ?? false }
            return Self.strict
        }.isCounted
        #expect(isOtherCounted.withLock { $0 } && !isCounted)
    }

    // MARK: Writing over what was read

    private static let overtaken = ProtectionError(.stateUnwritable, "")

    /// Has another process write a record when the counter is asked for the last of so many times.
    private func letAnotherWrite<Value: Codable & JSONReadable>(
        _ value: Value, to state: SealedState<Value>, atQuestion number: Int, in home: Home
    ) {
        let write = { @Sendable in
            do { try state.write(value) } catch { Issue.record(error) }
        }
        home.counter.steps.withLock { $0 = Array(repeating: {}, count: number - 1) + [write] }
    }

    @Test func `the last number that a record can have is counted, and none comes after it`() throws {
        let home = try Home()
        let record = try home.record()
        #expect(try record.write(above: StateNumber.limit - 2) { _ in Self.strict }.isCounted)
        #expect(try value(home) == Self.strict)
        #expect(throws: ProtectionError(.stateUnwritable, "")) { try record.write(Self.lax) }
        #expect(try value(home) == Self.strict)
    }

    @Test func `what was made from a record is not written over one that another process has written since`() throws {
        let home = try Home()
        let record = try home.record()
        try record.write(Self.lax)
        var found = try record.look()
        // As often as nobody else writes.
        for _ in 0..<3 { found = try record.write(Self.lax, over: found) }
        try record.write(Self.strict)
        #expect(throws: Self.overtaken) { try record.write(Self.lax, over: found) }
        #expect(try value(home) == Self.strict, "the other process's is not touched")
        // A killed process's record that this one has read, and so counted, is what it writes over.
        _ = try home.aborted(Self.lax)
        try record.write(Self.strict, over: record.look())
        #expect(try value(home) == Self.strict)
    }

    @Test func `what launches remember is not changed from what was there before another process's word`() throws {
        let home = try Home()
        let store = LaunchStore(folder: try StateFolder(home.place.appending(path: "launch")), seal: home.seal)
        let state = SealedState<LaunchRecord>(
            file: store.folder.file(FolderName.of("oid-a")), purpose: "launch", seal: home.seal, former: .raw)
        let strict = LaunchRecord(noticeSeen: true, hadPIN: true, mustSignIn: true)
        letAnotherWrite(strict, to: state, atQuestion: 2, in: home)
        #expect(throws: Self.overtaken) { try store.begin("oid-a", wasEnrolled: false) }
        #expect(store.record(of: "oid-a", isEnrolled: true) == strict)
        try state.write(Self.lax)
        letAnotherWrite(strict, to: state, atQuestion: 2, in: home)
        #expect(throws: Self.overtaken) {
            try store.change("oid-a", isEnrolled: true, where: { true }) { $0.hadPIN = true }
        }
        #expect(store.record(of: "oid-a", isEnrolled: true) == strict)
    }

    @Test func `rules that another process has stored are not replaced by what a stopped process had read before`()
        throws
    {
        let home = try Home()
        let store = RegistrationStore(
            folder: try StateFolder(home.place.appending(path: "registrations")), seal: home.seal)
        let (key, now) = (SoftwareSigningKey(), Date(timeIntervalSince1970: 1_800_000_000))
        let address = try #require(URL(string: "https://a.example/b"))
        let lax = RegistrationRecord(
            registrationID: "r",
            account: ManagedAccount(id: "oid-a", tenant: TenantID("t"), userPrincipalName: "a@b.example"),
            discovery: ServiceDiscovery(
                tenant: TenantID("t"), issuer: address, checkIn: address, resource: "r", scope: "s", keys: address,
                versions: [1]),
            keys: try SignedKeySet([key.publicKey], validFrom: now, until: now + 60, root: key),
            envelope: SignedEnvelope("lax"), sequence: 1, lastCheckIn: now, nextCheckIn: now)
        let known = try #require(try store.save(lax, isNews: true)).record
        var strict = known
        (strict.envelope, strict.sequence, strict.generation) = (SignedEnvelope("strict"), 2, 2)
        let state = SealedState<RegistrationRecord>(
            file: store.folder.file(FolderName.of("oid-a")), purpose: "registration", seal: home.seal, former: .json)
        letAnotherWrite(strict, to: state, atQuestion: 2, in: home)
        #expect(throws: Self.overtaken) {
            _ = try store.save(known, isNews: false) { $0.lastEventID = "7" }
        }
        #expect(try store.record(of: "oid-a")?.envelope == strict.envelope)
    }

    @Test func `the time that was seen does not go back to what a stopped process had read of it`() throws {
        let home = try Home()
        let folder = try StateFolder(home.place.appending(path: "life"))
        let (work, later) = (PendingWork(folder: folder, seal: home.seal), Date(timeIntervalSince1970: 2_000_000_000))
        try work.change { $0.latestMoment = Date(timeIntervalSince1970: 1_000_000_000) }
        let state = SealedState<PendingWork.Record>(
            file: folder.file("life"), purpose: "life", seal: home.seal, former: .json)
        guard case .value(var seen) = try state.read() else {
            Issue.record("no record")
            return
        }
        seen.latestMoment = later
        letAnotherWrite(seen, to: state, atQuestion: 2, in: home)
        #expect(throws: Self.overtaken) { try work.change { $0.telemetryEnabled = false } }
        try work.load()
        #expect(work.latestMoment == later)
    }

    @Test func `what another process writes in place of a damaged record is not put aside for it`() throws {
        let home = try Home()
        let folder = try StateFolder(home.place.appending(path: "life"))
        let (work, file) = (PendingWork(folder: folder, seal: home.seal), folder.file("life"))
        try work.change { $0.telemetryEnabled = false }
        let state = SealedState<PendingWork.Record>(file: file, purpose: "life", seal: home.seal, former: .json)
        guard case .value(let seen) = try state.read() else {
            Issue.record("no record")
            return
        }
        try Data("damaged".utf8).write(to: file.url)
        // A damaged record is looked at twice before it is put aside.
        letAnotherWrite(seen, to: state, atQuestion: 3, in: home)
        #expect(try work.load() == .sound && work.load() == .sound)
    }

    @Test func `a share that another process has left since is not noted as the one that the service has lost`()
        async throws
    {
        let home = try Home()
        let store = GuardStore(folder: try StateFolder(home.place.appending(path: "guards")), seal: home.seal)
        let record = { (left: String) throws in
            try KeyGuardRecord(
                SymmetricKey(size: .bits256), under: SymmetricKey(size: .bits256), of: "oid-a",
                registrationID: "registration-1", left: left, inboxKey: Data())
        }
        try store.write(try record("lost"), of: "oid-a", over: nil)
        let state = SealedState<KeyGuardRecord>(
            file: store.folder.file(FolderName.of("oid-a")), purpose: "guard", seal: home.seal, former: .raw)
        letAnotherWrite(try record("new"), to: state, atQuestion: 2, in: home)
        await #expect(throws: Self.overtaken) { try await store.noteLostShare("lost", of: "oid-a") }
        #expect(store.leftShare(of: "oid-a", registrationID: "registration-1") == "new")
    }

    @Test func `what a service says of itself is not remembered over what another process has written since`() throws {
        let home = try Home()
        let folder = try StateFolder(home.place.appending(path: "life"))
        let service = try #require(URL(string: "https://service.test"))
        let said = { (resource: String) in
            ServiceDiscovery(
                tenant: TenantID("contoso"), issuer: service, checkIn: service, resource: resource, scope: "mam",
                keys: service, versions: [ServiceDiscovery.currentVersion])
        }
        let state = SealedState<ServiceDiscovery>(
            file: folder.file("service-" + FolderName.hash(service.absoluteString)), purpose: "service",
            seal: home.seal, former: .unsealed)
        let memory = ServiceMemory(folder: folder, seal: home.seal)
        letAnotherWrite(said("new"), to: state, atQuestion: 2, in: home)
        memory.keep(said("older"), of: service)
        #expect(memory.discovery(of: service)?.resource == "new")
        memory.keep(said("newest"), of: service)
        #expect(memory.discovery(of: service)?.resource == "newest")
    }

    @Test func `what notifications may show is not told over what another process has told since`() throws {
        let home = try Home()
        let group = SharingGroup(
            directory: home.place.appending(path: "group"), keyStore: InMemoryKeyStore(), stateCounter: home.counter)
        let vault = try GroupVault(group, directory: home.place.appending(path: "own"))
        let folder = try StateFolder(group.directory.appending(path: "values"))
        let state = SealedState<ToldLevel>(
            file: folder.file("notifications-" + FolderName.of("oid-a")), purpose: "notifications",
            seal: StateSeal(keyStore: group.keyStore, folder: folder, counter: home.counter, bundleID: ""), former: .raw
        )
        letAnotherWrite(ToldLevel(sealed: "new"), to: state, atQuestion: 2, in: home)
        #expect(throws: Self.overtaken) { try vault.tell(Data("older".utf8), of: "oid-a") }
        guard case .value(let told) = try state.read() else {
            Issue.record("nothing was told")
            return
        }
        #expect(told.sealed == "new")
    }

    @Test func `who had the lock of a key's guard leaves its file only beside what is noted of the guard`() async throws
    {
        let home = try Home()
        let store = GuardStore(folder: try StateFolder(home.place.appending(path: "guards")), seal: home.seal)
        let lock = store.folder.lock(for: FolderName.of("oid-a")).path
        let record = try KeyGuardRecord(
            SymmetricKey(size: .bits256), under: SymmetricKey(size: .bits256), of: "oid-a",
            registrationID: "registration-1", left: "left", inboxKey: Data())
        try await store.locked("oid-a") { () throws(ProtectionError) in
            try store.write(record, of: "oid-a", over: nil)
        }
        #expect(FileManager.default.fileExists(atPath: lock))
        try store.remove("oid-a")
        // As by work that waited for the wipe.
        try await store.locked("oid-a") { () throws(ProtectionError) in
            #expect(FileManager.default.fileExists(atPath: lock))
        }
        try await store.noteLostShare("left", of: "oid-a")
        #expect(!FileManager.default.fileExists(atPath: lock))
    }

    @Test func `a record of a version before is not taken over in place of what another process has made of it`()
        throws
    {
        let home = try Home()
        let record = try home.record()
        let name = Array(record.file.url.lastPathComponent.utf8)
        let former = try AES.GCM.seal(
            JSONEncoder().encode(Self.lax), using: try record.key("seal"), authenticating: name)
        try record.file.write(try #require(former.combined))
        // The second question is whether such records are still taken.
        letAnotherWrite(Self.strict, to: record, atQuestion: 3, in: home)
        #expect(throws: Self.overtaken) { try record.takeOver { value, _ in value } }
        #expect(try value(home) == Self.strict)
    }

    @Test func `a record that was written while the counter did not answer counts when it does`() throws {
        let home = try Home()
        try home.record().write(Self.lax)
        let before = try home.bytes()
        let name = try home.record().counterName
        home.counter.silent.withLock { $0 = [name] }
        _ = try home.aborted(Self.strict)
        home.counter.silent.withLock { $0 = [] }
        #expect(try value(home) == Self.strict)
        try home.put(before)
        #expect(try isOlder(home))
    }

    @Test func `a kill while the first record is begun does not make the one that is there a removed one`() throws {
        let home = try Home()
        let record = try home.record()
        try record.write(Self.lax)
        // The numbers are lost, and what would begin to count anew is killed.
        try FileManager.default.removeItem(at: home.place.appending(path: "counters"))
        _ = try FileStateCounter(directory: home.place.appending(path: "counters"))
        let begun = StateNumber(before: 2)
        #expect(try home.counter.raise(record.counterName, from: 0, to: begun.counted))
        guard case .doubtful(.uncounted) = try record.read() else {
            Issue.record("it counts as something else")
            return
        }
        // What was begun goes on, and what was removed stays so.
        try record.write(Self.strict)
        let bytes = try home.bytes()
        try record.remove()
        try home.put(bytes)
        guard case .doubtful(.removed) = try record.read() else {
            Issue.record("it came back")
            return
        }
    }

    @Test func `what a version before has counted goes on`() throws {
        let home = try Home()
        let record = try home.record()
        try record.write(Self.lax)
        let name = try record.counterName
        let counted = try home.counter.value(of: name)
        #expect(StateNumber(counted).state == 2 && StateNumber(counted).mark != 0)
        #expect(StateNumber(7) == StateNumber(7) && StateNumber(7).isAbsent && StateNumber(7).isUnmarked)
        #expect(StateNumber(8).generation == 4 && StateNumber(8).counted == 8)
        #expect(StateNumber(of: 4).counted > StateNumber(8).counted, "it rises")
    }
}
