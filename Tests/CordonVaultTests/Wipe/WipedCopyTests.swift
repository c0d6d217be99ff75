import CordonBase
import CordonIdentity
import CordonTestSupport
import Crypto
import Foundation
import Testing

@testable import CordonVault

/// A copy of a vault's folder does not undo a wipe.
struct WipedCopyTests {
    /// A vault with one sealed file, and a key store beside it that no copy of the vault reaches.
    private struct Scene {
        let folder: URL
        let account: AccountID = "ada@example.test"
        var home: URL { folder.appendingPathComponent("home") }
        var keys: FileKeyStore { FileKeyStore(directory: folder.appendingPathComponent("keys")) }
        var note: URL { home.appendingPathComponent("note") }
        var copy: URL { folder.appendingPathComponent("copy") }

        init() async throws {
            folder = try TemporaryFolder.make()
            let vault = try vault()
            try await vault.createAccountKey(for: account)
            let file = try await vault.create(note, for: account)
            try file.write([1, 2, 3], at: 0)
            try file.close()
            try FileManager.default.copyItem(at: home, to: copy)
        }

        func vault() throws -> Vault {
            try Vault(directory: home.appendingPathComponent("vault"), keyStore: keys, roots: [home])
        }

        /// Puts the whole folder back as it was before the wipe.
        func restore() throws {
            try FileManager.default.removeItem(at: home)
            try FileManager.default.copyItem(at: copy, to: home)
        }
    }

    @Test func `a folder that is put back after a wipe opens nothing`() async throws {
        let scene = try await Scene()
        defer { TemporaryFolder.remove(scene.folder) }
        // The copy itself is good: without the wipe it opens.
        try scene.restore()
        let before = try scene.vault()
        try await before.unlock(scene.account)
        #expect(try await before.open(scene.note, writing: false).all() == [1, 2, 3])

        let report = try await before.wipe(scene.account)
        try scene.restore()
        let after = try scene.vault()
        #expect(await code { try await after.unlock(scene.account) } == .wiped)
        #expect(await code { _ = try await after.open(scene.note, writing: false) } != nil)
        // An account that enrols again gets a new key, and the copy stays closed.
        let keyID = try await after.createAccountKey(for: scene.account)
        #expect(!report.destroyedKeyIDs.contains(keyID))
        #expect(await code { _ = try await after.open(scene.note, writing: false) } == .wrongKey)
        let names = scene.folder.appendingPathComponent("keys").everythingBelow().paths.map(\.path)
        #expect(!names.contains { $0.contains(scene.account.rawValue) || $0.contains(scene.account.fileName) })
    }

    @Test func `a key's record that was taken away before the wipe opens nothing when it comes back`() async throws {
        let scene = try await Scene()
        defer { TemporaryFolder.remove(scene.folder) }
        let vault = try scene.vault()
        let record = vault.records.path(of: scene.account)
        try FileManager.default.removeItem(atPath: record)
        _ = try await vault.wipe(scene.account)
        try scene.restore()
        let after = try scene.vault()
        #expect(await code { try await after.unlock(scene.account) } == .wrongKey)
        #expect(await code { _ = try await after.open(scene.note, writing: false) } == .locked)
    }

    @Test func `a record of the version before that was taken away before the wipe opens nothing when it comes back`()
        async throws
    {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let keys = FileKeyStore(directory: folder.appendingPathComponent("keys"))
        let vault = try Vault(directory: folder.appendingPathComponent("vault"), keyStore: keys, roots: [folder])
        for (account, isWiped): (AccountID, Bool) in [("bob@example.test", false), ("ada@example.test", true)] {
            let key = AccountKey(account: account, id: SecureRandom.bytes(16), secret: .random())
            let parts = KeyParts(root: SecretBytes(try keys.rootKey()), secret: nil)
            if isWiped { _ = try await vault.wipe(account) }
            let record = try AccountKeyRecord.seal(key, under: parts, version: .one)
            try Data(record).write(to: URL(fileURLWithPath: vault.records.path(of: account)))
            #expect(await code { try await vault.unlock(account) } == (isWiped ? .wiped : nil))
        }
    }

    @Test func `a key that was wiped is refused also where its secret comes back`() async throws {
        let scene = try await Scene()
        defer { TemporaryFolder.remove(scene.folder) }
        let secrets = scene.folder.appendingPathComponent("keys/secrets")
        let saved = scene.folder.appendingPathComponent("saved")
        try FileManager.default.copyItem(at: secrets, to: saved)
        _ = try await scene.vault().wipe(scene.account)
        #expect(try FileManager.default.contentsOfDirectory(atPath: secrets.path).isEmpty)
        try FileManager.default.removeItem(at: secrets)
        try FileManager.default.moveItem(at: saved, to: secrets)
        try scene.restore()
        let after = try scene.vault()
        #expect(await code { try await after.unlock(scene.account) } == .wiped)
    }

    @Test func `a record that hangs on no secret is refused where the account had one`() async throws {
        let scene = try await Scene()
        defer { TemporaryFolder.remove(scene.folder) }
        let plain = AccountKey(account: scene.account, id: SecureRandom.bytes(16), secret: .random())
        let parts = KeyParts(root: SecretBytes(try scene.keys.rootKey()), secret: nil)
        for version in [FormatVersion.one, .two] {
            let vault = try scene.vault()
            let record = try AccountKeyRecord.seal(plain, under: parts, version: version)
            try Data(record).write(to: URL(fileURLWithPath: vault.records.path(of: scene.account)))
            #expect(await code { try await vault.unlock(scene.account) } == .wiped)
        }
    }

    @Test func `a secret is written once, private, and overwritten in place when it ends`() throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let store = FileKeyStore(directory: folder.appendingPathComponent("keys"))
        let name = SecureRandom.bytes(16).withUnsafeBytes(KeyStoreName.init)
        #expect(try store.secret(for: name) == nil)
        let secret = try store.makeSecret(for: name)
        #expect(try store.secret(for: name) == secret)
        let path = folder.appendingPathComponent("keys/secrets/\(name).key").path
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        let held = try #require(FileHandle(forReadingAtPath: path))
        let other = try store.makeSecret(for: name)
        #expect(other != secret)
        #expect(try held.readToEnd() == Data(count: 40))
        let heldAgain = try #require(FileHandle(forReadingAtPath: path))
        try store.destroySecret(for: name)
        #expect(try heldAgain.readToEnd() == Data(count: 40))
        #expect(try store.secret(for: name) == nil)
        try store.destroySecret(for: name)
        #expect(try !store.isRetired(name))
        try store.retire(name)
        try store.retire(name)
        #expect(try FileKeyStore(directory: store.directory).isRetired(name))
        // What is there may not be on the disk yet.
        let isKept = DiskFaults.$next.withValue({ $0 == "sync" ? EIO : 0 }) { (try? store.retire(name)) != nil }
        #expect(!isKept)
        // A kill may come between the zeros and the end of the name.
        _ = try store.makeSecret(for: name)
        try Data(count: 40).write(to: URL(fileURLWithPath: path))
        chmod(path, 0o600)
        #expect(try store.secret(for: name) == nil)
        let retired = store.directory.appendingPathComponent("retired")
        try FileManager.default.removeItem(at: retired)
        try FileManager.default.createSymbolicLink(at: retired, withDestinationURL: retired)
        #expect(throws: VaultError(.keyStore, "")) { try store.isRetired(name) }
        let elsewhere = folder.appendingPathComponent("elsewhere")
        try FileManager.default.createDirectory(at: elsewhere, withIntermediateDirectories: false)
        try FileManager.default.removeItem(at: retired)
        try FileManager.default.createSymbolicLink(at: retired, withDestinationURL: elsewhere)
        #expect(throws: VaultError(.keyStore, ""), "no mark is in another's folder") { try store.isRetired(name) }
        #expect(throws: VaultError(.keyStore, "")) { try store.retire(name) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: elsewhere.path).isEmpty)
    }

    @Test func `a secret is overwritten under every name it has, and what is no secret under none`() throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let store = FileKeyStore(directory: folder.appendingPathComponent("keys"))
        let name = SecureRandom.bytes(16).withUnsafeBytes(KeyStoreName.init)
        _ = try store.makeSecret(for: name)
        let place = folder.appendingPathComponent("keys/secrets/\(name).key")
        let other = folder.appendingPathComponent("other")
        try FileManager.default.linkItem(at: place, to: other)
        try store.destroySecret(for: name)
        #expect(try Data(contentsOf: other) == Data(count: 40))

        for bytes in [Data(repeating: 7, count: 40), Data("CORDONAS".utf8), Data("CORDONAS".utf8) + Data(count: 33)] {
            try bytes.write(to: other)
            try FileManager.default.linkItem(at: other, to: place)
            try store.destroySecret(for: name)
            #expect(try Data(contentsOf: other) == bytes)
            #expect(!FileManager.default.fileExists(atPath: place.path))
        }
    }

    @Test func `the folder of the keys is marked as none for backups where the file system knows that`() async throws {
        let scene = try await Scene()
        defer { TemporaryFolder.remove(scene.folder) }
        for folder in [scene.keys.directory, try scene.vault().keyDirectory] {
            let isExcluded = BackupExclusion.isExcluded(folder)
            #expect(isExcluded == true || isExcluded == nil)
        }
    }

    // MARK: Key store and record that refuse

    /// A key store that keeps its secrets while it refuses, and tells none while it is silent.
    private final class Refusing: KeyStore {
        let store = InMemoryKeyStore()
        let refuses = Locked(false)
        let isSilent = Locked(false)

        func rootKey() throws(VaultError) -> SymmetricKey { try store.rootKey() }
        func secret(for name: KeyStoreName) throws(VaultError) -> SymmetricKey? {
            if isSilent.withLock({ $0 }) { throw VaultError(.keyStore, "The key store does not answer.") }
            return store.secret(for: name)
        }
        func makeSecret(for name: KeyStoreName) throws(VaultError) -> SymmetricKey { store.makeSecret(for: name) }
        func retire(_ name: KeyStoreName) throws(VaultError) { store.retire(name) }
        func isRetired(_ name: KeyStoreName) throws(VaultError) -> Bool { store.isRetired(name) }
        func destroySecret(for name: KeyStoreName) throws(VaultError) {
            if refuses.withLock({ $0 }) { throw VaultError(.keyStore, "The key store is locked.") }
            store.destroySecret(for: name)
        }
    }

    @Test func `a wipe that the key store refuses closes the account, and ends when it answers again`() async throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let store = Refusing()
        let account: AccountID = "ada@example.test"
        let vault = try Workshop.vault(in: folder, store)
        let keyID = try await vault.createAccountKey(for: account)
        let file = try await vault.create(folder.appendingPathComponent("note"), for: account)
        store.refuses.withLock { $0 = true }
        #expect(await code { _ = try await vault.wipe(account) } == .keyStore)
        #expect(await code { _ = try file.size() } == .wiped)
        #expect(await !vault.isUnlocked(account))
        let next = try Workshop.vault(in: folder, store)
        #expect(await code { try await next.unlock(account) } == .wipePending)
        #expect(try await next.pendingWipes().map(\.account) == [account])
        store.refuses.withLock { $0 = false }
        let reports = try await next.resumeWipes()
        #expect(reports.map(\.destroyedKeyIDs) == [[keyID]] && reports.allSatisfy(\.succeeded))
    }

    /// Vaults of two apps that share their keys.
    private func apps(in folder: URL, _ store: any KeyStore) throws -> (Vault, Vault) {
        let group = folder.appending(path: "group")
        return (
            try Vault(directory: folder.appending(path: "first"), keyStore: store, keyDirectory: group),
            try Vault(directory: folder.appending(path: "second"), keyStore: store, keyDirectory: group)
        )
    }

    @Test func `a resumed wipe leaves the key alone that a newer app of the group has made since`() async throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let (store, account) = (Refusing(), AccountID("ada@example.test"))
        let (first, second) = try apps(in: folder, store)
        let record = URL(fileURLWithPath: second.records.path(of: account))
        let intact = Locked(Data())
        let refused = await code {
            _ = try await first.wipe(account) { step in
                guard step.kind == .journalWritten else { return }
                do {
                    try second.records.make(for: account)
                    let made = try Data(contentsOf: record)
                    intact.withLock { $0 = made }
                    var bytes = made
                    // A part of the key that this version does not know.
                    bytes[12] = 2
                    try bytes.write(to: record)
                } catch { Issue.record(error) }
                store.isSilent.withLock { $0 = true }
            }
        }
        #expect(refused == .keyStore)
        store.isSilent.withLock { $0 = false }
        #expect(try await first.resumeWipes().map(\.destroyedKeyIDs) == [[]])
        #expect(await code { try await second.unlock(account) } == .unsupportedFormat)
        try intact.withLock { $0 }.write(to: record)
        try await second.unlock(account)
    }

    @Test func `a key that another app of the group has made since stays also while the key store does not answer`()
        async throws
    {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let (store, account) = (Refusing(), AccountID("ada@example.test"))
        let (first, second) = try apps(in: folder, store)
        // Made after the former key was destroyed, and before the rest of its record was unlinked.
        let refused = await code {
            _ = try await first.wipe(account) { step in
                guard step.kind == .journalWritten else { return }
                do { try second.records.make(for: account) } catch { Issue.record(error) }
                store.isSilent.withLock { $0 = true }
            }
        }
        #expect(refused == .keyStore)
        store.isSilent.withLock { $0 = false }
        #expect(try await first.resumeWipes().map(\.destroyedKeyIDs) == [[]])
        try await second.unlock(account)

        // Made after a wipe had begun that has destroyed nothing yet.
        store.refuses.withLock { $0 = true }
        #expect(await code { _ = try await first.wipe(account) } == .keyStore)
        store.refuses.withLock { $0 = false }
        _ = try await second.wipe(account)
        let new = try await second.createAccountKey(for: account)
        store.isSilent.withLock { $0 = true }
        #expect(await code { _ = try await first.resumeWipes() } == .keyStore)
        store.isSilent.withLock { $0 = false }
        #expect(try await first.resumeWipes().map(\.destroyedKeyIDs) == [[]])
        #expect(try await second.createAccountKey(for: account) == new)
    }

    @Test func `a wipe whose record cannot be opened ends what is open, is noted, and goes on later`() async throws {
        let workshop = try await Workshop()
        let file = try await workshop.vault.create(workshop.path("note"), for: workshop.ada)
        let record = workshop.vault.records.path(of: workshop.ada)
        try FileManager.default.removeItem(atPath: record)
        try FileManager.default.createDirectory(atPath: record, withIntermediateDirectories: false)
        #expect(await code { _ = try await workshop.vault.wipe(workshop.ada) } == .isDirectory)
        #expect(await code { _ = try file.size() } == .wiped)
        #expect(await !workshop.vault.isUnlocked(workshop.ada))
        let next = try await workshop.reopened()
        #expect(try await next.pendingWipes().map(\.account) == [workshop.ada])
        try FileManager.default.removeItem(atPath: record)
        let reports = try await next.resumeWipes()
        #expect(reports.count == 1 && reports.allSatisfy(\.succeeded))
        #expect(await code { try await next.unlock(workshop.ada) } == .unknownAccount)
    }

    @Test func `a wipe writes into no file that a record's name only leads to`() async throws {
        let workshop = try await Workshop()
        let record = URL(fileURLWithPath: workshop.vault.records.path(of: workshop.ada))
        let victim = workshop.path("victim")
        let bytes = Data((0..<512).map { UInt8(truncatingIfNeeded: $0) })
        let folder = workshop.path("folder")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        let bens = URL(fileURLWithPath: workshop.vault.records.path(of: workshop.ben))
        let bensKey = try Data(contentsOf: bens)
        let lead: [(URL) throws -> Void] = [
            { try FileManager.default.createSymbolicLink(at: $0, withDestinationURL: victim) },
            { try FileManager.default.createSymbolicLink(at: $0, withDestinationURL: folder) },
            { try FileManager.default.linkItem(at: victim, to: $0) },
            { try FileManager.default.linkItem(at: bens, to: $0) },
        ]
        for lead in lead {
            try bytes.write(to: victim)
            try await workshop.vault.createAccountKey(for: workshop.ada)
            try FileManager.default.removeItem(at: record)
            try lead(record)
            let report = try await workshop.vault.wipe(workshop.ada)
            #expect(report.succeeded)
            #expect(try Data(contentsOf: victim) == bytes)
            #expect(try Data(contentsOf: bens) == bensKey)
            #expect(!FileManager.default.fileExists(atPath: record.path))
        }
    }

    @Test func `a process that was stopped during a wipe goes on without its key, whatever record was put back`()
        async throws
    {
        let workshop = try await Workshop()
        let stopped = try await workshop.reopened()
        let plan = workshop.path("plan")
        let file = try await stopped.create(plan, for: workshop.ada)
        try file.write([1, 2, 3], at: 0)
        try file.close()
        let copy = try Data(contentsOf: plan)
        // The folder that the process watches is elsewhere meanwhile.
        let keys = workshop.vault.directory.appending(path: "keys")
        let aside = workshop.path("aside")
        try FileManager.default.moveItem(at: keys, to: aside)
        try FileManager.default.copyItem(at: aside, to: keys)
        _ = try await workshop.vault.wipe(workshop.ada)
        try FileManager.default.removeItem(at: keys)
        try FileManager.default.moveItem(at: aside, to: keys)
        try copy.write(to: plan)
        await stopped.letASecondPass(for: workshop.ada)
        #expect(await code { _ = try await stopped.open(plan, writing: false) } == .wiped)
        #expect(await !stopped.isUnlocked(workshop.ada))
        _ = try await stopped.create(workshop.path("bens"), for: workshop.ben)
    }
}

extension Vault {
    /// The key store is asked once a second whether it still has what the account's key hangs on.
    fileprivate func letASecondPass(for account: AccountID) { keys[account]?.lastSeen.withLock { $0 = nil } }
}
