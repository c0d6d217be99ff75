import CordonPolicy
import CordonService
import HTTPTypes
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
        for (path, value) in [("emails[Value eq \"x\"].value", "y"), ("members[type eq \"User\"].type", "Group")] {
            let name = String(path.prefix { $0 != "[" })
            let attribute = String(path.drop { $0 != "." }.dropFirst())
            let entry = try patched([["op": "add", "path": .string(path), "value": .string(value)]])[name]?.array?.last
            #expect(try entry?.attribute(attribute) == .string(value) && entry?.object?.count == 1)
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
        #"{"op":"replace","path":"members"}"#, #"{"op":"add","path":"active"}"#, #"{"op":"replace"}"#,
        #"{"op":"replace","path":"../x","value":1}"#, #"{"op":"replace","path":"emails[type eq \"x\"]","value":{}}"#,
    ])
    func `what cannot be understood is refused`(operation: String) throws {
        let value = try JSONValue(parsing: .init(operation.utf8))
        #expect(throws: Refusal.self) { try patched([value]) }
    }

    @Test func `an attribute is found in any case, and one that is there twice is refused`() throws {
        #expect(try patched([["op": "replace", "path": "NAME.GivenName", "value": "B"]])["name"] == ["givenName": "B"])
        func group(_ document: JSONValue) throws -> DirectoryGroup {
            try SCIMGroup.group(document, id: nil, known: nil, groups: [])
        }
        let night = try group(["DisplayName": "Night", "Members": [["Value": "1", "TYPE": "group"], ["VALUE": "2"]]])
        #expect(night.displayName == "Night" && night.members == [.group("1"), .user("2")])
        #expect(throws: Refusal.self) { try group(["displayName": "G", "members": [], "Members": [["value": "1"]]]) }
        let person = try SCIMUser.user(
            [
                "UserName": "a@example.test", "NAME": ["FamilyName": "B"],
                "Emails": [["value": "x@example.test"], ["Value": "y@example.test", "Primary": true]],
                SCIMUser.enterprise.lowercased(): ["Department": "Sales"],
            ], id: nil, known: nil)
        #expect(person.surname == "B" && person.mail == "y@example.test" && person.department == "Sales")
    }

    @Test func `a change's own members are found in any case, so that none is taken for one without a value`() throws {
        let group: JSONValue = ["displayName": "G", "members": [["value": "1"], ["value": "2"]]]
        func patch(_ operation: JSONValue) throws -> SCIMPatch { try SCIMPatch(["operations": [operation]]) }
        let removal = try patch(["op": "remove", "path": "members", "Value": [["value": "1"]]])
        #expect(try removal.applied(to: group)["members"] == [["value": "2"]])
        #expect(try removal.members != nil)
        let addition = try patch(["OP": "add", "Path": "members", "value": ["value": "3"]])
        #expect(try addition.applied(to: group)["members"]?.array?.count == 3)
        #expect(throws: Refusal.self) { try patch(["op": "remove", "path": "members", "value": [], "Value": []]) }
    }

    @Test func `a change without a path that names one attribute twice is refused`() throws {
        for value: JSONValue in [
            ["Active": false, "active": true], [SCIMUser.schema + ":active": false, "active": true],
            ["name.givenName": "A", "Name.GivenName": "B"],
            [SCIMUser.enterprise: ["Department": "A", "department": "B"]],
        ] {
            #expect(throws: Refusal.self) { try patched([["op": "replace", "value": value]]) }
        }
        let mails = try patched([
            ["op": "add", "value": ["emails[type eq \"work\"].value": "w", "emails[type eq \"home\"].value": "h"]]
        ])["emails"]
        #expect(mails?.array?.count == 2)
    }

    @Test func `members are the same in any case`() throws {
        func members(_ operation: String) throws -> JSONValue? {
            try patched(
                [["op": .string(operation), "path": "members", "value": [["value": "ADA"]]]],
                ["displayName": "G", "members": [["value": "ada"]]])["members"]
        }
        #expect(try members("remove") == [])
        #expect(try members("add") == [["value": "ada"]])
    }

    @Test func `only members that say nothing of their kind are looked for among the groups`() throws {
        let added: JSONValue = [["value": "A"], ["value": "b", "type": "User"], ["value": "c"]]
        let change = try #require(
            try SCIMPatch([
                "Operations": [
                    ["op": "add", "path": "members", "value": added],
                    ["op": "remove", "path": "members", "value": [["value": "d"]]],
                ]
            ]).members)
        #expect(change.untyped == ["a", "c"])
        let members = change.resolved(groups: ["a"])
        #expect(members.added == [.group("A"), .user("b"), .user("c")])
        #expect(members.removed == [.user("d"), .group("d")])
    }

    @Test func `members that are no list empty no group`() throws {
        func members(_ value: JSONValue) throws -> Set<DirectoryGroup.Member> {
            try SCIMGroup.group(["displayName": "G", "members": value], id: nil, known: nil, groups: []).members
        }
        #expect(throws: Refusal.self) { try members(["value": "1"]) }
        #expect(throws: Refusal.self) { try members("1") }
        #expect(try members(.null) == [] && members([]) == [])
    }

    @Test func `names of attributes may have digits and hyphens`() throws {
        let path: JSONValue = "x509Certificates[type eq \"a\"].value-1"
        #expect(try patched([["op": "add", "path": path, "value": "x"]])["x509Certificates"]?.array?.count == 1)
    }

    @Test(.timeLimit(.minutes(1))) func `thousands are added to thousands, and taken from them`() throws {
        func entries(_ range: Range<Int>) -> JSONValue { .array(range.map { ["value": .string("\($0)")] }) }
        func count(_ operation: String) throws -> Int? {
            try patched(
                [["op": .string(operation), "path": "members", "value": entries(5_000..<15_000)]],
                ["displayName": "G", "members": entries(0..<10_000)])["members"]?.array?.count
        }
        #expect(try count("add") == 15_000)
        #expect(try count("remove") == 5_000)
    }

    @Test func `a change that takes too long is given up`() {
        #expect(throws: Refusal(.serviceUnavailable, "too-much", "")) {
            try AdministrationDeadline.$end.withValue(.now.advanced(by: .seconds(-1))) {
                try patched([["op": "replace", "path": "active", "value": false]])
            }
        }
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
