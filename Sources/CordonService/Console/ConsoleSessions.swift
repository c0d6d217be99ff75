package import CordonIdentity
internal import CordonProtocol
internal import Foundation

/// Where the console keeps its sessions.
package struct ConsoleSessions: Sendable {
    let store: TenantStore

    /// The record with this id, nil where there is none or it has expired.
    package func record(_ id: String, of tenant: TenantID) async throws(ServiceError) -> ConsoleSessionRecord? {
        let now = store.now
        return try await store.readBriefly(for: tenant) { try $0.record(ConsoleSessionRecord.self, id) }.flatMap {
            $0.expires > now ? $0 : nil
        }
    }

    /// Keeps a record.
    package func save(_ record: ConsoleSessionRecord, of tenant: TenantID) async throws(ServiceError) {
        try await store.change(for: tenant) { try $0.save(record) }
    }

    /// Changes a record as it is by then, so that of two requests at once neither undoes what the other did.
    ///
    /// - Parameter body: Makes the new record; nil to leave it as it is.
    /// - Returns: Whether it was changed: a record that was forgotten meanwhile stays so.
    package func update(
        _ id: String, of tenant: TenantID,
        _ body: @escaping @Sendable (ConsoleSessionRecord) throws -> ConsoleSessionRecord?
    ) async throws(ServiceError) -> Bool {
        try await store.change(for: tenant) { change in
            guard let changed = try change.record(ConsoleSessionRecord.self, id).flatMap(body) else { return false }
            try change.save(changed)
            return true
        }
    }

    /// Forgets a record.
    package func remove(_ id: String, of tenant: TenantID) async throws(ServiceError) {
        try await store.change(for: tenant) { try $0.remove(ConsoleSessionRecord.self, id) }
    }
}

extension Change {
    /// Forgets the sessions of the console that have expired.
    func removeOldConsoleSessions() throws(ServiceError) {
        for session in try records(ConsoleSessionRecord.self) where session.expires <= now {
            try remove(ConsoleSessionRecord.self, session.id)
        }
    }
}
