/// Names an account: its directory object id where known, otherwise its sign-in name (UPN).
///
/// Two ids that differ only in case are the same account (SDK-ID-01); ``rawValue`` keeps the spelling
/// it was made with. Encoded as a bare string. The empty id names no account and equals only itself.
public struct AccountID: Sendable, Codable, RawRepresentable, ExpressibleByStringLiteral {
    /// The id as it was given.
    public let rawValue: String

    /// The case-folded spelling, computed once because ids are compared far more often than made.
    @usableFromInline
    let folded: String

    /// Makes an id from a directory object id or a sign-in name.
    public init(_ rawValue: String) {
        self.rawValue = rawValue
        self.folded = rawValue.lowercased()
    }

    /// Makes an id from a directory object id or a sign-in name.
    public init(rawValue: String) {
        self.init(rawValue)
    }

    /// Makes an id from a literal.
    public init(stringLiteral value: String) {
        self.init(value)
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
}

extension AccountID: Hashable {
    /// Whether both name the same account; case does not matter (SDK-ID-01).
    @inlinable
    public static func == (left: AccountID, right: AccountID) -> Bool {
        left.folded == right.folded
    }

    /// Hashes the case-folded spelling, so that equal ids hash alike.
    @inlinable
    public func hash(into hasher: inout Hasher) {
        hasher.combine(folded)
    }
}

extension AccountID: CustomStringConvertible {
    /// The id as it was given.
    public var description: String { rawValue }
}
