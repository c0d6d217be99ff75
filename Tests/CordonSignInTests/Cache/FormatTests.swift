import CordonIdentity
import CordonSignIn
import CordonTestSupport
import CordonTesting
import Foundation
import Testing

/// Sessions that earlier versions stored, written by another program (SI-209).
@Suite struct FormatTests {
    private static let vectors = URL(filePath: #filePath).appending(path: "../../../Vectors/session").standardized

    /// A folder with the stored session, as an update of the app finds it.
    private func stored(_ change: (URL) throws -> Void = { _ in }) throws -> (SignInClient, URL) {
        let folder = TemporaryFolder.newPath()
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o700]
        for name in ["tokens", "secrets"] {
            try FileManager.default.createDirectory(
                at: folder.appending(path: name), withIntermediateDirectories: true, attributes: attributes)
        }
        for file in try FileManager.default.contentsOfDirectory(at: Self.vectors, includingPropertiesForKeys: nil) {
            let place = ["session": "tokens", "key": "secrets"][file.pathExtension]
            guard let place else { continue }
            try FileManager.default.copyItem(
                at: file, to: folder.appending(path: place).appending(path: file.lastPathComponent))
        }
        try change(folder)
        let provider = FakeIdentityProvider()
        let cache = try TokenCache(
            directory: folder.appending(path: "tokens"),
            secrets: FileSecretStore(directory: folder.appending(path: "secrets")))
        let client = try SignInClient(
            configuration: SignInConfiguration(issuer: provider.issuer, clientID: provider.clientID),
            transport: provider.transport, cache: cache)
        return (client, folder)
    }

    @Test func `a session of format 1 is still opened, with its key`() async throws {
        let (client, folder) = try stored()
        defer { try? FileManager.default.removeItem(at: folder) }
        let account = try #require(try await client.accounts().first)
        #expect(account.id == "oid-worker-a" && account.displayName == "Worker A")
        #expect(account.session.description == "5B0A6E14-2F3D-4C61-9E08-7C441BD263A9")
        _ = try await client.signer(for: account.id)
        #expect(try await client.signOut(account.id).removal.isComplete)
    }

    @Test func `the same session with one bit changed, or before its newest generation, is not accepted`() async throws
    {
        for (file, place) in [("tokens", 40), ("tokens", 33), ("secrets", 39)] {
            let (client, folder) = try stored { folder in
                let below = folder.appending(path: file)
                let name = try #require(try FileManager.default.contentsOfDirectory(atPath: below.path).first)
                var bytes = try Data(contentsOf: below.appending(path: name))
                bytes[place] ^= 4
                try bytes.write(to: below.appending(path: name))
            }
            defer { try? FileManager.default.removeItem(at: folder) }
            #expect(try await client.accounts().isEmpty, "\(file) \(place)")
        }
    }
}
