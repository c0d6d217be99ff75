public import Foundation

/// A report that was asked for, to be fetched as a file (SRV-RS-152, SRV-OP-085). The file is made when it is fetched.
public struct ExportJob: Sendable, Codable, Equatable {
    /// How long a report can be fetched.
    public static let lifetime = 3_600.0

    /// The id, random.
    public let id: String
    /// The report's name.
    public let reportName: String
    /// The form of the file: `csv` or `json`.
    public let format: String
    /// The columns, empty for all.
    public let columns: [String]
    /// When it was asked for.
    public let requested: Date

    /// Makes a job.
    public init(id: String, reportName: String, format: String, columns: [String], requested: Date) {
        self.id = id
        self.reportName = reportName
        self.format = format
        self.columns = columns
        self.requested = requested
    }

    /// Until when it can be fetched.
    public var expires: Date { requested + Self.lifetime }
}

extension ExportJob: AdministeredResource {
    /// Jobs.
    public static var storageKind: StorageKind { .exportJob }
    /// The id.
    public var storageID: String { id }
    /// When it is put away.
    public var lookups: [StorageLookup: String] { [.due: "ended/" + StorageTime.text(requested)] }
    /// The word for it in the audit log.
    public static var auditName: String { "exportJob" }
    /// Who may read may read as a file.
    public static var writing: Permission { .read }
    /// A report changes nothing.
    public static var isTargeting: Bool { false }
    /// Nothing: the routes let no other value through.
    public func check() throws(ServiceError) {}
}
