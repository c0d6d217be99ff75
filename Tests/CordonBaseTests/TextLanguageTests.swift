import CordonBase
import Testing

@Suite struct TextLanguageTests {
    @Test(
        arguments: [
            ("de", .de), ("de-AT", .de), ("DE_CH.UTF-8", .de), ("de@euro", .de), ("en-GB", .en), ("den", nil),
            ("C", nil), ("C.UTF-8", nil),
            ("POSIX", nil), ("", nil), ("-de", nil), ("dé", nil),
        ] as [(String, TextLanguage?)])
    func `a language is told from a tag and from a locale, whatever follows it`(tag: String, language: TextLanguage?) {
        #expect(TextLanguage(tag: tag) == language)
    }
}
