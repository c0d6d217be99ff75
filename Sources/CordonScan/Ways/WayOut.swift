/// A way by which an organisation's data leaves an app, or comes in. Its raw value names it in waivers, SARIF and JSON.
package enum WayOut: String, Sendable, CaseIterable, Codable {
    case pasteboard
    case paste
    case share
    case print
    case export
    case open
    case drag
    case drop
    case file
    case database
    case defaults
    case keychain
    case web
    case link
    case notification
    case siri
    case handoff
    case spotlight
    case widget
    case keyboard
    case mail
    case photos
    case preview
    case cloud
    case network
    case log
    case capture
    case speech
    case nearby
    case contacts
    case backup
    case container
    case intake
    case indirect

    /// What the way is, a few words.
    package var title: String { description.title }
    /// What leaves by it, and who sees it.
    package var leaves: String { description.leaves }
    /// What to call instead or before.
    package var remedy: String { description.remedy }
    /// Which questions, asked before, guard it.
    var actions: ActionSet { description.actions }
    /// Whether data that Cordon sealed may go this way unasked.
    var takesSealed: Bool {
        switch self {
        case .file, .database, .defaults, .keychain, .container, .cloud, .backup, .network: true
        default: false
        }
    }

    private struct Description {
        let title: String
        let leaves: String
        let remedy: String
        let actions: ActionSet
    }

    private static let descriptions: [WayOut: Description] = Dictionary(
        uniqueKeysWithValues: allCases.map { ($0, $0.makeDescription()) })

    private var description: Description { Self.descriptions[self] ?? makeDescription() }

    // One row for each way: the sentences are the table.
    // swift-format-ignore
    private func makeDescription() -> Description {
        switch self {
        case .pasteboard: Description(
            title: "pasteboard", leaves: "every app on the device can read what is copied",
            remedy: "copy with protection.outlets.copy(_:of:to: PasteboardClipboard())",
            actions: ActionSet("copy"))
        case .paste: Description(
            title: "reading the pasteboard", leaves: "another app's text comes in unasked",
            remedy: "take it with protection.outlets.paste(from: PasteboardClipboard(), for:)", actions: ActionSet("paste", "webPaste"))
        case .share: Description(
            title: "share sheet", leaves: "any app that the person picks gets the items",
            remedy: "show ProtectedShareSheet(_:of:by:), or hand over with protection.outlets.openIn(_:named:of:by: OpenInSheet(on:))",
            actions: ActionSet("share", "send", "saveTo"))
        case .print: Description(
            title: "printing", leaves: "the document is on paper",
            remedy: "print with protection.outlets.print(_:title:of:on: SystemPrinter())",
            actions: ActionSet("print"))
        case .export: Description(
            title: "export of a document", leaves: "a plain copy lies outside the app",
            remedy: "save with protection.outlets.save(_:named:of:to: PickedPlace(_:of:on:), at:)",
            actions: ActionSet("saveTo", "send", "share"))
        case .open: Description(
            title: "opening a document from outside", leaves: "another app's document comes in unasked",
            remedy: "open with protection.openDocument(for:on:), or ask protection.rules.isDocumentPickerAllowed(.open, for:)",
            actions: ActionSet("openFrom", "receive", "receiveItem"))
        case .drag: Description(
            title: "drag", leaves: "the app that it is dropped on gets the item",
            remedy: "give the interaction a ProtectedDrag, or ask Question(.send, owner:) before an item is given",
            actions: ActionSet("send", "share", "copy"))
        case .drop: Description(
            title: "drop", leaves: "another app's item comes in unasked",
            remedy: "give the interaction a ProtectedDrop, or take it with protection.outlets.take(_:for:)",
            actions: ActionSet("receiveItem", "receive", "paste", "openFrom"))
        case .file: Description(
            title: "plain file", leaves: "the contents lie on disk unsealed, in backups too, and a wipe does not find them",
            remedy: "write with protection.files.write(_:as:of:), or seal it with protection.files.protect(_:for:)",
            actions: ActionSet("saveTo", "encryptFile", "backUp"))
        case .database: Description(
            title: "plain database", leaves: "the rows lie on disk unsealed, in backups too, and a wipe does not find them",
            remedy: "open it through CordonVaultSQLite, or keep sealed values in it (protection.files.protect(_:for:))",
            actions: ActionSet("encryptFile"))
        case .defaults: Description(
            title: "user defaults", leaves: "the value lies in a plain property list that a wipe does not find",
            remedy: "keep it with protection.files.write(_:as:of:), or seal it with protection.files.protect(_:for:)",
            actions: ActionSet("encryptFile"))
        case .keychain: Description(
            title: "keychain", leaves: "the item outlives a wipe of the account, and the app itself",
            remedy: "seal it with protection.files.protect(_:for:), or delete the item in ProtectionConfiguration.wipeHook and waive this with that reason",
            actions: ActionSet("encryptFile"))
        case .web: Description(
            title: "web view", leaves: "the page and whatever it links to get what is typed, uploaded and copied in it",
            remedy: "give the view a WebViewGuard, show ProtectedWebView, and load in protection.rules.whenAllowed(.open(_:of:))",
            actions: ActionSet("openURL", "openUniversalLink", "webUpload", "webPaste"))
        case .link: Description(
            title: "link out of the app", leaves: "another app gets the address and what stands in it",
            remedy: "open with protection.outlets.openLink(_:of:with: SystemLinkOpener())",
            actions: ActionSet("openURL", "openUniversalLink"))
        case .notification: Description(
            title: "notification", leaves: "the text stands on the lock screen and on paired devices",
            remedy: "add it in protection.rules.whenAllowed(.may(.notify, of:)), and derive the service extension from ProtectedNotificationService",
            actions: ActionSet("notify"))
        case .siri: Description(
            title: "Siri and App Intents", leaves: "the system and its assistants get the values",
            remedy: "donate with ProtectedDonations, and answer in protection.rules.whenAllowed(.may(.appIntent, of:))",
            actions: ActionSet("siriIntent", "appIntent"))
        case .handoff: Description(
            title: "user activity", leaves: "other devices of the person, search and Siri get the activity",
            remedy: "ask protection.permit(for: Question(.send, owner:)) before it becomes current",
            actions: ActionSet("send", "share", "indexSpotlight", "siriIntent"))
        case .spotlight: Description(
            title: "Spotlight", leaves: "the system's search holds the text outside the app",
            remedy: "index in protection.rules.whenAllowed(.may(.indexSpotlight, of:))", actions: ActionSet("indexSpotlight"))
        case .widget: Description(
            title: "widget or live activity", leaves: "the home screen and the lock screen show the content",
            remedy: "show what protection.rules.only(_:for: .showWidget, owner:) leaves", actions: ActionSet("showWidget"))
        case .keyboard: Description(
            title: "other makers' keyboards", leaves: "the keyboard's maker can read what is typed",
            remedy: "answer with protection.allows(_:for:)",
            actions: ActionSet("useKeyboard"))
        case .mail: Description(
            title: "mail or message composer", leaves: "another app sends the text and the attachments",
            remedy: "show it in protection.rules.whenAllowed(.send(to: .unmanagedApp, of:))", actions: ActionSet("send", "share"))
        case .photos: Description(
            title: "photo library", leaves: "every app with access to photos can read the picture",
            remedy: "take a permit for Question(.saveTo, owner:) with location .cameraRoll and save with protection.outlets.save(_:named:of:to:permit:)",
            actions: ActionSet("saveTo"))
        case .preview: Description(
            title: "Quick Look or Open In", leaves: "the preview offers to share, save and print a plain file",
            remedy: "show ProtectedPreview.open(_:named:of:by:handedOutBy:)",
            actions: ActionSet("share", "send", "saveTo", "print"))
        case .cloud: Description(
            title: "iCloud", leaves: "a personal cloud account holds the data",
            remedy: "take a permit for Question(.saveTo, owner:) or Question(.backUp, owner:), or store sealed bytes (protection.files.protect(_:for:))",
            actions: ActionSet("saveTo", "backUp"))
        case .network: Description(
            title: "upload or analytics", leaves: "a server outside the organisation may get the data",
            remedy: "check the server with protection.pinning.checkPins, or waive with the server's name as the reason",
            actions: ActionSet("send", "saveTo", "webUpload"))
        case .log: Description(
            title: "log", leaves: "the system's log keeps it, and a reader of the device's diagnostics sees it",
            remedy: "log through ProtectionLog, or leave the value out (os_log hides it without `public`)", actions: [])
        case .capture: Description(
            title: "capture of the screen", leaves: "a picture of the screen leaves the app's hands",
            remedy: "ask protection.rules.isScreenCaptureAllowed(for:)", actions: ActionSet("captureScreen"))
        case .speech: Description(
            title: "speech", leaves: "the text is spoken aloud, or the recording goes to a recogniser",
            remedy: "ask protection.permit(for: Question(.send, owner:)) first", actions: ActionSet("send", "share", "siriIntent"))
        case .nearby: Description(
            title: "nearby or paired device", leaves: "another device gets the data",
            remedy: "take protection.permit(for: Question(.send, owner:)) first", actions: ActionSet("send", "share"))
        case .contacts: Description(
            title: "contacts or calendar", leaves: "every app with access to contacts or calendars can read it",
            remedy: "ask protection.rules.isContactSyncAllowed(for:)", actions: ActionSet("syncContacts", "saveTo"))
        case .backup: Description(
            title: "backup", leaves: "the file goes into the device's backup",
            remedy: "ask Question(.backUp, owner:)", actions: ActionSet("backUp"))
        case .container: Description(
            title: "container in common", leaves: "other apps or the Files app see the folder",
            remedy: "keep only sealed files there (protection.files, SharingGroup), and waive this with that reason",
            actions: ActionSet("saveTo", "encryptFile"))
        case .intake: Description(
            title: "way in", leaves: "other apps hand things in unasked",
            remedy: "take them with protection.outlets.take(_:for:), or ask Question(.receive, owner:), and waive this with that reason",
            actions: ActionSet("receive", "receiveItem", "openFrom", "openUniversalLink"))
        case .indirect: Description(
            title: "way out by name", leaves: "what is called is decided by a text, so that the source does not show it",
            remedy: "call it by its name, with the guard that belongs to it", actions: .any)
        }
    }
}
