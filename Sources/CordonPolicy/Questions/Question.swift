public import CordonIdentity

/// One question to the policies: may this be done with this data?
///
/// Give only what the action uses. If action and policy together need a field that is nil, the answer is a
/// denial that names the field.
///
/// ```swift
/// let question = Question.save(to: .other, of: .managed(account))
/// let decision = protection.decision(for: question)
/// if !decision.verdict.permits { show(decision.summary) }
/// ```
public struct Question: Sendable, Hashable {
    /// What is to be done.
    public var action: Action
    /// Who owns the data, and who is on the other side.
    var parties = QuestionParties()
    /// Further accounts whose data is shown on the same page (SDK-ID-47). ``device`` is taken to hold for each of them: ask ``Action/launch`` of
    /// every account by itself.
    public var coVisibleIdentities: [Identity] = []
    /// The place, for saving and opening.
    public var location: Location?
    /// The URL, for opening one, and for sending to an exempted app by one.
    public var url: String?
    /// Whether a received item's data was loaded.
    public var loaded: Bool?
    /// Length of the copied text in characters.
    public var characters: Int?
    /// Policy of the web view concerned.
    public var viewer = WebViewerPolicy.unset
    /// Whether every web view without a policy of its own is unmanaged (settings row ST-30).
    public var webViewersUnmanaged = false
    /// What an outside evaluator said about the content.
    public var contentEvaluation: ContentEvaluation?
    /// Facts of device, app and account.
    public var device = DeviceFacts.unknown

    /// Asks about an action.
    public init(_ action: Action, owner: EffectiveIdentity?) {
        self.action = action
        self.owner = owner
    }

    /// The owner of the data; for what comes in, the receiver.
    public var owner: EffectiveIdentity? {
        get { parties.owner }
        set { parties.owner = newValue }
    }

    /// The account that owns the place; nil when unknown, which counts as unmanaged (SDK-NA-04).
    public var locationAccount: AccountID? {
        get { parties.locationAccount }
        set { parties.locationAccount = newValue }
    }

    /// The other app or account.
    public var peer: Peer? {
        get { parties.peer }
        set { parties.peer = newValue }
    }
}

/// How far a web view belongs to the account on screen, with the field's numbers (SDK-WV-04).
public enum WebViewerPolicy: Int, Sendable, Hashable, Codable, CaseIterable {
    /// As the app's settings say.
    case unset = 0
    /// An unmanaged place.
    case unmanaged = 1
    /// Content of the current identity.
    case currentIdentity = 2
    /// The same, without upload and paste.
    case currentIdentityWithoutUploadAndPaste = 3
}

/// What an outside evaluator said of content that is to be shared (SRV-RS-070).
public enum ContentEvaluation: String, Sendable, Hashable, Codable, CaseIterable {
    /// It may be shared.
    case permitted
    /// It may not.
    case refused
    /// No answer could be had.
    case unavailable
}
