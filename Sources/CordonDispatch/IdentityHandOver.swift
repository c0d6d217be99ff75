internal import CordonIdentity

/// What the C entry points ask: the identity of the scope around the code that hands work over, 0 for none.
@_cdecl("cordon_identity_now")
func identityNow() -> UInt {
    IdentityContext.captured.word
}

/// What a block calls that runs where it was handed over, or elsewhere: runs the work under the identity, and restores the
/// thread's own afterwards.
@_cdecl("cordon_identity_run")
func run(
    identity: UInt, work: @convention(c) (UnsafeMutableRawPointer?) -> Void, context: UnsafeMutableRawPointer?
) {
    IdentityContext.run(as: ScopedIdentity(word: identity)) { work(context) }
}

/// The same for work that runs later, where the identity in force is hardly ever the one to run under.
@_cdecl("cordon_identity_run_later")
func runLater(
    identity: UInt, work: @convention(c) (UnsafeMutableRawPointer?) -> Void, context: UnsafeMutableRawPointer?
) {
    IdentityContext.taskLocal.withValue(ScopedIdentity(word: identity)) { work(context) }
}
