import CordonProtocol
import CordonTestSupport
import Foundation
import Testing

@testable import CordonDevelopmentProvider

@Suite struct DevelopmentDirectoryTests {
    private func withFolder(_ test: (URL) throws -> Void) throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        try test(folder)
    }

    private func error(_ code: ProgramError.Code) -> ProgramError {
        ProgramError(code, reason: "", place: "", hint: "")
    }

    private func permissions(_ file: URL) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
    }

    @Test func `what is saved is what is loaded, and only its owner reads it`() throws {
        try withFolder { folder in
            let file = folder.appendingPathComponent("directory.json")
            let directory = try ProviderFixture.directory()
            try directory.save(to: file)
            #expect(try DevelopmentDirectory.load(from: file) == directory)
            #expect(try permissions(file) == 0o600)
            #expect(try !String(contentsOf: file, encoding: .utf8).contains("correct horse"))
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["directory.json"])
        }
    }

    @Test func `a file that others may read is refused`() throws {
        try withFolder { folder in
            let file = folder.appendingPathComponent("directory.json")
            try ProviderFixture.directory().save(to: file)
            try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: file.path)
            #expect(throws: error(.fileNotPrivate)) { try DevelopmentDirectory.load(from: file) }
        }
    }

    @Test func `a missing file and a folder that is not there say so`() throws {
        try withFolder { folder in
            let file = folder.appendingPathComponent("absent/directory.json")
            #expect(throws: error(.fileUnreadable)) { try DevelopmentDirectory.load(from: file) }
            #expect(throws: error(.fileUnwritable)) { try ProviderFixture.directory().save(to: file) }
        }
    }

    @Test func `an invalid directory is not saved and the old file stands`() throws {
        try withFolder { folder in
            let file = folder.appendingPathComponent("directory.json")
            let directory = try ProviderFixture.directory()
            try directory.save(to: file)
            var broken = directory
            broken.groups[0].members.append("nobody")
            #expect(throws: error(.directoryInvalid)) { try broken.save(to: file) }
            #expect(try DevelopmentDirectory.load(from: file) == directory)
        }
    }

    @Test(arguments: [
        ("\"tenantId\" : \"tenant-1\"", "\"tenantId\" : \"\"", "tenantId"),
        ("\"tenantId\" : \"tenant-1\"", "\"tenant\" : \"tenant-1\"", "tenantId"),
        ("bob@example.test", "bob.example.test", "people[1].userPrincipalName"),
        ("bob@example.test", "ADA@example.test", "people[1].userPrincipalName"),
        ("\"id\" : \"oid-b\"", "\"id\" : \"oid-a\"", "people[1].id"),
        ("\"id\" : \"oid-b\"", "\"id\" : \"a/b\"", "people[1].id"),
        ("\"id\" : \"oid-b\"", "\"id\" : 7", "people[1].id"),
        ("\"displayName\" : \"Bob\"", "\"displayName\" : \"\"", "people[1].displayName"),
        ("\"Managed apps Wipe\"", "\"\"", "people[0].roles[0]"),
        ("\"n\" : 1024", "\"n\" : 1000", "people[0].password"),
        ("\"algorithm\" : \"scrypt\"", "\"algorithm\" : \"md5\"", "people[0].password.algorithm"),
        ("\"salt\" : \"", "\"salt\" : \"=", "people[0].password.salt"),
        ("\"oid-a\"\n      ]", "\"oid-x\"\n      ]", "groups[0].members[0]"),
        ("\"oid-a\"\n      ]", "\"oid-a\", \"oid-a\"\n      ]", "groups[0].members"),
        ("{", "[", ""),
    ])
    func `a mistake in the file is named with its place`(old: String, new: String, place: String) throws {
        try withFolder { folder in
            let file = folder.appendingPathComponent("directory.json")
            try ProviderFixture.directory().save(to: file)
            let text = try String(contentsOf: file, encoding: .utf8)
            let found = try #require(text.range(of: old), "the file has no \(old)")
            try ProviderPrivateFile.write(Data(text.replacingCharacters(in: found, with: new).utf8), to: file)
            let thrown = #expect(throws: ProgramError.self) { try DevelopmentDirectory.load(from: file) }
            #expect(thrown?.code == .directoryInvalid)
            #expect(
                thrown?.place == file.path
                    + (place.isEmpty ? thrown?.place.dropFirst(file.path.count) ?? "" : ": \(place)"))
            #expect(thrown?.reason.isEmpty == false && thrown?.hint?.isEmpty == false)
        }
    }

    @Test func `people and groups are added once`() throws {
        var directory = try ProviderFixture.directory()
        let before = directory
        let cheap = DirectoryPassword.Parameters(rounds: 1_024)
        #expect(throws: error(.duplicate)) {
            try directory.addPerson(
                userPrincipalName: "ADA@example.test", displayName: "Ada", password: "x", parameters: cheap)
        }
        #expect(throws: error(.duplicate)) {
            try directory.addPerson(
                userPrincipalName: "eve@example.test", displayName: "Eve", password: "x", id: "oid-a", parameters: cheap
            )
        }
        #expect(throws: error(.passwordUnusable)) {
            try directory.addPerson(
                userPrincipalName: "eve@example.test", displayName: "Eve", password: "", parameters: cheap)
        }
        #expect(throws: error(.duplicate)) { try directory.addGroup(displayName: "Again", id: "group-f") }
        #expect(throws: error(.directoryInvalid)) { try directory.addGroup(displayName: "Lost", members: ["oid-x"]) }
        #expect(directory == before)
        let group = try directory.addGroup(displayName: "Everyone", members: ["oid-a", "oid-b"])
        #expect(directory.groups(ofPerson: "oid-b") == [group])
        #expect(directory.person(userPrincipalName: "Bob@Example.test")?.id == "oid-b")
    }

    @Test func `a key file is made once, kept private and read again`() throws {
        try withFolder { folder in
            let file = folder.appendingPathComponent("signing-key.pem")
            let first = try ProviderSigningKey(.file(file))
            #expect(try permissions(file) == 0o600)
            #expect(try ProviderSigningKey(.file(file)).id == first.id)
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
            #expect(throws: error(.fileNotPrivate)) { try ProviderSigningKey(.file(file)) }
            try ProviderPrivateFile.write(Data("no key".utf8), to: file)
            #expect(throws: error(.signingKeyInvalid)) { try ProviderSigningKey(.file(file)) }
            #expect(try String(contentsOf: file, encoding: .utf8) == "no key", "the file is left as it is")
        }
    }
}
