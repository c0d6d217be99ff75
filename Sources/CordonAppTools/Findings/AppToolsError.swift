package import CordonBase

/// An error of the app tools: what went wrong, where, and what to do about it. Two errors are equal when their codes are.
public struct AppToolsError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kind of failure, an open set; each kind has one exit status (TL-GN-02).
    public struct Code: Hashable, Sendable {
        let rawValue: String

        /// An input is missing or cannot be read.
        public static let missing = Code(rawValue: "missing")
        /// An input is not of the expected format, or breaks a limit of TL-GN-08.
        public static let malformed = Code(rawValue: "malformed")
        /// An input is well formed but of a kind these tools do not handle.
        public static let unsupported = Code(rawValue: "unsupported")
        /// The work would be unsafe, so nothing was written.
        public static let refused = Code(rawValue: "refused")
        /// A result could not be written; the original is untouched.
        public static let unwritable = Code(rawValue: "unwritable")
        /// The caller asked for something contradictory.
        public static let usage = Code(rawValue: "usage")
    }

    /// The kind of failure.
    public let code: Code
    /// What went wrong, one line, free of secrets.
    public let reason: String
    /// The file, and where known the offset or line in it.
    public let place: String
    /// What to do next, if there is something to do.
    public let hint: String?
    /// Where Cordon's source threw the error, for a bug report: module, file and line.
    public var thrownAt: String { codePlace.description }
    package let codePlace: CodePlace

    /// Makes an error from its parts.
    public init(
        _ code: Code, _ reason: String, at place: String = "", hint: String? = nil, file: StaticString = #fileID,
        line: UInt = #line
    ) {
        self.init(code, reason, place, hint, CodePlace(file, line))
    }

    private init(_ code: Code, _ reason: String, _ place: String, _ hint: String?, _ codePlace: CodePlace) {
        self.code = code
        self.reason = reason
        self.place = place
        self.hint = hint
        self.codePlace = codePlace
    }

    /// Two errors are equal when their codes are.
    public static func == (left: Self, right: Self) -> Bool { left.code == right.code }

    /// The place and the reason on one line.
    public var description: String { place.isEmpty ? reason : "\(place): \(reason)" }

    /// The same error with a file name put before its place.
    public func inside(_ outer: String) -> AppToolsError {
        AppToolsError(code, reason, place.isEmpty ? outer : "\(outer): \(place)", hint, codePlace)
    }
}

/// Runs work on a file and puts the file's name into any error it throws.
func naming<Value>(_ file: String, _ work: () throws(AppToolsError) -> Value) throws(AppToolsError) -> Value {
    do { return try work() } catch { throw error.inside(file) }
}
