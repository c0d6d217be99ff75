internal import Foundation

/// Texts that people read in lists and reports, and that must not show as something else than they are.
enum ShownText {
    /// Ends a text in a lookup: before every character that the text itself may have.
    static let separator = "\u{1}"

    /// Where an entry stands in a list by display name: entries of one name in the order of their ids, whatever the case.
    static func place(named name: String, id: String) -> String { beginning(ofName: name) + separator + folded(id) }

    /// How the places of entries begin whose display names begin with a text. In one form of the characters, whose bytes have the
    /// order in which Swift compares them.
    static func beginning(ofName name: String) -> String { folded(name).precomposedStringWithCanonicalMapping }

    /// What is wrong with a text; nil where nothing is.
    ///
    /// Control characters break lines apart, and marks of direction (Unicode UAX #9) turn them around; neither has a place in a
    /// name. Joiners stay, because scripts and emoji need them, but not in what identifies a person.
    ///
    /// - Parameters:
    ///   - isName: Whether the text identifies a person or a thing, so that nothing in it may be invisible.
    ///   - hasLines: Whether it may have line breaks and tabs.
    static func flaw(of text: String, isName: Bool, hasLines: Bool = false) -> String? {
        // Most texts are printable ASCII, of which only a space at an end of a name has a flaw.
        if text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) {
            let ends = [text.utf8.first, text.utf8.last]
            return isName && ends.contains(0x20) ? "begins or ends with a space" : nil
        }
        let layout: Set<Unicode.Scalar> = hasLines ? ["\n", "\r", "\t"] : []
        guard
            !text.unicodeScalars.contains(where: {
                isTurning($0) || ($0.properties.generalCategory == .control && !layout.contains($0))
            })
        else { return "has control characters or marks of direction" }
        guard isName else { return nil }
        guard !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .format }) else {
            return "has characters that do not show"
        }
        let ends = [text.unicodeScalars.first, text.unicodeScalars.last]
        return ends.contains { $0?.properties.isWhitespace ?? false } ? "begins or ends with a space" : nil
    }

    /// Embeddings, overrides, isolates and their ends, and the marks of either direction, by the Unicode Standard; and the
    /// separators of lines and paragraphs.
    private static func isTurning(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x200E, 0x200F, 0x061C, 0x202A...0x202E, 0x2066...0x2069, 0x2028, 0x2029: true
        default: false
        }
    }
}
