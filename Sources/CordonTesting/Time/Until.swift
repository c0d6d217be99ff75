/// Waits until something is so, giving way to whatever makes it so.
///
/// A wait for what never comes ends with an error after a minute, so that a defect fails a test and does not hang the suite.
///
/// - Throws: ``TestingFailure``, `CancellationError` when the task is cancelled, or what the condition throws.
package func until(
    isolation: isolated (any Actor)? = #isolation, file: StaticString = #fileID, line: UInt = #line,
    _ condition: () async throws -> Bool
) async throws {
    let end = ContinuousClock.now + .seconds(60)
    while try await !condition() {
        guard .now < end else {
            throw TestingFailure("what was waited for did not come within a minute", file: file, line: line)
        }
        try Task.checkCancellation()
        await Task.yield()
    }
}
