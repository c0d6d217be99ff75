import CordonBase
import CordonIdentity
import CordonTestSupport
import Crypto
import Foundation
import Testing

@testable import CordonVault

/// The records of keys on disk, without a vault over them.
struct KeyRecordsTests {
    /// A folder of records that goes with the last reference, and a key store beside it.
    private final class Scene {
        let folder: URL
        let store = InMemoryKeyStore()
        let ada: AccountID = "ada@example.test"
        let ben: AccountID = "ben@example.test"
        let records: KeyRecords

        init() throws {
            folder = try TemporaryFolder.make(inMemory: true)
            records = KeyRecords(
                in: folder, isShared: false, secrets: try AccountSecrets(store, vaultName: "own"))
        }

        deinit { TemporaryFolder.remove(folder) }

        func bytes(of account: AccountID) throws -> Data {
            try Data(contentsOf: URL(fileURLWithPath: records.path(of: account)))
        }

        func put(_ bytes: some Sequence<UInt8>, for account: AccountID) throws {
            try Data(bytes).write(to: URL(fileURLWithPath: records.path(of: account)))
        }

        /// The key that a record gives; an issue where it gives none.
        func key(of account: AccountID, share: SecretBytes? = nil) throws -> AccountKey {
            guard case .key(let key, _) = try records.open(account, share: share, besides: nil) else {
                throw VaultError(.unknownAccount, "The record gives no key.")
            }
            return key
        }

        /// The record that earlier software made for an account, and its key.
        func putPlain(for account: AccountID) throws -> AccountKey {
            let key = AccountKey(account: account, id: SecureRandom.bytes(16), secret: .random())
            try put(
                AccountKeyRecord.seal(key, under: KeyParts(root: SecretBytes(try store.rootKey()), secret: nil)),
                for: account)
            return key
        }
    }

    /// A key store in which something happens right before the second secret is told.
    private final class Interrupted: KeyStore {
        private let inner: InMemoryKeyStore
        private let told = Locked(0)
        let interruption = Locked<(@Sendable () throws -> Void)?>(nil)
        let isClosed = Locked(false)

        init(_ inner: InMemoryKeyStore) { self.inner = inner }

        func rootKey() throws(VaultError) -> SymmetricKey { try inner.rootKey() }
        func makeSecret(for name: KeyStoreName) throws(VaultError) -> SymmetricKey { inner.makeSecret(for: name) }
        func destroySecret(for name: KeyStoreName) throws(VaultError) { inner.destroySecret(for: name) }
        func retire(_ name: KeyStoreName) throws(VaultError) { inner.retire(name) }
        func isRetired(_ name: KeyStoreName) throws(VaultError) -> Bool { inner.isRetired(name) }
        func secret(for name: KeyStoreName) throws(VaultError) -> SymmetricKey? {
            if isClosed.withLock({ $0 }) { throw VaultError(.keyStore, "The key store is closed.") }
            let isSecond = told.withLock { told in
                told += 1
                return told == 2
            }
            do { if isSecond { try interruption.withLock { $0 }?() } } catch { Issue.record(error) }
            return inner.secret(for: name)
        }
    }

    private func secret(_ key: AccountKey) -> [UInt8]? { key.secret.withBytes { Array($0) } }

    @Test func `a key stays the account's while another process wraps it anew, and while the store does not answer`()
        throws
    {
        let scene = try Scene()
        try scene.records.make(for: scene.ada)
        let (store, others, share) = (Interrupted(scene.store), scene.records, SecretBytes.random())
        let records = KeyRecords(
            in: scene.folder, isShared: false, secrets: try AccountSecrets(store, vaultName: "own"))
        let key = try scene.key(of: scene.ada)
        // The secret is at its second place, and goes back to the first, which was looked at before.
        try others.hang(key, on: share) { _ in }
        store.interruption.withLock { $0 = { try others.hang(key, on: nil) { _ in } } }
        #expect(try records.isCurrent(key, asking: true))
        store.isClosed.withLock { $0 = true }
        #expect(try records.isCurrent(key, asking: true))
        store.isClosed.withLock { $0 = false }
        try others.destroySecrets(of: scene.ada, nil)
        #expect(try !records.isCurrent(key, asking: true))
    }

    @Test(arguments: [true, false])
    func `a key that another process wraps anew between two looks is not lost, and opens`(isOpening: Bool) throws {
        let scene = try Scene()
        try scene.records.make(for: scene.ada)
        let (store, others, share) = (Interrupted(scene.store), scene.records, SecretBytes.random())
        let secrets = try AccountSecrets(store, vaultName: "own")
        let records = KeyRecords(in: scene.folder, isShared: false, secrets: secrets)
        let key = try scene.key(of: scene.ada)
        try others.hang(key, on: share) { _ in }
        store.interruption.withLock { $0 = { try others.hang(key, on: nil) { _ in } } }
        if isOpening {
            guard case .key(let opened, _) = try records.open(scene.ada, share: share, besides: nil) else {
                throw VaultError(.unknownAccount, "The record gives no key.")
            }
            #expect(opened.id == key.id && secret(opened) == secret(key) && !opened.hangsOnShare.withLock { $0 })
        } else {
            let wipes = ProcessWipes(WipeJournals(in: scene.folder, secrets: secrets))
            #expect(try !AccountKeys(records).isLost(scene.ada, during: wipes))
        }
        #expect(try !scene.records.needsShare(scene.ada), "the other process was there")
    }

    @Test func `a key is made once, and opens as the same each time`() throws {
        let scene = try Scene()
        guard case .absent = try scene.records.open(scene.ada, share: nil, besides: nil) else {
            Issue.record("there is a record before one was made")
            return
        }
        try scene.records.make(for: scene.ada)
        let key = try scene.key(of: scene.ada)
        let bytes = try scene.bytes(of: scene.ada)
        try scene.records.make(for: scene.ada)
        #expect(try scene.bytes(of: scene.ada) == bytes, "what is there is not made again")
        let again = try scene.key(of: scene.ada)
        #expect(again.id == key.id && secret(again) == secret(key) && secret(key)?.count == 32)
        guard case .held = try scene.records.open(scene.ada, share: nil, besides: key) else {
            Issue.record("who has the key already is told so")
            return
        }
        #expect(try scene.records.claims().map(\.account) == [scene.ada])
        #expect(try scene.records.mayHoldKey(of: scene.ada) && !scene.records.mayHoldKey(of: scene.ben))
    }

    @Test func `another account's record is refused, and no claim is made of it`() throws {
        let scene = try Scene()
        try scene.records.make(for: scene.ada)
        try scene.put(scene.bytes(of: scene.ada), for: scene.ben)
        #expect(throws: VaultError(.damaged, "")) { _ = try scene.key(of: scene.ben) }
        #expect(try scene.records.claim(of: scene.ben) == nil)
        #expect(try scene.records.claim(of: scene.ada)?.account == scene.ada, "the control")
    }

    @Test func `a key that hangs on a share opens with that share alone, and no copy of the record before opens`()
        throws
    {
        let scene = try Scene()
        try scene.records.make(for: scene.ada)
        let key = try scene.key(of: scene.ada)
        let before = try scene.bytes(of: scene.ada)
        #expect(try !scene.records.needsShare(scene.ada))
        let share = SecretBytes.random()
        let steps = Locked<[RewrapStep]>([])
        try scene.records.hang(key, on: share) { step in steps.withLock { $0.append(step) } }
        #expect(steps.withLock { $0 } == RewrapStep.allCases)
        #expect(try scene.records.needsShare(scene.ada))
        let opened = try scene.key(of: scene.ada, share: share)
        #expect(opened.id == key.id && secret(opened) == secret(key))
        #expect(throws: VaultError(.locked, "")) { _ = try scene.key(of: scene.ada) }
        #expect(throws: VaultError(.wrongKey, "")) { _ = try scene.key(of: scene.ada, share: .random()) }
        guard case .held = try scene.records.open(scene.ada, share: nil, besides: key) else {
            Issue.record("who has the key needs no share to keep it")
            return
        }
        try scene.put(before, for: scene.ada)
        #expect(throws: VaultError(.wrongKey, "")) { _ = try scene.key(of: scene.ada) }
    }

    @Test func `a key whose record holds another one is not wrapped anew`() throws {
        let scene = try Scene()
        try scene.records.make(for: scene.ada)
        let other = AccountKey(account: scene.ada, id: SecureRandom.bytes(16), secret: .random())
        let bytes = try scene.bytes(of: scene.ada)
        #expect(throws: VaultError(.wiped, "")) { try scene.records.hang(other, on: .random()) { _ in } }
        #expect(try scene.bytes(of: scene.ada) == bytes)
    }

    @Test func `a plain record is carried over once, its key kept under the new one and its copies refused`() throws {
        let scene = try Scene()
        let plain = try scene.putPlain(for: scene.ada)
        let old = try scene.bytes(of: scene.ada)
        guard case .plain = try scene.records.open(scene.ada, share: nil, besides: nil) else {
            Issue.record("a plain record is told")
            return
        }
        try scene.records.renewPlain(scene.ada)
        let renewed = try scene.bytes(of: scene.ada)
        guard case .key(let key, hasFormerFiles: true) = try scene.records.open(scene.ada, share: nil, besides: nil)
        else {
            Issue.record("files may hang on the former key")
            return
        }
        #expect(key.id != plain.id && key.former?.id == plain.id)
        #expect(key.former.flatMap(secret) == secret(plain))
        try scene.records.renewPlain(scene.ada)
        #expect(try scene.bytes(of: scene.ada) == renewed, "a record that hangs on a secret is left as it is")
        try scene.records.noteNoFormerFiles(of: key)
        guard case .key(_, hasFormerFiles: false) = try scene.records.open(scene.ada, share: nil, besides: nil) else {
            Issue.record("the note that no file hangs on it is kept")
            return
        }
        try scene.put(old, for: scene.ada)
        guard case .destroyed = try scene.records.open(scene.ada, share: nil, besides: nil) else {
            Issue.record("a copy of the former record counts")
            return
        }
    }

    @Test func `what a wipe leaves is its note, and a record that comes back is told as destroyed`() throws {
        let scene = try Scene()
        try scene.records.make(for: scene.ada)
        let bytes = try scene.bytes(of: scene.ada)
        let known = try #require(try scene.records.claim(of: scene.ada))
        #expect(try scene.records.isInForce(known))
        try scene.records.destroySecrets(of: scene.ada, known)
        #expect(try !scene.records.isInForce(known))
        #expect(try scene.records.overwrite(scene.ada, known))
        #expect(try scene.records.holdsWipeNote(of: scene.ada) && !scene.records.mayHoldKey(of: scene.ada))
        #expect(try scene.records.claim(of: scene.ada)?.keyID == known.keyID, "the note says which key ended")
        #expect(throws: VaultError(.wipePending, "")) { _ = try scene.key(of: scene.ada) }
        // As who has looked before the note was there.
        try scene.records.make(for: scene.ada)
        #expect(try scene.records.holdsWipeNote(of: scene.ada), "no key is made over the note")
        try scene.records.unlinkEnded(scene.ada)
        #expect(try PosixFile.isAbsent(scene.records.path(of: scene.ada)) && !scene.records.overwrite(scene.ada, nil))
        try scene.put(bytes, for: scene.ada)
        guard case .destroyed = try scene.records.open(scene.ada, share: nil, besides: nil) else {
            Issue.record("the copy counts")
            return
        }
        #expect(try scene.records.nameOfLostKey(of: scene.ada) == nil, "a wiped key is not lost")
        try scene.records.make(for: scene.ada)
        #expect(try scene.key(of: scene.ada).id != known.keyID)
    }

    @Test func `a record that another name leads to as well is not written to by a wipe`() throws {
        let scene = try Scene()
        try scene.records.make(for: scene.ada)
        let record = URL(fileURLWithPath: scene.records.path(of: scene.ada))
        // As if linked from the folder of another app, which has a key of the same account.
        let other = scene.folder.appending(path: "other")
        try FileManager.default.linkItem(at: record, to: other)
        let bytes = try Data(contentsOf: other)
        #expect(try scene.records.overwrite(scene.ada, scene.records.claim(of: scene.ada)))
        #expect(try Data(contentsOf: other) == bytes)
        try FileManager.default.removeItem(at: other)
        #expect(try scene.records.overwrite(scene.ada, scene.records.claim(of: scene.ada)))
        #expect(try scene.records.holdsWipeNote(of: scene.ada), "the control: its only name")
    }

    @Test
    func `a renewal that was cut off between two names leaves a wipe one record to overwrite, and its note stays`()
        throws
    {
        let scene = try Scene()
        _ = try scene.putPlain(for: scene.ada)
        let ended = scene.folder.appending(path: scene.ada.fileName + ".ended")
        try FileManager.default.linkItem(at: URL(fileURLWithPath: scene.records.path(of: scene.ada)), to: ended)
        #expect(try scene.records.overwrite(scene.ada, scene.records.claim(of: scene.ada)))
        try scene.records.removeFormerAndLost(of: scene.ada)
        #expect(try scene.records.holdsWipeNote(of: scene.ada))
        #expect(!FileManager.default.fileExists(atPath: ended.path))
    }

    @Test func `what is left of keys is overwritten under its only name, and another file's second name only goes`()
        throws
    {
        let scene = try Scene()
        try scene.records.make(for: scene.ada)
        let key = try scene.key(of: scene.ada)
        let victim = scene.folder.appending(path: "victim")
        let bytes = Data(repeating: 7, count: 600)
        let places = ["ended", "former", "\(key.id.hex).lost"].map {
            scene.folder.appending(path: "\(scene.ada.fileName).\($0)")
        }
        try bytes.write(to: victim)
        for place in places { try FileManager.default.linkItem(at: victim, to: place) }
        #expect(try scene.key(of: scene.ada).id == key.id)
        try scene.records.removeFormerAndLost(of: scene.ada)
        #expect(try Data(contentsOf: victim) == bytes)
        // The record itself.
        try FileManager.default.linkItem(at: URL(fileURLWithPath: scene.records.path(of: scene.ada)), to: places[0])
        #expect(try scene.key(of: scene.ada).id == key.id && scene.key(of: scene.ada).id == key.id)
        #expect(places.allSatisfy { !FileManager.default.fileExists(atPath: $0.path) })

        for place in places { try bytes.write(to: place) }
        let held = try places.map { try FileHandle(forReadingFrom: $0) }
        try scene.records.removeFormerAndLost(of: scene.ada)
        for file in held { #expect(try file.readToEnd()?.prefix(108) == Data(count: 108), "the control") }
    }

    @Test func `what a symbolic link leads to that comes in the place of what is overwritten keeps its bytes`() throws {
        let scene = try Scene()
        let (victim, place) = (scene.folder.appending(path: "victim"), scene.folder.appending(path: "place"))
        let bytes = Data(repeating: 7, count: 600)
        for file in [victim, place] { try bytes.write(to: file) }
        DiskFaults.$next.withValue({ call in
            // After the look at what is there.
            if call == "open" { _ = unlink(place.path) + symlink(victim.path, place.path) }
            return 0
        }) { try? PosixFile.overwriteAndRemove(place.path, count: 108) }
        #expect(try Data(contentsOf: victim) == bytes)
        try PosixFile.overwriteAndRemove(victim.path, count: 108)
        #expect(PosixFile.isAbsent(victim.path), "the control")
    }

    @Test func `a record whose secret is gone is a lost key's, stays aside, and goes with a wipe`() throws {
        let scene = try Scene()
        try scene.records.make(for: scene.ada)
        #expect(try scene.records.nameOfLostKey(of: scene.ada) == nil)
        let known = try #require(try scene.records.claim(of: scene.ada))
        // As after an update that emptied the key store: another root key names other secrets.
        let emptied = KeyRecords(
            in: scene.folder, isShared: false, secrets: try AccountSecrets(InMemoryKeyStore(), vaultName: "own"))
        let name = try #require(try emptied.nameOfLostKey(of: scene.ada))
        #expect(name == known.keyID.hex)
        try emptied.setAside(scene.ada, as: name)
        #expect(PosixFile.isAbsent(emptied.path(of: scene.ada)))
        let aside = try FileManager.default.contentsOfDirectory(atPath: scene.folder.path).filter {
            $0.hasSuffix(".lost")
        }
        #expect(aside == ["\(scene.ada.fileName).\(name).lost"])
        try emptied.removeFormerAndLost(of: scene.ada)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: scene.folder.path).allSatisfy { !$0.hasSuffix(".lost") }
        )
    }

    @Test func `a note of another account's wipe in a record's place is a lost key's record, and no wipe`() throws {
        let scene = try Scene()
        try scene.records.make(for: scene.ada)
        try scene.put(
            try AccountKeyRecord.wipeNote(scene.ben, keyID: [UInt8](repeating: 0, count: 16)), for: scene.ada)
        #expect(try !scene.records.holdsWipeNote(of: scene.ada))
        #expect(try scene.records.mayHoldKey(of: scene.ada))
        #expect(try scene.records.nameOfLostKey(of: scene.ada) != nil)
        #expect(throws: VaultError(.damaged, "")) { _ = try scene.key(of: scene.ada) }
    }

    @Test func `a key whose record is gone is lost, is not replaced by itself, and opens with an intact copy`() throws {
        let scene = try Scene()
        try scene.records.make(for: scene.ada)
        let (key, intact) = (try scene.key(of: scene.ada), try scene.bytes(of: scene.ada))
        PosixFile.remove(scene.records.path(of: scene.ada))
        #expect(try scene.records.mayHoldKey(of: scene.ada))
        #expect(try scene.records.nameOfLostKey(of: scene.ada) != nil)
        #expect(throws: VaultError(.unknownAccount, "")) { try scene.records.make(for: scene.ada) }
        #expect(PosixFile.isAbsent(scene.records.path(of: scene.ada)))
        let isEmpty = try scene.records.nameOfLostKey(of: scene.ada, holdsFiles: false) == nil
        #expect(isEmpty, "an app that was installed anew has lost nothing")
        #expect(try scene.records.nameOfLostKey(of: scene.ben) == nil, "nor has who was never enrolled")

        try scene.put(intact, for: scene.ada)
        #expect(try scene.records.nameOfLostKey(of: scene.ada) == nil)
        #expect(try scene.key(of: scene.ada).id == key.id)

        PosixFile.remove(scene.records.path(of: scene.ada))
        let name = try #require(try scene.records.nameOfLostKey(of: scene.ada))
        try scene.records.setAside(scene.ada, as: name)
        #expect(try scene.records.nameOfLostKey(of: scene.ada) == nil, "it was given up")
        try scene.records.make(for: scene.ada)
        #expect(try scene.key(of: scene.ada).id != key.id)
    }

    @Test func `a copy of a record that ended, beside the secret of a later key, takes nothing with it`() throws {
        let scene = try Scene()
        try scene.records.make(for: scene.ada)
        let ended = try scene.bytes(of: scene.ada)
        let known = try #require(try scene.records.claim(of: scene.ada))
        try scene.records.destroySecrets(of: scene.ada, known)
        PosixFile.remove(scene.records.path(of: scene.ada))
        try scene.records.make(for: scene.ada)
        let (key, intact) = (try scene.key(of: scene.ada), try scene.bytes(of: scene.ada))

        try scene.put(ended, for: scene.ada)
        #expect(try scene.records.nameOfLostKey(of: scene.ada) == known.keyID.hex)
        #expect(throws: VaultError(.unknownAccount, "")) { try scene.records.make(for: scene.ada) }
        #expect(try scene.bytes(of: scene.ada) == ended)
        try scene.put(intact, for: scene.ada)
        #expect(try scene.key(of: scene.ada).id == key.id)
    }

    @Test func `a key whose making was cut off is made at the next attempt, and the note of it goes`() throws {
        let scene = try Scene()
        let secrets = try AccountSecrets(scene.store, vaultName: "own")
        try secrets.beginMaking(of: scene.ada)
        _ = try secrets.renewedParts(of: scene.ada)
        #expect(try scene.records.nameOfLostKey(of: scene.ada) == nil, "nothing was sealed under it")
        #expect(try !scene.records.mayHoldKey(of: scene.ada))
        try scene.records.make(for: scene.ada)
        let key = try scene.key(of: scene.ada)
        #expect(try !secrets.isMaking(scene.ada))

        // Killed after the record was there.
        try secrets.beginMaking(of: scene.ada)
        #expect(try scene.key(of: scene.ada).id == key.id)
        #expect(try !secrets.isMaking(scene.ada))
        PosixFile.remove(scene.records.path(of: scene.ada))
        #expect(try scene.records.nameOfLostKey(of: scene.ada) != nil)
    }

    @Test func `a damaged record may hold a key, is no note of a wipe, and is lost`() throws {
        let scene = try Scene()
        try scene.put([UInt8](repeating: 7, count: 512), for: scene.ada)
        #expect(try scene.records.mayHoldKey(of: scene.ada))
        #expect(try !scene.records.holdsWipeNote(of: scene.ada))
        #expect(try scene.records.nameOfLostKey(of: scene.ada) != nil)
        #expect(throws: VaultError(.damaged, "")) { _ = try scene.records.claim(of: scene.ada) }
        #expect(try scene.records.claims().isEmpty, "foreign files are passed over")
    }
}
