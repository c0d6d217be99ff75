/// Universal links of a policy, ready to be matched: exact hosts in a set, patterns with `*` in a list.
struct LinkPatterns: Sendable {
    private let hosts: Set<String>
    private let prefixes: [String: [String]]
    private let patterns: [Pattern]

    /// Host and path apart, so that a `*` in the host never reaches into the path.
    private struct Pattern: Sendable {
        let origin: [UInt8]
        let path: [UInt8]
    }

    init(_ links: Set<String>) {
        var hosts: Set<String> = []
        var prefixes: [String: [String]] = [:]
        var patterns: [Pattern] = []
        for link in links.sorted() {
            guard let parts = LinkParts(link) else { continue }
            if link.contains("*") {
                let path = parts.path.isEmpty || parts.path == "/" ? "/*" : parts.path
                patterns.append(Pattern(origin: Array(parts.origin.utf8), path: Array(path.utf8)))
            } else if parts.path.isEmpty || parts.path == "/" {
                hosts.insert(parts.origin)
            } else {
                prefixes[parts.origin, default: []].append(parts.path)
            }
        }
        (self.hosts, self.prefixes, self.patterns) = (hosts, prefixes, patterns)
    }

    /// Whether a link is one of these; scheme and host in any letter case.
    func contains(_ url: String) -> Bool {
        guard let parts = LinkParts(url) else { return false }
        if hosts.contains(parts.origin) { return true }
        if let paths = prefixes[parts.origin], paths.contains(where: { parts.isUnder($0) }) { return true }
        guard !patterns.isEmpty else { return false }
        let origin = Array(parts.origin.utf8)
        let path = Array((parts.path.isEmpty ? "/" : parts.path).utf8)
        return patterns.contains { Self.matches($0.origin[...], origin[...]) && Self.matches($0.path[...], path[...]) }
    }

    /// Whether a pattern with `*` for any run of characters matches a whole text, in linear space.
    private static func matches(_ pattern: ArraySlice<UInt8>, _ text: ArraySlice<UInt8>) -> Bool {
        var (p, t) = (pattern.startIndex, text.startIndex)
        var retry: (pattern: Int, text: Int)?
        while t < text.endIndex {
            if p < pattern.endIndex, pattern[p] == 0x2A {
                retry = (p + 1, t)
                p += 1
            } else if p < pattern.endIndex, pattern[p] == text[t] {
                p += 1
                t += 1
            } else if let (afterStar, matched) = retry {
                retry = (afterStar, matched + 1)
                (p, t) = (afterStar, matched + 1)
            } else {
                return false
            }
        }
        return pattern[p...].allSatisfy { $0 == 0x2A }
    }
}

/// The parts of a link that a match looks at.
struct LinkParts {
    /// Scheme and host in lower case, without user, port and trailing dot.
    let origin: String
    /// From the first slash, without query and fragment, in lower case.
    let path: String

    /// Reads bytes, never characters: a mark that joins a slash must not hide it.
    init?(_ link: String) {
        let bytes = link.utf8
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8) else {
            return nil
        }
        let start = bytes.index(colon, offsetBy: 3)
        let end = bytes[start...].firstIndex { Self.endsHost($0) } ?? bytes.endIndex
        var host = bytes[start..<end]
        if let at = host.lastIndex(of: UInt8(ascii: "@")) { host = host[host.index(after: at)...] }
        if let port = host.lastIndex(of: UInt8(ascii: ":")),
            host[host.index(after: port)...].allSatisfy({ $0 >= 0x30 && $0 <= 0x39 })
        {
            host = host[..<port]
        }
        if host.last == UInt8(ascii: ".") { host = host.dropLast() }
        guard !host.isEmpty else { return nil }
        origin = link[..<start].lowercased() + link[host.startIndex..<host.endIndex].lowercased()
        let pathEnd = bytes[end...].firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
        path = link[end..<(pathEnd ?? bytes.endIndex)].lowercased()
    }

    private static func endsHost(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
            || byte == UInt8(ascii: "\\")
    }

    /// Whether the path is that one or below it.
    func isUnder(_ folder: String) -> Bool {
        if path.contains("/..") || path.contains("%2e") || path.contains("\\") { return false }
        return path == folder || path.hasPrefix(folder.hasSuffix("/") ? folder : folder + "/")
    }
}
