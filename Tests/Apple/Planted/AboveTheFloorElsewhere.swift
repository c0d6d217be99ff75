// refused: needs iOS 17.4
// The condition has ended where the callback is used.

import AuthenticationServices
import Foundation

@MainActor func page(_ url: URL) -> ASWebAuthenticationSession? {
    if #available(iOS 17.4, macOS 14.4, *) { _ = url }
    return ASWebAuthenticationSession(
        url: url, callback: .https(host: "a", path: "/"), completionHandler: { _, _ in })
}
