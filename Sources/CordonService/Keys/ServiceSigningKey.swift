public import CordonProtocol
public import Foundation

/// What the store knows of a signing key; the secret is in the ``ServiceKeyStore`` alone.
public struct ServiceSigningKey: Sendable, Codable, Equatable {
    /// What a key signs.
    public enum Role: String, Sendable, Codable {
        /// The key set; apps pin it.
        case root
        /// Policy envelopes; audit checkpoints as well before there were keys for them.
        case envelope
        /// Audit checkpoints and what backups hold; worth nothing to apps.
        case audit
    }

    /// The key id: the RFC 7638 thumbprint.
    public let id: String
    /// What it signs.
    public let role: Role
    /// The public half.
    public let publicKey: JSONWebKey
    /// When it was made and published.
    public let created: Date
    /// When it begins to sign; later than ``created`` so that apps know it before (SRV-CI-084).
    public let activeFrom: Date
    /// When it leaves the key set, nil while no successor is known.
    public var retires: Date?
    /// Whether it leaked, or may have: it signs nothing more and nothing vouches for it, whatever the clock says; nil for no.
    public internal(set) var isRevoked: Bool?

    /// Makes a key's public record.
    public init(role: Role, publicKey: JSONWebKey, created: Date, activeFrom: Date) {
        self.id = publicKey.thumbprint
        self.role = role
        self.publicKey = publicKey
        self.created = created
        self.activeFrom = activeFrom
        self.retires = nil
    }
}
