public import CordonIdentity
public import CordonProtocol
public import Foundation

extension BackupSeal {
    /// Seals a backup of an organisation with its audit key.
    ///
    /// - Parameters:
    ///   - manifest: The SHA-256 of the manifest's bytes, lower-case hex.
    ///   - known: The organisation's signing keys, as its store has them.
    ///   - store: Where their secrets are.
    /// - Returns: Nil for an organisation without an audit key: its store is of a service from before there were any.
    /// - Throws: ``ServiceError`` with code `keyUnavailable`.
    public static func make(
        of manifest: String, for tenant: TenantID, keys known: [ServiceSigningKey], in store: any ServiceKeyStore,
        at now: Date
    ) throws(ServiceError) -> BackupSeal? {
        guard known.contains(where: { $0.role == .audit }) else { return nil }
        let ring = KeyRing(store: store, setLifetime: ServiceConfiguration().keySetLifetime)
        let signer = try ring.signer(.audit, of: tenant, among: known, at: now)
        let set = try ring.sign(known.ofAuditLog, for: .audit, root: known, tenant: tenant, at: now)
        do {
            return try BackupSeal(
                Content(tenant: tenant, manifest: manifest, time: Int64(now.timeIntervalSince1970)), by: signer,
                vouchedForBy: set)
        } catch {
            throw ServiceError(.internalError, "the backup could not be sealed: \(error.reason)")
        }
    }
}
