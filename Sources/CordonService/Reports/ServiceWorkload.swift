public import CordonIdentity
internal import Foundation

/// How much a service has under way, as numbers for its metrics.
public struct ServiceWorkload: Sendable, Equatable {
    /// Registrations that count.
    public let registrations: Int
    /// Wipes that were asked for and have not ended.
    public let openWipes: Int
    /// Wipes of the last days that failed or lapsed, and that none took the place of.
    public let failedWipes: Int

    /// Makes a workload.
    public init(registrations: Int, openWipes: Int, failedWipes: Int) {
        self.registrations = registrations
        self.openWipes = openWipes
        self.failedWipes = failedWipes
    }
}

extension ManagementService {
    /// How much an organisation has under way; counted by the store, without reading every app.
    public func workload(of tenant: TenantID) async throws(ServiceError) -> ServiceWorkload {
        try await store.read(for: tenant) { records in
            ServiceWorkload(
                registrations: try records.count(
                    Registration.self, of: .found(by: .state, Registration.State.active.rawValue), atMost: .max),
                openWipes: try records.count(WipeOperation.self, of: .found(by: .state, "open"), atMost: .max),
                failedWipes: try AttentionReport.failedWipes(in: records))
        }
    }
}

extension AttentionReport {
    /// The wipes that failed or lapsed, and that none took the place of, among those that are still kept; read a page at a time.
    static func failedWipes(
        in records: some StorageReader, reading most: Int = mostLookedAt
    ) throws(ServiceError) -> Int {
        var (found, start, limit) = (0, "ended/", most)
        while true {
            let page = try records.records(WipeOperation.self, where: .due, in: start..<"ended0", limit: limit)
            // More may have ended in the page's last second, which is left to the next page.
            let next = page.count < limit ? nil : page.last.map { "ended/" + StorageTime.text($0.modified) }
            let whole = page.filter { next != "ended/" + StorageTime.text($0.modified) }
            found += whole.count { [.failed, .expired].contains($0.state) && $0.successorID == nil }
            guard let next else { return found }
            start = next
            limit = whole.isEmpty ? 2 * limit : most
        }
    }
}
