public import CordonIdentity

/// Questions with what they need, so that none is asked by half.
///
/// ```swift
/// let decision = protection.decision(for: .save(to: .oneDriveForBusiness, account: account, of: .managed(account)))
/// ```
extension Question {
    /// Whether data may be saved to a place.
    ///
    /// - Parameters:
    ///   - place: Where it is saved.
    ///   - account: Whose place it is; nil when that is not known, or where a place belongs to no account, as the photo library.
    ///   - owner: Whose data it is.
    public static func save(to place: Location, account: AccountID? = nil, of owner: Identity) -> Question {
        var question = Question(.saveTo, owner: EffectiveIdentity(owner))
        question.location = place
        question.locationAccount = account
        return question
    }

    /// Whether data may be brought in from a place.
    ///
    /// - Parameters:
    ///   - place: Where it is opened from.
    ///   - account: Whose place it is; nil when that is not known, or where a place belongs to no account, as the camera.
    ///   - owner: Who opens it.
    public static func open(from place: Location, account: AccountID? = nil, for owner: Identity) -> Question {
        var question = Question(.openFrom, owner: EffectiveIdentity(owner))
        question.location = place
        question.locationAccount = account
        return question
    }

    /// Whether data may be given to another app or account.
    public static func send(to peer: Peer, of owner: Identity) -> Question {
        var question = Question(.send, owner: EffectiveIdentity(owner))
        question.peer = peer
        return question
    }

    /// Whether data may be taken from another app or account.
    public static func receive(from peer: Peer, for owner: Identity) -> Question {
        var question = Question(.receive, owner: EffectiveIdentity(owner))
        question.peer = peer
        return question
    }

    /// Whether a text of so many characters may be copied for another app or account.
    public static func copy(_ characters: Int?, for peer: Peer, of owner: Identity) -> Question {
        var question = Question(.copy, owner: EffectiveIdentity(owner))
        question.peer = peer
        question.characters = characters
        return question
    }

    /// Whether an item that was handed to the app may be taken in.
    ///
    /// - Parameters:
    ///   - loaded: Whether its data was loaded already.
    ///   - owner: Who receives it.
    public static func receiveItem(loaded: Bool, for owner: Identity) -> Question {
        var question = Question(.receiveItem, owner: EffectiveIdentity(owner))
        question.loaded = loaded
        return question
    }

    /// Whether a link may be opened outside the app.
    ///
    /// - Parameters:
    ///   - link: The link's address.
    ///   - isUniversal: Whether it opens in the app that claims it, and nowhere else.
    ///   - owner: Who opens it.
    public static func open(_ link: String, isUniversal: Bool = false, of owner: Identity) -> Question {
        var question = Question(isUniversal ? .openUniversalLink : .openURL, owner: EffectiveIdentity(owner))
        question.url = link
        return question
    }

    /// Whether something may be done that needs nothing further to be said: print, notify, show a widget, capture the screen, use a
    /// keyboard, index, donate an intent, use writing tools.
    public static func may(_ action: Action, of owner: Identity) -> Question {
        Question(action, owner: EffectiveIdentity(owner))
    }
}
