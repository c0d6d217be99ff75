import CordonBase
import CordonPages
import CordonPolicy
import CordonServiceHTTP
import CordonTesting
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Testing

@testable import CordonConsole

@Suite struct ConsolePartsTests {
    private func session(_ csrf: String) -> ConsoleSession {
        ConsoleSession(person: "a", token: "t", key: nil, ends: .distantFuture, csrf: csrf, draft: nil)
    }

    @Test func `of one session four pages change by themselves at once, and no more`() {
        let pages = LivePages()
        for _ in 0..<LivePages.mostOfSession { #expect(pages.begin(session("a"))) }
        #expect(!pages.begin(session("a")))
        #expect(pages.begin(session("b")))
        pages.end(session("a"))
        #expect(pages.begin(session("a")))
    }

    @Test(arguments: [1, 2, 7, 1_000])
    func `the entries of a list are taken one at a time, however its bytes come`(size: Int) async throws {
        let text = #" [ {"a":"],[}{\"\\","b":[1,{"c":2}]} , "x,y", 3,[],{} ] "#
        var found: [JSONValue] = []
        var rest = ByteBuffer(string: text)
        let reader = EntryReader { found.append($0) }
        while let piece = rest.readSlice(length: min(size, max(1, rest.readableBytes))) {
            try await reader.write(piece)
        }
        try await reader.finish(nil)
        #expect(JSONValue.array(found) == (try JSONValue(parsing: Data(text.utf8))))
    }

    @Test func `a list that ends too early, or has an entry that is none, is no list`() async throws {
        for text in ["[1,2", "[{\"a\":}]"] {
            await #expect(throws: (any Error).self, "\(text)") {
                let reader = EntryReader { _ in }
                try await reader.write(ByteBuffer(string: text))
                try await reader.finish(nil)
            }
        }
    }

    @Test func `a length of zero is never where a setting means that, and nothing else`() {
        #expect(SettingTexts.value("PT0S", of: "periodBeforePinReset") == "never")
        #expect(SettingTexts.value("PT0S", of: "periodOfflineBeforeAccessCheck") != "never")
        #expect(SettingTexts.value("P90D", of: "periodBeforePinReset") == .list(["\(90) days"], separator: " "))
    }

    @Test func `a page that changes by itself is found by its path, keys decoded`() throws {
        let pages = LivePages()
        pages.add("/console/people/:id") { _ in .moved("person") }
        pages.add("/console") { _ in .moved("overview") }
        #expect(try #require(pages.page(at: "/console/people/a%2Fb%40c")).keys == ["a/b@c"])
        #expect(try #require(pages.page(at: "/console")).keys.isEmpty)
        for path in ["", "/", "/console/people", "/console/people/a/b", "/admin/v1/me"] {
            #expect(pages.page(at: path) == nil)
        }
    }

    @Test func `what does not show, or turns a text around, is shown by its code, and stays in a field as it is`() {
        let rendering = Rendering(language: .english, csrf: "1")
        let name = "Ada\u{202E}gro.\u{200B}x\u{7F}"
        let shown = "Ada[U+202E]gro.[U+200B]x[U+7F]"
        #expect(rendering.say(.data(name)) == shown)
        #expect(rendering.say(.said(name)) == shown)
        let other = "B\u{2066}"
        #expect(rendering.say("Wipe \(name) of \(other)?") == "Wipe \(shown) of B[U+2066]?")
        #expect(Cell.code(name).html(rendering).text == "<code>\(shown)</code>")
        #expect(Field(.text, "a", "A", value: name).html(rendering, asks: false).text.contains("value=\"\(name)\""))
        let joined = "\u{1F469}\u{200D}\u{1F4BB} \u{646}\u{6CC}\u{645}\u{200C}\u{641}\nline\tend é"
        #expect(rendering.say(.data(joined)) == joined)
        #expect(rendering.say(.sentence("no policy has this id.")) == "No policy has this id.")
    }

    @Test(arguments: [
        "PT30M", "PT12H", "P90D", "P1D", "P1DT1H1M1S", "PT0S", "P2DT30M", "PT24H", "P0D", "P1DT0H", "P1W", "nonsense",
    ])
    func `a length of time in a field is read as what it was, in both languages`(text: String) {
        for setting in ["periodOfflineBeforeAccessCheck", "periodBeforePinReset", "minimumRequiredOsVersion"] {
            for language in ConsoleLanguage.allCases {
                let shown = PeriodTexts.shown(text, of: setting, in: language)
                #expect(PeriodTexts.read(shown, of: setting) == text)
            }
        }
    }

    @Test func `a length of time is read from words, and other input stays as it was typed`() {
        func read(_ typed: String) -> String { PeriodTexts.read(typed, of: "periodOfflineBeforeWipeIsEnforced") }
        for (typed, meant) in [
            ("90 days", "P90D"), ("1 Tag und 12 Stunden", "P1DT12H"), ("one hour, 30 min", "PT1H30M"),
            ("Never", "PT0S"),
            ("PT12H", "PT12H"), ("12", "12"), ("12 hours 3 days", "12 hours 3 days"), ("-1 days", "-1 days"),
            ("999999999999999999999 days", "999999999999999999999 days"), ("", ""), ("two weeks", "two weeks"),
        ] { #expect(read(typed) == meant, "\(typed)") }
        #expect(PeriodTexts.shown("PT12H", of: "periodOfflineBeforeAccessCheck", in: .english) == "12 hours")
        #expect(PeriodTexts.shown("P90D", of: "periodOfflineBeforeAccessCheck", in: .german) == "90 Tage")
        #expect(PeriodTexts.shown("PT0S", of: "pinRequiredInsteadOfBiometricTimeout", in: .english) == "never")
    }

    @Test func `nothing in a CSV report is a formula to a spreadsheet`() async throws {
        // A quote with a mark on it is another character, and ends a cell all the same.
        let cells = ["=1+1", "+1", "-1", "@x", "a\"b", "a\"\u{301},=1", "plain"]
        let file = ReportFile.made("text/csv; charset=utf-8", named: "a.csv", LogRecorder().logger) {
            try await $0(CSV.line(cells))
        }
        let text = try await Self.text(of: file)
        let wanted = "'=1+1,'+1,'-1,'@x,\"a\"\"b\",\"a\"\"\u{301},=1\",plain\r\n"
        #expect(text.unicodeScalars.elementsEqual(wanted.unicodeScalars))
    }

    @Test func `a file that breaks off in the middle is in the log, with the reason`() async throws {
        let log = LogRecorder()
        let file = ReportFile.made("application/json", named: "wipes.json", log.logger) { write in
            try await write("[1")
            throw Refusal(.serviceUnavailable, "busy", "Too many requests are under way.")
        }
        await #expect(throws: Refusal.self) { _ = try await Self.text(of: file) }
        let whole = ReportFile.made("application/json", named: "all.json", log.logger) { try await $0("[]") }
        #expect(try await Self.text(of: whole) == "[]")
        #expect(log.lines == ["warning a file broke off code=busy file=wipes.json"])
    }

    @Test func `a text stays where its field of one line shows it without its line breaks`() {
        let form = ConsoleForm(["a": ["OneTwo"]])
        #expect(form.line("a", of: " One\r\nTwo\n") == " One\r\nTwo\n")
        #expect(form.line("a", of: "One\nThree") == "OneTwo")
        #expect(form.line("b", of: "One") == "")
    }

    @Test func `the lines of an answer are read one at a time, wherever its pieces end`() async throws {
        var lines: [String] = []
        let reader = LineReader { lines.append($0) }
        let bytes = Array("a\nb\u{301}c\r\n\n\u{1F469}\nlast".utf8)
        for byte in bytes { try await reader.write(ByteBuffer(bytes: [byte])) }
        try await reader.write(ByteBuffer())
        try await reader.finish(nil)
        #expect(lines == ["a", "b\u{301}c\r", "\u{1F469}", "last"])
        lines = []
        try await reader.write(ByteBuffer(bytes: bytes))
        #expect(lines == ["a", "b\u{301}c\r", "\u{1F469}"])
    }

    @Test func `every setting has a name and a value in words`() {
        for setting in SettingDescription.all {
            #expect(SettingTexts.text(of: setting.name).label != .data(setting.name), "\(setting.name)")
        }
        #expect(SettingTexts.words("managedAppsWithPasteIn") == "managed apps with paste in")
        #expect(SettingTexts.words("<b>") == .data("<b>"))
        // What people wrote is shown as they did.
        #expect(SettingTexts.value("myApp", of: "customBrowserProtocol") == .data("myApp"))
        #expect(SettingTexts.value("P1D", of: "displayName") == .data("P1D"))
        #expect(SettingTexts.value("managedApps", of: "allowedInboundDataTransferSources") == "managed apps")
        #expect(SettingTexts.value(.array([])) == "none")
    }

    private static func text(of response: Response) async throws -> String {
        let collected = Collected()
        try await response.body.write(collected)
        return String(buffer: collected.buffer)
    }

    private final class Collected: ResponseBodyWriter {
        private(set) var buffer = ByteBuffer()

        func write(_ buffer: ByteBuffer) async throws {
            var part = buffer
            self.buffer.writeBuffer(&part)
        }

        func finish(_ trailingHeaders: HTTPFields?) async throws {}
    }
}
