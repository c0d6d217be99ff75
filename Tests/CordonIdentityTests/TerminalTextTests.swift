import CordonIdentity
import Foundation
import Testing

/// What others wrote, as a terminal gets it.
@Suite struct TerminalTextTests {
    @Test(arguments: [
        ("\u{1B}[2J\u{1B}]52;c;aGk=\u{7}", #"\u{1B}[2J\u{1B}]52;c;aGk=\u{7}"#),
        ("a\u{9B}31mb", #"a\u{9B}31mb"#),
        ("ada\r\nroot> wiped", #"ada\u{D}\u{A}root> wiped"#),
        ("one\u{2028}two\u{2029}three\u{85}four", #"one\u{2028}two\u{2029}three\u{85}four"#),
        ("\u{202E}gro.osotnoc\u{2069}", #"\u{202E}gro.osotnoc\u{2069}"#),
        ("wor\u{200B}ker\u{AD}\u{FEFF}\u{E0041}", #"wor\u{200B}ker\u{AD}\u{FEFF}\u{E0041}"#),
        ("bell\u{7} back\u{8} del\u{7F} nul\0", #"bell\u{7} back\u{8} del\u{7F} nul\u{0}"#),
    ])
    func `what a terminal would obey is shown as its number`(_ outside: String, _ shown: String) {
        #expect(TerminalText(outside).text == shown)
        #expect(!TerminalText.isSafe(outside))
    }

    @Test func `names of every script stay as they are`() {
        for name in [
            "Zoë Müller", "Ада Ловлейс", "محمد", "山田太郎", "葛\u{E0100}城", "worker-a@contoso.example", "ok ✔\u{FE0F}",
        ] {
            #expect(TerminalText(name).text == name)
            #expect(TerminalText.isSafe(name))
        }
    }

    @Test func `a text of several lines keeps its lines, tabs and joined letters, and nothing else of the kind`() {
        let note = "first\n\tsecond\r\nthird می‌خواهم 👩\u{200D}🚀"
        #expect(TerminalText(note, as: .prose).text == "first\n\tsecond\nthird می‌خواهم 👩\u{200D}🚀")
        #expect(TerminalText("a\rb\u{1B}c\r", as: .prose).text == #"a\u{D}b\u{1B}c\u{D}"#)
    }

    @Test func `a long text ends, and says how much is not shown`() {
        #expect(TerminalText(String(repeating: "x", count: 1_003)).text.hasSuffix("x… (3 more)"))
        #expect(TerminalText("abcdef", limit: 2).text == "ab… (4 more)")
        #expect(TerminalText("ab", limit: 2).text == "ab")
        #expect(TerminalText("ab", limit: -1).text == "… (2 more)")
    }

    @Test func `JSON keeps its meaning and loses every character that a terminal obeys`() throws {
        let value = ["name": "a\u{9B}31m \u{202E}b \u{1B}[0m \u{7F} \u{E0041} é 👩\u{200D}🚀"]
        let json = String(decoding: try JSONEncoder().encode(value), as: UTF8.self)
        let escaped = TerminalText.escaping(json: json)
        #expect(escaped.contains(#"\u009b31m \u202eb"#) && escaped.contains(#"\udb40\udc41"#))
        #expect(try JSONDecoder().decode([String: String].self, from: Data(escaped.utf8)) == value)
        #expect(TerminalText.escaping(json: #"{"plain":1}"#) == #"{"plain":1}"#)
    }
}
