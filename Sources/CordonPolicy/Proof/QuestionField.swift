internal import CordonIdentity

/// A part of a question that an answer can depend on, or that a sentence speaks of.
enum QuestionField: String, CaseIterable, Sendable {
    case owner, alsoOpen, peer, location, account, url, loaded, characters, viewer, content
    case online, rooted, passcode, disabled, threat, model, os, app, sdk, clock, clockedOut
    case offline, idle, pinAge, signIn, attempts

    /// The fields that the rules for an action read.
    static func read(by action: Action) -> [QuestionField] {
        switch action {
        case .saveTo: [.location, .account, .content, .online]
        case .openFrom: [.location, .account]
        case .send: [.peer, .url, .content, .online]
        case .receive: [.peer]
        case .receiveItem: [.peer, .loaded]
        case .copy: [.peer, .characters, .viewer, .content, .online]
        case .paste: [.peer, .characters, .viewer]
        case .print: [.content, .online]
        case .openURL, .openUniversalLink: [.peer, .url]
        case .webUpload: [.viewer, .content, .online]
        case .webPaste: [.viewer, .characters, .content, .online]
        case .launch: LaunchGroup.allCases.flatMap(\.fields)
        case .share, .appClip, .webExtension, .notify, .siriIntent, .appIntent, .syncContacts, .indexSpotlight,
            .showWidget, .captureScreen, .backUp, .useKeyboard, .encryptFile, .useGenmoji, .useWritingTools:
            []
        }
    }
}

/// The accounts of the model: the one that the policies are for, and another work account beside it.
enum ModelAccount {
    static let own = AccountID("work-account")
    static let other = AccountID("other-work-account")
}
