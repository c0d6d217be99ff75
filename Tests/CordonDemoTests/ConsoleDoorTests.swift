import CordonHTTPClient
import CordonSignIn
import Foundation
import HTTPTypes
import Testing

@testable import CordonDemo

@Suite struct ConsoleDoorTests {
    private let console = URL(string: "http://127.0.0.1:8080/console")

    @Test func `the link hands the session to one browser, and to nothing that does not know it`() async throws {
        let door = try ConsoleDoor(cookie: "cordon-console=secret", console: try #require(console))
        door.open()
        defer { door.close() }
        let transport = AsyncHTTPTransport()
        func get(_ url: URL, host: String? = nil) async throws -> HTTPResponse {
            var request = HTTPRequest(method: .get, url: url)
            if let host { request.authority = host }
            return try await transport.send(request, body: nil, limit: 1 << 10, timeout: .seconds(10)).head
        }
        let wrong = try #require(URL(string: "/open/x", relativeTo: door.link)).absoluteURL
        let refused = try await get(wrong)
        #expect(refused.status == .notFound)
        #expect(refused.headerFields[.setCookie] == nil)
        let opened = try await get(door.link)
        #expect(opened.status == .seeOther)
        #expect(opened.headerFields[.location] == "http://127.0.0.1:8080/console")
        #expect(
            opened.headerFields[.setCookie] == "cordon-console=secret; Path=/; HttpOnly; SameSite=Lax")
        await #expect(throws: (any Error).self) { _ = try await get(door.link) }
        await transport.shutdown()
    }

    @Test(arguments: ["", "a=b; Path=/", "a=b\r\nX: y", "a=\u{e9}"])
    func `what is no cookie opens no door`(cookie: String) throws {
        let console = try #require(console)
        #expect(throws: (any Error).self) { _ = try ConsoleDoor(cookie: cookie, console: console) }
    }
}
