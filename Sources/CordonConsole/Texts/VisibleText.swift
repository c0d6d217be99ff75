/// Text of people, devices and directories as a page shows it.
enum VisibleText {
    /// The text with the codes of characters in place of those that do not show, or that turn the text after them around: a name must
    /// not pass for another one, nor change how the rest of a sentence reads (Unicode UTS #39, UAX #9).
    ///
    /// Joiners stay, because scripts and emoji need them, and so do line breaks.
    static func of(_ text: String) -> String {
        guard !text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }), text.unicodeScalars.contains(where: isHidden)
        else {
            return text
        }
        return text.unicodeScalars.reduce(into: "") { shown, scalar in
            if isHidden(scalar) {
                shown += "[U+\(String(scalar.value, radix: 16, uppercase: true))]"
            } else {
                shown.unicodeScalars.append(scalar)
            }
        }
    }

    private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0A, 0x0D, 0x20...0x7E, 0x200C, 0x200D, 0xE0020...0xE007F: false
        // Signs before numbers, which show.
        case 0x0600...0x0605, 0x06DD, 0x070F, 0x0890, 0x0891, 0x08E2, 0x110BD, 0x110CD: false
        default: [.control, .format, .lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory)
        }
    }
}
