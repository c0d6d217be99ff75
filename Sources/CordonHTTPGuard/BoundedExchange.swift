/// Bounds a whole exchange, body included: AsyncHTTPClient's own bound ends with the answer's head.
///
/// - Parameter exchange: Ends when it is cancelled: it is waited for.
/// - Returns: What came of it; nil where the time was over first, or the task was cancelled.
package func bounded<Value: Sendable>(
    by time: Duration, _ exchange: @escaping @Sendable () async -> Value
) async -> Value? {
    await withTaskGroup(of: Value?.self) { group in
        group.addTask { await exchange() }
        group.addTask {
            try? await Task.sleep(for: time)
            return nil
        }
        let first = await group.next() ?? nil
        group.cancelAll()
        return first
    }
}
