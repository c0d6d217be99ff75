import CordonPolicy
import Testing

@testable import CordonServiceHTTP

/// RFC 7644 §3.5.2 and the spellings of common provisioning systems.
@Suite struct SCIMPatchTests {
    private let user: JSONValue = [
        "userName": "a@example.test", "active": true, "name": ["givenName": "A"],
        "emails": [["value": "a@example.test", "type": "work"]],
    ]

    private func patched(_ operations: [JSONValue], _ resource: JSONValue? = nil) throws -> JSONValue {
        try SCIMPatch(["Operations": .array(operations)]).applied(to: resource ?? user)
    }

    @Test func `an attribute is replaced with and without a path`() throws {
        #expect(try patched([["op": "Replace", "path": "active", "value": false]])["active"] == false)
        #expect(try patched([["op": "replace", "value": ["active": false]]])["active"] == false)
        #expect(try patched([["op": "add", "path": "ACTIVE", "value": "False"]])["active"] == "False")
    }

    @Test func `parts of an attribute are changed alone`() throws {
        let name = try patched([["op": "replace", "path": "name.familyName", "value": "B"]])["name"]
        #expect(name == ["givenName": "A", "familyName": "B"])
        let mails = try patched([["op": "replace", "path": "emails[type eq \"work\"].value", "value": "b@x.test"]])[
            "emails"]
        #expect(mails == [["value": "b@x.test", "type": "work"]])
        let other = try patched([["op": "add", "path": "emails[type eq \"home\"].value", "value": "h@x.test"]])[
            "emails"]
        #expect(other?.array?.count == 2)
    }

    @Test func `an entry that a path describes by the very attribute that it sets has that attribute once`() throws {
        for (path, value) in [("emails[value eq \"x\"].value", "y"), ("members[type eq \"User\"].type", "Group")] {
            let name = String(path.prefix { $0 != "[" })
            let attribute = String(path.drop { $0 != "." }.dropFirst())
            let entry = try patched([["op": "add", "path": .string(path), "value": .string(value)]])[name]?.array?.last
            #expect(entry == .object([attribute: .string(value)]))
        }
    }

    @Test func `an extension is reached by its name`() throws {
        let path = SCIMUser.enterprise + ":department"
        let added = try patched([["op": "add", "path": .string(path), "value": "Sales"]])
        #expect(added[SCIMUser.enterprise]?["department"] == "Sales")
    }

    @Test func `members are added once, removed by filter, by value, and all at once`() throws {
        let group: JSONValue = ["displayName": "G", "members": [["value": "1"], ["value": "2"]]]
        func members(_ operation: JSONValue) throws -> [String] {
            try patched([operation], group)["members"]?.array?.compactMap { $0["value"]?.string } ?? []
        }
        #expect(
            try members(["op": "add", "path": "members", "value": [["value": "2"], ["value": "3"]]]) == ["1", "2", "3"])
        #expect(try members(["op": "remove", "path": "members[value eq \"1\"]"]) == ["2"])
        #expect(try members(["op": "remove", "path": "members", "value": [["value": "2"]]]) == ["1"])
        #expect(try members(["op": "remove", "path": "members"]) == [])
        #expect(try members(["op": "replace", "path": "members", "value": [["value": "9"]]]) == ["9"])
    }

    @Test(arguments: [
        #"{"op":"move","path":"active"}"#, #"{"op":"remove"}"#, #"{"op":"replace","value":3}"#,
        #"{"op":"replace","path":"a[b","value":1}"#,
        #"{"op":"replace","path":"emails[type co \"x\"].value","value":1}"#,
        #"{"op":"replace","path":"../x","value":1}"#, #"{"op":"replace","path":"emails[type eq \"x\"]","value":{}}"#,
    ])
    func `what cannot be understood is refused`(operation: String) throws {
        let value = try JSONValue(parsing: .init(operation.utf8))
        #expect(throws: Refusal.self) { try patched([value]) }
    }

    @Test func `a filter compares text without case, also inside lists`() throws {
        #expect(try SCIMFilter(#"userName eq "A@EXAMPLE.test""#).admits(user))
        #expect(try SCIMFilter(#"emails.value eq "a@example.test""#).admits(user))
        #expect(try SCIMFilter("active eq true").admits(user))
        #expect(try !SCIMFilter(#"userName eq "b""#).admits(user))
        for text in ["userName sw \"a\"", "userName eq", "userName eq a", "", "a eq \"b\" or c eq \"d\""] {
            #expect(throws: Refusal.self, "\(text)") { try SCIMFilter(text) }
        }
    }
}
