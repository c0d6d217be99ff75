internal import CordonIdentity

/// What the C entry points ask: the identity of the scope around the code that hands work over, 0 for none.
@_cdecl("cordon_identity_now")
func identityNow() -> UInt {
    IdentityContext.captured.word
}

/// What a wrapped block calls: runs the work under the identity, and restores the thread's own afterwards.
@_cdecl("cordon_identity_run")
func run(
    identity: UInt, work: @convention(c) (UnsafeMutableRawPointer?) -> Void, context: UnsafeMutableRawPointer?
) {
    IdentityContext.run(as: ScopedIdentity(word: identity)) { work(context) }
}
