import CordonBase
import CordonIdentity
package import CordonService
import Foundation

/// Refuses tokens from before their person's sessions were revoked (SRV-CI-091), and of people who administer those from before the store
/// was put back from a backup.
///
/// Kept in memory, because every request looks here; the one process that serves a store is also the one that is told.
package final class RevokedSessions: Sendable {
    private let provisioning: Provisioning
    let tenant: TenantID
    private let known = Locked<Known?>(nil)
    /// How long the token of a person who administers counts as living, in seconds, where it says neither when it was made nor when its
    /// person signed in.
    private static let longestUnagedToken: TimeInterval = 86_400

    /// From when on tokens count.
    private struct Known {
        /// By folded object id.
        var people: [String: Date]
        /// Of every person who administers.
        var administrators: Date
    }

    init(provisioning: Provisioning, tenant: TenantID) {
        self.provisioning = provisioning
        self.tenant = tenant
    }

    /// Lets a token through that is younger than the last revocation; one that does not say its age is as old as its sign-in.
    ///
    /// - Parameter administers: Whether the token asks for administration: its person's sessions may have been ended in what a restored
    ///   store has lost.
    func check(_ token: AccessToken, administers: Bool = false) async throws(TokenRefusal) {
        let known = try await latest()
        // A provider may call a person otherwise in its events than in the claim that holds the id.
        let names = [token.subject.rawValue, token.otherSubject].compactMap(\.self)
        let revoked = names.compactMap { known.people[Self.key($0)] }.max() ?? .distantPast
        let restored = administers && !token.isApplication ? known.administrators : .distantPast
        let made = token.issued ?? token.authenticated
        // After a restore everybody would be shut out for ever whose provider never says when, so those wait until the tokens from
        // before have ended.
        guard made ?? .distantPast >= revoked,
            made ?? token.expires.addingTimeInterval(-Self.longestUnagedToken) >= restored
        else { throw TokenRefusal(.revoked, "the sessions of the token's person were ended since it was made") }
    }

    /// Reads the revocation of one person, after it was added: as quick however many there are.
    package func reload(person id: String) async throws(ServiceError) {
        guard let before = try await provisioning.sessionRevocation(ofUser: id, of: tenant) else { return }
        let isNoted = known.withLock { known in
            let newest = max(before, known?.people[Self.key(id)] ?? before)
            known?.people[Self.key(id)] = newest
            return known != nil
        }
        // The first reading of all may be under way, and have begun before this revocation.
        if !isNoted { try await reload() }
    }

    /// Reads all revocations.
    private func reload() async throws(ServiceError) {
        let people = try await provisioning.sessionRevocations(of: tenant)
        let administrators = try await provisioning.administratorsSince(of: tenant) ?? .distantPast
        known.withLock { known in
            // Merged, because two that read at once may come back in either order; a moment never goes back.
            known = Known(
                people: (known?.people ?? [:]).merging(people, uniquingKeysWith: max),
                administrators: max(known?.administrators ?? .distantPast, administrators))
        }
    }

    private func latest() async throws(TokenRefusal) -> Known {
        if let known = known.withLock({ $0 }) { return known }
        do {
            try await reload()
        } catch {
            throw TokenRefusal(.issuerUnavailable, "it cannot be told whether the token was revoked")
        }
        return known.withLock { $0 } ?? Known(people: [:], administrators: .distantPast)
    }

    private static func key(_ id: String) -> String { id.lowercased() }
}
