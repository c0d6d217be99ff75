public import Foundation

/// How a silent request differs from the usual.
public struct TokenOptions: Sendable {
    /// Whether to skip tokens in memory (SI-113).
    public var forcesRenewal = false
    /// Claims that a resource demanded; skips tokens in memory too (SI-113, SI-116).
    public var claims: ClaimsRequest?
    /// Ties the logs of both sides together (SI-079).
    public var correlationID = UUID.fresh()

    /// Makes the usual options.
    public init() {}
}

extension UUID {
    /// A random id (version 4). On Linux `UUID()` takes several times as long, which shows beside a token that the broker has at hand.
    fileprivate static func fresh() -> UUID {
        var numbers = (UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max))
        return withUnsafeMutableBytes(of: &numbers) { bytes in
            bytes[6] = bytes[6] & 0x0F | 0x40
            bytes[8] = bytes[8] & 0x3F | 0x80
            return UUID(uuid: bytes.load(as: uuid_t.self))
        }
    }
}
