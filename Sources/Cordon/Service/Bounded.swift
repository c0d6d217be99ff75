internal import Foundation

/// Runs work that is somebody else's, such as the app's own, and gives up on it after a time (nil).
///
/// Work that never ends is cancelled and left behind; work that answers twice is heard once.
func bounded<Value: Sendable>(
    by limit: Duration, of clock: ProtectionClock, _ work: @escaping @Sendable () async -> Value
) async -> Value? {
    let (answers, answer) = AsyncStream.makeStream(of: Value?.self, bufferingPolicy: .bufferingOldest(1))
    let working = Task { answer.yield(await work()) }
    let timer = Task {
        try await clock.sleep(limit)
        answer.yield(nil)
    }
    defer {
        timer.cancel()
        working.cancel()
        answer.finish()
    }
    for await first in answers { return first }
    return nil
}
