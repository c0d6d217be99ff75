import CordonBase
import CordonIdentity
package import CordonService
import Foundation

/// Refuses tokens from before their person's sessions were revoked (SRV-CI-091).
///
/// Kept in memory, because every request looks here; the one process that serves a store is also the one that is told.
package final class RevokedSessions: Sendable {
    private let provisioning: Provisioning
    let tenant: TenantID
    private let known = Locked<[String: Date]?>(nil)

    init(provisioning: Provisioning, tenant: TenantID) {
        self.provisioning = provisioning
        self.tenant = tenant
    }

    /// Lets a token through that is younger than the last revocation; one that does not say its age is older.
    func check(_ token: AccessToken) async throws(TokenRefusal) {
        let table = try await table()
        // A provider may call a person otherwise in its events than in the claim that holds the id.
        let names = [token.subject.rawValue, token.otherSubject].compactMap(\.self)
        guard let revoked = names.compactMap({ table[Self.key($0)] }).max() else { return }
        guard let issued = token.issued, issued >= revoked else {
            throw TokenRefusal(.revoked, "the sessions of the token's person were ended since it was made")
        }
    }

    /// Reads the revocations again, after one was added.
    package func reload() async throws(ServiceError) {
        let table = try await provisioning.sessionRevocations(of: tenant)
        // Merged, because two that read at once may come back in either order; a moment never goes back.
        known.withLock { $0 = ($0 ?? [:]).merging(table, uniquingKeysWith: max) }
    }

    /// Reads the revocation of one person, after it was added: as quick however many there are.
    package func reload(person id: String) async throws(ServiceError) {
        guard let before = try await provisioning.sessionRevocation(ofUser: id, of: tenant) else { return }
        let isNoted = known.withLock { known in
            let newest = max(before, known?[Self.key(id)] ?? before)
            known?[Self.key(id)] = newest
            return known != nil
        }
        // The first reading of all may be under way, and have begun before this revocation.
        if !isNoted { try await reload() }
    }

    private func table() async throws(TokenRefusal) -> [String: Date] {
        if let table = known.withLock({ $0 }) { return table }
        do {
            try await reload()
        } catch {
            throw TokenRefusal(.issuerUnavailable, "it cannot be told whether the token was revoked")
        }
        return known.withLock { $0 } ?? [:]
    }

    private static func key(_ id: String) -> String { id.lowercased() }
}
