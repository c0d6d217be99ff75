public import Cordon
internal import CordonBase

/// What a notification shows: the part of the system's content that may hold organisation data.
public struct NotificationText: Sendable, Equatable {
    /// The heading.
    public var title: String
    /// The second heading.
    public var subtitle: String
    /// The text.
    public var body: String
    /// Whether pictures and files stay with it.
    public var keepsAttachments: Bool
    /// Whether what the sender added for the app, such as a conversation's name, stays with it.
    public var keepsDetails: Bool

    /// Makes a text.
    public init(
        title: String, subtitle: String = "", body: String, keepsAttachments: Bool = true, keepsDetails: Bool = true
    ) {
        self.title = title
        self.subtitle = subtitle
        self.body = body
        self.keepsAttachments = keepsAttachments
        self.keepsDetails = keepsDetails
    }

    /// The text as the rules let it be shown (SDK-NO-01): all of it, fixed words in its place, or nothing.
    ///
    /// A system that shows every notification it was given shows an empty one for nothing; so the app's name is left.
    /// - Parameter appName: What stands in place of a title that is kept back.
    public func redacted(to level: NotificationLevel, appName: String) -> NotificationText {
        switch level {
        case .allow: self
        case .blockOrganizationalData:
            NotificationText(
                title: appName, body: Texts.notificationHidden, keepsAttachments: false, keepsDetails: false)
        case .block: NotificationText(title: appName, body: "", keepsAttachments: false, keepsDetails: false)
        }
    }
}
