import CordonBase
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonTestSupport
import CordonVault
import Foundation
import Testing

@testable import Cordon

/// What a process without a key of the device writes into the notes of a wipe, or puts back of earlier ones, keeps nothing from being
/// removed, and no receipt says that something is gone which is there.
@Suite(.timeLimit(.minutes(10))) struct ForgedWipeTests {
    private let ada: AccountID = "oid-a"

    private func enrolled(
        _ device: Device, calls: Locked<Int> = Locked(0),
        observer: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws -> AppProtection {
        try await device.publish(["printBlocked": .bool(false)])
        let protection = try await start(device, calls: calls, observer: observer)
        await protection.enroll(device.account)
        try await protection.files.write(Data("plan".utf8), as: "plan.txt", of: ada)
        return protection
    }

    /// An account that was wiped and enrolled again, and a copy of the journal that its wipe had before the end.
    private func enrolledAnew(
        _ device: Device, keepingJournalsOf wipes: URL
    ) async throws -> (protection: AppProtection, kept: URL) {
        let kept = device.folder.appending(path: "kept")
        let protection = try await enrolled(device) { step in
            if step == "vault-temporaryFilesRemoved" { try? FileManager.default.copyItem(at: wipes, to: kept) }
        }
        try await protection.wipe(ada)
        await protection.enroll(device.account)
        try await protection.files.write(Data("new".utf8), as: "plan.txt", of: ada)
        return (protection, kept)
    }

    private func start(
        _ device: Device, calls: Locked<Int> = Locked(0), observer: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws -> AppProtection {
        try await device.start { configuration in
            configuration.wipeObserver = observer
            configuration.wipeHook = { _ in
                calls.withLock { $0 += 1 }
                return .removed
            }
        }
    }

    private func record(
        of protection: AppProtection, at stage: WipeRecord.Stage, files: Int = 7
    ) throws -> WipeRecord {
        WipeRecord(
            command: .wipe(), registration: try #require(protection.context.accounts[ada]),
            started: Date(timeIntervalSince1970: 1_700_000_000), stage: stage,
            vault: .init(destroyedKeyIDs: ["00"], files: files, bytes: Int64(files)), failures: [],
            receipt: stage == .receiptSigned ? "e30.e30.e30" : nil)
    }

    private func plant(_ record: WipeRecord, on device: Device, as name: String = FolderName.hash("c1")) throws {
        let file = device.folder.appending(path: "data/wipes").appending(path: name + ".json")
        try MessageCoding.encode(record).write(to: file)
    }

    /// The receipts that the service has, each once: what is not answered yet is handed in again.
    private func receipts(_ device: Device) async throws -> [WipeReceipt] {
        var texts: [String] = []
        for text in await device.service.acknowledgements.compactMap(\.receipt) where !texts.contains(text) {
            texts.append(text)
        }
        return try texts.map { try WipeReceipt(verifying: $0, signedBy: device.sessions.publicKey) }
    }

    // MARK: The app's record

    @Test(arguments: [WipeRecord.Stage.begun, .vaultWiped, .appWiped, .receiptSigned])
    func `a plain record that says how far a wipe is has it begin anew`(stage: WipeRecord.Stage) async throws {
        let device = try Device()
        let protection = try await enrolled(device)
        #expect(device.keys.count == 1)
        let keyID = try await protection.context.vault.createAccountKey(for: ada)
        try plant(record(of: protection, at: stage), on: device)
        let calls = Locked(0)
        let restarted = try await start(device, calls: calls)
        await restarted.performDueWork()
        #expect(device.keys.isEmpty)
        #expect(calls.withLock { $0 } == 1)
        let receipts = try await self.receipts(device)
        #expect(receipts.map(\.destroyedKeyIDs) == [[keyID]])
        #expect(receipts.first?.files != 7)
        #expect(device.files(in: "wipes").isEmpty)
    }

    @Test func `a wipe whose record says that the vault is wiped begins anew where the account's key is there`()
        async throws
    {
        let device = try Device()
        let protection = try await enrolled(device)
        let keyID = try await protection.context.vault.createAccountKey(for: ada)
        // Sealed and counted, as where an attacker has put back the counter's files too.
        try protection.context.wipes.save(record(of: protection, at: .appWiped))
        let restarted = try await start(device)
        await restarted.performDueWork()
        #expect(device.keys.isEmpty && device.files(in: "files").isEmpty)
        #expect(try await receipts(device).map(\.destroyedKeyIDs) == [[keyID]])
    }

    @Test func `a plain record under another name than its own removes nothing, time and again`() async throws {
        let device = try Device()
        let protection = try await enrolled(device)
        try plant(record(of: protection, at: .begun), on: device, as: "x")
        let restarted = try await start(device)
        #expect(device.keys.count == 1)
        #expect(!device.mayPrint(restarted))
        await restarted.checkIn(ada)
        #expect(try await restarted.files.read("plan.txt", of: ada) == Data("plan".utf8))
        #expect(device.mayPrint(restarted) && device.files(in: "wipes") == ["x.json.damaged"])
    }

    @Test func `a command finds what was planted, and removes everything all the same`() async throws {
        let device = try Device()
        let calls = Locked(0)
        let protection = try await enrolled(device, calls: calls)
        try plant(record(of: protection, at: .appWiped), on: device)
        await device.service.set { $0.commands = [.wipe()] }
        await protection.checkIn(ada)
        await protection.performDueWork()
        #expect(device.keys.isEmpty)
        #expect(calls.withLock { $0 } == 1)
        #expect(try await receipts(device).map(\.destroyedKeyIDs.count) == [1])
    }

    @Test func `a record of an earlier wipe that is put back neither removes anything nor signs a receipt`()
        async throws
    {
        let device = try Device()
        let kept = device.folder.appending(path: "kept")
        let wipes = device.folder.appending(path: "data/wipes")
        let first = try await enrolled(device) { step in
            if step == "receipt" { try? FileManager.default.copyItem(at: wipes, to: kept) }
        }
        try await first.wipe(ada)
        #expect(device.keys.isEmpty && device.files(in: "wipes").isEmpty)
        await first.enroll(device.account)
        try await first.files.write(Data("new".utf8), as: "plan.txt", of: ada)
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: kept.path).first)
        try FileManager.default.copyItem(at: kept.appending(path: name), to: wipes.appending(path: name))
        await device.service.set { $0.isUnreachable = true }
        let restarted = try await start(device)
        #expect(!device.mayPrint(restarted))
        #expect(device.keys.count == 1, "it is closed and not removed")
        await device.service.set { $0.isUnreachable = false }
        await restarted.checkIn(ada)
        #expect(device.mayPrint(restarted))
        #expect(try await restarted.files.read("plan.txt", of: ada) == Data("new".utf8))
        #expect(try await receipts(device).count == 1)
    }

    @Test func `a record is that of its own wipe on this device, whole and written last, or says nothing is done`()
        async throws
    {
        let (device, other) = (try Device(), try Device())
        let protection = try await enrolled(device)
        let store = protection.context.wipes
        let wipes = device.folder.appending(path: "data/wipes")
        func file(_ id: String, on folder: URL? = nil) -> URL {
            (folder ?? wipes).appending(path: FolderName.hash(id) + ".json")
        }
        func saved(_ id: String, at stage: WipeRecord.Stage, in store: WipeStore) throws -> WipeRecord {
            var record = try self.record(of: protection, at: stage)
            record.command.id = id
            try store.save(record)
            return record
        }
        func stages() throws -> [WipeRecord.Stage] { try store.load().records.map(\.stage) }

        let ended = try saved("c1", at: .appWiped, in: store)
        let copy = try Data(contentsOf: file("c1"))
        #expect(try stages() == [.appWiped], "this device's own record is believed")
        _ = try saved("c1", at: .vaultWiped, in: store)
        let last = try Data(contentsOf: file("c1"))
        try copy.write(to: file("c1"))
        #expect(try stages() == [.begun], "an older one of the same wipe")

        let foreign = try await enrolled(other).context.wipes
        _ = try saved("c1", at: .appWiped, in: foreign)
        _ = try saved("c2", at: .appWiped, in: store)
        let strangers: [Data] = [
            try Data(contentsOf: file("c1", on: other.folder.appending(path: "data/wipes"))),
            try Data(contentsOf: file("c2")), Data(), Data("{}".utf8), Data(last.prefix(last.count / 2)),
            last + Data([0]),
        ]
        try FileManager.default.removeItem(at: file("c2"))
        for bytes in strangers {
            try bytes.write(to: file("c1"))
            #expect(try store.load().records.isEmpty, "another device's, another wipe's, or cut off")
            #expect(try store.load().damaged.count == 1)
        }
        try FileManager.default.removeItem(at: file("c1"))
        #expect(mkfifo(file("c1").path, 0o600) == 0)
        #expect(try store.load().damaged.count == 1, "a pipe is not waited for")
        try FileManager.default.removeItem(at: file("c1"))
        try last.write(to: file("c1"))
        #expect(try stages() == [.vaultWiped])

        try store.remove(ended)
        try last.write(to: file("c1"))
        let (records, damaged, _) = try store.load()
        #expect(records.isEmpty && damaged.count == 1, "put back after its end")
    }

    // MARK: A record that is lost

    enum Loss: CaseIterable {
        case removed, cut, pipe, forgotten
    }

    /// Leaves the data as a kill at a step of a wipe leaves it.
    private func cutOff(_ device: Device, at step: String) async throws {
        let (data, cut) = (device.folder.appending(path: "data"), device.folder.appending(path: "cut"))
        let protection = try await enrolled(device) { now in
            // Later ones find a copy there.
            if now == step { try? FileManager.default.copyItem(at: data, to: cut) }
        }
        await device.service.set { $0.isUnreachable = true }
        try await protection.wipe(ada)
        await device.service.set { $0.isUnreachable = false }
        try FileManager.default.removeItem(at: data)
        try FileManager.default.moveItem(at: cut, to: data)
    }

    private func lose(_ record: URL, by loss: Loss, on device: Device) throws {
        let contents = try device.contents(ofState: record)
        let bytes = try Data(contentsOf: record)
        try FileManager.default.removeItem(at: record)
        switch loss {
        case .removed: break
        case .cut: try bytes.prefix(40).write(to: record)
        case .pipe: #expect(mkfifo(record.path, 0o600) == 0)
        case .forgotten:
            let text = String(decoding: contents, as: UTF8.self)
            let plain = text.replacing(#""stage":"vaultWiped""#, with: #""stage":"forgotten""#)
            #expect(plain != text)
            try Data(plain.utf8).write(to: record)
        }
    }

    private func expectEnd(of device: Device) async throws {
        let calls = Locked(0)
        let restarted = try await start(device, calls: calls)
        #expect(restarted.enrolledAccounts.isEmpty)
        #expect(calls.withLock { $0 } == 1)
        await restarted.performDueWork()
        #expect(device.keys.isEmpty && device.files(in: "registrations").isEmpty)
        #expect(device.files(in: "wipes").isEmpty && device.files(in: "files").isEmpty)
        #expect(try await receipts(device).map(\.succeeded) == [true])
        #expect(await restarted.enroll(device.account) == .newPolicies)
    }

    @Test(arguments: [
        "vault-begun", "vault-secretDestroyed", "vault-keyRecordRemoved", "vault-finished", "app", "receipt", "session",
        "registration",
    ])
    func `an account whose wipe's record is removed at a step does not open again, and the wipe is done`(
        step: String
    ) async throws {
        let device = try Device()
        try await cutOff(device, at: step)
        let wipes = device.folder.appending(path: "data/wipes")
        try lose(wipes.appending(path: try #require(device.files(in: "wipes").first)), by: .removed, on: device)
        try await expectEnd(of: device)
    }

    @Test(arguments: Loss.allCases)
    func `a record that says nothing any more, or that all is done, keeps no wipe from its end`(
        loss: Loss
    ) async throws {
        let device = try Device()
        try await cutOff(device, at: "app")
        let wipes = device.folder.appending(path: "data/wipes")
        try lose(wipes.appending(path: try #require(device.files(in: "wipes").first)), by: loss, on: device)
        try await expectEnd(of: device)
    }

    @Test func `an account whose wipe's record is lost while the app runs is not enrolled before it is wiped`()
        async throws
    {
        let device = try Device()
        let calls = Locked(0)
        let protection = try await enrolled(device, calls: calls)
        await device.sessions.set { $0.endFailure = HeldSessions.refusal }
        #expect(await protection.failureOfWiping(ada) == .stateUnwritable)
        #expect(calls.withLock { $0 } == 1)
        let name = try #require(device.files(in: "wipes").first)
        try FileManager.default.removeItem(at: device.folder.appending(path: "data/wipes").appending(path: name))
        #expect(await protection.enroll(device.account) == .removingExistingAccount)
        #expect(calls.withLock { $0 } == 2, "it has begun anew")
        await device.sessions.set { $0.endFailure = nil }
        #expect(await protection.enroll(device.account) == .newPolicies)
        #expect(await device.sessions.ended == [ada])
    }

    // MARK: The vault's journal

    @Test(arguments: [true, false])
    func `a vault's journal that is put back or forged keeps no key`(isGenuine: Bool) async throws {
        let device = try Device()
        let wipes = device.folder.appending(path: "data/vault/wipes")
        let (protection, kept) = try await enrolledAnew(device, keepingJournalsOf: wipes)
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: kept.path).first)
        var journal = try Data(contentsOf: kept.appending(path: name))
        if !isGenuine { journal = Data(journal.split(separator: UInt8(ascii: "\n"))[0]) }
        let copy = device.folder.appending(path: "copy of the keys")
        try FileManager.default.copyItem(at: device.folder.appending(path: "data/vault/keys"), to: copy)
        try journal.write(to: wipes.appending(path: name))
        await device.service.set { $0.commands = [.wipe()] }
        await protection.checkIn(ada)
        await protection.performDueWork()
        #expect(device.keys.isEmpty)
        #expect(device.files(in: "files").isEmpty)
        let receipts = try await self.receipts(device)
        #expect(receipts.count == 2 && receipts.last?.destroyedKeyIDs.count == 1)
        #expect(receipts.first?.destroyedKeyIDs != receipts.last?.destroyedKeyIDs)
        // A copy of the key's record opens nothing.
        for key in try FileManager.default.contentsOfDirectory(atPath: copy.path) {
            try FileManager.default.copyItem(
                at: copy.appending(path: key), to: device.folder.appending(path: "data/vault/keys").appending(path: key)
            )
        }
        await #expect(throws: VaultError.self) { try await protection.context.vault.unlock(ada) }
    }

    @Test(arguments: ["json", "report"])
    func `what a vault has noted of an earlier wipe, put back in the middle of another one, counts for nothing`(
        end: String
    ) async throws {
        let time = TestTime()
        let device = try Device(time: time)
        await device.setServiceClock()
        let data = device.folder.appending(path: "data")
        let (kept, cut) = (device.folder.appending(path: "kept"), device.folder.appending(path: "cut"))
        let isSecond = Locked(false)
        let protection = try await enrolled(device) { step in
            if !isSecond.withLock({ $0 }), step == "vault-temporaryFilesRemoved" || step == "vault-finished" {
                try? FileManager.default.removeItem(at: kept)
                try? FileManager.default.copyItem(at: data.appending(path: "vault/wipes"), to: kept)
            }
            if step == "vault-keyRecordRemoved" { try? FileManager.default.removeItem(at: cut) }
            if step == "vault-keyRecordRemoved" { try? FileManager.default.copyItem(at: data, to: cut) }
        }
        try await protection.wipe(ada)
        let first = try #require(try await receipts(device).last)
        time.advance(by: 3600)
        isSecond.withLock { $0 = true }
        await protection.enroll(device.account)
        for name in ["one", "two", "three"] {
            try await protection.files.write(Data(name.utf8), as: name, of: ada)
        }
        try await protection.wipe(ada)
        let second = try #require(try await receipts(device).last)
        #expect(second.files != first.files && second.destroyedKeyIDs != first.destroyedKeyIDs)

        // As a kill leaves the second wipe right after the key's end; the notes of the first one take the place of its own.
        try FileManager.default.removeItem(at: data)
        try FileManager.default.moveItem(at: cut, to: data)
        let place = data.appending(path: "vault/wipes")
        for name in device.files(in: "vault/wipes") {
            try FileManager.default.removeItem(at: place.appending(path: name))
        }
        let report = try #require(try FileManager.default.contentsOfDirectory(atPath: kept.path).first)
        try FileManager.default.copyItem(
            at: kept.appending(path: report), to: place.appending(path: report.replacing(".report", with: "." + end)))
        let restarted = try await start(device)
        await restarted.performDueWork()
        let last = try #require(try await receipts(device).last)
        #expect(last.started == second.started && last.files == second.files, "what there was is removed and counted")
        #expect(!last.destroyedKeyIDs.contains { first.destroyedKeyIDs.contains($0) })
        #expect(device.files(in: "files").isEmpty && device.keys.isEmpty)
    }

    @Test func `a vault's journal that is put back before the key is gone keeps no key`() async throws {
        let device = try Device()
        let wipes = device.folder.appending(path: "data/vault/wipes")
        let (protection, kept) = try await enrolledAnew(device, keepingJournalsOf: wipes)
        let keyID = try await protection.context.vault.createAccountKey(for: ada)
        // As a kill leaves it right after the app's note.
        try plant(record(of: protection, at: .begun), on: device)
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: kept.path).first)
        try FileManager.default.copyItem(at: kept.appending(path: name), to: wipes.appending(path: name))
        let restarted = try await start(device)
        await restarted.performDueWork()
        #expect(device.keys.isEmpty)
        #expect(try await receipts(device).last?.destroyedKeyIDs == [keyID])
    }

    @Test func `a journal of an earlier wipe that is put back keeps no key of the organisation's apps`() async throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let group = SharingGroup(directory: folder.appending(path: "group"), keyStore: InMemoryKeyStore())
        let own = folder.appending(path: "app")
        func opened() throws -> GroupVault { try GroupVault(group, directory: own) }
        let kept = folder.appending(path: "kept")
        let wipes = own.appending(path: "group/wipes")
        _ = try await opened().seal(Data("earlier".utf8), named: "n", for: ada, as: .handOver)
        let vault = try Vault(
            directory: own.appending(path: "group"), keyStore: group.keyStore,
            keyDirectory: group.directory.appending(path: "keys"))
        _ = try await vault.wipe(ada) { step in
            if step.kind == .temporaryFilesRemoved { try? FileManager.default.copyItem(at: wipes, to: kept) }
        }
        try await vault.discardReport(for: ada)
        let item = try await opened().seal(Data("on its way".utf8), named: "n", for: ada, as: .handOver)
        #expect(try await opened().open(item, of: ada, as: .handOver).bytes == Data("on its way".utf8))
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: kept.path).first)
        try FileManager.default.copyItem(at: kept.appending(path: name), to: wipes.appending(path: name))
        try await opened().forget(ada)
        await #expect(throws: ProtectionError(.vault, "")) {
            _ = try await opened().open(item, of: ada, as: .handOver)
        }
    }

    @Test func `numbers that no counting led to do not end the process`() async throws {
        let device = try Device()
        let protection = try await enrolled(device)
        try plant(record(of: protection, at: .begun, files: .max), on: device)
        let vault = device.folder.appending(path: "data/vault")
        let text =
            #"{"attachments":[],"planned":{},"report":{"account":"oid-a","destroyedKeyIDs":[],"files":9223372036854775807,"#
            + #""databases":0,"caches":0,"temporaryFiles":0,"attachedFiles":0,"bytes":9223372036854775807,"started":1e300,"steps":[]}}"#
        for end in ["json", "report"] {
            let name = device.keys[0].replacing(".key", with: "." + end)
            try Data(text.utf8).write(to: vault.appending(path: "wipes").appending(path: name))
        }
        let restarted = try await start(device)
        await restarted.performDueWork()
        #expect(device.keys.isEmpty)
        #expect(try await receipts(device).map(\.succeeded) == [true])
    }

    // MARK: The version before

    /// Makes the one record of a wipe what the version before left: plain, not counted, and of which the registration does not tell.
    private func makeFormer(_ device: Device, counted: [String], as stage: WipeRecord.Stage? = nil) throws {
        let data = device.folder.appending(path: "data")
        let record = data.appending(path: "wipes").appending(path: try #require(device.files(in: "wipes").first))
        var members = try #require(try JSONValue(parsing: device.contents(ofState: record)).object)
        if let stage { members["stage"] = .string(stage.rawValue) }
        try Data(JSONValue.object(members).text().utf8).write(to: record)
        for name in device.files(in: "counters") where !counted.contains(name) {
            try FileManager.default.removeItem(at: data.appending(path: "counters").appending(path: name))
        }
        for name in device.files(in: "registrations") where name.hasSuffix(".json") {
            let file = data.appending(path: "registrations").appending(path: name)
            var members = try #require(try JSONValue(parsing: device.contents(ofState: file)).object)
            #expect(members.removeValue(forKey: "wipe") != nil)
            try device.seal(JSONValue.object(members).text(), inState: file)
        }
    }

    @Test(arguments: [WipeRecord.Stage.vaultWiped, .appWiped, .receiptSigned])
    func `a home that the version before left in the middle of a wipe is finished, with one receipt`(
        stage: WipeRecord.Stage
    ) async throws {
        let device = try Device()
        _ = try await enrolled(device)
        let counted = device.files(in: "counters")
        let life = device.folder.appending(path: "data/life/life.json")
        let text = try String(contentsOf: life, encoding: .utf8)
        try text.replacing(#""version":4"#, with: #""version":99"#).write(to: life, atomically: true, encoding: .utf8)
        let cutOff = try await start(device)
        #expect(await cutOff.failureOfWiping(ada) == .stateUnwritable)
        try makeFormer(device, counted: counted, as: stage)
        try text.write(to: life, atomically: true, encoding: .utf8)
        let calls = Locked(0)
        let restarted = try await start(device, calls: calls)
        await restarted.performDueWork()
        #expect(calls.withLock { $0 } == 1, "nothing that it says was done is believed")
        #expect(try await receipts(device).map(\.succeeded) == [true])
        #expect(device.files(in: "wipes").isEmpty && device.files(in: "registrations").isEmpty)
        #expect(restarted.enrolledAccounts.isEmpty)
    }

    @Test func `a receipt that waits since the version before is handed in`() async throws {
        let device = try Device()
        let protection = try await enrolled(device)
        let counted = device.files(in: "counters")
        await device.service.set { $0.isUnreachable = true }
        try await protection.wipe(ada)
        try makeFormer(device, counted: counted)
        await device.service.set { $0.isUnreachable = false }
        let restarted = try await start(device)
        await restarted.performDueWork()
        #expect(try await receipts(device).map(\.files) == [2])
        #expect(device.files(in: "wipes").isEmpty)
    }
}
