public import CordonPolicy

/// One thing that a share sheet or a document menu could offer.
public struct ShareTarget: Sendable, Hashable {
    /// What it does with the data.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Hands it sealed to a managed app of the same account: the action extension "Open in …" (SDK-SX-02).
        case openIn
        /// Gives a plain copy to an app that declares the document's type: "Copy to …" (SDK-SX-02).
        case copyTo
        /// Gives it to an app in which Cordon is known to run.
        case managedApp
        /// Gives it to any other app or service.
        case otherApp
        /// Prints it.
        case print
        /// Puts it on the clipboard.
        case clipboard
        /// Saves it to the photo library.
        case photos
        /// Saves it to a place that other apps see.
        case files
    }

    /// What it does.
    public let kind: Kind
    /// Names the target, such as by its bundle id.
    public let id: String

    /// Names a target.
    public init(_ kind: Kind, _ id: String) {
        self.kind = kind
        self.id = id
    }
}

/// What a share sheet may show, and why it does not show the rest.
public struct ShareSheet: Sendable, Equatable {
    /// What may be shown, in the order it was offered.
    public let shown: [ShareTarget]
    /// What may not, with the verdict on it.
    public let hidden: [ShareTarget: PolicyDecision]
}
