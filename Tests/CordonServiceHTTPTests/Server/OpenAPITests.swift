import CordonPolicy
import CordonService
import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import Testing

@testable import CordonGraph
@testable import CordonServiceHTTP

/// `docs/openapi.yaml` and the routes, neither with an operation that the other does not have.
@Suite struct OpenAPITests {
    private static let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "docs/openapi.yaml")

    /// The operations of the document, such as `GET /mam/v1/registrations/*`; keys have no name here.
    private static func documented() throws -> Set<String> {
        var operations: Set<String> = []
        var path = ""
        var isInPaths = false
        for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
            if !line.hasPrefix(" ") { isInPaths = line == "paths:" }
            guard isInPaths, line.hasSuffix(":") else { continue }
            let name = line.dropLast().trimmingCharacters(in: .whitespaces)
            if line.hasPrefix("  /") { path = plain(name) }
            let isMethod = line.hasPrefix("    ") && !line.hasPrefix("     ")
            if isMethod, ["get", "post", "patch", "put", "delete"].contains(name) {
                operations.insert("\(name.uppercased()) \(path)")
            }
        }
        return operations
    }

    /// The example bodies of the document, each with its operation, in the order of the document.
    private static func examples() throws -> [(method: String, path: String, body: JSONValue)] {
        var found: [(method: String, path: String, body: JSONValue)] = []
        var (path, method) = ("", "")
        for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
            let text = line.trimmingCharacters(in: .whitespaces)
            if line.hasPrefix("  /") { path = String(text.dropLast()) }
            if line.hasPrefix("    "), !line.hasPrefix("     "), text.hasSuffix(":") {
                method = text.dropLast().uppercased()
            }
            guard text.hasPrefix("example: {") else { continue }
            found.append((method, path, try JSONValue(parsing: Data(text.dropFirst("example: ".count).utf8))))
        }
        return found
    }

    @Test func `every example body of the document is taken by its route`() async throws {
        let fixture = try await RouteFixture()
        let examples = try Self.examples()
        #expect(examples.count > 20)
        let keys = ["{user}": "oid-a", "{registration}": fixture.registration, "{role}": "west", "{id}": "oid-cleo"]
        for (method, path, body) in examples {
            let route = fixture.test.graph.table.routes.first { route in
                route.method.rawValue == method && Self.plain("/*/\(route.name)") == Self.plain(path)
            }
            let answer: TestResponse
            if let route {
                answer = try await fixture.answer(route, as: .owner, sending: body)
            } else {
                let address = path.replacing("{version}", with: "v1.0").split(separator: "/")
                    .map { keys[String($0)] ?? String($0) }.reduce("") { $0 + "/" + $1 }
                let verb = try #require(HTTPRequest.Method(method))
                answer = try await fixture.test.test { try await $0.administer(verb, address, body) }
            }
            #expect((200..<300).contains(Int(answer.status.code)), "\(method) \(path): \(String(buffer: answer.body))")
        }
    }

    /// A path whose keys have lost their names.
    private static func plain(_ path: String) -> String {
        path.split(separator: "/").map { part in part.hasPrefix("{") || part.hasPrefix(":") ? "*" : String(part) }
            .reduce("") { $0 + "/" + $1 }
    }

    @Test func `the document names every route, and no other`() async throws {
        let test = try await TestService()
        var routes = Set(test.graph.table.routes.map { "\($0.method.rawValue) " + Self.plain("/*/\($0.name)") })
        routes.insert("POST /*/$batch")
        // Every GET answers HEAD as well, which the document says once for all.
        let roots = ["/v1.0", "/beta"]
        for route in test.routes where !route.contains("**") && !route.hasPrefix("HEAD ") {
            guard !roots.contains(where: { route.lowercased().hasSuffix(" " + $0) }) else { continue }
            let halves = route.split(separator: " ", maxSplits: 1)
            routes.insert("\(halves[0]) \(Self.plain(String(halves[1])))")
        }
        let documented = try Self.documented()
        #expect(routes.subtracting(documented).sorted() == [], "missing in docs/openapi.yaml")
        #expect(documented.subtracting(routes).sorted() == [], "in docs/openapi.yaml, but no route")
    }
}
