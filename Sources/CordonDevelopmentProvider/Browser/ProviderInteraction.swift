import Foundation

/// A page that waits for its form. It belongs to one browser and answers to one token, so that no other site can send
/// the form (CSRF) and no other browser can continue it.
struct ProviderInteraction: Sendable {
    enum Purpose: Sendable {
        case authorization(ProviderAuthorizationRequest)
        /// A person types the code of a device.
        case deviceEntry
        /// A person decides on the device with this key.
        case device(String)
        case endSession(ProviderEndSession)
    }

    var purpose: Purpose
    /// Digest of the browser's cookie.
    let browser: String
    let token: String
    /// Whether a sign-in must happen on this page, even if a person is signed in already.
    var mustSignIn: Bool
    var hasConsent = false
}

/// An end-of-session request that was found correct.
struct ProviderEndSession: Sendable {
    let redirectURI: String?
    let state: String?
}
