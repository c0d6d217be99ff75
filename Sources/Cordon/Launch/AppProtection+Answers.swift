public import CordonIdentity
internal import CordonPolicy

/// What an app asks in order to adapt its screens (SDK-PO-01…05); any thread, no waiting.
extension AppProtection {
    /// Whether Cordon asks for a PIN; an app with a PIN of its own hides it then (SDK-PO-01).
    public nonisolated func isPINRequired(for identity: Identity) -> Bool {
        policy(of: identity)?.policy.access.pinRequired ?? false
    }

    /// Whether web links go to the managed browser (SDK-PO-02).
    public nonisolated func isManagedBrowserRequired(for identity: Identity) -> Bool {
        policy(of: identity)?.policy.transfer.managedBrowserRequired ?? false
    }

    /// Whether contacts may be given to the system; an app with several identities sees to it itself (SDK-PO-03).
    public nonisolated func isContactSyncAllowed(for identity: Identity) -> Bool { permits(.syncContacts, identity) }

    /// Whether content may be given to the system's search (SDK-PO-03).
    public nonisolated func isSpotlightIndexingAllowed(for identity: Identity) -> Bool {
        permits(.indexSpotlight, identity)
    }

    /// Whether widgets may show content (SDK-PO-04).
    public nonisolated func isWidgetContentSyncAllowed(for identity: Identity) -> Bool {
        permits(.showWidget, identity)
    }

    /// Whether screens may be captured; for information, the system's block is another matter (SDK-PO-05).
    public nonisolated func isScreenCaptureAllowed(for identity: Identity) -> Bool { permits(.captureScreen, identity) }

    /// Whether a file provider hands out sealed copies only, and keeps the stored files as they are (SDK-EX-04): where the
    /// rules want files sealed, or do not let data go to any app. Cordon does not enforce it; `Vault` makes the copy.
    public nonisolated func mustFileProviderEncrypt(for identity: Identity) -> Bool {
        var send = Question(.send, owner: EffectiveIdentity(identity))
        send.peer = .unmanagedApp
        let write = decision(for: Question(.encryptFile, owner: EffectiveIdentity(identity)))
        return write.verdict != .allow || !decision(for: send).verdict.permits
    }

    private nonisolated func permits(_ action: Action, _ identity: Identity) -> Bool {
        decision(for: Question(action, owner: EffectiveIdentity(identity))).verdict.permits
    }
}
