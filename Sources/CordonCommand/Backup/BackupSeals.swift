import CordonBase
import CordonIdentity
import CordonProtocol
import CordonService
import CordonServiceSQLite
import Foundation

/// The seals of a backup, one for each organisation in it: the manifest has the digest of every file, and they have the
/// manifest's.
struct BackupSeals {
    /// The name of the document in a backup.
    static let name = "seals.json"
    private static let largest = 1 << 20

    private let seals: [String: BackupSeal]

    /// Seals a manifest.
    ///
    /// - Parameter text: The manifest as it is written.
    init(of manifest: BackupManifest, _ text: String, in folder: URL, at now: Date) throws {
        let digest = BackupManifest.digest(of: Data(text.utf8))
        let keys = try FileServiceKeyStore(
            folder: folder.appending(path: BackupManifest.keys, directoryHint: .isDirectory))
        var seals: [String: BackupSeal] = [:]
        for tenant in manifest.tenants {
            let id = TenantID(tenant.id)
            let known = try StorageBackup.signingKeys(of: id, in: folder.appending(path: BackupManifest.store))
            seals[tenant.id] = try BackupSeal.make(of: digest, for: id, keys: known, in: keys, at: now)
        }
        self.seals = seals
    }

    /// Writes the document.
    func write(in folder: URL) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try DurableFile.replace(folder.appending(path: Self.name), with: try encoder.encode(seals))
    }

    /// Checks that a backup is what the service sealed. One from before there were seals has none; with a pin it is refused.
    ///
    /// - Throws: ``CommandFailure`` with status `badInput`.
    static func check(_ folder: URL, _ manifest: BackupManifest, pin: String?) throws(CommandFailure) {
        let file = folder.appending(path: name)
        let digest: String
        let seals: [String: BackupSeal]
        do {
            digest = try BackupManifest.digest(of: folder.appending(path: BackupManifest.name))
            seals =
                try DurableFile.read(file, limit: largest).map {
                    try JSONDecoder().decode([String: BackupSeal].self, from: $0)
                } ?? [:]
        } catch {
            throw CommandFailure(.badInput, "\(file.path): the seals cannot be read", hint: "Use another backup.")
        }
        for tenant in manifest.tenants {
            guard let seal = seals[tenant.id] else {
                guard pin == nil, manifest.format < BackupManifest.sealed else {
                    throw CommandFailure(
                        .badInput, "\(folder.path): there is no signature on the backup of \(tenant.id)",
                        hint: "Use another backup.")
                }
                continue
            }
            guard let content = try? seal.verified(pin: pin).content, content.manifest == digest,
                content.tenant.rawValue == tenant.id
            else {
                throw CommandFailure(
                    .badInput, "\(folder.path): the backup is not what the service of \(tenant.id) signed",
                    hint: "Use another backup, and compare --root-key with the service's root key.")
            }
        }
    }
}

/// What a restore leaves for the next start of the service to write down.
struct RestorationNote: Codable {
    /// The name of the document in a data folder.
    static let name = "restored.json"

    var restoration: StoreRestoration
    var tenants: [String]

    /// Keeps the note.
    func write(in folder: URL) throws {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.sortedKeys]
        try DurableFile.replace(folder.appending(path: Self.name), with: try encoder.encode(self))
    }

    /// Has the service write down what a restore has left, and go no further until an administrator says so.
    static func report(_ folder: URL, in service: ManagementService, of tenant: TenantID) async throws {
        let file = folder.appending(path: name)
        guard let bytes = try DurableFile.read(file, limit: 1 << 20) else { return }
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        guard var note = try? decoder.decode(RestorationNote.self, from: bytes) else {
            throw CommandFailure(
                .badInput, "\(file.path): what the restore has left cannot be read",
                hint: "Restore the backup again into an empty folder.")
        }
        guard note.tenants.contains(tenant.rawValue) else { return }
        try await service.noteRestoration(note.restoration, of: tenant)
        note.tenants.removeAll { $0 == tenant.rawValue }
        if note.tenants.isEmpty { try DurableFile.remove(file) } else { try note.write(in: folder) }
    }
}
