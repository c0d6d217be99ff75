import Testing

@testable import CordonService

/// Texts that people read in lists show as what they are.
struct ShownTextTests {
    @Test(
        arguments: [
            ("Notes 4.2 ~!", nil), ("", nil), (" a", "begins or ends with a space"),
            ("a ", "begins or ends with a space"),
            (" ", "begins or ends with a space"), ("\u{A0}a", "begins or ends with a space"),
            ("a\tb", "has control characters or marks of direction"),
            ("a\u{7F}", "has control characters or marks of direction"),
            ("a\u{202E}b", "has control characters or marks of direction"),
            ("a\u{200B}b", "has characters that do not show"),
            ("\u{E9}t\u{E9} \u{65E5}", nil),
        ] as [(String, String?)])
    func `a name is plain, and every other flaw is named`(text: String, flaw: String?) {
        #expect(ShownText.flaw(of: text, isName: true) == flaw)
        // What is no name may begin with a space and have joiners.
        let isOfNames = flaw?.contains("space") == true || flaw?.contains("show") == true
        #expect(ShownText.flaw(of: text, isName: false) == (isOfNames ? nil : flaw))
    }
}
