package import CordonBase

/// Why the broker could not start or go on; what single requests meet is a `SignInError`. Equal by ``code``.
public struct BrokerError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kinds that whoever runs the broker tells apart.
    public enum Code: String, Sendable, CaseIterable {
        /// A configuration or profile cannot be read or says something that is not allowed.
        case configuration
        /// The folder or its files cannot be used.
        case storage
        /// The socket cannot be bound, or another broker answers there.
        case socket
        /// This system cannot tell who connects.
        case unsupported
    }

    /// The kind; the only part that equality looks at.
    public let code: Code
    /// What happened.
    public let reason: String
    /// Which file, key or address.
    public let place: String
    /// What to do about it.
    public let hint: String
    /// Where Cordon's source made the error, for the report of a defect: module, file and line.
    public var thrownAt: String { codePlace.description }
    package let codePlace: CodePlace

    /// Makes an error.
    public init(
        _ code: Code, _ reason: String, place: String, hint: String, file: StaticString = #fileID, line: UInt = #line
    ) {
        self.code = code
        self.reason = reason
        self.place = place
        self.hint = hint
        codePlace = CodePlace(file, line)
    }

    /// Whether both are of one kind.
    public static func == (left: Self, right: Self) -> Bool { left.code == right.code }

    /// Place, reason and hint in one line.
    public var description: String { "\(place): \(reason). \(hint)" }
}
