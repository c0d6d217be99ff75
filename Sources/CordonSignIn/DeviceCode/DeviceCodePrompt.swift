internal import CordonIdentity
public import Foundation

/// What to show a person who signs in on another screen.
public struct DeviceCodePrompt: Sendable, Equatable {
    /// The code to type; show it large. It has printable characters only: the client refuses an answer with any other.
    public let userCode: String
    /// The page to open on the other screen.
    public let page: URL
    /// The page with the code filled in, for a QR code; nil when the provider gives none.
    public let completePage: URL?
    /// When the code stops working.
    public let expires: Date

    /// - Throws: ``SignInError`` with fault `invalidResponse` for a code that a person could not type, or that would do more to a
    ///   terminal than be shown.
    init(userCode: String, page: URL, completePage: URL?, expires: Date) throws(SignInError) {
        guard !userCode.isEmpty, userCode.unicodeScalars.count <= 64, TerminalText.isSafe(userCode) else {
            throw SignInError(.server, .invalidResponse, "the code to type is empty, too long or cannot be shown")
        }
        self.userCode = userCode
        self.page = page
        self.completePage = completePage
        self.expires = expires
    }
}
