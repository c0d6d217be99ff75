internal import CordonIdentity
internal import CordonProtocol
internal import Foundation

/// An audit log as it is exported: pieces of whole lines up to a record, and the seal at the end.
struct AuditPages: Sendable {
    private let store: TenantStore
    private let tenant: TenantID
    private let end: Int64
    private let seal: String
    /// The sequence number of the last record that was handed out.
    private var last: Int64 = 0
    private var isSealed = false

    /// - Parameter end: The sequence number of the last record, 0 for an empty log.
    /// - Throws: ``ServiceError`` with code `internalError` when the seal cannot be written.
    init(of tenant: TenantID, upTo end: Int64, closedBy seal: AuditSeal, in store: TenantStore) throws(ServiceError) {
        do {
            self.seal = try seal.line() + "\n"
        } catch {
            throw ServiceError(.internalError, "the checkpoint could not be written: \(error.reason)")
        }
        (self.store, self.tenant, self.end) = (store, tenant, end)
    }

    /// The next piece, nil after the seal.
    ///
    /// - Throws: ``ServiceError`` with code `storageDamaged` when records are missing.
    mutating func next() async throws(ServiceError) -> Data? {
        guard last < end else {
            defer { isSealed = true }
            return isSealed ? nil : Data(seal.utf8)
        }
        let query = AuditQuery(after: last, limit: Int(min(end - last, Int64(AuditQuery.largestPage))))
        let page = try await store.read(for: tenant) { try $0.auditRecords(query) }
        guard let newest = page.last?.sequence else {
            throw ServiceError(.storageDamaged, "audit records are missing", place: "after record \(last)")
        }
        last = newest
        return Data(page.map { $0.line + "\n" }.joined().utf8)
    }
}
