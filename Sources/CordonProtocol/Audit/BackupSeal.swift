public import CordonIdentity
internal import Foundation

/// What makes a backup the service's own: the digest of its manifest, signed by the audit key, for which the root key vouches.
public struct BackupSeal: Sendable, Codable, Equatable {
    /// What was signed, compact JWS.
    public var signed: String
    /// The audit keys, vouched for by the root key for ``SignedKeySet/Use/audit``.
    public var keys: SignedKeySet

    /// What a seal says.
    public struct Content: Sendable, Codable, Equatable {
        /// The organisation.
        public var tenant: TenantID
        /// The SHA-256 of the manifest's bytes, lower-case hex.
        public var manifest: String
        /// When the backup was made, in whole seconds since 1970.
        public var time: Int64

        /// Makes a content.
        public init(tenant: TenantID, manifest: String, time: Int64) {
            self.tenant = tenant
            self.manifest = manifest
            self.time = time
        }
    }

    /// Seals a backup.
    ///
    /// - Throws: ``ProtocolError`` when the key cannot sign.
    public init(_ content: Content, by signer: some MessageSigner, vouchedForBy keys: SignedKeySet)
        throws(ProtocolError)
    {
        self.signed = try CompactJWS.sign(try MessageCoding.encode(content), type: .backup, with: signer)
        self.keys = keys
    }

    /// What the seal says, and the thumbprint of the root key behind it.
    ///
    /// - Parameter pin: The thumbprint of the root key; nil trusts whichever key the seal brings along.
    /// - Throws: ``ProtocolError`` saying which check failed.
    public func verified(pin: String?) throws(ProtocolError) -> (content: Content, root: String) {
        let (keys, root) = try keys.auditKeys(pin: pin)
        let payload = try CompactJWS.payload(of: signed, type: .backup, signedBy: keys)
        return (try MessageCoding.decode(Content.self, from: payload), root)
    }
}
