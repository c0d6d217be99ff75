import CordonBase
import CordonIdentity
import CordonProtocol
import CordonService
import CordonServiceSQLite
import Foundation

/// A backup: a folder with the store, the signing keys and what else a service cannot be started without.
///
/// It holds secrets, so the folder has mode 0700 and every file 0600, and where it is kept it must be encrypted.
enum BackupFolder {
    /// Files beside the store and the keys that belong into a backup where they exist.
    private static let others = [
        DevelopmentPeople.directoryFile, DevelopmentClients.clientsFile, "identity-provider.pem",
    ]

    /// Makes a backup of a service that may be running.
    ///
    /// The store is copied before the keys: a key is durable before the store knows it, so every key that the copy
    /// knows is in the backup.
    ///
    /// - Throws: ``CommandFailure``: `writeFailed`, or `badInput` when what was copied is not sound.
    static func make(of store: URL, data: URL, in folder: URL, at now: Date) throws -> BackupManifest {
        guard !FileManager.default.fileExists(atPath: folder.path) else {
            throw CommandFailure(
                .refused, "\(folder.path) exists", hint: "Name a folder that does not exist yet.")
        }
        guard FileManager.default.fileExists(atPath: store.path) else { throw CommandFailure.noStore(at: store) }
        let draft = folder.deletingLastPathComponent().appending(
            path: ".\(folder.lastPathComponent).\(UUID().uuidString)")
        let parent = folder.deletingLastPathComponent()
        _ = try PrivateFolder(parent)
        removeDrafts(in: parent)
        let lock = try? AdvisoryLock.take(lockFile(of: draft))
        defer { lock?.end() }
        do {
            _ = try PrivateFolder(draft)
            let copy = draft.appending(path: BackupManifest.store)
            try StorageBackup.copy(store, to: copy)
            for path in try paths(in: data) {
                try install(data.appending(path: path), at: path, in: draft)
            }
            let manifest = try BackupManifest(
                made: Date(timeIntervalSince1970: now.timeIntervalSince1970.rounded(.down)),
                version: CordonVersion.current, files: digests(in: draft), tenants: StorageBackup.check(copy))
            let text = String(decoding: try manifest.encoded(), as: UTF8.self) + "\n"
            try PrivateFolder(draft).write(text, to: BackupManifest.name)
            try BackupSeals(of: manifest, text, in: draft, at: now).write(in: draft)
            _ = try verify(draft)
            try FileManager.default.moveItem(at: draft, to: folder)
            try DurableFile.synchronize(parent)
            return manifest
        } catch {
            try? FileManager.default.removeItem(at: draft)
            throw failure(error, folder)
        }
    }

    /// Removes what backups that were killed have left: signing keys are in it. One that is still under way holds its lock.
    private static func removeDrafts(in parent: URL) {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: parent.path)) ?? [] {
            let place = parent.appending(path: name, directoryHint: .isDirectory)
            guard isDraft(place), let lock = try? AdvisoryLock.take(lockFile(of: place)) else { continue }
            try? FileManager.default.removeItem(at: place)
            lock.end()
        }
    }

    /// Whether a folder is named and filled as only ``make(of:data:in:at:)`` does.
    private static func isDraft(_ place: URL) -> Bool {
        let name = place.lastPathComponent
        guard name.hasPrefix("."), let dot = name.lastIndex(of: "."),
            UUID(uuidString: String(name[dot...].dropFirst())) != nil,
            dot != name.startIndex, (try? type(of: place)) == .typeDirectory
        else { return false }
        let known = Set(
            others + [BackupManifest.store, BackupManifest.keys, BackupManifest.name, BackupSeals.name])
        let inside = (try? FileManager.default.contentsOfDirectory(atPath: place.path)) ?? [""]
        return inside.allSatisfy { name in
            known.contains(name) || name.hasPrefix(".") || name.hasPrefix(BackupManifest.store)
        }
    }

    private static func lockFile(of draft: URL) -> URL { URL(fileURLWithPath: draft.path + ".lock") }

    /// What a path itself is; a link is a link.
    private static func type(of place: URL) throws -> FileAttributeType? {
        try FileManager.default.attributesOfItem(atPath: place.path)[.type] as? FileAttributeType
    }

    /// Checks every byte of a backup, the store's records and log, and that every signing key is there.
    ///
    /// - Parameter pin: The thumbprint of the root key that must stand behind the backup, nil for any.
    /// - Throws: ``CommandFailure`` with status `badInput` naming the first thing that is wrong.
    static func verify(_ folder: URL, pin: String? = nil) throws -> BackupManifest {
        // Before anything is read: a link leads elsewhere, and a pipe has no end.
        for name in [BackupManifest.name, BackupSeals.name] {
            try requireFile(folder.appending(path: name), mayBeAbsent: true)
        }
        let manifest: BackupManifest
        do {
            manifest = try BackupManifest.read(in: folder)
        } catch {
            throw CommandFailure(
                .badInput, "\(folder.path) is not a backup", hint: "Name a folder that cordon backup made.")
        }
        try BackupSeals.check(folder, manifest, pin: pin)
        let found = try digests(in: folder)
        for path in Set(found.keys).union(manifest.files.keys).sorted() where found[path] != manifest.files[path] {
            throw CommandFailure(
                .badInput, "\(folder.appending(path: path).path): missing, changed or added after the backup",
                hint: "Use another backup.")
        }
        do throws(ServiceError) {
            let tenants = try StorageBackup.check(folder.appending(path: BackupManifest.store))
            guard tenants.map(\.known) == manifest.tenants.map(\.known) else {
                throw ServiceError(.storageDamaged, "the store holds something else than the manifest says")
            }
            guard tenants.allSatisfy(\.keys.isEmpty) || manifest.files.keys.contains(where: isKey) else {
                throw ServiceError(.keyUnavailable, "the backup has no signing keys")
            }
            let keys = try FileServiceKeyStore(
                folder: folder.appending(path: BackupManifest.keys, directoryHint: .isDirectory))
            for tenant in tenants {
                let id = TenantID(tenant.id)
                // The root key may be kept elsewhere, as long as it has delegated signing.
                let delegation = try keys.delegation(of: id)
                let isDelegated = delegation != nil
                if let delegation, let delegated = try? KeyDelegation(verifying: delegation) {
                    _ = try keys.key(delegated.key.thumbprint, of: id)
                }
                for key in tenant.keys {
                    if isDelegated, tenant.rootKeys?.contains(key) == true, try !keys.holds(key, of: id) { continue }
                    _ = try keys.key(key, of: id)
                }
            }
        } catch {
            throw CommandFailure(error)
        }
        return manifest
    }

    /// Puts a sound backup into a folder where there is no service yet.
    ///
    /// - Parameter lost: What is known to be missing in the backup, by action; asked before anything is written.
    /// - Throws: ``CommandFailure``: `badInput` for a backup that is not sound, `refused` when there is a service.
    static func restore(
        _ folder: URL, to data: URL, pin: String? = nil, lost: (BackupManifest) throws -> [String: Int]? = { _ in nil }
    ) throws -> BackupManifest {
        let manifest = try verify(folder, pin: pin)
        let lost = try lost(manifest)
        _ = try PrivateFolder(data)
        // No service starts from half of it, and no other restore mixes its keys with these.
        let claim = try ServiceClaim.take(data, database: .sqlite(data.appending(path: BackupManifest.store)))
        defer { claim.end() }
        guard try !isTaken(data, but: manifest) else {
            throw CommandFailure(
                .refused, "\(data.path) has a service already",
                hint: "Name an empty folder, or move that one away as a whole: also service.sqlite-wal and keys.")
        }
        do {
            try removeDrafts(ofKeysIn: data)
            // Before the store, so that no service starts from it as if nothing had happened.
            let digest = try BackupManifest.digest(of: folder.appending(path: BackupManifest.name))
            try RestorationNote(
                restoration: StoreRestoration(made: manifest.made, manifest: digest, lost: lost),
                tenants: manifest.tenants.map(\.id)
            ).write(in: data)
            // The store last: a restore that was interrupted is no service, and may be repeated.
            for path in manifest.files.keys.sorted(by: {
                ($0 == BackupManifest.store ? 1 : 0, $0) < ($1 == BackupManifest.store ? 1 : 0, $1)
            }) {
                try install(folder.appending(path: path), at: path, in: data)
            }
        } catch {
            throw failure(error, data)
        }
        return manifest
    }

    private static func isKey(_ path: String) -> Bool { path.hasPrefix(BackupManifest.keys + "/") }

    /// Whether a folder has anything of a service that a restore would mix with, apart from keys that are the backup's own.
    ///
    /// SQLite would play a log that was left behind over the restored store, whatever it is a log of.
    private static func isTaken(_ data: URL, but manifest: BackupManifest) throws -> Bool {
        for ending in ["", "-wal", "-shm", "-journal"] {
            let file = data.appending(path: BackupManifest.store + ending)
            if FileManager.default.fileExists(atPath: file.path) { return true }
        }
        let keys = data.appending(path: BackupManifest.keys)
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: keys.path, isDirectory: &isFolder) else { return false }
        guard isFolder.boolValue else { return true }
        return try digests(in: keys).contains { path, digest in
            !isHidden(path) && manifest.files["\(BackupManifest.keys)/\(path)"] != digest
        }
    }

    /// Removes what an interrupted restore, perhaps of another backup, has left of a key. Nobody else writes there while the claim is held.
    private static func removeDrafts(ofKeysIn data: URL) throws {
        let keys = data.appending(path: BackupManifest.keys)
        guard FileManager.default.fileExists(atPath: keys.path) else { return }
        for path in try FileManager.default.subpathsOfDirectory(atPath: keys.path) where isHidden(path) {
            let file = keys.appending(path: path)
            if try type(of: file) == .typeRegular { try DurableFile.remove(file) }
        }
    }

    /// Whether a file of keys has a name that no key has, as what is being written has.
    private static func isHidden(_ path: String) -> Bool { path.split(separator: "/").last?.hasPrefix(".") ?? false }

    private static func paths(in data: URL) throws -> [String] {
        var found = others.filter { FileManager.default.fileExists(atPath: data.appending(path: $0).path) }
        let keys = data.appending(path: BackupManifest.keys)
        for tenant in try FileManager.default.contentsOfDirectory(atPath: keys.path).sorted() {
            for key in try FileManager.default.contentsOfDirectory(atPath: keys.appending(path: tenant).path).sorted()
            where key.hasSuffix(".key") || key == FileServiceKeyStore.delegationName {
                found.append("\(BackupManifest.keys)/\(tenant)/\(key)")
            }
        }
        return found
    }

    private static func requireFile(_ place: URL, mayBeAbsent: Bool = false) throws {
        let kind = try? Self.type(of: place)
        guard kind == .typeRegular || (mayBeAbsent && kind == nil) else {
            throw CommandFailure(
                .badInput, "\(place.path): neither a file nor a folder", hint: "Use another backup.")
        }
    }

    /// - Throws: ``CommandFailure`` with status `badInput`.
    private static func digests(in folder: URL) throws -> [String: String] {
        var digests: [String: String] = [:]
        do {
            let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            for path in names where path != BackupManifest.name && path != BackupSeals.name {
                let file = folder.appending(path: path)
                if try type(of: file) == .typeDirectory { continue }
                // A link would have a restore touch what it leads to.
                try requireFile(file)
                digests[path] = try BackupManifest.digest(of: file)
            }
        } catch let failure as CommandFailure {
            throw failure
        } catch {
            throw CommandFailure(
                .badInput, "\(folder.path): not all of it can be read", hint: "Check its permissions, and the disk.")
        }
        return digests
    }

    /// Copies a file, readable by its owner alone and synced before it gets its name.
    private static func install(_ file: URL, at path: String, in folder: URL) throws {
        let target = folder.appending(path: path)
        // A restore that was interrupted had got this far.
        if FileManager.default.fileExists(atPath: target.path),
            try BackupManifest.digest(of: target) == BackupManifest.digest(of: file)
        {
            return
        }
        let parent = try PrivateFolder(target.deletingLastPathComponent())
        // One name for each file, so that what an interrupted restore has left, perhaps of a key, goes when it is repeated.
        let draft = parent.url.appending(path: ".\(target.lastPathComponent).restored")
        try? FileManager.default.removeItem(at: draft)
        try FileManager.default.copyItem(at: file, to: draft)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: draft.path)
        let handle = try FileHandle(forWritingTo: draft)
        try handle.synchronize()
        try handle.close()
        try FileManager.default.moveItem(at: draft, to: target)
        try DurableFile.synchronize(parent.url)
    }

    private static func failure(_ error: any Error, _ place: URL) -> CommandFailure {
        if let failure = error as? CommandFailure { return failure }
        if let error = error as? ServiceError { return CommandFailure(error) }
        return CommandFailure(
            .writeFailed, "\(place.path): a file cannot be copied", hint: "Check permissions and free space.")
    }
}
