internal import CordonProtocol

/// Waits until a condition holds, yielding to the tasks that make it hold.
///
/// It gives up after a time, so that a defect fails one test and does not hang the suite; a loaded machine may need some of the usual one.
/// What does not come at once is looked for each millisecond: many tests that wait must not take the processor from what they wait for.
///
/// - Parameters:
///   - pause: How long to wait between two looks that ask another process.
///   - limit: When to give up.
/// - Throws: ``ProgramError`` with code `failed`, `CancellationError` when the task is cancelled, or what the condition throws.
package func until(
    every pause: Duration? = nil, within limit: Duration = .seconds(300),
    isolation: isolated (any Actor)? = #isolation, file: StaticString = #fileID, line: UInt = #line,
    _ condition: () async throws -> Bool
) async throws {
    let end = ContinuousClock.now + limit
    var looks = 0
    while try await !condition() {
        guard .now < end else {
            throw ProgramError(
                .failed, reason: "what was waited for did not come within \(limit)", file: file, line: line)
        }
        try Task.checkCancellation()
        looks += 1
        if pause == nil, looks < 1_000 {
            await Task.yield()
        } else {
            try await Task.sleep(for: pause ?? .milliseconds(1))
        }
    }
}
