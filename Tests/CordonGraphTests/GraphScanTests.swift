import CordonBase
import CordonPolicy
import CordonTestSupport
import CordonTesting
import Foundation
import Testing

@testable import CordonGraph
@testable import CordonServiceHTTP

/// Pages of lists that are looked through while they are read.
@Suite struct GraphScanTests {
    private static func entity(_ number: Int, _ random: inout SeededGenerator) -> JSONValue {
        [
            "id": .string("id-\(String(repeating: "0", count: 5 - String(number).count))\(number)"),
            "displayName": .string(["Ada", "ben", "Cleo", "dan"].randomElement(using: &random) ?? "Ada"),
            "count": .integer(Int64.random(in: 0..<5, using: &random)),
        ]
    }

    /// All pages of a query, one by the token of the other.
    private func pages(
        _ query: String, _ page: (GraphQuery) async throws -> (ids: [String], total: Int, next: String?)
    ) async throws -> [[String]] {
        var found: [[String]] = []
        var next: String?
        repeat {
            let result = try await page(try GraphQuery(query + (next.map { "&$skiptoken=\($0)" } ?? "")))
            found.append(result.ids + (query.contains("$count") ? ["of \(result.total)"] : []))
            next = result.next
        } while next != nil && found.count < 2_000
        return found
    }

    @Test(
        .seeded(as: 7),
        arguments: [
            "$top=7", "$top=7&$skip=5", "$filter=count%20ge%203&$top=9", "$filter=count%20eq%209&$top=9&$count=true",
            "$orderby=displayName&$top=400", "$orderby=count%20desc,displayName&$top=333&$skip=11&$count=true",
            "$search=a&$top=50&$count=true", "$filter=displayName%20ne%20'ada'&$orderby=count&$top=600", "$count=true",
            "$filter=count%20lt%202&$skip=100&$top=100",
        ])
    func `pages cut while a list is read are those cut out of all of it`(query: String) async throws {
        var random = SeededGenerator()
        let all = (0..<1_700).map { Self.entity($0, &random) }
        let whole = try await pages(query) { query in
            let cut = try GraphCut(all, query: query, id: GraphPlace.key, entity: { $0 })
            return (cut.records.map(GraphPlace.key), cut.total, cut.next)
        }
        let scanned = try await pages(query) { query in
            let scan = try await GraphScan(query, counts: query.count, id: GraphPlace.key, entity: { $0 }) {
                after, limit in
                Array(all.drop { entity in after.map { GraphPlace.key(of: entity) <= $0 } ?? false }.prefix(limit))
            }
            return (scan.records.map(GraphPlace.key), scan.total, scan.next)
        }
        #expect(scanned == whole)
    }

    @Test(arguments: [("$orderby=size&$top=2", ["c", "d"]), ("$orderby=size%20desc&$top=2", ["d", "c"])])
    func `the next page begins where the last entry stood, though it stands elsewhere now`(
        query: String, expected: [String]
    ) throws {
        var sizes = ["a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": 6]
        func page(_ query: String) throws -> (ids: [String], next: String?) {
            let all = sizes.sorted { $0.key < $1.key }.map { id, size -> JSONValue in
                ["id": .string(id), "size": .integer(Int64(size))]
            }
            let cut = try GraphCut(all, query: GraphQuery(query), id: GraphPlace.key, entity: { $0 })
            return (cut.records.map(GraphPlace.key), cut.next)
        }
        let first = try page(query)
        let (last, next) = (try #require(first.ids.last), try #require(first.next))
        sizes[last] = 9
        #expect(try page("\(query)&$skiptoken=\(next)").ids == expected)
    }

    @Test func `among equal ones the next page begins by folded ids, as the list is`() throws {
        var publishers = ["com.alpha": "x", "com.Beta": "x"]
        func page(_ query: String) throws -> GraphCut<JSONValue> {
            let all = ["com.alpha", "com.Beta"].map { id -> JSONValue in
                ["id": .string(id), "publisher": .string(publishers[id] ?? "")]
            }
            return try GraphCut(all, query: GraphQuery(query), id: GraphPlace.key, entity: { $0 })
        }
        let next = try #require(try page("$orderby=publisher&$top=1").next)
        publishers["com.alpha"] = "y"
        let rest = try page("$orderby=publisher&$skiptoken=\(next)").records.map(GraphPlace.key)
        #expect(rest == ["com.Beta", "com.alpha"])
    }

    @Test(.seeded(as: 8))
    func `a list is read no further than its page needs, and to its end for a member that is nowhere`()
        async throws
    {
        var random = SeededGenerator()
        let all = (0..<3_000).map { Self.entity($0, &random) }
        var read = 0
        func scan(_ query: String) async throws -> [String] {
            read = 0
            return try await GraphScan(try GraphQuery(query), counts: false, id: GraphPlace.key, entity: { $0 }) {
                after, limit in
                let page = Array(
                    all.drop { entity in after.map { GraphPlace.key(of: entity) <= $0 } ?? false }.prefix(limit))
                read += page.count
                return page
            }.records.map(GraphPlace.key)
        }
        #expect(try await scan("$filter=count%20ge%200&$top=10").count == 10)
        #expect(read == GraphScan<JSONValue>.step)
        #expect(try await scan("$filter=count%20eq%209&$top=10").isEmpty)
        #expect(read == 3_000)
        await #expect(throws: Refusal.self) { _ = try await scan("$filter=misspelt%20ne%201&$top=10") }
        // What is left out in an order is kept meanwhile; without one it is passed by.
        await #expect(throws: Refusal.self) { _ = try await scan("$orderby=count&$skip=10001") }
        #expect(read == 0)
        #expect(try await scan("$skip=2147483647").isEmpty)
    }

    @Test func `only what must hold of everything that is let through narrows a list`() throws {
        let narrowing = try GraphFilterParser.parse("userId eq 'a' and (count gt 3 or userId eq 'b')")
        #expect(narrowing.equalities == ["userid": "a"])
        #expect(try GraphFilterParser.parse("userId eq 'a' or count gt 3").equalities.isEmpty)
        #expect(try GraphFilterParser.parse("not (userId eq 'a')").equalities.isEmpty)
        #expect(
            try GraphFilterParser.parse("'x.y' eq appIdentifier/bundleId").equalities == [
                "appidentifier/bundleid": "x.y"
            ])
    }

    @Test(
        arguments: [
            ("startswith(userPrincipalName,'Ad') and count gt 1", ["userprincipalname Ad"]),
            ("count gt 1 and displayName eq 'Ada'", ["displayname Ada"]),
            (
                "'Ada' eq displayName or startswith(userPrincipalName,'ada')",
                ["displayname Ada", "userprincipalname ada"]
            ),
            ("displayName eq 'Ada' or count gt 1", nil), ("not (displayName eq 'Ada')", nil),
            ("startswith(displayName,'')", nil), ("contains(displayName,'a')", nil), ("startswith(mail,'a')", nil),
        ] as [(String, [String]?)])
    func `people are looked up by the beginnings of names that let no other person through`(
        filter: String, expected: [String]?
    ) throws {
        let found = try GraphFilterParser.parse(filter).beginnings(among: ["userprincipalname", "displayname"])
        #expect(found?.map { "\($0.member) \($0.text)" } == expected)
    }

    @Test func `a report in JSON is one text, in however many pieces it is made`() throws {
        let file = StatusFile(report: .protection, columns: ["User"], isJSON: true)
        #expect(try JSONValue(parsing: Data((file.beginning + file.lines([]) + file.end).utf8)) == ["values": []])
    }
}
