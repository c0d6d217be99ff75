import CordonPolicy
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

    @Test func `of one session six pages change by themselves at once, and no more`() {
        let pages = LivePages()
        for _ in 0..<LivePages.mostOfSession { #expect(pages.begin(session("a"))) }
        #expect(!pages.begin(session("a")))
        #expect(pages.begin(session("b")))
        pages.end(session("a"))
        #expect(pages.begin(session("a")))
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

    @Test func `nothing in a CSV report is a formula to a spreadsheet`() async throws {
        let response = ReportFile.csv([["=1+1", "+1", "-1", "@x", "a\"b", "plain"]], named: "a.csv")
        let text = try await Self.text(of: response)
        #expect(text == "\"'=1+1\",\"'+1\",\"'-1\",\"'@x\",\"a\"\"b\",\"plain\"\r\n")
    }

    @Test func `every setting has a name and a value in words`() {
        for setting in SettingDescription.all {
            #expect(SettingTexts.text(of: setting.name).label != .data(setting.name), "\(setting.name)")
        }
        #expect(SettingTexts.words("managedAppsWithPasteIn") == "managed apps with paste in")
        #expect(SettingTexts.words("<b>") == .data("<b>"))
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
