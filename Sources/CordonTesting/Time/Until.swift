/// Waits until something is so, giving way to whatever makes it so.
///
/// A wait for what never comes ends with an error after a minute, so that a defect fails a test and does not hang the suite.
///
/// - Throws: ``StillWaiting``, `CancellationError` when the task is cancelled, or what the condition throws.
package func until(
    isolation: isolated (any Actor)? = #isolation, _ condition: () async throws -> Bool
) async throws {
    let end = ContinuousClock.now + .seconds(60)
    while try await !condition() {
        guard .now < end else { throw StillWaiting() }
        try Task.checkCancellation()
        await Task.yield()
    }
}

/// What was waited for did not come within a minute.
package struct StillWaiting: Error {}
