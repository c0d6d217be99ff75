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

    /// Keeps a record as it is now, unless it was forgotten meanwhile.
    package func update(_ record: ConsoleSessionRecord, of tenant: TenantID) async throws(ServiceError) {
        try await store.change(for: tenant) { change in
            guard try change.record(ConsoleSessionRecord.self, record.id) != nil else { return }
            try change.save(record)
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
