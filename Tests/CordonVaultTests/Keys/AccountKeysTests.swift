import CordonBase
import CordonIdentity
import CordonTestSupport
import Foundation
import Testing

@testable import CordonVault

/// Keys in memory over records on disk, without a vault over both.
struct AccountKeysTests {
    /// Two vaults' keys over one folder of records, which goes with the last reference.
    private final class Scene {
        let folder: URL
        let ada: AccountID = "ada@example.test"
        let records: KeyRecords
        let journals: WipeJournals
        var keys: AccountKeys
        var wipes: ProcessWipes

        init() throws {
            folder = try TemporaryFolder.make(inMemory: true)
            let secrets = try AccountSecrets(InMemoryKeyStore(), vaultName: "own")
            records = KeyRecords(in: folder, isShared: false, secrets: secrets)
            journals = WipeJournals(in: folder, secrets: secrets)
            try journals.prepare()
            keys = AccountKeys(records)
            wipes = ProcessWipes(journals)
        }

        deinit { TemporaryFolder.remove(folder) }

        /// The key as a caller of the vault gets it.
        func key() throws(VaultError) -> AccountKey {
            if let key = try keys.current(ada) { return key }
            throw try keys.absence(of: ada, during: wipes)
        }
    }

    /// Something open under a key, which notes why it ended.
    private final class Holder: KeyHolder {
        let ending = Locked<VaultError.Code?>(nil)
        let failure: VaultError?

        init(failure: VaultError? = nil) { self.failure = failure }

        func flush() -> VaultError? { failure }
        func invalidate(_ reason: VaultError) { ending.withLock { $0 = reason.code } }
        var ended: VaultError.Code? { ending.withLock { $0 } }
    }

    @Test func `an account without a key, a locked one and an unlocked one are told apart`() throws {
        let scene = try Scene()
        #expect(throws: VaultError(.unknownAccount, "")) { _ = try scene.key() }
        try scene.keys.create(for: scene.ada, during: scene.wipes)
        let key = try scene.key()
        try scene.keys.create(for: scene.ada, during: scene.wipes)
        #expect(try scene.key() === key, "a key that is there stays")
        let failures = scene.keys.lock(scene.ada)
        #expect(failures.isEmpty && scene.keys[scene.ada] == nil)
        #expect(key.secret.symmetricKey == nil, "it is zeroed")
        #expect(throws: VaultError(.locked, "")) { _ = try scene.key() }
        try scene.keys.unlock(scene.ada, share: nil, during: scene.wipes)
        #expect(try scene.key().id == key.id)
    }

    @Test func `a lock ends what is open and gives what could not be made durable`() throws {
        let scene = try Scene()
        try scene.keys.create(for: scene.ada, during: scene.wipes)
        let (good, full) = (Holder(), Holder(failure: VaultError(.noSpace, "The disk is full.")))
        scene.keys.track(good, of: scene.ada)
        scene.keys.track(full, of: scene.ada)
        #expect(scene.keys.accounts == [scene.ada])
        let failures = scene.keys.lock(scene.ada)
        #expect(failures.map(\.code) == [.noSpace])
        #expect(good.ended == .locked && full.ended == .locked)
        #expect(scene.keys.accounts.isEmpty)
    }

    @Test func `a key that another process has replaced ends with what is open under it, and gives way to the new one`()
        throws
    {
        let scene = try Scene()
        try scene.keys.create(for: scene.ada, during: scene.wipes)
        let old = try #require(scene.keys[scene.ada])
        let holder = Holder()
        scene.keys.track(holder, of: scene.ada)
        let known = try #require(try scene.records.claim(of: scene.ada))
        try scene.records.destroySecrets(of: scene.ada, known)
        PosixFile.remove(scene.records.path(of: scene.ada))
        try scene.records.make(for: scene.ada)
        try scene.keys.unlock(scene.ada, share: nil, during: scene.wipes)
        #expect(holder.ended == .wiped)
        #expect(try scene.key().id != old.id)
    }

    @Test
    func `a key whose record another process has removed ends at the next use, or before when that is looked for`()
        throws
    {
        for isLookedFor in [true, false] {
            let scene = try Scene()
            try scene.keys.create(for: scene.ada, during: scene.wipes)
            let holder = Holder()
            scene.keys.track(holder, of: scene.ada)
            #expect(scene.keys.endDestroyed() && holder.ended == nil, "a key in force stays")
            PosixFile.remove(scene.records.path(of: scene.ada))
            if isLookedFor {
                #expect(scene.keys.endDestroyed() && holder.ended == .wiped)
            }
            #expect(throws: VaultError(.wiped, "")) { _ = try scene.key() }
            #expect(holder.ended == .wiped && scene.keys[scene.ada] == nil)
        }
    }

    @Test func `a record that cannot be read just now ends nothing, and another look is due`() throws {
        let scene = try Scene()
        try scene.keys.create(for: scene.ada, during: scene.wipes)
        let holder = Holder()
        scene.keys.track(holder, of: scene.ada)
        PosixFile.remove(scene.records.path(of: scene.ada))
        let isSure = DiskFaults.$next.withValue({ $0 == "open" ? EMFILE : 0 }) { scene.keys.endDestroyed() }
        #expect(!isSure && holder.ended == nil)
        #expect(scene.keys.endDestroyed() && holder.ended == .wiped)
    }

    @Test func `no key comes into memory while a wipe is under way here, is journalled, or is noted in the record`()
        throws
    {
        let scene = try Scene()
        try scene.keys.create(for: scene.ada, during: scene.wipes)
        _ = scene.keys.lock(scene.ada)
        func refusal() -> VaultError.Code? {
            do {
                try scene.keys.unlock(scene.ada, share: nil, during: scene.wipes)
                return nil
            } catch { return error.code }
        }
        let hasBegun = scene.wipes.begin(scene.ada)
        #expect(hasBegun && refusal() == .wipePending)
        #expect(throws: VaultError(.wipePending, "")) { _ = try scene.key() }
        #expect(throws: VaultError(.wipePending, "")) { _ = try scene.keys.isLost(scene.ada, during: scene.wipes) }
        scene.wipes.end(scene.ada)
        #expect(refusal() == nil)
        _ = scene.keys.lock(scene.ada)
        let journal = WipeJournal(report: WipeReport(account: scene.ada, started: .now), attachments: [])
        try scene.journals.write(journal)
        #expect(refusal() == .wipePending)
        try scene.journals.finish(journal)
        #expect(refusal() == nil, "a report is no journal")
        _ = scene.keys.lock(scene.ada)
        let known = try #require(try scene.records.claim(of: scene.ada))
        #expect(try scene.records.overwrite(scene.ada, known) && refusal() == .wipePending)
    }

    @Test func `a lost key is put aside once, and makes room for a new one`() throws {
        let scene = try Scene()
        try scene.keys.create(for: scene.ada, during: scene.wipes)
        #expect(try !scene.keys.isLost(scene.ada, during: scene.wipes), "a key in memory is not lost")
        var emptied = AccountKeys(
            KeyRecords(
                in: scene.folder, isShared: false, secrets: try AccountSecrets(InMemoryKeyStore(), vaultName: "own")))
        #expect(try emptied.isLost(scene.ada, during: scene.wipes))
        try emptied.setAsideLost(scene.ada, during: scene.wipes)
        try emptied.setAsideLost(scene.ada, during: scene.wipes)
        try emptied.create(for: scene.ada, during: scene.wipes)
        #expect(try !emptied.isLost(scene.ada, during: scene.wipes))
    }

    @Test func `no key takes the place of one whose record is gone, and the account counts as locked`() throws {
        let scene = try Scene()
        try scene.keys.create(for: scene.ada, during: scene.wipes)
        let id = try scene.key().id
        _ = scene.keys.lock(scene.ada)
        let record = URL(fileURLWithPath: scene.records.path(of: scene.ada))
        let intact = try Data(contentsOf: record)
        PosixFile.remove(scene.records.path(of: scene.ada))
        #expect(throws: VaultError(.unknownAccount, "")) {
            try scene.keys.create(for: scene.ada, during: scene.wipes)
        }
        #expect(throws: VaultError(.locked, "")) { _ = try scene.key() }
        #expect(try scene.keys.isLost(scene.ada, during: scene.wipes))
        try intact.write(to: record)
        #expect(try !scene.keys.isLost(scene.ada, during: scene.wipes))
        try scene.keys.create(for: scene.ada, during: scene.wipes)
        #expect(try scene.key().id == id)
    }
}
