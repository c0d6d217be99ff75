/// Names a window or a scene of an app, which has an identity of its own (SDK-ID-21).
///
/// Any stable name will do, such as a scene session's persistent identifier. Compared exactly.
public struct WindowID: Sendable, Hashable, Codable, RawRepresentable, ExpressibleByStringLiteral,
    CustomStringConvertible
{
    /// The name as it was given.
    public let rawValue: String

    /// Makes an id from a name.
    public init(_ rawValue: String) {
        self.rawValue = rawValue
    }

    /// Makes an id from a name.
    public init(rawValue: String) {
        self.init(rawValue)
    }

    /// Makes an id from a literal.
    public init(stringLiteral value: String) {
        self.init(value)
    }

    /// The window of an app that has one only.
    public static let main = WindowID("main")

    /// The name as it was given.
    public var description: String { rawValue }
}
