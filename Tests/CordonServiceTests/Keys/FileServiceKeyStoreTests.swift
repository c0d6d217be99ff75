import CordonIdentity
import CordonProtocol
import CordonService
import CordonTestSupport
import Foundation
import Testing

/// Secrets of signing keys on disk: private, checked, and in no other place.
struct FileServiceKeyStoreTests {
    private let tenant = TenantID("contoso.example")

    private func withFolder(_ body: (URL) throws -> Void) throws {
        let folder = TemporaryFolder.newPath()
        defer { TemporaryFolder.remove(folder) }
        try body(folder)
    }

    private func files(in folder: URL) throws -> [URL] {
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        return names.map { folder.appending(path: $0) }.filter { !$0.hasDirectoryPath && $0.pathExtension == "key" }
    }

    private func mode(_ file: URL) throws -> Int {
        try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int ?? -1
    }

    @Test func `a key comes back in a new process and its file is private`() throws {
        try withFolder { folder in
            let key = SoftwareSigningKey()
            try FileServiceKeyStore(folder: folder).store(key, of: tenant)
            let read = try FileServiceKeyStore(folder: folder).key(key.publicKey.thumbprint, of: tenant)
            #expect(read.rawRepresentation == key.rawRepresentation)
            let file = try #require(try files(in: folder).first)
            #expect(try mode(file) == 0o600)
            #expect(try mode(file.deletingLastPathComponent()) == 0o700)
            #expect(try FileManager.default.subpathsOfDirectory(atPath: folder.path).count == 2)
        }
    }

    @Test func `a key of another organisation, an unknown one and a path are missing`() throws {
        try withFolder { folder in
            let store = try FileServiceKeyStore(folder: folder)
            let key = SoftwareSigningKey()
            try store.store(key, of: tenant)
            for (id, owner) in [
                (key.publicKey.thumbprint, TenantID("fabrikam.example")), ("unknown", tenant),
                ("../../../../etc/passwd", tenant), ("", tenant),
            ] {
                #expect(throws: ServiceError(.keyUnavailable, "")) { try store.key(id, of: owner) }
            }
        }
    }

    @Test func `a key file that others can read is refused`() throws {
        try withFolder { folder in
            let store = try FileServiceKeyStore(folder: folder)
            let key = SoftwareSigningKey()
            try store.store(key, of: tenant)
            let file = try #require(try files(in: folder).first)
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
            #expect(throws: ServiceError(.keyUnavailable, "")) { try store.key(key.publicKey.thumbprint, of: tenant) }
        }
    }

    @Test(arguments: [Data(), Data(repeating: 0, count: 32), Data(repeating: 7, count: 33)])
    func `a damaged key file is refused`(content: Data) throws {
        try withFolder { folder in
            let store = try FileServiceKeyStore(folder: folder)
            let key = SoftwareSigningKey()
            try store.store(key, of: tenant)
            let file = try #require(try files(in: folder).first)
            try content.write(to: file)
            #expect(throws: ServiceError(.keyUnavailable, "")) { try store.key(key.publicKey.thumbprint, of: tenant) }
        }
    }

    @Test func `a file with another key than its name says is refused`() throws {
        try withFolder { folder in
            let store = try FileServiceKeyStore(folder: folder)
            let key = SoftwareSigningKey()
            try store.store(key, of: tenant)
            let file = try #require(try files(in: folder).first)
            try SoftwareSigningKey().rawRepresentation.write(to: file)
            #expect(throws: ServiceError(.keyUnavailable, "")) { try store.key(key.publicKey.thumbprint, of: tenant) }
        }
    }
}
