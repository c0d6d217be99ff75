/// Universal links of a policy, ready to be matched: exact origins by their hash, patterns with `*` in a list.
struct LinkPatterns: Sendable {
    private let origins: [Origin]
    /// The positions of origins by the lowest bits of their hashes; -1 is free.
    private let slots: [Int]
    private let patterns: [Pattern]

    /// A host without `*`, and which of its paths are listed.
    private struct Origin: Sendable {
        let hash: UInt64
        let bytes: [UInt8]
        var isWhole = false
        var paths: [[UInt8]] = []
    }

    /// Host and path apart, so that a `*` in the host never reaches into the path.
    private struct Pattern: Sendable {
        let origin: [UInt8]
        let path: [UInt8]
    }

    init(_ links: Set<String>) {
        // Whole origins have no path. A list and no dictionary, whose type the runtime would have to look for at every start of an app.
        var exact: [(origin: [UInt8], hash: UInt64, path: [UInt8]?)] = []
        var patterns: [Pattern] = []
        for text in links.sorted() {
            guard let link = Link(text) else { continue }
            let (origin, path) = (link.origin, link.path)
            let isWhole = path.isEmpty || path == Self.root
            if text.contains("*") {
                patterns.append(Pattern(origin: origin, path: isWhole ? Self.all : path))
            } else {
                exact.append((origin, link.hash, isWhole ? nil : path))
            }
        }
        exact.sort { $0.hash < $1.hash }
        var origins: [Origin] = []
        for link in exact {
            var place = origins.count - 1
            while place >= 0, origins[place].hash == link.hash, origins[place].bytes != link.origin { place -= 1 }
            if place < 0 || origins[place].hash != link.hash {
                place = origins.count
                origins.append(Origin(hash: link.hash, bytes: link.origin))
            }
            if let path = link.path { origins[place].paths.append(path) } else { origins[place].isWhole = true }
        }
        self.origins = origins
        self.patterns = patterns
        var size = 4
        while size < origins.count * 4 { size *= 2 }
        var slots = [Int](repeating: -1, count: self.origins.isEmpty ? 0 : size)
        for (position, origin) in self.origins.enumerated() {
            var slot = Int(truncatingIfNeeded: origin.hash >> 32) & (size - 1)
            while slots[slot] >= 0 { slot = (slot + 1) & (size - 1) }
            slots[slot] = position
        }
        self.slots = slots
    }

    /// Whether a link is one of these; scheme and host in any letter case.
    func contains(_ link: Link) -> Bool {
        if let position = position(of: link) {
            if origins[position].isWhole { return true }
            if origins[position].paths.contains(where: { link.isUnder($0) }), !link.mayClimb { return true }
        }
        guard !patterns.isEmpty else { return false }
        let (origin, path) = (link.origin, link.path)
        return patterns.contains {
            guard Self.matches($0.origin[...], origin[...]) else { return false }
            if $0.path == Self.all { return true }
            return Self.matches($0.path[...], path.isEmpty ? Self.root[...] : path[...]) && !link.mayClimb
        }
    }

    private func position(of link: Link) -> Int? {
        guard !slots.isEmpty else { return nil }
        var slot = Int(truncatingIfNeeded: link.hash >> 32) & (slots.count - 1)
        while slots[slot] >= 0 {
            let position = slots[slot]
            if origins[position].hash == link.hash, link.hasOrigin(origins[position].bytes) { return position }
            slot = (slot + 1) & (slots.count - 1)
        }
        return nil
    }

    private static let root = Array("/".utf8)
    private static let all = Array("/*".utf8)

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
