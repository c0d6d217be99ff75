internal import CordonBase
public import CordonProtocol

/// What a suite or a simulated device of this module found wrong: a promise that a store broke, a refusal by the service, or
/// something that never came.
public struct TestingFailure: Error, Sendable, CustomStringConvertible {
    /// What was seen instead.
    public let reason: String
    /// The HTTP status where the service refused, 0 where it did not answer; nil for everything else.
    public let status: Int?
    /// The documented status, where the service named one.
    public let code: EnrollmentStatus?
    /// Where Cordon's source made the error: module, file and line.
    public var thrownAt: String { codePlace.description }
    private let codePlace: CodePlace

    init(
        _ reason: String, status: Int? = nil, code: EnrollmentStatus? = nil, file: StaticString = #fileID,
        line: UInt = #line
    ) {
        self.reason = reason
        self.status = status
        self.code = code
        codePlace = CodePlace(file, line)
    }

    /// The reason, and the statuses where there are any.
    public var description: String {
        reason + (status.map { " (status \($0))" } ?? "") + (code.map { " (code \($0.rawValue))" } ?? "")
    }
}
