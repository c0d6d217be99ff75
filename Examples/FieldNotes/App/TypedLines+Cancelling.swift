import CordonSignIn

extension TypedLines {
    /// Does work that waits for the person elsewhere, such as at a page in a browser. `cancel` ends it, and so does `quit`, which then
    /// leaves the app.
    func untilCancelled<Value: Sendable>(
        _ work: @escaping @Sendable () async throws(SignInError) -> Value
    ) async throws(SignInError) -> Value {
        let task = Task { () -> Result<Value, SignInError> in
            do throws(SignInError) { return .success(try await work()) } catch { return .failure(error) }
        }
        watch(for: "cancel") { task.cancel() }
        watch(for: "quit") {
            task.cancel()
            self.leave()
        }
        defer {
            watch(for: "cancel", nil)
            watch(for: "quit", nil)
        }
        return try await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }.get()
    }
}
