import CordonPages
import CordonPolicy
import CordonService
import CordonTestSupport
import Foundation
import HTTPTypes
import Testing

@testable import CordonConsole

@Suite struct LanguageTests {
    @Test(
        arguments: [
            (nil, "en"), ("de", "de"), ("de-AT,de;q=0.9,en;q=0.8", "de"), ("fr, en;q=0.3, de;q=0.4", "de"),
            ("en-GB,de;q=0.9", "en"), ("fr", "en"), ("*", "en"), ("de;q=0", "en"), ("de;q=x, en", "en"), ("", "en"),
        ] as [(String?, String)])
    func `the browser's languages are weighed, and English stands in for what is missing`(
        header: String?, expected: String
    ) {
        #expect(ConsoleLanguage(accepting: header).rawValue == expected)
    }

    @Test func `values stand where a language wants them, and are not read again`() {
        let name = "%@ <b> %1$@"
        let phrase: Phrase = "Wipe \(name) of \("Worker")"
        #expect(phrase.text(in: .english) == "Wipe %@ <b> %1$@ of Worker")
        #expect(phrase.text(in: .german) == "%@ <b> %1$@ von Worker löschen")
        #expect(Phrase.data("Policies").text(in: .german) == "Policies")
        #expect(Phrase.said("Policies").text(in: .german) == "Richtlinien")
    }

    @Test func `a number chooses the plural in both languages`() {
        func phrase(_ count: Int) -> Phrase { "\(count) people lose this policy." }
        #expect(phrase(1).text(in: .english) == "One person loses this policy.")
        #expect(phrase(2).text(in: .english) == "2 people lose this policy.")
        #expect(phrase(1).text(in: .german) == "Für eine Person gilt diese Richtlinie dann nicht mehr.")
        #expect(phrase(0).text(in: .german) == "Für 0 Personen gilt diese Richtlinie dann nicht mehr.")
    }

    @Test func `every name of a value, a permission, a role and a place is in the table`() {
        let names =
            SettingDescription.all.flatMap(\.names) + Permission.allCases.map(\.rawValue)
            + AdministratorRole.allCases.map(\.rawValue) + Location.allCases.map(\.rawValue)
            + Verdict.allCases.map(\.rawValue)
        for name in Set(names) {
            let english = SettingTexts.words(name).text(in: .english)
            let isKnown = ConsoleTexts.german[english] != nil || SettingTexts.words(name) == .data(english)
            #expect(isKnown, "\(name): \(english)")
        }
    }

    @Test(arguments: MarkupWithoutWords.pieces())
    func `neither templates nor parts of pages say anything by themselves`(
        piece: MarkupWithoutWords
    ) {
        let attributes = piece.markup.matches(of: /(?:aria-label|title|alt|placeholder|content)="([^"{]+)"/)
            .map { String($0.1) }.filter {
                $0 != "width=device-width, initial-scale=1" && $0.contains(where: \.isLetter)
            }
        #expect(attributes.isEmpty)
        let text = piece.markup.replacing(/{{[^}]*}}/, with: " ").replacing(/<[^>]*>/, with: " ")
        let words = text.split { !$0.isLetter }.filter { $0 != "Cordon" && $0 != "UTC" && $0 != "T" }
        #expect(words.isEmpty)
    }

    @Test func `a browser that asks for German gets German, and a choice counts for more and outlives the session`()
        async throws
    {
        let fixture = try await ConsoleFixture()
        try await fixture.test { browser in
            browser.speak("de-DE,de;q=0.9")
            let page = try await browser.signIn(ConsoleFixture.ada, at: "/console/policies")
            #expect(page.text.contains("<html lang=\"de\">"))
            #expect(page.text.contains("<h1>Richtlinien</h1>"))
            let chosen = try await browser.submit(page, to: "/console/language", [])
            #expect(chosen.path == "/console/policies")
            #expect(chosen.text.contains("<html lang=\"en\">"))
            #expect(chosen.text.contains("<h1>Policies</h1>"))
            fixture.clock.advance(by: 901)
            #expect(try await browser.get("/console/policies").text.contains("<h1>Policies</h1>"))
            let foreign = try await browser.post("/console/language", [("language", "de")], csrf: "x")
            #expect(foreign.status == .forbidden)
            let back = try await browser.post(
                "/console/language", [("language", "de"), ("page", "https://evil.example/")])
            #expect(back.path == "/console")
            #expect(back.text.contains("<h1>Übersicht</h1>"))
        }
    }
}

/// A template, or a part of a page of which every word that it was given is a number.
struct MarkupWithoutWords: CustomTestStringConvertible {
    let name: String
    let markup: String

    var testDescription: String { name }

    static func pieces() -> [Self] {
        let word = Phrase.data("1")
        let options = [(value: "2", text: word)]
        let kinds: [Field.Kind] = [
            .text, .long, .search(word), .choice(options), .radio([(value: "2", text: word, help: word)]), .flag,
            .several(options),
        ]
        var fields = kinds.map { Field($0, "3", word, help: word, value: "2", error: word, isRequired: true) }
        for index in fields.indices {
            fields[index].remarks = [word]
            fields[index].idle = word
        }
        let cells: [Cell] = [
            .text(word), .link(word, "4"), .badge(word, .bad), .time(Date(timeIntervalSince1970: 5)), .code("6"),
            .list([.code("7")]), .button(word, action: "8", fields: [("9", "10")]),
        ]
        let blocks: [Block] = [
            .text(word), .note(.bad, word, [word]), .facts(cells.map { (word, $0) }),
            .table(Table(word, cells.map { _ in word }, [cells], empty: word, more: Link(word, "1"))),
            .table(Table(word, [word], [], empty: word)), .links([Link(word, "1", isMain: true)]),
            .form(Form("1", submit: word, hidden: [("1", "1")], isGrave: true, cancel: Link(word, "1"), fields)),
            .form(
                Form("1", submit: word, isLocked: true, [], fieldsets: [Fieldset(legend: word, help: word, fields: [])])
            ),
            .chart(Chart(title: word, bars: [Chart.Bar(name: word, value: 1)])), .card(word, [.text(word)]),
            .more(word, [.text(word)]), .code(word, label: word), .tiles([Tile(number: "1", text: word, href: "1")]),
        ]
        let rendering = Rendering(language: .german, csrf: "1")
        return ConsoleTemplates.all.map { Self(name: $0.key, markup: $0.value) }
            + blocks.enumerated().map { Self(name: "block \($0)", markup: $1.html(rendering).text) }
    }
}
