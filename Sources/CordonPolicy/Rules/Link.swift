/// A link as rules compare it: scheme and host without user, port and trailing dot, and the path without query and fragment, all
/// in lower case. Where the link is ASCII, which nearly every link is, its own bytes are read in place.
struct Link {
    /// The link itself, or its origin and path in lower case where letters beyond ASCII have to be folded.
    private let text: String
    /// Scheme and `://`, then the host: two runs of bytes, since a user may stand between them.
    private let scheme: Range<Int>
    private let host: Range<Int>
    private let pathBytes: Range<Int>
    /// Of the origin's bytes in lower case.
    let hash: UInt64

    /// Reads bytes, never characters: a mark that joins a slash must not hide it. Nil for what has no host, and for what two parsers
    /// may send to different hosts.
    init?(_ link: String) {
        guard let parts = Self.withBytes(of: link, { Parts($0) }) else { return nil }
        if parts.isASCII {
            (text, scheme, host, pathBytes) = (link, 0..<parts.schemeEnd, parts.host, parts.path)
        } else {
            let scheme = Self.folded(0..<parts.schemeEnd, of: link)
            let host = Self.folded(parts.host, of: link)
            let path = Self.folded(parts.path, of: link)
            text = scheme + host + path
            self.scheme = 0..<scheme.utf8.count
            self.host = self.scheme.upperBound..<self.scheme.upperBound + host.utf8.count
            pathBytes = self.host.upperBound..<self.host.upperBound + path.utf8.count
        }
        let (scheme, host) = (scheme, host)
        hash = Self.withBytes(of: text) { bytes in
            var hash: UInt64 = 0xCBF2_9CE4_8422_2325
            for byte in bytes[scheme] { hash = (hash ^ UInt64(Self.lowercase(byte))) &* 0x100_0000_01B3 }
            for byte in bytes[host] { hash = (hash ^ UInt64(Self.lowercase(byte))) &* 0x100_0000_01B3 }
            return hash
        }
    }

    /// Scheme and host.
    var origin: [UInt8] {
        Self.withBytes(of: text) { bytes in (Array(bytes[scheme]) + bytes[host]).map { Self.lowercase($0) } }
    }

    /// From the first slash.
    var path: [UInt8] { Self.withBytes(of: text) { bytes in bytes[pathBytes].map { Self.lowercase($0) } } }

    /// Whether scheme and host are these bytes, which are in lower case.
    func hasOrigin(_ origin: [UInt8]) -> Bool {
        guard origin.count == scheme.count + host.count else { return false }
        return Self.withBytes(of: text) { bytes in
            for (index, byte) in bytes[scheme].enumerated() where Self.lowercase(byte) != origin[index] { return false }
            for (index, byte) in bytes[host].enumerated() where Self.lowercase(byte) != origin[scheme.count + index] {
                return false
            }
            return true
        }
    }

    /// Whether the path may lead out of a folder that it begins with, also for a server that decodes it before it is split.
    var mayClimb: Bool {
        let path = path
        return ["/..", "%2f..", "%5c..", "%2e"].contains { path.contains($0.utf8) }
    }

    /// Whether the path is that one or below it.
    func isUnder(_ folder: [UInt8]) -> Bool {
        let path = path
        guard path.starts(with: folder) else { return false }
        return path.count == folder.count || folder.last == UInt8(ascii: "/") || path[folder.count] == UInt8(ascii: "/")
    }

    private static func lowercase(_ byte: UInt8) -> UInt8 {
        byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
    }

    private static func folded(_ range: Range<Int>, of link: String) -> String {
        withBytes(of: link) { String(decoding: $0[range], as: UTF8.self) }.lowercased()
    }

    /// The text's bytes, of a copy where it does not hold them itself.
    private static func withBytes<Result>(of text: String, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        if let result = text.utf8.withContiguousStorageIfAvailable(body) { return result }
        return Array(text.utf8).withUnsafeBufferPointer(body)
    }

    /// Where the parts of a link stand in its bytes.
    private struct Parts {
        let schemeEnd: Int
        let host: Range<Int>
        let path: Range<Int>
        let isASCII: Bool

        init?(_ bytes: UnsafeBufferPointer<UInt8>) {
            guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes.count >= colon + 3,
                bytes[colon + 1] == UInt8(ascii: "/"), bytes[colon + 2] == UInt8(ascii: "/")
            else { return nil }
            schemeEnd = colon + 3
            var (start, end) = (schemeEnd, schemeEnd)
            while end < bytes.count, !Self.endsHost(bytes[end]) {
                if bytes[end] == UInt8(ascii: "@") { start = end + 1 }
                end += 1
            }
            let pathStart = end
            var port = end
            while port > start, bytes[port - 1] >= 0x30, bytes[port - 1] <= 0x39 { port -= 1 }
            if port > start, bytes[port - 1] == UInt8(ascii: ":") { end = port - 1 }
            if end > start, bytes[end - 1] == UInt8(ascii: ".") { end -= 1 }
            guard end > start else { return nil }
            host = start..<end
            var pathEnd = pathStart
            while pathEnd < bytes.count, bytes[pathEnd] != UInt8(ascii: "?"), bytes[pathEnd] != UInt8(ascii: "#") {
                pathEnd += 1
            }
            path = pathStart..<pathEnd
            var seen: UInt8 = 0
            for byte in bytes[..<pathEnd] {
                // Some parsers end the host at a backslash, or drop control characters; others take both as they stand.
                guard byte >= 0x20, byte != UInt8(ascii: "\\") else { return nil }
                seen |= byte
            }
            isASCII = seen < 0x80
        }

        private static func endsHost(_ byte: UInt8) -> Bool {
            byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
        }
    }
}
