internal import CordonIdentity

/// The task-local value that holds the identity of a scope: the C entry points keep it, since looking it up again costs
/// more than reading it.
@_cdecl("cordon_identity_value")
func identityValue() -> UnsafeMutableRawPointer {
    // Lives as long as the process.
    Unmanaged.passUnretained(IdentityContext.taskLocal).toOpaque()
}

/// What the C entry points ask: the identity of the scope around the code that hands work over, 0 for none.
@_cdecl("cordon_identity_now")
func identityNow(value: UnsafeMutableRawPointer) -> UInt {
    taskLocal(at: value)._withUnsafeGuaranteedRef { $0.get().word }
}

/// What runs later is called by this, under an identity that is hardly ever the one in force; restores the thread's own
/// afterwards.
@_cdecl("cordon_identity_run_later")
func runLater(
    value: UnsafeMutableRawPointer, identity: UInt, work: @convention(c) (UnsafeMutableRawPointer?) -> Void,
    context: UnsafeMutableRawPointer?
) {
    taskLocal(at: value)._withUnsafeGuaranteedRef { taskLocal in
        taskLocal.withValue(ScopedIdentity(word: identity)) { work(context) }
    }
}

/// The same for work that runs where it was handed over, or elsewhere.
@_cdecl("cordon_identity_run")
func run(
    identity: UInt, work: @convention(c) (UnsafeMutableRawPointer?) -> Void, context: UnsafeMutableRawPointer?
) {
    IdentityContext.run(as: ScopedIdentity(word: identity)) { work(context) }
}

private func taskLocal(at value: UnsafeMutableRawPointer) -> Unmanaged<TaskLocal<ScopedIdentity>> {
    .fromOpaque(value)
}
