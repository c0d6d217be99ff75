/// Names an organisation: the tenant id that its identity provider puts into tokens.
///
/// Compared exactly. Encoded as a bare string.
public struct TenantID: Sendable, Hashable, Codable, RawRepresentable, CustomStringConvertible {
    /// The id as the provider spells it.
    public let rawValue: String

    /// Makes an id from the provider's spelling.
    public init(_ rawValue: String) {
        self.rawValue = rawValue
    }

    /// Makes an id from the provider's spelling.
    public init(rawValue: String) {
        self.init(rawValue)
    }

    /// Reads a bare string.
    public init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode(String.self))
    }

    /// Writes ``rawValue`` as a bare string.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }

    /// The id as the provider spells it.
    public var description: String { rawValue }
}
