public import Foundation

/// What an identity provider says of an account, beside its tokens (SRV-CI-091).
public struct AccountSignal: Sendable, Equatable {
    /// What happened.
    public enum Kind: String, Sendable, Codable, CaseIterable {
        /// Every session ended: tokens from before count no more.
        case sessionsRevoked
        /// The account was disabled or removed; its sessions end as well.
        case accountDisabled
        /// The account may be used again.
        case accountEnabled
    }

    /// What happened.
    public var kind: Kind
    /// The person's object id as tokens say it, or the name they sign in with.
    public var subject: String
    /// When it happened, by the provider's clock.
    public var time: Date

    /// Makes a signal.
    public init(_ kind: Kind, of subject: String, at time: Date) {
        self.kind = kind
        self.subject = subject
        self.time = time
    }
}
