public import Foundation

/// What to show a person who signs in on another screen.
public struct DeviceCodePrompt: Sendable, Equatable {
    /// The code to type; show it large.
    public let userCode: String
    /// The page to open on the other screen.
    public let page: URL
    /// The page with the code filled in, for a QR code; nil when the provider gives none.
    public let completePage: URL?
    /// When the code stops working.
    public let expires: Date

    init(userCode: String, page: URL, completePage: URL?, expires: Date) {
        self.userCode = userCode
        self.page = page
        self.completePage = completePage
        self.expires = expires
    }
}
