/// The identity of the work at hand: a task-local value below a process-wide one.
///
/// The scoped value follows the task across suspension, child tasks, task groups and `async let`, and is
/// restored when the scope ends, also by an error (SDK-ID-23, SDK-ID-24). `Task.detached` and plain
/// threads do not inherit it: once any identity was declared in the process, work without one reads
/// ``EffectiveIdentity/lost``, which denies managed data. All members may be used from any thread.
public enum IdentityContext {
    @TaskLocal private static var scoped: Identity?

    private struct Process {
        var identity: Identity?
        var declared = false
    }
    private static let process = Locked(Process())

    /// The identity of the current scope, else of the process, else ``EffectiveIdentity/unset`` before the
    /// first declaration and ``EffectiveIdentity/lost`` after it (SDK-ID-08).
    public static var current: EffectiveIdentity {
        if let scoped { return EffectiveIdentity(scoped) }
        let process = process.withLock { $0 }
        if let identity = process.identity { return EffectiveIdentity(identity) }
        return process.declared ? .lost : .unset
    }

    /// The identity of the innermost scope around the caller, nil outside every scope (SDK-ID-25).
    public static var currentScope: Identity? { scoped }

    /// Declares one identity for all work of a process that serves a single account (SDK-ID-04, SDK-ID-11).
    ///
    /// Nil takes the declaration back: work outside a scope then reads ``EffectiveIdentity/lost``.
    public static func setProcessIdentity(_ identity: Identity?) {
        process.withLock { $0 = Process(identity: identity, declared: true) }
    }

    /// Runs the operation as work of the identity, and restores what was in force before; rethrows its error.
    public static func with<Result, Failure: Error>(
        _ identity: Identity,
        operation: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        process.withLock { $0.declared = true }
        let outcome: Swift.Result<Result, Failure> = $scoped.withValue(identity) {
            do throws(Failure) { return .success(try operation()) } catch { return .failure(error) }
        }
        return try outcome.get()
    }

    /// Runs the asynchronous operation as work of the identity; it follows the task wherever it resumes.
    public static func with<Result, Failure: Error>(
        _ identity: Identity,
        isolation: isolated (any Actor)? = #isolation,
        operation: () async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        process.withLock { $0.declared = true }
        let outcome: Swift.Result<Result, Failure> = await $scoped.withValue(
            identity,
            operation: {
                do throws(Failure) { return .success(try await operation()) } catch { return .failure(error) }
            }
        )
        return try outcome.get()
    }
}
