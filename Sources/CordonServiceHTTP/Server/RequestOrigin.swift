package import Hummingbird

/// The address that a client used, for links that lead it back here (SRV-OP-010).
///
/// The rule: a configured public address always wins. Otherwise the host is the request's own, and the scheme is that
/// of the socket; `X-Forwarded-Proto` counts only where the operator said that every request comes through a proxy
/// which sets it. `X-Forwarded-Host` and `Forwarded` never count. Nothing that decides about access looks at this.
package struct RequestOrigin: Sendable {
    /// The public address, nil when the one that the client used is to be repeated.
    let publicBase: String?
    /// The address to use when a request names none, without a slash at its end.
    let base: String
    let isBehindProxy: Bool

    /// The origin of a request's links, without a slash at its end.
    package func of(_ request: Request) -> String {
        if let publicBase { return publicBase }
        guard let authority = request.head.authority, Self.isPlain(authority) else { return base }
        return "\(scheme(of: request))://\(authority)"
    }

    private func scheme(of request: Request) -> String {
        let forwarded = isBehindProxy ? request.headers[.forwardedProtocol]?.lowercased() : nil
        if forwarded == "https" || forwarded == "http" { return forwarded ?? "" }
        return base.hasPrefix("https:") ? "https" : "http"
    }

    /// Whether a `Host` is no more than a name or address and a port.
    static func isPlain(_ authority: String) -> Bool {
        (1...255).contains(authority.utf8.count)
            && authority.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"),
                    UInt8(ascii: ":"), UInt8(ascii: "["), UInt8(ascii: "]"):
                    true
                default: false
                }
            }
    }
}
