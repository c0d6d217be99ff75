/// Who sent what is being handled just now.
extension IdentityContext {
    @TaskLocal private static var sender: AccountID?

    /// The account that sent the item at hand, such as the URL that an app is opening; nil when unknown (SDK-ID-42).
    ///
    /// It is known in the closure that Cordon's `EgressOutlets.take` runs for what another app of the organisation sealed, and in what an app
    /// runs with ``with(sender:isolation:operation:)``. A URL by itself proves no sender.
    public static var currentSender: AccountID? { sender }

    /// Runs the handling of an item with its sender known.
    public static func with<Result, Failure: Error>(
        sender: AccountID?,
        isolation: isolated (any Actor)? = #isolation,
        operation: () async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        let outcome: Swift.Result<Result, Failure> = await $sender.withValue(
            sender,
            operation: {
                do throws(Failure) { return .success(try await operation()) } catch { return .failure(error) }
            }
        )
        return try outcome.get()
    }
}
