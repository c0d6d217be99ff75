/// Texts that stand for all those that no policy lists. They are made from the lists, as whoever writes a policy can list any text
/// that is fixed.
enum UnlistedText {
    /// A word that is none of these: the given one, longer where it has to be.
    static func word(_ word: String, notIn listed: Set<String>) -> String {
        var word = word
        while listed.contains(word) { word += "x" }
        return word
    }

    /// A letter that stands in none of these links. In place of a `*`, a pattern can match it by a `*` of its own alone, so a pattern
    /// that matches it matches whatever else stands there.
    static func letter(notIn links: Set<String>) -> String {
        let used = links.reduce(into: Set<Unicode.Scalar>()) { $0.formUnion($1.lowercased().unicodeScalars) }
        let letters: [ClosedRange<UInt32>] = [0x61...0x7A, 0x30...0x39, 0xE000...0x10_FFFF]
        let free = letters.lazy.joined().compactMap { Unicode.Scalar($0) }.first { !used.contains($0) }
        return free.map { String(Character($0)) } ?? ""
    }
}
