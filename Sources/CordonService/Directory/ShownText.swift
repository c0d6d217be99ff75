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
        guard !text.unicodeScalars.contains(where: { isHidden($0) || $0.properties.generalCategory == .format }) else {
            return hidden
        }
        let ends = [text.unicodeScalars.first, text.unicodeScalars.last]
        return ends.contains { $0?.properties.isWhitespace ?? false } ? "begins or ends with a space" : nil
    }

    private static let hidden = "has characters that do not show"

    /// What is wrong with a name that people choose things by, besides what ``flaw(of:isName:hasLines:)`` finds in any text: two that look
    /// the same are taken for one another; nil where nothing is.
    ///
    /// Scripts from Hebrew on, and emoji, need joiners and selectors, and three flags tags; Latin, Greek and Cyrillic do not, and there they only hide.
    static func flaw(ofDisplayName text: String) -> String? {
        guard !text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        let untagged = flags.reduce(text) { $0.replacingOccurrences(of: $1, with: flag, options: .literal) }
        let scalars = Array(untagged.unicodeScalars)
        func needs(_ index: Int) -> Bool {
            guard scalars.indices.contains(index) else { return false }
            return scalars[index].value >= 0x590 && (!isHidden(scalars[index]) || isSelector(scalars[index]))
        }
        for (index, scalar) in scalars.enumerated() where isHidden(scalar) {
            let isAllowed =
                switch scalar.value {
                case 0x200C, 0x200D:
                    index > 0 && index < scalars.count - 1 && (needs(index - 1) || needs(index + 1))
                case _ where isSelector(scalar):
                    // Also of the signs for copyright and trade marks, and of the digit in a keycap.
                    index > 0 && !isHidden(scalars[index - 1])
                        && (needs(index - 1)
                            || scalars[index - 1].properties.isEmoji && scalars[index - 1].value >= 0x80
                            || (index < scalars.count - 1 && scalars[index + 1].value == 0x20E3))
                default: false
                }
            guard isAllowed else { return hidden }
        }
        return nil
    }

    private static let flag = "\u{1F3F4}"

    /// The flags that Unicode writes with tags, those of England, Scotland and Wales. Other tags show nothing, and could hide any text.
    private static let flags = ["gbeng", "gbsct", "gbwls"].map { region in
        let tags = region.unicodeScalars.compactMap { Unicode.Scalar(0xE0000 + $0.value) }
        return flag + String(String.UnicodeScalarView(tags + ["\u{E007F}"]))
    }

    private static func isSelector(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.isVariationSelector }

    /// Whether nothing is drawn for a character: those that the Unicode Standard calls ignorable, fillers among them, the marks of
    /// annotations, and the empty Braille pattern.
    private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isDefaultIgnorableCodePoint || (0xFFF9...0xFFFB).contains(scalar.value)
            || scalar.value == 0x2800
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
