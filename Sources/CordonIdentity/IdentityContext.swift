import CordonBase

/// The identity of the work at hand: a task-local value below a process-wide one.
///
/// The scoped value follows the task across suspension, child tasks, task groups and `async let`, and is
/// restored when the scope ends, also by an error (SDK-ID-23, SDK-ID-24). `Task.detached` and plain
/// threads do not inherit it: once any identity was declared in the process, work without one reads
/// ``EffectiveIdentity/lost``, which denies managed data. All members may be used from any thread.
///
/// Reading is cheap enough to do at every access. Nothing here is stored. A wipe does not touch it: a wiped account
/// is denied because it has no policy any more.
public enum IdentityContext {
    @usableFromInline package static let taskLocal = TaskLocal(wrappedValue: ScopedIdentity.none)
    static let levels = Locked(IdentityLevels())

    @usableFromInline static var scope: ScopedIdentity { taskLocal.get() }

    /// The identity in force for files: that of the current scope, else of the process (SDK-ID-08), else
    /// ``EffectiveIdentity/unset`` before the first declaration and ``EffectiveIdentity/lost`` after it.
    ///
    /// What a window shows never has a say in it (SDK-ID-05, SDK-ID-10); see ``currentInterface(in:)``.
    public static var current: EffectiveIdentity {
        if let interned = scope.interned { return interned.effective }
        return levels.withLock { $0.fallback }
    }

    /// The identity of the innermost scope around the caller, nil outside every scope (SDK-ID-25).
    public static var currentScope: Identity? { scope.interned?.identity }

    /// Runs the operation as work of the identity, and restores what was in force before; rethrows its error.
    ///
    /// - Parameters:
    ///   - identity: Nil is no identity of its own: the process identity then counts, if there is one (SDK-NA-02).
    ///   - operation: Runs once, on the caller's thread.
    @inlinable
    public static func with<Result, Failure: Error>(
        _ identity: Identity?,
        operation: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let outcome: Swift.Result<Result, Failure> = taskLocal.withValue(declare(identity)) {
            do throws(Failure) { return .success(try operation()) } catch { return .failure(error) }
        }
        return try outcome.get()
    }

    /// Runs the asynchronous operation as work of the identity; it follows the task wherever it resumes.
    ///
    /// - Parameters:
    ///   - identity: Nil is no identity of its own: the process identity then counts, if there is one (SDK-NA-02).
    ///   - isolation: The caller's actor, on which the operation runs.
    ///   - operation: Runs once.
    @inlinable
    public static func with<Result, Failure: Error>(
        _ identity: Identity?,
        isolation: isolated (any Actor)? = #isolation,
        operation: () async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        let outcome: Swift.Result<Result, Failure> = await taskLocal.withValue(
            declare(identity),
            operation: {
                do throws(Failure) { return .success(try await operation()) } catch { return .failure(error) }
            }
        )
        return try outcome.get()
    }

    @usableFromInline
    static func declare(_ identity: Identity?) -> ScopedIdentity {
        guard let identity else { return .none }
        return levels.withLock { levels in
            levels.isDeclared = true
            return ScopedIdentity(levels.intern(identity))
        }
    }
}
