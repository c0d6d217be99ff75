public import Foundation

/// A report that was asked for, to be fetched as a file (SRV-RS-152, SRV-OP-085). The file is made when it is fetched.
public struct ExportJob: Sendable, Codable, Equatable {
    /// How long a report can be fetched.
    public static let lifetime = 3_600.0
    /// The most reports of one caller that are kept at once.
    public static let share = 10

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
    /// The caller who asked for it, by id; nil for one of a version before.
    public let requestedBy: String?

    /// Makes a job.
    public init(
        id: String, reportName: String, format: String, columns: [String], requested: Date, requestedBy: String? = nil
    ) {
        self.id = id
        self.reportName = reportName
        self.format = format
        self.columns = columns
        self.requested = requested
        self.requestedBy = requestedBy
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
    /// None: the routes let no other value through.
    public var shownTexts: [StoredText] { [] }
    /// Nothing: the routes let no other value through.
    public func check() throws(ServiceError) {}

    /// Refuses more than ``share`` of one caller, so that no one keeps the others from having any.
    public func checkShare(among others: [ExportJob], at now: Date) throws(ServiceError) {
        let own = others.filter { $0.requestedBy == requestedBy && $0.expires > now }.map(\.expires)
        guard own.count >= Self.share, let first = own.min() else { return }
        throw ServiceError(
            .tooManyRequests,
            "you have \(own.count) reports already, and the first of them ends at \(first.formatted(.iso8601))",
            hint: "Fetch those, or ask again then.",
            retryAfterSeconds: Int(max(1, first.timeIntervalSince(now).rounded(.up))))
    }
}
