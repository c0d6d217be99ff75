public import Foundation

/// A word by which one caller filters a report, kept under a name (SRV-UI-19).
public struct ReportFilter: Sendable, Codable, Equatable {
    /// The reports whose rows can be filtered.
    public enum Report: String, Sendable, Codable, CaseIterable {
        /// Devices that found something wrong with themselves.
        case flagged
        /// Apps without the newest rules.
        case drift
        /// Apps that are about to be forgotten.
        case expiring
        /// Versions in use.
        case versions
        /// Wipes.
        case wipes
        /// What operators were told.
        case alerts
    }

    /// The most filters that one caller keeps.
    public static let share = 50

    /// The id, random.
    public let id: String
    /// What the caller calls it.
    public let name: String
    /// The report that it filters.
    public let report: Report
    /// The word that a row has to have.
    public let search: String
    /// The caller who keeps it and alone sees it, by id.
    public let owner: String
    /// When it was saved.
    public let created: Date
}

extension ReportFilter: StoredRecord {
    /// Filters of reports.
    public static var storageKind: StorageKind { .reportFilter }
    /// The id.
    public var storageID: String { id }
    /// The caller who keeps it.
    public var lookups: [StorageLookup: String] { [.user: folded(owner)] }
}

extension ReportFilter {
    /// The filters that a caller keeps, ordered by name.
    static func kept(by owner: String, in records: some StorageReader) throws(ServiceError) -> [ReportFilter] {
        try records.records(ReportFilter.self, where: (.user, folded(owner)))
            .sorted { (folded($0.name), $0.id) < (folded($1.name), $1.id) }
    }
}
