/// What an app wants to do with data. The raw value is the name in a question's JSON.
public enum Action: String, Sendable, Hashable, Codable, CaseIterable {
    /// Save a copy to a place (SDK-DT-01).
    case saveTo
    /// Bring data in from a place (SDK-DT-13).
    case openFrom
    /// Whether anything may be shared at all.
    case share
    /// Show data in an App Clip (SDK-EX-01).
    case appClip
    /// Exchange data with a Safari web extension (SDK-EX-02).
    case webExtension
    /// Take an item handed to a share extension (SDK-DT-18).
    case receiveItem
    /// Send data to another app or account (SDK-DT-22).
    case send
    /// Take data from another app or account (SDK-DT-24).
    case receive
    /// Put data on the clipboard.
    case copy
    /// Take data from the clipboard.
    case paste
    /// Print (SDK-PR-01).
    case print
    /// Open a URL (SDK-DT-26). A web view asks for what leads out of it; whether a link is internal is the app's own
    /// knowledge, and an internal one, such as to a document of the same account, is not asked for (SDK-WV-05, SDK-WV-06).
    case openURL
    /// Open a universal link in its app (SDK-DT-26).
    case openUniversalLink
    /// Show a notification (SDK-NO-01).
    case notify
    /// Offer or donate a Siri intent (SDK-SI-01).
    case siriIntent
    /// Offer an App Intent (SDK-SI-03).
    case appIntent
    /// Write contacts to the address book (SDK-PO-03).
    case syncContacts
    /// Make data searchable by the system (SDK-PO-03).
    case indexSpotlight
    /// Show data in a widget (SDK-PO-04).
    case showWidget
    /// Let the screen be captured (SDK-DT-30).
    case captureScreen
    /// Put files into a backup (SDK-FP-09).
    case backUp
    /// Use a keyboard of another maker.
    case useKeyboard
    /// Upload through a web view (SDK-WV-04).
    case webUpload
    /// Paste into a web view (SDK-WV-03).
    case webPaste
    /// Write a file (SDK-FP-01); `restrict` means encrypted only.
    case encryptFile
    /// Show the account's data at launch, resume or switch (SDK-CL-01).
    case launch
    /// Insert an adaptive image glyph (SRV-RS-098).
    case useGenmoji
    /// Use the system's writing tools (SRV-RS-099).
    case useWritingTools
}
