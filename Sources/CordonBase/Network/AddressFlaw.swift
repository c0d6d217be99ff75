package import Foundation

/// Why no request is sent to an address.
///
/// Addresses come from settings, from discovery documents and from people. The libraries below end the process over some
/// of them (a missing scheme, a port above 65535), so every address is looked at before a request is made to it.
package enum AddressFlaw: Sendable, Equatable {
    /// It is no absolute address of a host, or it carries a name and password.
    case malformed
    /// It is neither https nor plain http on this machine.
    case insecure

    /// The longest address that is looked at, in bytes.
    package static let longestAddress = 4_096

    /// What is wrong, to be put after the name of what the address is for.
    package var predicate: String {
        switch self {
        case .malformed: "is not an address"
        case .insecure: "is neither https nor on this machine"
        }
    }

    /// Looks at an address; nil when a request may be sent there.
    package init?(of url: URL) {
        guard url.absoluteString.utf8.count <= Self.longestAddress,
            let parts = URLComponents(url: url, resolvingAgainstBaseURL: true)
        else {
            self = .malformed
            return
        }
        self.init(of: parts)
    }

    /// Looks at an address in parts; nil when a request may be sent there.
    package init?(of parts: URLComponents) {
        guard let host = Self.host(of: parts), Self.isHost(host), parts.user == nil, parts.password == nil,
            parts.rangeOfPort == nil || parts.port.map((1...65_535).contains) == true
        else {
            self = .malformed
            return
        }
        switch parts.scheme?.lowercased() {
        case "https": return nil
        case "http" where Loopback.includes(host): return nil
        case nil: self = .malformed
        default: self = .insecure
        }
    }

    /// The host as it is shown. A plain one is what it is encoded as, and to decode one loads the tables of other scripts, which an app would
    /// wait for at its start.
    private static func host(of parts: URLComponents) -> String? {
        guard let encoded = parts.encodedHost, !encoded.lowercased().contains("xn--"),
            encoded.utf8.allSatisfy({ byte in
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
                    || (UInt8(ascii: "-")...UInt8(ascii: ":")).contains(byte)
            })
        else { return parts.host }
        return encoded
    }

    /// Nothing that a resolver or a log would read as something else.
    private static func isHost(_ host: String) -> Bool {
        !host.isEmpty
            && host.unicodeScalars.allSatisfy { $0.value > 0x20 && $0.value != 0x7F && $0 != "/" && $0 != "@" }
    }
}
