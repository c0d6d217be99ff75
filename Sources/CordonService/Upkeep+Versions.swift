internal import CordonIdentity
internal import CordonPolicy
internal import Foundation

extension Upkeep {
    /// Removes what was delivered, and the versions, that something newer took the place of long enough ago.
    ///
    /// A version stays as long as what was delivered names it: an app may have it in force still.
    func putAwayVersions(of tenant: TenantID, at now: Date) async throws(ServiceError) {
        let oldest = now.addingTimeInterval(-Double(configuration.versionRetention.wholeSeconds))
        try await each(DeliveredRules.self, "ended", upTo: oldest, of: tenant) { rules, change in
            guard let superseded = rules.superseded, superseded < oldest else { return false }
            try change.remove(DeliveredRules.self, rules.storageID)
            return true
        }
        var old = try await store.read(for: tenant) { records in
            try records.records(EntityVersion.self).filter { $0.superseded.map { $0 < oldest } ?? false }
        }
        var last: String?
        while !old.isEmpty {
            let after = last
            let page = try await store.read(for: tenant) {
                try $0.page(DeliveredRules.self, of: .all, after: after, limit: 1_000)
            }
            let needed = Set(
                page.flatMap(\.policies).map {
                    EntityVersion.storageID(EntityVersion.entity(.policy, $0.id), $0.version)
                })
            old.removeAll { needed.contains($0.storageID) }
            last = page.last?.storageID
            if page.count < 1_000 { break }
        }
        for start in stride(from: 0, to: old.count, by: Self.most) {
            let some = old[start..<min(start + Self.most, old.count)]
            try await store.change(for: tenant, behindOthers: true) { change in
                for version in some { try change.forget(version) }
            }
        }
    }
}
