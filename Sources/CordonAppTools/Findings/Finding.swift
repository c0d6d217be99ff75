/// One thing a tool noticed, printed as one line that an IDE's build log links (TL-GN-03).
public struct Finding: Hashable, Sendable, Codable, CustomStringConvertible {
    /// How much a finding matters.
    public enum Severity: String, Sendable, Codable, Comparable {
        /// For information; changes no exit status.
        case note
        /// Worth a look; changes no exit status.
        case warning
        /// Must be put right.
        case error

        /// Orders note before warning before error.
        public static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }

        private var rank: Int { self == .note ? 0 : self == .warning ? 1 : 2 }
    }

    /// The file the finding is about.
    public let path: String
    /// How much it matters.
    public let severity: Severity
    /// A stable identifier such as `CF-SCHEME`.
    public let code: String
    /// What was found and what to do, one line.
    public let message: String

    /// Makes a finding.
    public init(_ path: String, _ severity: Severity, _ code: String, _ message: String) {
        self.path = path
        self.severity = severity
        self.code = code
        self.message = message
    }

    /// `path: severity: code: message`.
    public var description: String { "\(path): \(severity.rawValue): \(code): \(message)" }
}
