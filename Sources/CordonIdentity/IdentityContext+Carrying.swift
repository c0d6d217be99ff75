/// Taking the identity along where the language does not: to plain threads, timers and callbacks.
extension IdentityContext {
    /// Binds work to the identity of the scope around this call. Whatever code runs it, on whatever thread, it is that
    /// identity's work; afterwards the thread's own identity is restored.
    ///
    /// ```swift
    /// Thread.detachNewThread { export(notes) }                            // reads as lost
    /// Thread.detachNewThread(IdentityContext.carrying { export(notes) })  // has the caller's identity
    /// ```
    ///
    /// Without a scope around this call, the work has no identity either, whatever code runs it.
    public static func carrying<Result>(_ work: @escaping @Sendable () -> Result) -> @Sendable () -> Result {
        let captured = scope
        return { run(as: captured, work) }
    }

    /// Binds asynchronous work in the same way, such as the body of a detached task.
    public static func carrying<Result>(
        _ work: @escaping @Sendable () async throws -> Result
    ) -> @Sendable () async throws -> Result {
        let captured = scope
        return { try await taskLocal.withValue(captured) { try await work() } }
    }

    /// What the scope around the caller holds.
    @inlinable
    package static var captured: ScopedIdentity { taskLocal.get() }

    /// Runs work under what was captured; costs next to nothing where that is in force already.
    @inlinable
    package static func run<Result>(as captured: ScopedIdentity, _ work: () -> Result) -> Result {
        taskLocal.get() == captured ? work() : taskLocal.withValue(captured, operation: work)
    }
}
