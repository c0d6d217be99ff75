import Testing

@testable import CordonGraph
@testable import CordonServiceHTTP

@Suite struct GraphPathTests {
    private static let spellings = [
        "/beta/deviceAppManagement/iosManagedAppProtections/T_1/assign",
        "/beta/deviceAppManagement/iosManagedAppProtections('T_1')/assign",
        "/beta/deviceAppManagement/iosManagedAppProtections('T_1')/assign/",
        "/BETA//deviceAppManagement///iosManagedAppProtections/T_1/assign//",
        "/beta/deviceAppManagement/iosManagedAppProtections/T%5F1/assign()",
        "/beta/deviceAppManagement/iosManagedAppProtections('T_1')/microsoft.graph.assign",
        "/beta/deviceAppManagement/iosManagedAppProtections/T_1/microsoft.graph.iosManagedAppProtection/assign",
        "/beta/DEVICEAPPMANAGEMENT/iosmanagedappprotections/T_1/Assign",
        "/beta/deviceAppManagement/iosManagedAppProtections(%27T_1%27)/assign",
    ]

    @Test(arguments: spellings)
    func `every spelling of a path is one path`(_ spelling: String) throws {
        let path = try #require(GraphPath(spelling))
        #expect(path.version == .beta)
        #expect(path.matches(["deviceappmanagement", "iosmanagedappprotections", "*", "assign"]) == ["T_1"])
    }

    @Test func `a list is cast at its end alone, before its count too`() throws {
        for (path, cast) in [
            ("groups/g/members/microsoft.graph.user", "user"), ("groups/g/members/Microsoft.Graph.User/$COUNT", "user"),
            ("groups/g/members/graph.user/$count", "user"), ("groups/g/members/graph.notes", nil),
            ("groups/g/members", nil), ("managedAppPolicies/microsoft.graph.managedAppProtection/T_1/assign", nil),
        ] as [(String, String?)] {
            #expect(try #require(GraphPath("/v1.0/" + path)).cast == cast, "\(path)")
        }
    }

    @Test func `a key keeps its case, its quotes and an encoded slash`() throws {
        #expect(GraphPath("/v1.0/users/Ada%40contoso.example")?.parts == ["users", "Ada@contoso.example"])
        #expect(GraphPath("/v1.0/users('o''brien%2F1')/memberOf")?.parts == ["users", "o'brien/1", "memberOf"])
        let wipe = try #require(GraphPath("/v1.0/users/a/getManagedAppPolicies()"))
        #expect(wipe.parts == ["users", "a", "getManagedAppPolicies"])
    }

    @Test(arguments: [
        "", "/", "/v2.0/users", "/v1.0/users('a", "/v1.0/('a')", "/v1.0/%FF", "/v1.0/a('b)",
        "/v1.0" + String(repeating: "/a", count: 100),
    ])
    func `what is no path of this service is none`(_ path: String) {
        #expect(GraphPath(path)?.matches(["users", "*"]) == nil)
    }

    @Test(arguments: ["users(a)", "groups(uniqueName='sales')", "groups(a=1)"])
    func `a key without its quotes, or by another name, is no list`(_ path: String) {
        #expect(GraphPath("/v1.0/" + path) == nil)
    }

    @Test(arguments: ["skip=1,top=2", "skip=1top=2"])
    func `a function is told in brackets what it is to do, as Microsoft's packages write it`(inside: String) throws {
        let path = try #require(GraphPath("/v1.0/users/a/exportDeviceAndAppManagementData(\(inside))"))
        #expect(path.parts == ["users", "a", "exportDeviceAndAppManagementData"])
        #expect(path.arguments == ["skip": "1", "top": "2"])
    }

    @Test func `a longer and a shorter path do not match`() throws {
        let path = try #require(GraphPath("/v1.0/users/a"))
        #expect(path.matches(["users"]) == nil)
        #expect(path.matches(["users", "*", "*"]) == nil)
        #expect(path.matches(["users", "*"]) == ["a"])
    }
}
