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

    /// Whether the system's document picker may be offered in a mode: whether the rules leave any place open for it. Which places
    /// those are is ``locations(for:of:account:)``; whether anybody is there is not known (SDK-DT-28).
    public nonisolated func isDocumentPickerAllowed(_ mode: DocumentPickerMode, for identity: Identity) -> Bool {
        locations(for: mode.action, of: identity, account: identity.account).values.contains(where: \.permits)
    }

    private nonisolated func permits(_ action: Action, _ identity: Identity) -> Bool {
        decision(for: Question(action, owner: EffectiveIdentity(identity))).verdict.permits
    }
}

/// What the system's document picker is for (SDK-DT-28).
public enum DocumentPickerMode: String, Sendable, Hashable, CaseIterable {
    /// Takes a copy of a document in.
    case `import`
    /// Opens a document where it is.
    case open
    /// Puts a copy of a document elsewhere.
    case export
    /// Puts a document elsewhere.
    case move

    fileprivate var action: Action {
        switch self {
        case .import, .open: .openFrom
        case .export, .move: .saveTo
        }
    }
}
