public import Foundation

/// Where an organisation's root key is, and how long the service can sign key sets.
public struct RootKeyState: Sendable, Equatable {
    /// The root key's RFC 7638 thumbprint, which apps pin.
    public let thumbprint: String
    /// Whether the secret is with the service's other keys.
    public let isHere: Bool
    /// When the delegation ends that signs in its place; nil where there is none.
    public let delegationEnds: Date?

    /// Makes a state.
    public init(thumbprint: String, isHere: Bool, delegationEnds: Date?) {
        self.thumbprint = thumbprint
        self.isHere = isHere
        self.delegationEnds = delegationEnds
    }

    /// How long before its end a delegation is worth an alert.
    static let warning: TimeInterval = 14 * 86_400

    /// Whether an operator has to fetch the root key soon.
    public func needsAttention(at now: Date) -> Bool {
        !isHere && (delegationEnds?.timeIntervalSince(now) ?? 0) < Self.warning
    }
}
