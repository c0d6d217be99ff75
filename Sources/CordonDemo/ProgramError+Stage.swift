public import CordonProtocol

extension ProgramError {
    /// Why the demo could not go on: the stage broke, as opposed to an expectation that did not hold.
    public static func stage(
        _ reason: String, hint: String? = nil, file: StaticString = #fileID, line: UInt = #line
    ) -> ProgramError {
        ProgramError(.failed, reason: reason, hint: hint, file: file, line: line)
    }
}
