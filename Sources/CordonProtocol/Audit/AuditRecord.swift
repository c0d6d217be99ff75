public import CordonIdentity

/// One entry of the append-only audit log, chained to the one before by its hash (SRV-CI-092).
public struct AuditRecord: Sendable, Codable, Equatable {
    /// The place in the log, from 1 without gaps.
    public var sequence: Int64
    /// The organisation.
    public var tenant: TenantID
    /// When, by the service's clock, in whole seconds since 1970.
    public var time: Int64
    /// Who did it.
    public var actor: Actor
    /// What was done, such as `policy.update` or `wipe.deliver`.
    public var action: String
    /// What it was done to, such as `policy/T_…`.
    public var target: String
    /// How it ended.
    public var outcome: Outcome
    /// Further facts by name; no secret and no personal data beyond ids.
    public var details: [String: String]
    /// The hash of the record before, 64 zeros in the first.
    public var previousHash: String
    /// The SHA-256 over the record's canonical bytes, lower-case hex.
    public var hash: String

    /// Who did something.
    public struct Actor: Sendable, Codable, Equatable {
        /// What an actor is.
        public enum Kind: String, Sendable, Codable {
            /// A person or program that administers.
            case administrator
            /// A registered app.
            case device
            /// The service itself.
            case service
        }

        /// What it is.
        public var kind: Kind
        /// Its id.
        public var id: String

        /// Makes an actor.
        public init(_ kind: Kind, id: String) {
            self.kind = kind
            self.id = id
        }
    }

    /// How an action ended.
    public enum Outcome: String, Sendable, Codable {
        /// It was done.
        case done
        /// It was refused for want of a permission or a proof.
        case denied
        /// It was tried and failed.
        case failed
    }

    /// What the first record names as its predecessor's hash.
    public static let noHash = String(repeating: "0", count: 64)
}
