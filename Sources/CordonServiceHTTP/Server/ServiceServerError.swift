package import CordonBase

/// Why the server could not start or had to end.
public struct ServiceServerError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What kind of failure it was.
    public enum Code: String, Sendable, CaseIterable {
        /// Another program has the port.
        case addressInUse
        /// The address is none of this machine's, or may not be bound.
        case addressUnavailable
        /// The embedded provider was asked to answer on an address that others can reach.
        case notLoopback
        /// A value of the configuration cannot be used.
        case configurationInvalid
        /// A file of the certificate cannot be read, or its key is not private.
        case fileUnusable
        /// The server ended with an error.
        case failed
    }

    /// What kind of failure it was; the only part that equality looks at.
    public let code: Code
    /// What was wrong.
    public let reason: String
    /// Where: an address or a member of the configuration.
    public let place: String
    /// What to do about it.
    public let hint: String
    /// Where Cordon's source made the error, for the report of a defect: module, file and line.
    public var thrownAt: String { codePlace.description }
    package let codePlace: CodePlace

    /// Makes an error.
    public init(
        _ code: Code, reason: String, place: String, hint: String, file: StaticString = #fileID, line: UInt = #line
    ) {
        self.code = code
        self.reason = reason
        self.place = place
        self.hint = hint
        codePlace = CodePlace(file, line)
    }

    /// One line for a terminal or a log.
    public var description: String { "\(place): \(reason) (\(hint))" }

    /// Whether both are of one kind.
    public static func == (left: Self, right: Self) -> Bool { left.code == right.code }
}
