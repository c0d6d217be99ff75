import ArgumentParser
import CordonService
import Foundation
import Testing

@testable import CordonCommand

/// `cordon serve --directory`.
@Suite struct DirectoryFileTests {
    private func read(_ text: String) throws -> DirectoryContent {
        try withServeFolder { folder in
            let file = folder.appending(path: "people.json")
            try Data(text.utf8).write(to: file)
            return try DirectoryFile.read(file)
        }
    }

    private let ada = #"{"id": "oid-ada", "userPrincipalName": "ada@example.test", "department": "Field"}"#

    @Test func `people and groups are read, members by id or by name`() throws {
        let content = try read(
            """
            {"people": [\(ada), {"id": "oid-ben", "userPrincipalName": "ben@example.test", "accountEnabled": false}],
             "groups": [{"id": "field", "members": ["ADA@example.test", "oid-ben"], "groups": ["night"]}]}
            """)
        #expect(content.people.map(\.id) == ["oid-ada", "oid-ben"])
        #expect(content.people.map(\.accountEnabled) == [true, false])
        #expect(content.people.first?.displayName == "ada@example.test")
        #expect(content.groups.first?.members == [.user("oid-ada"), .user("oid-ben"), .group("night")])
    }

    @Test(arguments: [
        ("{", "JSON"), (#"{"people": [{"id": "x"}]}"#, "userPrincipalName"), (#"{"people": {}}"#, "people"),
        (#"{"people": [], "groups": [{"id": "g", "members": ["nobody"]}]}"#, "nobody"),
        (#"{"people": [{"id": "x", "userPrincipalName": "x", "enabled": false}]}"#, "enabled"),
        (#"{"people": [], "group": []}"#, "group"), (#"{"people": [], "groups": [{"id": "g", "users": []}]}"#, "users"),
        (#"{"people": [], "groups": [{"id": "night"}, {"id": "NIGHT"}]}"#, "two groups have the same id: NIGHT"),
    ])
    func `what is wrong is named`(text: String, word: String) {
        #expect { _ = try read(text) } throws: { error in
            let failure = error as? CommandFailure
            return failure?.status == .badInput && failure?.message.contains(word) == true
        }
    }

    @Test func `the check of the settings reads the file`() async throws {
        try await withServeFolder { folder in
            let file = folder.appending(path: "people.json")
            let check = try ServeConfigCommand.Check.parse([
                "--offline", "--issuer", "https://login.example.test", "--tenant", "contoso", "--data-directory",
                folder.path, "--directory", file.path,
            ])
            try Data(#"{"people": [\#(ada)]}"#.utf8).write(to: file)
            try await check.run()
            try Data("{".utf8).write(to: file)
            await #expect { try await check.run() } throws: { error in
                let failure = error as? CommandFailure
                return failure?.status == .badInput && failure?.message.contains(file.path) == true
            }
        }
    }

    @Test(arguments: [
        (#"{"id": "OID-ADA", "userPrincipalName": "other@example.test"}"#, "id: OID-ADA"),
        (#"{"id": "oid-other", "userPrincipalName": "ADA@example.test"}"#, "userPrincipalName: ADA@example.test"),
    ])
    func `no two people of the file have one id or one sign-in name, and the refusal names it`(
        other: String, named: String
    ) {
        #expect { try read(#"{"people": [\#(ada), \#(other)]}"#) } throws: { error in
            (error as? CommandFailure)?.message.hasSuffix("two people have the same \(named)") == true
        }
    }
}
