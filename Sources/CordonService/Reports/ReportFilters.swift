internal import CordonProtocol
internal import Foundation

/// The words by which callers filter reports: each caller's own, which no other sees (SRV-UI-19).
public struct ReportFilters: Sendable {
    let store: TenantStore
    let ids: RandomID

    /// The longest name and the longest word, in characters.
    private static let (longestName, longestSearch) = (100, 200)

    /// The caller's own, ordered by name.
    public func reportFilters(as administrator: Administrator) async throws(ServiceError) -> [ReportFilter] {
        try await store.read(.read, as: administrator) { try ReportFilter.kept(by: administrator.id, in: $0) }
    }

    /// Keeps a word for a report under a name.
    ///
    /// - Throws: ``ServiceError``: `invalid`, or `conflict` where the caller has a filter of this name, or as many as one may have.
    public func saveReportFilter(
        _ name: String, of report: ReportFilter.Report, search: String, as administrator: Administrator
    ) async throws(ServiceError) -> ReportFilter {
        try await store.require(.read, of: administrator)
        let problems = [("name", name, Self.longestName), ("search", search, Self.longestSearch)].filter {
            _, text, most in
            !(1...most).contains(text.count)
        }.map { ServiceError.Problem(member: $0.0, reason: "needs 1 to \($0.2) characters") }
        guard problems.isEmpty else {
            throw ServiceError(.invalid, "the filter of a report is not acceptable", problems: problems)
        }
        try StoredText.check([StoredText("name", name), StoredText("search", search)])
        let filter = ReportFilter(
            id: ids.guid(), name: name, report: report, search: search, owner: administrator.id, created: store.now)
        try await store.change(for: administrator) { change in
            let own = try ReportFilter.kept(by: administrator.id, in: change)
            guard !own.contains(where: { folded($0.name) == folded(name) }) else {
                throw ServiceError(
                    .conflict, "you have a filter of this name",
                    problems: [.init(member: "name", reason: "is taken")])
            }
            guard own.count < ReportFilter.share else {
                throw ServiceError(
                    .conflict, "you keep \(ReportFilter.share) filters, which is as many as one caller may",
                    hint: "Remove one of them first.")
            }
            try change.save(filter)
            try change.audit(
                AuditRecord.Actor(administrator), "reportFilter.save", "reportFilter/\(filter.id)",
                details: ["report": report.rawValue])
        }
        return filter
    }

    /// Removes one of the caller's own.
    ///
    /// - Throws: ``ServiceError`` with code `notFound`, also for one of another caller.
    public func removeReportFilter(_ id: String, as administrator: Administrator) async throws(ServiceError) {
        try await store.require(.read, of: administrator)
        try await store.change(for: administrator) { change in
            let filter = try change.record(ReportFilter.self, id)
            guard let filter, folded(filter.owner) == folded(administrator.id) else {
                throw ServiceError(.notFound, "you have no filter of a report with this id")
            }
            try change.remove(ReportFilter.self, id)
            try change.audit(AuditRecord.Actor(administrator), "reportFilter.remove", "reportFilter/\(id)")
        }
    }
}
