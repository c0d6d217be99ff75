internal import CordonProtocol

/// Waits until a condition holds, yielding to the tasks that make it hold.
///
/// It gives up after a minute, so that a defect fails one test and does not hang the suite.
///
/// - Throws: ``ProgramError`` with code `failed`, `CancellationError` when the task is cancelled, or what the condition throws.
package func until(
    isolation: isolated (any Actor)? = #isolation, file: StaticString = #fileID, line: UInt = #line,
    _ condition: () async throws -> Bool
) async throws {
    let end = ContinuousClock.now + .seconds(60)
    while try await !condition() {
        guard .now < end else {
            throw ProgramError(
                .failed, reason: "what was waited for did not come within a minute", file: file, line: line)
        }
        try Task.checkCancellation()
        await Task.yield()
    }
}
