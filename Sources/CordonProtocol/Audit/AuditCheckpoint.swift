public import CordonIdentity
internal import CordonPolicy
internal import CordonSignatures
internal import Foundation

/// The head of an audit log at one moment, signed by the service: a holder of one can tell later whether the
/// log was cut, changed or forked (SRV-CI-092; the model is RFC 9162's signed tree head).
public struct AuditCheckpoint: Sendable, Codable, Equatable {
    /// The organisation.
    public var tenant: TenantID
    /// The sequence number of the newest record, 0 for an empty log.
    public var sequence: Int64
    /// The hash of the newest record.
    public var hash: String
    /// When it was made, in whole seconds since 1970.
    public var time: Int64

    /// Makes the checkpoint of a log that ends in a record, nil for an empty one.
    public init(of last: AuditRecord?, tenant: TenantID, time: Int64) {
        self.tenant = tenant
        self.sequence = last?.sequence ?? 0
        self.hash = last?.hash ?? AuditRecord.noHash
        self.time = time
    }

    /// The checkpoint as a compact JWS.
    ///
    /// - Throws: ``ProtocolError`` when the key cannot sign.
    public func signed(by signer: some MessageSigner) throws(ProtocolError) -> String {
        try CompactJWS.sign(try MessageCoding.encode(self), type: .auditCheckpoint, with: signer)
    }

    /// The checkpoint in a compact JWS, provided that one of the keys signed it.
    ///
    /// - Throws: ``ProtocolError`` saying which check failed.
    public init(verifying text: String, signedBy keys: JSONWebKeySet) throws(ProtocolError) {
        let payload = try CompactJWS.payload(of: text, type: .auditCheckpoint, signedBy: keys)
        self = try MessageCoding.decode(AuditCheckpoint.self, from: payload)
    }

    /// What a compact JWS says, whichever key signed it.
    init(unverified text: String) throws(ProtocolError) {
        guard let payload = SignedText.unverifiedPayload(of: text) else {
            throw ProtocolError(.malformed, "the checkpoint is not a signed text")
        }
        self = try MessageCoding.decode(AuditCheckpoint.self, from: payload)
    }
}

/// The last line of an exported audit log: its checkpoint, and the keys to check that and earlier ones with.
public struct AuditSeal: Sendable, Codable, Equatable {
    /// The signed checkpoint.
    public var checkpoint: String
    /// Every key that has signed checkpoints, vouched for by the root key for ``SignedKeySet/Use/audit``.
    public var keys: SignedKeySet

    /// Makes a seal.
    public init(checkpoint: String, keys: SignedKeySet) {
        self.checkpoint = checkpoint
        self.keys = keys
    }

    /// The seal as a line of JSON, without the line feed.
    ///
    /// - Throws: ``ProtocolError`` with code `malformed`.
    public func line() throws(ProtocolError) -> String {
        String(decoding: try MessageCoding.encode(self), as: UTF8.self)
    }
}
