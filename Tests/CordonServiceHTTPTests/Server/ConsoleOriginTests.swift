import CordonIdentity
import CordonProtocol
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import Testing

@testable import CordonGraph
@testable import CordonServiceHTTP

/// SRV-OP-015: the pages of one origin may read administration, those of any other nothing.
@Suite struct ConsoleOriginTests {
    private static let console = "https://console.example.org"
    private static let path = "/v1.0/deviceAppManagement/managedAppPolicies"

    private func ask(
        _ method: HTTPRequest.Method, _ headers: HTTPFields, path: String = path, console: String? = console
    ) async throws -> HTTPFields {
        let service = try await TestService()
        let routes = Router(context: ServiceRequestContext.self)
        if let console { routes.add(middleware: ConsoleOrigin(origin: console)) }
        routes.add(middleware: service.graph)
        routes.get("/mam/v1/keys") { _, _ in "keys" }
        return try await Application(router: routes).test(.router) { client in
            try await client.execute(uri: path, method: method, headers: headers).headers
        }
    }

    @Test func `a page of the console may ask, and read the answer`() async throws {
        let asked = try await ask(
            .options, [.origin: Self.console, .accessControlRequestMethod: "PATCH"])
        #expect(asked[.accessControlAllowOrigin] == Self.console)
        #expect(asked[.accessControlAllowMethods]?.contains("PATCH") == true)
        let allowed = Set((asked[.accessControlAllowHeaders] ?? "").split(separator: ", "))
        #expect(allowed.isSuperset(of: ["authorization", "cordon-impact", "cordon-reason"]))
        #expect(asked[.accessControlAllowCredentials] == nil)
        let answer = try await ask(.get, [.origin: Self.console])
        #expect(answer[.accessControlAllowOrigin] == Self.console)
        let shown = Set((answer[.accessControlExposeHeaders] ?? "").split(separator: ", "))
        #expect(shown.isSuperset(of: ["etag", "link", "cordon-waiting-change"]))
        #expect(answer[values: .vary].contains("Origin"))
    }

    @Test(arguments: [
        "https://evil.example", "https://console.example.org.evil.example", "null", "http://console.example.org",
        "https://console.example.org:444", "https://CONSOLE.example.org",
    ])
    func `a page of any other origin may not`(origin: String) async throws {
        let asked = try await ask(.options, [.origin: origin, .accessControlRequestMethod: "GET"])
        #expect(asked[.accessControlAllowOrigin] == nil && asked[.accessControlAllowMethods] == nil)
        #expect(try await ask(.get, [.origin: origin])[.accessControlAllowOrigin] == nil)
    }

    @Test func `check-in has nothing for pages, and without a console no route has`() async throws {
        #expect(try await ask(.get, [.origin: Self.console], path: "/mam/v1/keys")[.accessControlAllowOrigin] == nil)
        #expect(try await ask(.get, [.origin: Self.console], console: nil)[.accessControlAllowOrigin] == nil)
    }

    @Test(arguments: [
        "https://console.example.org/", "https://console.example.org/x", "http://console.example.org", "*", "console",
        "https://a@console.example.org",
    ])
    func `what is no origin is refused at the start`(text: String) {
        var configuration = ServiceServerConfiguration(tenant: TenantID("contoso"))
        configuration.consoleOrigin = text
        #expect(throws: ProgramError.self) { try configuration.validate() }
    }
}
