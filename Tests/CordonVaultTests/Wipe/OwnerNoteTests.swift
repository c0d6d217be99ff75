import CordonBase
import CordonIdentity
import CordonTestSupport
import Crypto
import Foundation
import Testing

@testable import CordonVault

/// Notes of readable files' owners, against a process that writes to the vault's folder and has no key of the device: a wipe removes what is
/// noted, so it must not be told what to remove.
struct OwnerNoteTests {
    private func place(of path: URL, in vault: Vault) -> URL {
        let name = Array(SHA256.hash(data: Data(path.standardizedFileURL.path.utf8))).prefix(16).hex
        return vault.directory.appending(path: "owners/\(name).json")
    }

    /// A note as earlier software wrote it, and as a process without the device's key can.
    private func plant(_ path: URL, _ owner: AccountID, in vault: Vault) throws {
        let place = place(of: path, in: vault)
        try FileManager.default.createDirectory(
            at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
        let note = ["path": path.standardizedFileURL.path, "owner": owner.rawValue]
        try JSONEncoder().encode(note).write(to: place)
    }

    /// A note as earlier software wrote it with the device's key.
    private func plantCoded(_ path: URL, _ owner: AccountID, in vault: Vault) throws {
        try plant(path, owner, in: vault)
        let place = place(of: path, in: vault)
        let text = try Data(contentsOf: place)
        let code = try vault.register.secrets.code(ofNote: Array(text))
        try (text + Data("\n\(code)".utf8)).write(to: place)
    }

    /// A readable file, its path, and another path that leads to it through a link to its folder.
    private func linked(in workshop: Workshop) throws -> (path: URL, other: URL) {
        let (folder, link) = (workshop.path("folder"), workshop.path("link"))
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder)
        try Data("text".utf8).write(to: folder.appending(path: "plan"))
        return (folder.appending(path: "plan"), link.appending(path: "plan"))
    }

    /// A file that is not the app's.
    private func victim() throws -> URL {
        let folder = try TemporaryFolder.make()
        let file = folder.appending(path: "holiday")
        try Data("mine".utf8).write(to: file)
        return file
    }

    @Test func `a planted note has a wipe remove nothing outside, and the report says so`() async throws {
        let workshop = try await Workshop()
        let victim = try victim()
        defer { TemporaryFolder.remove(victim.deletingLastPathComponent()) }
        try plant(victim, workshop.ada, in: workshop.vault)
        #expect(workshop.vault.owner(of: victim) == nil)
        let report = try await workshop.vault.wipe(workshop.ada)
        #expect(FileManager.default.fileExists(atPath: victim.path))
        #expect(report.failures.count == 1, "what the note named may have been the account's")
    }

    @Test func `a note that names another file, or another account, than it was made for is none`() async throws {
        let workshop = try await Workshop()
        let outside = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(outside) }
        let (own, other) = (outside.appending(path: "own"), outside.appending(path: "other"))
        for file in [own, other] {
            try Data("text".utf8).write(to: file)
            try await workshop.vault.protect(file, for: file == own ? workshop.ada : workshop.ben, sealing: false)
        }
        let note = place(of: own, in: workshop.vault)
        let genuine = try Data(contentsOf: note)
        #expect(workshop.vault.owner(of: own) == workshop.ada)
        let text = String(decoding: genuine, as: UTF8.self)
        for changed in [
            text.replacing("own\"", with: "other\""),
            text.replacing(workshop.ada.rawValue, with: workshop.ben.rawValue),
            String(text.dropLast()), String(text.split(separator: "\n")[0]), text + "0",
        ] {
            #expect(changed != text)
            try Data(changed.utf8).write(to: note)
            #expect(workshop.vault.owner(of: own) == nil, "\(changed)")
            #expect(await code { try await workshop.vault.move(own, to: outside.appending(path: "x")) } == .damaged)
        }
        try genuine.write(to: note)
        _ = try await workshop.vault.wipe(workshop.ada)
        #expect(!FileManager.default.fileExists(atPath: own.path))
        #expect(FileManager.default.fileExists(atPath: other.path))
    }

    @Test func `notes that earlier software has left count, and those that come later do not`() async throws {
        let workshop = try await Workshop()
        let outside = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(outside) }
        let (former, later) = (outside.appending(path: "former"), outside.appending(path: "later"))
        for file in [former, later] { try Data("text".utf8).write(to: file) }
        // A vault as earlier software leaves it: its key store knows nothing of notes.
        let keyStore = InMemoryKeyStore()
        let folder = workshop.path("earlier")
        func opened() throws -> Vault { try Vault(directory: folder, keyStore: keyStore, name: "app") }
        let planned = folder.appending(path: "owners")
        try FileManager.default.createDirectory(at: planned, withIntermediateDirectories: true)
        try plant(former, workshop.ada, in: workshop.vault)
        try FileManager.default.moveItem(
            at: place(of: former, in: workshop.vault),
            to: planned.appending(path: place(of: former, in: workshop.vault).lastPathComponent))
        let vault = try opened()
        #expect(vault.owner(of: former) == workshop.ada)
        try plant(later, workshop.ada, in: vault)
        let restarted = try opened()
        #expect(restarted.owner(of: former) == workshop.ada)
        #expect(restarted.owner(of: later) == nil)
        _ = try await restarted.wipe(workshop.ada)
        #expect(!FileManager.default.fileExists(atPath: former.path))
        #expect(FileManager.default.fileExists(atPath: later.path))
    }

    @Test func `a note that earlier software named by a path through a link counts, and goes with the owner`()
        async throws
    {
        let workshop = try await Workshop()
        let vault = workshop.vault
        let (path, other) = try linked(in: workshop)
        let place = place(of: other, in: vault)
        for owner in [workshop.ben, nil] {
            try plantCoded(other, workshop.ada, in: vault)
            #expect(vault.owner(of: other) == workshop.ada)
            try await vault.protect(other, for: owner, sealing: false)
            #expect([path, other].map { vault.owner(of: $0) } == [owner, owner])
            #expect(!FileManager.default.fileExists(atPath: place.path))
            try await vault.protect(path, for: nil)
        }
    }

    @Test
    func `a note that earlier software named by a path through a link has a wipe remove no file of another owner`()
        async throws
    {
        let workshop = try await Workshop()
        let vault = workshop.vault
        let (path, other) = try linked(in: workshop)
        try plantCoded(other, workshop.ada, in: vault)
        #expect(vault.files(ownedBy: workshop.ada).map(\.path) == [other.path])
        try await vault.protect(path, for: workshop.ben, sealing: false)
        #expect([path, other].map { vault.owner(of: $0) } == [workshop.ben, workshop.ben])
        #expect(vault.files(ownedBy: workshop.ada).isEmpty)
        #expect(try await vault.wipe(workshop.ada).succeeded)
        #expect(FileManager.default.fileExists(atPath: path.path))
    }

    @Test func `a note that earlier software named by a path through a link goes when its file is given up by another`()
        async throws
    {
        let workshop = try await Workshop()
        let (path, other) = try linked(in: workshop)
        let keyStore = InMemoryKeyStore()
        let folder = workshop.path("earlier")
        try FileManager.default.createDirectory(
            at: folder.appending(path: "owners"), withIntermediateDirectories: true)
        try plant(other, workshop.ada, in: workshop.vault)
        let planted = place(of: other, in: workshop.vault)
        let carried = folder.appending(path: "owners").appending(path: planted.lastPathComponent)
        try FileManager.default.moveItem(at: planted, to: carried)
        let vault = try Vault(directory: folder, keyStore: keyStore, name: "app")
        #expect([path, other].map { vault.owner(of: $0) } == [workshop.ada, workshop.ada])
        #expect(!FileManager.default.fileExists(atPath: carried.path))
        try await vault.protect(path, for: nil)
        #expect([path, other].map { vault.owner(of: $0) } == [nil, nil])
        #expect(try await vault.wipe(workshop.ada).succeeded)
        #expect(FileManager.default.fileExists(atPath: path.path))
    }

    /// A key store that takes no mark but the first, until it has room.
    private final class Full: KeyStore {
        let store = InMemoryKeyStore()
        let (hasRoom, marks) = (Locked(false), Locked(0))

        func rootKey() throws(VaultError) -> SymmetricKey { try store.rootKey() }
        func secret(for name: KeyStoreName) throws(VaultError) -> SymmetricKey? { store.secret(for: name) }
        func makeSecret(for name: KeyStoreName) throws(VaultError) -> SymmetricKey { store.makeSecret(for: name) }
        func destroySecret(for name: KeyStoreName) throws(VaultError) { store.destroySecret(for: name) }
        func isRetired(_ name: KeyStoreName) throws(VaultError) -> Bool { store.isRetired(name) }
        func retire(_ name: KeyStoreName) throws(VaultError) {
            guard marks.withLock({ $0 }) == 0 || hasRoom.withLock({ $0 }) else {
                throw VaultError(.keyStore, "The disk is full.")
            }
            store.retire(name)
            marks.withLock { $0 += 1 }
        }
    }

    @Test func `a vault opens on a disk that has no room to remember that notes were taken over, and tries again`()
        throws
    {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        // The mark that earlier software has set is there.
        let keys = Full()
        func open() throws { _ = try Vault(directory: folder.appending(path: "vault"), keyStore: keys, name: "app") }
        try open()
        try open()
        #expect(keys.marks.withLock { $0 } == 1)
        keys.hasRoom.withLock { $0 = true }
        try open()
        try open()
        #expect(keys.marks.withLock { $0 } == 2)
    }

    /// A key store in which something happens once, between the first answer about a mark and what is done about it.
    private final class Slow: KeyStore {
        let store = InMemoryKeyStore()
        let meanwhile = Locked<(@Sendable () -> Void)?>(nil)

        func rootKey() throws(VaultError) -> SymmetricKey { try store.rootKey() }
        func secret(for name: KeyStoreName) throws(VaultError) -> SymmetricKey? { store.secret(for: name) }
        func makeSecret(for name: KeyStoreName) throws(VaultError) -> SymmetricKey { store.makeSecret(for: name) }
        func destroySecret(for name: KeyStoreName) throws(VaultError) { store.destroySecret(for: name) }
        func retire(_ name: KeyStoreName) throws(VaultError) { store.retire(name) }
        func isRetired(_ name: KeyStoreName) throws(VaultError) -> Bool {
            let answer = store.isRetired(name)
            let work = meanwhile.withLock { work in
                defer { work = nil }
                return work
            }
            work?()
            return answer
        }
    }

    @Test func `a start takes over no note that came after another process had taken them over`() async throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let victim = try victim()
        defer { TemporaryFolder.remove(victim.deletingLastPathComponent()) }
        let account = AccountID("ada@example.test")
        let keys = Slow()
        let opened = { @Sendable in
            try Vault(directory: folder.appending(path: "vault"), keyStore: keys, name: "app")
        }
        keys.meanwhile.withLock {
            $0 = {
                do { try plant(victim, account, in: try opened()) } catch { Issue.record(error) }
            }
        }
        let vault = try opened()
        #expect(
            keys.meanwhile.withLock { $0 == nil }
                && FileManager.default.fileExists(atPath: place(of: victim, in: vault).path))
        #expect(vault.owner(of: victim) == nil)
        _ = try await vault.wipe(account)
        #expect(FileManager.default.fileExists(atPath: victim.path))
    }

    @Test func `while a start takes notes over, another one waits`() async throws {
        let workshop = try await Workshop()
        let (path, other) = try linked(in: workshop)
        try plant(other, workshop.ada, in: workshop.vault)
        let notes = workshop.path("earlier/owners")
        try FileManager.default.createDirectory(at: notes, withIntermediateDirectories: true)
        let planted = place(of: other, in: workshop.vault)
        try FileManager.default.moveItem(at: planted, to: notes.appending(path: planted.lastPathComponent))
        // Whether the lock was to be had at each write: of the note with a code, and of that with the file's own path.
        let writes = Locked<[Bool]>([])
        let vault = try DiskFaults.$next.withValue({ call in
            guard call == "create" else { return 0 }
            let folder = Foundation.open(notes.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            let isFree = flock(folder, LOCK_EX | LOCK_NB) == 0
            close(folder)
            writes.withLock { $0.append(isFree) }
            return 0
        }) {
            try Vault(directory: workshop.path("earlier"), keyStore: InMemoryKeyStore(), name: "app")
        }
        #expect(writes.withLock { $0 } == [false, false])
        #expect(vault.owner(of: path) == workshop.ada)
    }

    @Test func `a folder that has come in the place of a noted file is nobody's, and no wipe removes it`() async throws
    {
        let workshop = try await Workshop()
        let place = workshop.path("report")
        try Data("hers".utf8).write(to: place)
        try await workshop.vault.protect(place, for: workshop.ada, sealing: false)
        // By the app itself, which does not tell the vault.
        try FileManager.default.removeItem(at: place)
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
        let photo = place.appending(path: "holiday")
        try Data("mine".utf8).write(to: photo)
        #expect(workshop.vault.owner(of: place) == nil && workshop.vault.files(ownedBy: workshop.ada).isEmpty)
        #expect(try await workshop.vault.wipe(workshop.ada).succeeded)
        #expect(try Data(contentsOf: photo) == Data("mine".utf8))
        #expect(workshop.vault.register.notes(of: workshop.ada).paths.isEmpty)
    }

    @Test func `a note without a code counts for what lies in the vault's own folders, and not through a link there`()
        async throws
    {
        let workshop = try await Workshop()
        let victim = try victim()
        defer { TemporaryFolder.remove(victim.deletingLastPathComponent()) }
        let inside = workshop.vault.directory.appending(path: "readable")
        try Data("text".utf8).write(to: inside)
        try plant(inside, workshop.ada, in: workshop.vault)
        let link = workshop.vault.directory.appending(path: "link")
        try FileManager.default.createSymbolicLink(
            at: link, withDestinationURL: victim.deletingLastPathComponent())
        try plant(link.appending(path: "holiday"), workshop.ada, in: workshop.vault)
        _ = try await workshop.vault.wipe(workshop.ada)
        #expect(!FileManager.default.fileExists(atPath: inside.path))
        #expect(FileManager.default.fileExists(atPath: victim.path))
    }

    @Test func `a planted note of an unfinished file has a start remove nothing outside`() async throws {
        let workshop = try await Workshop()
        let outside = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(outside) }
        let draft = outside.appending(path: PosixFile.temporaryName())
        try Data("another app is writing this".utf8).write(to: draft)
        try plant(draft, workshop.ada, in: workshop.vault)
        let place = place(of: draft, in: workshop.vault)
        try FileManager.default.moveItem(
            at: place, to: place.deletingLastPathComponent().appending(path: "unfinished-" + place.lastPathComponent))
        _ = try Workshop.vault(in: workshop.folder, workshop.keyStore)
        #expect(FileManager.default.fileExists(atPath: draft.path))
    }

    @Test(arguments: ["keys", "wipes", "owners"])
    func `a link in the place of a vault's own folder is refused, and nothing is written behind it`(
        name: String
    ) async throws {
        let workshop = try await Workshop()
        let outside = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(outside) }
        let place = workshop.vault.directory.appending(path: name)
        try? FileManager.default.removeItem(at: place)
        try FileManager.default.createSymbolicLink(at: place, withDestinationURL: outside)
        #expect(throws: VaultError.self) { _ = try Workshop.vault(in: workshop.folder, workshop.keyStore) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: outside.path).isEmpty)
    }
}
