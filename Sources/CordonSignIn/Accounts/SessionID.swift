public import Foundation

/// Names one sign-in of one account on this device; never used twice.
///
/// Work that runs on in the background remembers the session it began under and stops when it differs (SI-072).
public struct SessionID: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The random id.
    public let rawValue: UUID

    /// Makes an id from its value.
    public init(_ rawValue: UUID) {
        self.rawValue = rawValue
    }

    /// Reads a bare string.
    public init(from decoder: any Decoder) throws {
        rawValue = try decoder.singleValueContainer().decode(UUID.self)
    }

    /// Writes a bare string.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }

    /// The id's text.
    public var description: String { rawValue.uuidString }
}
