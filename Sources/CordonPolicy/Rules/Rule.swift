/// The names of the rules, as reasons give them.
public enum Rule: String, Sendable, Hashable, Codable, CaseIterable {
    /// A managed account whose policy is not known, not readable or not yet received.
    case policyUnknown = "policy.unknown"
    /// A setting marked critical that this version does not know.
    case policyCritical = "policy.critical-setting"
    /// Work whose identity did not follow it.
    case identityLost = "identity.lost"
    /// A question that lacks a field.
    case questionIncomplete = "question.incomplete"
    /// A question that could not be read.
    case questionUnreadable = "question.unreadable"
    /// Saving a copy.
    case saveAs = "transfer.save-as"
    /// Opening into organisation documents.
    case openFrom = "transfer.open-from"
    /// Sending out.
    case outgoing = "transfer.outgoing"
    /// Taking in.
    case incoming = "transfer.incoming"
    /// An item that is not loaded.
    case itemNotLoaded = "transfer.item-not-loaded"
    /// App Clips.
    case appClip = "transfer.app-clip"
    /// Web extensions.
    case webExtension = "transfer.web-extension"
    /// An outside evaluator.
    case contentEvaluation = "transfer.content-evaluation"
    /// Copying out.
    case clipboardOut = "clipboard.copy"
    /// Pasting in.
    case clipboardIn = "clipboard.paste"
    /// Printing.
    case print = "output.print"
    /// Screen capture.
    case screenCapture = "output.screen-capture"
    /// Notifications.
    case notification = "output.notification"
    /// Backup.
    case backup = "storage.backup"
    /// Encryption of files.
    case encryption = "storage.encryption"
    /// Web links.
    case webLink = "url.web-link"
    /// Universal links.
    case universalLink = "url.universal-link"
    /// Other URLs.
    case urlScheme = "url.scheme"
    /// Telephone numbers.
    case dialer = "url.dialer"
    /// Text messages.
    case messaging = "url.messaging"
    /// Siri, App Intents and Spotlight.
    case systemIntelligence = "system.assistant"
    /// Search.
    case spotlight = "system.spotlight"
    /// Contacts.
    case contacts = "system.contacts"
    /// Widgets.
    case widgets = "system.widgets"
    /// Keyboards.
    case keyboard = "input.keyboard"
    /// Image glyphs.
    case genmoji = "input.genmoji"
    /// Writing tools.
    case writingTools = "input.writing-tools"
    /// Uploads of a web view.
    case webUpload = "web.upload"
    /// Pasting into a web view.
    case webPaste = "web.paste"
    /// Disabled account.
    case launchAccount = "launch.account"
    /// Rooted device.
    case launchRooted = "launch.rooted"
    /// Version of this library.
    case launchSDKVersion = "launch.sdk-version"
    /// Version of the app.
    case launchAppVersion = "launch.app-version"
    /// Version of the operating system.
    case launchOSVersion = "launch.os-version"
    /// Threat level.
    case launchThreat = "launch.threat-level"
    /// Device model.
    case launchModel = "launch.device-model"
    /// Working time.
    case launchClock = "launch.clock"
    /// Too long offline.
    case launchOffline = "launch.offline"
    /// A clock turned back.
    case launchClockTurnedBack = "launch.clock-turned-back"
    /// A device without a passcode.
    case launchPasscode = "launch.device-passcode"
    /// PIN attempts.
    case launchPINAttempts = "launch.pin-attempts"
    /// PIN age.
    case launchPINAge = "launch.pin-age"
    /// PIN due.
    case launchPIN = "launch.pin"
    /// Sign-in due.
    case launchCredentials = "launch.credentials"
    /// A launch gate that was not passed.
    case launchGate = "launch.gate"
}
