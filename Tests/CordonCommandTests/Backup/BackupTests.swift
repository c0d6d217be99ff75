import ArgumentParser
import CordonBase
import CordonIdentity
import CordonProtocol
import CordonService
import CordonServiceSQLite
import CordonTestSupport
import Foundation
import Logging
import Testing

@testable import CordonCommand

/// `cordon backup` and `cordon restore`.
@Suite struct BackupTests {
    private static let tenant = TenantID("contoso")
    private static let owner = Administrator(tenant: tenant, id: "owner", name: "Owner", roles: [.owner])

    private struct Places {
        let root = TemporaryFolder.newPath()
        var data: URL { root.appending(path: "data", directoryHint: .isDirectory) }
        var store: URL { data.appending(path: "service.sqlite") }
        var backup: URL { root.appending(path: "backup", directoryHint: .isDirectory) }
        var restored: URL { root.appending(path: "restored", directoryHint: .isDirectory) }

        init() throws { try FileManager.default.createDirectory(at: data, withIntermediateDirectories: true) }
        func remove() { try? FileManager.default.removeItem(at: root) }
    }

    /// A service with some people, and its store, which stays open.
    private func service(_ data: URL) async throws -> (ManagementService, SQLiteStorage) {
        let storage = try SQLiteStorage(file: data.appending(path: "service.sqlite"))
        let service = ManagementService(
            storage: storage, keyStore: try FileServiceKeyStore(folder: data.appending(path: "keys")),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        try await service.open(Self.tenant)
        return (service, storage)
    }

    private func add(_ number: Int, to service: ManagementService) async throws {
        try await service.provisioning.saveUser(
            DirectoryUser(
                id: "oid-\(number)", userPrincipalName: "p\(number)@contoso.example", displayName: "P\(number)"),
            as: Self.owner)
    }

    @Test func `a folder without a store is the wrong folder, not a full disk`() throws {
        let places = try Places()
        defer { places.remove() }
        #expect {
            try BackupFolder.make(of: places.store, data: places.data, in: places.backup, at: Date())
        } throws: { error in
            (error as? CommandFailure)?.status == .badInput
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: places.root.path) == ["data"])
    }

    @Test func `a copy of a running service is sound, and a service starts from it with the same keys`() async throws {
        let places = try Places()
        defer { places.remove() }
        let (service, storage) = try await service(places.data)
        for number in 0..<20 { try await add(number, to: service) }
        let root = try await service.devices.discoveryFacts(of: Self.tenant).rootKeyThumbprint
        // The service goes on writing while it is copied.
        let writer = Task {
            for number in 20..<60 { try await add(number, to: service) }
        }
        let manifest = try BackupFolder.make(of: places.store, data: places.data, in: places.backup, at: Date())
        try await writer.value
        try storage.close()
        let count = try #require(manifest.tenants.first?.records["user"])
        #expect((20...60).contains(count))
        #expect(manifest.tenants.first?.keys.count == 3)
        #expect(try BackupFolder.verify(places.backup) == manifest)
        let mode = try FileManager.default.attributesOfItem(atPath: places.backup.path)[.posixPermissions] as? Int
        #expect(mode == 0o700)

        _ = try BackupFolder.restore(places.backup, to: places.restored)
        let (again, reopened) = try await self.service(places.restored)
        #expect(try await again.administration.users(as: Self.owner).count == count)
        #expect(try await again.devices.discoveryFacts(of: Self.tenant).rootKeyThumbprint == root)
        try await add(100, to: again)
        try reopened.close()
        #expect {
            try BackupFolder.restore(places.backup, to: places.restored)
        } throws: {
            ($0 as? CommandFailure)?.status == .refused
        }
    }

    @Test func `a backup that was changed anywhere is refused`() async throws {
        let places = try Places()
        defer { places.remove() }
        let (service, storage) = try await service(places.data)
        try await add(1, to: service)
        let manifest = try BackupFolder.make(of: places.store, data: places.data, in: places.backup, at: Date())
        try storage.close()
        #expect {
            try BackupFolder.make(of: places.store, data: places.data, in: places.backup, at: Date())
        } throws: {
            ($0 as? CommandFailure)?.status == .refused
        }
        for path in manifest.files.keys.sorted() {
            let file = places.backup.appending(path: path)
            let good = try Data(contentsOf: file)
            var bad = good
            bad[bad.count / 2] ^= 1
            try bad.write(to: file)
            #expect(throws: CommandFailure.self, "\(path) changed") { try BackupFolder.verify(places.backup) }
            try FileManager.default.removeItem(at: file)
            #expect(throws: CommandFailure.self, "\(path) removed") { try BackupFolder.verify(places.backup) }
            try good.write(to: file)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        }
        try Data().write(to: places.backup.appending(path: "extra"))
        #expect(throws: CommandFailure.self) { try BackupFolder.verify(places.backup) }
        try FileManager.default.removeItem(at: places.backup.appending(path: "extra"))
        #expect(try BackupFolder.verify(places.backup) == manifest)
    }

    @Test(arguments: ["-wal", "-shm", "-journal"])
    func `nothing is restored beside what a killed service left`(ending: String) async throws {
        let places = try Places()
        defer { places.remove() }
        let (_, storage) = try await service(places.data)
        _ = try BackupFolder.make(of: places.store, data: places.data, in: places.backup, at: Date())
        try storage.close()
        try FileManager.default.createDirectory(at: places.restored, withIntermediateDirectories: true)
        try Data("frames".utf8).write(to: places.restored.appending(path: "service.sqlite" + ending))
        #expect {
            try BackupFolder.restore(places.backup, to: places.restored)
        } throws: {
            ($0 as? CommandFailure)?.status == .refused
        }
        #expect(!FileManager.default.fileExists(atPath: places.restored.appending(path: "service.sqlite").path))
    }

    @Test func `a restore that was interrupted may be repeated, but never beside other keys`() async throws {
        let places = try Places()
        defer { places.remove() }
        let (service, storage) = try await service(places.data)
        try await add(1, to: service)
        let manifest = try BackupFolder.make(of: places.store, data: places.data, in: places.backup, at: Date())
        try storage.close()
        _ = try BackupFolder.restore(places.backup, to: places.restored)
        // As if it had been cut in the middle of the last key, or by a service that was about to start.
        try FileManager.default.removeItem(at: places.restored.appending(path: "service.sqlite"))
        let path = try #require(manifest.files.keys.sorted().last { $0.hasSuffix(".key") })
        let key = places.restored.appending(path: path)
        let draft = key.deletingLastPathComponent().appending(path: ".\(key.lastPathComponent).restored")
        try FileManager.default.moveItem(at: key, to: draft)
        // And one before it, of a backup with another key.
        try Data("another key".utf8).write(to: key.deletingLastPathComponent().appending(path: ".other.key.restored"))
        let claim = try ServiceClaim.take(places.restored, database: .memory)
        #expect {
            try BackupFolder.restore(places.backup, to: places.restored)
        } throws: {
            ($0 as? CommandFailure)?.status == .refused
        }
        claim.end()
        #expect(try BackupFolder.restore(places.backup, to: places.restored) == manifest)
        let files = try FileManager.default.subpathsOfDirectory(atPath: places.restored.path)
        #expect(Set(files).isSuperset(of: manifest.files.keys) && !files.contains { $0.contains("/.") })
        let (again, reopened) = try await self.service(places.restored)
        #expect(try await again.administration.users(as: Self.owner).count == 1)
        try reopened.close()

        try FileManager.default.removeItem(at: places.restored.appending(path: "service.sqlite"))
        try Data("another key".utf8).write(to: places.restored.appending(path: path))
        #expect {
            try BackupFolder.restore(places.backup, to: places.restored)
        } throws: {
            ($0 as? CommandFailure)?.status == .refused
        }
    }

    @Test func `a store without its key is no backup`() async throws {
        let places = try Places()
        defer { places.remove() }
        let (_, storage) = try await service(places.data)
        try storage.close()
        let keys = places.data.appending(path: "keys")
        let tenants = try FileManager.default.contentsOfDirectory(atPath: keys.path)
        let tenant = try #require(tenants.first)
        let folder = keys.appending(path: tenant)
        let secrets = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".key") }
        var refused = 0
        for key in secrets {
            let content = try Data(contentsOf: folder.appending(path: key))
            try FileManager.default.removeItem(at: folder.appending(path: key))
            do {
                _ = try BackupFolder.make(of: places.store, data: places.data, in: places.backup, at: Date())
                try FileManager.default.removeItem(at: places.backup)
            } catch is CommandFailure { refused += 1 }
            #expect(!FileManager.default.fileExists(atPath: places.backup.path))
            #expect(try FileManager.default.contentsOfDirectory(atPath: places.root.path) == ["data"])
            try content.write(to: folder.appending(path: key))
        }
        // The root key alone may be elsewhere, since it has delegated signing.
        #expect(secrets.count > 1 && refused == secrets.count - 1)
    }

    @Test func `what a killed backup has left is removed by the next, and one under way is let be`() async throws {
        let places = try Places()
        defer { places.remove() }
        let (_, storage) = try await service(places.data)
        func leave(_ name: String) throws -> URL {
            let draft = places.root.appending(path: ".\(name).\(UUID().uuidString)")
            try FileManager.default.createDirectory(
                at: draft.appending(path: "keys"), withIntermediateDirectories: true)
            try Data("secret".utf8).write(to: draft.appending(path: "service.sqlite"))
            return draft
        }
        let dead = try leave("backup")
        let running = try leave("other")
        let lock = try #require(try AdvisoryLock.take(URL(fileURLWithPath: running.path + ".lock")))
        let foreign = try leave("mine")
        try Data().write(to: foreign.appending(path: "thesis.txt"))
        _ = try BackupFolder.make(of: places.store, data: places.data, in: places.backup, at: Date())
        #expect(!FileManager.default.fileExists(atPath: dead.path))
        #expect(FileManager.default.fileExists(atPath: running.path))
        #expect(FileManager.default.fileExists(atPath: foreign.path), "no backup of ours has such a file")
        let left = try FileManager.default.contentsOfDirectory(atPath: places.root.path).filter { $0.hasPrefix(".") }
        #expect(left.count == 3, "\(left)")
        lock.end()
        try storage.close()
    }

    @Test(arguments: ["manifest.json", "seals.json"])
    func `a backup in which a link or a pipe stands for its own documents is refused, and nothing waits for it`(
        name: String
    ) async throws {
        let places = try Places()
        defer { places.remove() }
        let (_, storage) = try await service(places.data)
        _ = try BackupFolder.make(of: places.store, data: places.data, in: places.backup, at: Date())
        try storage.close()
        _ = try BackupFolder.verify(places.backup)
        let (file, kept) = (places.backup.appending(path: name), places.root.appending(path: "kept"))
        try FileManager.default.moveItem(at: file, to: kept)
        try FileManager.default.createSymbolicLink(at: file, withDestinationURL: kept)
        #expect(throws: CommandFailure.self) { try BackupFolder.verify(places.backup) }
        try FileManager.default.removeItem(at: file)
        #expect(mkfifo(file.path, 0o600) == 0)
        #expect(throws: CommandFailure.self) { try BackupFolder.verify(places.backup) }
    }

    @Test(.enabled(if: geteuid() != 0, "root reads any file"))
    func `a backup that cannot be read is bad input`() async throws {
        let places = try Places()
        defer { places.remove() }
        let (_, storage) = try await service(places.data)
        _ = try BackupFolder.make(of: places.store, data: places.data, in: places.backup, at: Date())
        try storage.close()
        #expect(chmod(places.backup.appending(path: "service.sqlite").path, 0) == 0)
        #expect { try BackupFolder.verify(places.backup) } throws: { ($0 as? CommandFailure)?.status == .badInput }
    }

    @Test func `no backup is restored into the folder that the shell happens to be in`() async throws {
        let command = try RestoreCommand.parse(["/nonexistent/backup", "--data-directory", ""])
        await #expect { try await command.run() } throws: { ($0 as? CommandFailure)?.status == .usage }
    }

    @Test func `a backup with a link in it is refused`() async throws {
        let places = try Places()
        defer { places.remove() }
        let (_, storage) = try await service(places.data)
        _ = try BackupFolder.make(of: places.store, data: places.data, in: places.backup, at: Date())
        try storage.close()
        let victim = places.root.appending(path: "victim")
        let file = places.backup.appending(path: "service.sqlite")
        try FileManager.default.moveItem(at: file, to: victim)
        try FileManager.default.createSymbolicLink(at: file, withDestinationURL: victim)
        #expect {
            try BackupFolder.restore(places.backup, to: places.restored)
        } throws: { ($0 as? CommandFailure)?.status == .badInput }
    }

    @Test func `a backup is signed by the service, and a changed one with a new manifest is refused`() async throws {
        let places = try Places()
        defer { places.remove() }
        let (service, storage) = try await service(places.data)
        let pin = try await service.devices.discoveryFacts(of: Self.tenant).rootKeyThumbprint
        _ = try BackupFolder.make(of: places.store, data: places.data, in: places.backup, at: Date())
        try storage.close()
        #expect(throws: Never.self) { try BackupFolder.verify(places.backup, pin: pin) }
        #expect(throws: CommandFailure.self) {
            try BackupFolder.verify(places.backup, pin: SoftwareSigningKey().publicKey.thumbprint)
        }
        // An attacker who can write the folder adds a person and puts the digests right.
        let changed = try SQLiteStorage(file: places.backup.appending(path: "service.sqlite"))
        try await changed.write(Self.tenant) { transaction in
            try transaction.save(DirectoryUser(id: "mallory", userPrincipalName: "m@x", displayName: "M"))
        }
        try changed.close()
        var manifest = try BackupManifest.read(in: places.backup)
        manifest.files["service.sqlite"] = try BackupManifest.digest(
            of: places.backup.appending(path: "service.sqlite"))
        manifest.tenants = try StorageBackup.check(places.backup.appending(path: "service.sqlite"))
        for format in [BackupManifest.sealed, 1] {
            manifest.format = format
            try manifest.encoded().write(to: places.backup.appending(path: BackupManifest.name))
            #expect { try BackupFolder.verify(places.backup) } throws: { ($0 as? CommandFailure)?.status == .badInput }
        }
        try FileManager.default.removeItem(at: places.backup.appending(path: BackupSeals.name))
        #expect(throws: CommandFailure.self) { try BackupFolder.verify(places.backup, pin: pin) }
    }

    @Test func `a restored service says so in its audit log and waits, and needs no root key that is elsewhere`()
        async throws
    {
        let places = try Places()
        defer { places.remove() }
        let (service, storage) = try await service(places.data)
        let pin = try await service.devices.discoveryFacts(of: Self.tenant).rootKeyThumbprint
        let keys = try FileServiceKeyStore(folder: places.data.appending(path: "keys"))
        try FileManager.default.removeItem(at: keys.place(of: pin, of: Self.tenant))
        _ = try BackupFolder.make(of: places.store, data: places.data, in: places.backup, at: Date())
        try storage.close()
        _ = try BackupFolder.restore(places.backup, to: places.restored, pin: pin) { _ in ["user.block": 1] }
        let (again, reopened) = try await self.service(places.restored)
        try await RestorationNote.report(places.restored, in: again, of: Self.tenant)
        #expect(try await again.administration.restoration(as: Self.owner)?.lost == ["user.block": 1])
        #expect(try await again.devices.discoveryFacts(of: Self.tenant).rootKeyThumbprint == pin)
        #expect(!FileManager.default.fileExists(atPath: places.restored.appending(path: RestorationNote.name).path))
        try reopened.close()
    }

}
