import CordonBase
import Foundation
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

    #if !canImport(Darwin)
        @Test(
            arguments: [
                (["LC_ALL": "de_DE.UTF-8", "LC_MESSAGES": "C", "LANG": "C"], "de"),
                (["LC_ALL": "", "LC_MESSAGES": "de_AT", "LANG": "en_GB.UTF-8"], "de"),
                (["LC_ALL": "", "LC_MESSAGES": "", "LANG": "de"], "de"),
                (["LC_ALL": "C", "LC_MESSAGES": "de", "LANG": "de"], "en"),
            ] as [([String: String], String)])
        func `a program without a language of its own speaks the environment's, of which the strongest word counts`(
            environment: [String: String], language: String
        ) async {
            await #expect(processExitsWith: .success) { [environment, language] in
                for (name, value) in environment { setenv(name, value, 1) }
                TextLanguage.follow(nil)
                #expect(TextLanguage.current.rawValue == language)
            }
        }
    #endif
}
