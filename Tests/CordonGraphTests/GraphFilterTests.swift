import CordonPolicy
import Testing

@testable import CordonGraph
@testable import CordonServiceHTTP

/// `$filter`, `$orderby` and `$search`, without a service.
@Suite struct GraphFilterTests {
    private static let entity: JSONValue = [
        "@odata.type": "#microsoft.graph.iosManagedAppRegistration", "displayName": "Ada's Notes", "count": 4,
        "isAssigned": true, "description": .null, "when": "2026-01-05T08:00:00.123456Z",
        "id": "3f2504e0-4f89-11d3-9a0c-0305e82c3301", "flaggedReasons": ["none", "rootedDevice"],
        "actor": ["userPrincipalName": "ada@contoso.example"],
        "resources": [["displayName": "One", "size": 1], ["displayName": "Two", "size": 2]],
        "parts": [["tags": ["a", "b"]], ["tags": ["c"]]],
    ]

    private static let admitting = [
        "displayName eq 'ada''s notes'", "DISPLAYNAME eq 'Ada''s Notes'", "displayName ne 'x'", "count gt 3",
        "count ge 4 and count le 4 and not (count lt 4)", "count eq 4.0", "isAssigned", "isAssigned eq true",
        "not (isAssigned eq false)", "description eq null", "nothing eq null", "displayName ne null",
        "when gt 2026-01-05T08:00:00Z", "when lt 2026-01-05T10:00:01+02:00", "when ge 2026-01-05",
        "when le 2026-01-05T08:00:00.1234567Z", "id eq 3F2504E0-4F89-11D3-9A0C-0305E82C3301",
        "startswith(displayName,'ADA')", "endswith(displayName,'notes')", "contains(displayName,'''s')",
        "contains(tolower(displayName),'ada')", "startswith(displayName, 'x') or count eq 4",
        "displayName in ('a', 'Ada''s Notes')", "count in (1,4)", "isof('microsoft.graph.iosManagedAppRegistration')",
        "isof('microsoft.graph.managedAppRegistration')", "not isof('microsoft.graph.managedAppPolicy')",
        "flaggedReasons/any(r:r eq 'rootedDevice')", "flaggedReasons/any()", "flaggedReasons/all(r:r ne 'x')",
        "resources/any(r:r/displayName eq 'Two' and r/size eq 2)", "actor/userPrincipalName eq 'ada@contoso.example'",
        "resources/any(r: r/size gt 1 and actor/userPrincipalName ne 'x')", "parts/any(p:p/tags/all(t:t eq 'c'))",
        // A mark that joins a quote, behind it or in front of it.
        "displayName ne '\u{301}x'", "displayName ne 'x\u{600}'",
        "count eq 1 and count eq 2 or count eq 4", "(count eq 4 or count eq 5) and (count ne 6)",
    ]

    @Test(arguments: admitting)
    func `a condition that holds lets through`(_ text: String) throws {
        #expect(try GraphFilterParser.parse(text).admits(Self.entity))
        #expect(try !GraphFilterParser.parse("not (\(text))").admits(Self.entity))
    }

    @Test(arguments: [
        "count eq '4'", "count gt 'a'", "displayName gt 1", "isAssigned eq 'true'", "nothing gt 1",
        "when eq 'x'", "flaggedReasons/all(r:r eq 'none')", "nothing/any()", "startswith(count,'4')",
        "nothing/deeper/still eq 'x'",
    ])
    func `values of different kinds are unlike and unordered`(_ text: String) throws {
        #expect(try !GraphFilterParser.parse(text).admits(Self.entity))
    }

    @Test(arguments: [
        "", " ", "displayName eq", "eq 'x'", "displayName = 'x'", "displayName eq 'x", "(count eq 1",
        "count eq 1)", "count eq 1 count eq 2", "count has 1", "sum(count) eq 1", "startswith(displayName)",
        "startswith(displayName,'a','b')", "flags/any(r r eq 1)", "any(r:r eq 1)", "isof(x)", "count in 1",
        "count in ()", "a//b eq 1", "displayName eq \"x\"", "'; DROP TABLE record; --", "count eq 1;",
        "1\u{301}", "1\u{FE0F}\u{20E3}", "9\u{308}a eq 1", "count eq 12\u{20E3}", "-\u{301}", "a\u{301} eq 1",
        "\u{0}", "displayName eq 'x' and", "not", "2026-13-45T99:99:99Z eq when",
        // Each level over the whole entity again: two entries would be looked at 2³¹ times.
        "resources/any(r:resources/any(s:s/size eq 9))", "parts/all(p:p/tags/any(t:p/tags/any(u:u eq t)))",
        String(repeating: "(", count: 5_000), String(repeating: "not (", count: 100) + "a",
        String(repeating: "tolower(", count: 200) + "a", "name eq '" + String(repeating: "x", count: 9_000) + "'",
    ])
    func `what is no expression is refused`(_ text: String) {
        #expect(throws: Refusal.self) { try GraphFilterParser.parse(text) }
    }

    @Test(arguments: admitting)
    func `a condition that fits its entity assumes nothing that is not so`(_ text: String) throws {
        var query = try GraphQuery("$orderby=actor/userPrincipalName%20desc")
        query.filter = try GraphFilterParser.parse(text)
        var terms = GraphFilterTerms(of: query)
        try terms.look(at: Self.entity)
        guard text != "nothing eq null" else { return }
        try terms.finish()
    }

    @Test(arguments: [
        "nosuch ne 'x'", "actor/userPrincipalNme ne 'x'", "resources/any(r:r/displayNme ne 'x')",
        "resources/all(r:r/displayNme ne 'x')", "not (resources/any(r:r/size eq 'x'))", "count ne '4'",
        "flaggedReasons/all(r:r ne 4)", "tolower(count) ne '4'", "isAssigned ne 'true'", "when ne 4",
        "displayName ne 2026-01-05", "'4' ne count", "not contains(count,'4')", "not (count in ('4'))", "not count",
    ])
    func `a condition that means no member, or another kind of value, is refused by what there is`(
        _ text: String
    ) throws {
        var query = try GraphQuery(nil)
        query.filter = try GraphFilterParser.parse(text)
        let asked = query
        #expect(throws: Refusal.self) {
            var terms = GraphFilterTerms(of: asked)
            // Of what is null or empty nothing can be said.
            try terms.look(at: ["actor": .null, "resources": [], "count": .null])
            try terms.look(at: Self.entity)
            try terms.finish()
        }
    }

    @Test func `entities are ordered by several members, nothing first, equal ones as they were`() throws {
        func entity(_ id: String, _ name: JSONValue, _ size: Int64) -> JSONValue {
            ["id": .string(id), "name": name, "inner": ["size": .integer(size)]]
        }
        let entities = [
            entity("1", "b", 1), entity("2", "A", 2), entity("3", .null, 3), entity("4", "a", 9), entity("5", "B", 1),
        ]
        func order(_ text: String) throws -> [String] {
            let order = try GraphOrder(text)
            return order.sorted(entities.map(order.values)).compactMap { entities[$0]["id"]?.string }
        }
        #expect(try order("name") == ["3", "2", "4", "1", "5"])
        #expect(try order("name desc, inner/size desc") == ["1", "5", "4", "2", "3"])
        #expect(try order("missing") == ["1", "2", "3", "4", "5"])
        for bad in ["", "name sideways", "name,,size", "length(name)", "a,b,c,d,e,f,g,h,i"] {
            #expect(throws: Refusal.self) { try GraphOrder(bad) }
        }
    }

    @Test func `every text of a search has to be there`() throws {
        #expect(try GraphSearch("\"notes\"").admits(Self.entity))
        #expect(try GraphSearch("notes ada").admits(Self.entity))
        #expect(try GraphSearch("\"displayName:Ada's\" AND \"notes\"").admits(Self.entity))
        #expect(try !GraphSearch("notes AND nothing").admits(Self.entity))
        #expect(try GraphSearch("\"Rooms: all\"").admits(["displayName": "Rooms: all of them"]))
        #expect(try GraphSearch("\"displayName: Ada\"").admits(Self.entity))
        #expect(try !GraphSearch("\"displayName: Ben\"").admits(Self.entity))
        #expect(try !GraphSearch("\"mail:ada\"").admits(Self.entity))
        #expect(throws: Refusal.self) { try GraphSearch("a OR b") }
        #expect(throws: Refusal.self) { try GraphSearch("\"open") }
        #expect(throws: Refusal.self) { try GraphSearch("  ") }
    }

    @Test func `options are read however they are spelt, and refused where they mean nothing`() throws {
        let query = try GraphQuery("%24filter=displayName+eq+%27a+b%27&$TOP=3&x=1&$expand=apps(select=id,b),b")
        #expect(query.filter?.admits(["displayName": "A B"]) == true)
        #expect(query.top == 3)
        #expect(query.expand == ["apps", "b"])
        #expect(query.custom == ["x": "1"])
        let plain = try GraphQuery("filter=displayName%20eq%20'a'&Count=true&top=2")
        #expect(plain.filter?.admits(["displayName": "b"]) == false && plain.count && plain.top == 2)
        #expect(query.expandedSelect == ["apps": ["id", "b"]])
        let function = try GraphQuery("top=2&skip=1", isOfFunction: true)
        #expect(function.custom == ["top": "2", "skip": "1"] && function.top == nil)
        for bad in [
            "$fliter=id%20eq%20'x'", "$top=1&$TOP=2", "$expand=apps($filter=id%20eq%20'x')", "$top=0", "$top=1001",
            "$skip=-1", "$apply=x", "$filter=%FF", "$orderby=a%20b%20c", "$top=x",
        ] {
            #expect(throws: Refusal.self) { try GraphQuery(bad) }
        }
    }
}
