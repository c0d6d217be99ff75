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
    /// - Parameters:
    ///   - appName: What stands in place of a title that is kept back.
    ///   - language: The language of the fixed words in a process without an ``AppProtection``, such as a notification service extension; nil as
    ///     in ``ProtectionConfiguration/language``. On Apple's systems that is one which the extension itself has, whatever the app has.
    public func redacted(to level: NotificationLevel, appName: String, language: String? = nil) -> NotificationText {
        switch level {
        case .allow: return self
        case .blockOrganizationalData:
            TextLanguage.follow(language)
            return NotificationText(
                title: appName, body: Texts.notificationHidden, keepsAttachments: false, keepsDetails: false)
        case .block: return NotificationText(title: appName, body: "", keepsAttachments: false, keepsDetails: false)
        }
    }
}
