public import Foundation

/// How a silent request differs from the usual.
public struct TokenOptions: Sendable {
    /// Whether to skip tokens in memory (SI-113).
    public var forcesRenewal = false
    /// Claims that a resource demanded; skips tokens in memory too (SI-113, SI-116).
    public var claims: ClaimsRequest?
    /// Ties the logs of both sides together (SI-079).
    public var correlationID = UUID()

    /// Makes the usual options.
    public init() {}
}
