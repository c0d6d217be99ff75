import CordonServiceSQLite
import Foundation

/// What is said of a backup.
struct BackupReport: Encodable {
    private let manifest: BackupManifest

    init(_ manifest: BackupManifest) {
        self.manifest = manifest
    }

    func encode(to encoder: any Encoder) throws { try manifest.encode(to: encoder) }

    /// Prints the report.
    func write(asJSON json: Bool, _ word: String, _ place: String) throws {
        guard !json else { return try Terminal.json(self) }
        Terminal.data("\(Style.green(word)): \(place), made \(manifest.made.formatted(.iso8601))")
        for tenant in manifest.tenants {
            let records = tenant.records.values.reduce(0, +)
            Terminal.data(
                "  \(tenant.id): \(records) records, \(tenant.auditRecords) in the audit log, \(tenant.keys.count) keys"
            )
        }
    }
}
