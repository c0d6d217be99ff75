package import CordonBase

/// Why no usable answer came from a server.
public struct TransportError: Error, Sendable, Equatable {
    /// What kind of failure it was.
    public enum Code: String, Sendable {
        /// No connection could be made, or it broke.
        case unreachable
        /// The answer did not arrive in time.
        case timedOut
        /// The answer was larger than allowed.
        case answerTooLarge
        /// The request could not be sent as given, such as a relative URL.
        case badRequest
        /// The calling task was cancelled.
        case cancelled
        /// The server's certificate or key is not trusted for its host; nothing was sent.
        case untrustedServer
    }

    /// What kind of failure it was; the only part that equality looks at.
    public let code: Code
    /// What happened, without header fields or bodies.
    public let reason: String
    /// Where Cordon's source threw the error, for a bug report: module, file and line.
    public var thrownAt: String { codePlace.description }
    package let codePlace: CodePlace

    /// Makes an error.
    public init(_ code: Code, reason: String, file: StaticString = #fileID, line: UInt = #line) {
        self.code = code
        self.reason = reason
        codePlace = CodePlace(file, line)
    }

    /// Whether both have the same code.
    public static func == (left: Self, right: Self) -> Bool { left.code == right.code }
}

extension TransportError: CustomStringConvertible {
    /// The code and what happened, in one line.
    public var description: String { "\(code.rawValue): \(reason)" }
}
