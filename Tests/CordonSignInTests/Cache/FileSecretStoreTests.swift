import CordonSignIn
import CordonTestSupport
import Foundation
import Testing

@Suite final class FileSecretStoreTests {
    private let folder = TemporaryFolder.newPath()

    deinit { try? FileManager.default.removeItem(at: folder) }

    @Test func `a secret is kept, replaced and destroyed`() throws {
        let store = try FileSecretStore(directory: folder)
        #expect(try store.secret(named: "a") == nil)
        try store.keep(Data([1]), named: "a")
        try store.keep(Data([2, 3]), named: "a")
        #expect(try FileSecretStore(directory: folder).secret(named: "a") == Data([2, 3]))
        try store.destroy(named: "a")
        try store.destroy(named: "a")
        #expect(try store.secret(named: "a") == nil)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test func `a secret that a crash left overwritten but not removed counts as destroyed`() throws {
        let store = try FileSecretStore(directory: folder)
        try store.keep(Data([1, 0, 2]), named: "a")
        #expect(try store.secret(named: "a") == Data([1, 0, 2]))
        try Data(count: 3).write(to: folder.appending(path: "a.key"))
        #expect(try store.secret(named: "a") == nil)
        try store.destroy(named: "a")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test func `a secret that cannot be read is not taken for one that is gone`() throws {
        let store = try FileSecretStore(directory: folder)
        try FileManager.default.createDirectory(
            at: folder.appending(path: "a.key"), withIntermediateDirectories: false)
        // A folder opens and then refuses to be read, as a file on a failing disk does.
        #expect(throws: SignInError(.storage, .storeUnavailable, "")) { try store.secret(named: "a") }
        #expect(throws: SignInError(.storage, .storeUnavailable, "")) {
            try TokenStoreFile.read(folder.appending(path: "a.key"), limit: 100)
        }
        #expect(try TokenStoreFile.read(folder.appending(path: "b.key"), limit: 100) == nil)
    }

    @Test func `a secret's file is for this user alone`() throws {
        try FileSecretStore(directory: folder).keep(Data([1]), named: "a")
        let path = folder.appending(path: "a.key").path
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
    }

    @Test func `what a crash left of an unfinished write is destroyed with the secret`() throws {
        let store = try FileSecretStore(directory: folder)
        try store.keep(Data([1]), named: "a")
        try Data([2]).write(to: folder.appending(path: ".a.key.new"))
        try store.destroy(named: "a")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test func `another file's second name in a secret's place is not emptied where no secret is as long`() throws {
        let store = try FileSecretStore(directory: folder)
        let victim = folder.appending(path: "victim")
        let bytes = Data(repeating: 7, count: 4_097)
        try bytes.write(to: victim)
        for name in ["a.key", ".a.key.new"] {
            try FileManager.default.linkItem(at: victim, to: folder.appending(path: name))
        }
        try store.destroy(named: "a")
        #expect(try Data(contentsOf: victim) == bytes)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["victim"])
    }

    @Test func `a name cannot leave the folder`() throws {
        let store = try FileSecretStore(directory: folder)
        try store.keep(Data([1]), named: "../outside")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["___outside.key"])
    }

    @Test func `a link in the secret's place is not followed`() throws {
        let store = try FileSecretStore(directory: folder)
        let target = folder.appending(path: "target")
        try Data([9]).write(to: target)
        try FileManager.default.createSymbolicLink(at: folder.appending(path: "a.key"), withDestinationURL: target)
        #expect(throws: SignInError(.storage, .storeUnavailable, "")) { try store.secret(named: "a") }
    }
}
