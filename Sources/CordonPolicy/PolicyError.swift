package import CordonBase

/// Why a policy, a question or a configuration could not be read.
///
/// Errors with the same ``code`` are equal, so a test or a caller can ask for the kind of failure alone.
public struct PolicyError: Error, Sendable, CustomStringConvertible {
    /// The kinds of failure.
    public enum Code: String, Sendable, Hashable, Codable {
        /// The text is not JSON, or not UTF-8.
        case malformedJSON
        /// The input is larger or nested deeper than any honest one.
        case tooLarge
        /// A value has another JSON type than the property demands.
        case wrongType
        /// A value has the right type and makes no sense: a negative number, an invalid duration.
        case invalidValue
        /// A field that is always needed is absent.
        case missingField
        /// A name is not one this version knows, where only known ones make sense.
        case unknownName
    }

    /// The kind of failure.
    public let code: Code
    /// What was wrong, one line, without a secret.
    public let reason: String
    /// The property or position it was found at.
    public let place: String
    /// What would be accepted.
    public let hint: String?
    /// Where Cordon's source threw the error, for a bug report: module, file and line.
    public var thrownAt: String { codePlace.description }
    package let codePlace: CodePlace

    /// Makes an error.
    public init(
        _ code: Code, _ reason: String, at place: String, hint: String? = nil, file: StaticString = #fileID,
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

    /// Place and reason in one line.
    public var description: String {
        let line = place.isEmpty ? reason : "\(place): \(reason)"
        return hint.map { "\(line) (\($0))" } ?? line
    }

    /// The same error, found inside another place.
    package func inside(_ outer: String) -> PolicyError {
        PolicyError(code, reason, place.isEmpty ? outer : "\(outer).\(place)", hint, codePlace)
    }
}

extension PolicyError: Equatable {
    /// Whether both are failures of the same kind.
    public static func == (left: PolicyError, right: PolicyError) -> Bool {
        left.code == right.code
    }
}
