public import Foundation

/// Where the browser hands the answer over (RFC 8252).
public enum SignInRedirect: Sendable, Equatable {
    /// A listener on 127.0.0.1, for one request (SI-172, SI-173).
    ///
    /// - Parameters:
    ///   - path: The path, with its leading slash.
    ///   - ports: Registered ports to try in order; empty for any free one, where the provider allows that.
    case loopback(path: String = "/callback", ports: [UInt16] = [])
    /// A claimed https address or a private-use scheme that the system routes to the app; the
    /// ``BrowserLauncher`` then returns the answer itself.
    case application(URL)
}
