import CordonBase
import CordonIdentity
import CordonProtocol
import CordonService
import Foundation

/// The head of the audit log as it was last seen, kept beside the store: a store that was set back, emptied or cut since does
/// not have that record any more.
///
/// SQLite keeps the newest commits in a file of their own (`service.sqlite-wal`). A person who copies or restores the one without
/// the other gets a store that is sound and older.
struct AuditMark: Codable, Equatable {
    /// The name of the file in a data folder.
    static let name = "audit-head.json"
    private static let largest = 4 << 10

    var tenant: TenantID
    var sequence: Int64
    var hash: String
    /// When the record was seen.
    var time: Date

    /// What was kept for an organisation; nil where there is nothing, or it is another organisation's.
    ///
    /// - Throws: ``CommandFailure`` with status `badInput` for a file that is not one of these.
    static func read(in folder: URL, of tenant: TenantID) throws(CommandFailure) -> AuditMark? {
        let file = folder.appending(path: name)
        let mark: AuditMark
        do {
            guard let bytes = try DurableFile.read(file, limit: largest) else { return nil }
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = .iso8601
            mark = try decoder.decode(AuditMark.self, from: bytes)
        } catch {
            throw CommandFailure(
                .badInput, "\(file.path): the mark of the audit log cannot be read",
                hint: "Remove the file if nothing was taken from the folder.")
        }
        return mark.tenant == tenant ? mark : nil
    }

    /// Keeps the mark.
    func write(in folder: URL) throws {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.sortedKeys]
        try DurableFile.replace(folder.appending(path: Self.name), with: try encoder.encode(self))
    }

    /// Refuses a store that does not have the record any more.
    ///
    /// - Throws: ``CommandFailure`` with status `refused`, or as the store fails.
    static func check(_ folder: URL, against service: ManagementService, of tenant: TenantID) async throws {
        guard let mark = try read(in: folder, of: tenant) else { return }
        guard try await !service.hasAuditRecord(mark.sequence, hash: mark.hash, of: tenant) else { return }
        throw CommandFailure(
            .refused,
            "\(folder.path): the store is not the one that ran here: record \(mark.sequence) of the audit log, of "
                + "\(mark.time.formatted(.iso8601)), is missing",
            hint: "Put service.sqlite and service.sqlite-wal back together, or restore a backup into an empty folder. "
                + "To give up what was written since, remove \(name).")
    }
}
