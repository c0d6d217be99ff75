import Foundation
import HTTPTypes
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
