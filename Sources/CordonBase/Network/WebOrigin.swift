/// Scheme, host and port of an address (RFC 6454).
///
/// Read letter by letter and not by a URL parser: what another reader might take for another host is no origin.
package struct WebOrigin: Sendable, Hashable {
    package let scheme: String
    package let host: String
    package let port: Int

    /// Whether it is this machine itself.
    package var isOwn: Bool { ["127.0.0.1", "[::1]"].contains(host) }

    /// The origin of an address of HTTP without query, fragment or user; nil for anything else.
    package init?(_ address: String) {
        guard address.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !#"\?#"#.utf8.contains($0) }) else { return nil }
        let parts = address.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count >= 3, parts[1].isEmpty, let usual = ["https:": 443, "http:": 80][parts[0].lowercased()] else {
            return nil
        }
        scheme = String(parts[0].lowercased().dropLast())
        let authority = parts[2].lowercased()
        // The colons of an IPv6 address stand in brackets.
        let colon = authority.lastIndex(of: ":").flatMap { colon in
            authority[colon...].contains("]") ? nil : colon
        }
        host = String(authority[..<(colon ?? authority.endIndex)])
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        let letters = isBracketed ? host.dropFirst().dropLast() : host[...]
        let others = isBracketed ? ":." : "-._"
        guard !letters.isEmpty,
            letters.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) || others.contains($0) })
        else { return nil }
        guard let colon else {
            port = usual
            return
        }
        let digits = authority[authority.index(after: colon)...]
        guard (1...5).contains(digits.count), digits.allSatisfy({ $0.isASCII && $0.isNumber }),
            let number = Int(digits),
            (1...65_535).contains(number)
        else { return nil }
        port = number
    }
}
