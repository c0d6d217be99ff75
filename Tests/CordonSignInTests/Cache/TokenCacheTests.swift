import CordonIdentity
import CordonSignIn
import CordonTesting
import Foundation
import Testing

@Suite struct TokenCacheTests {
    let fixture: SignInFixture

    init() throws { fixture = try SignInFixture() }

    private func session() throws -> URL { try #require(try fixture.files("session").first) }

    @Test func `nothing on disk is readable, and access tokens are not there at all`() async throws {
        let client = try await fixture.signedInClient()
        let token = try await client.testToken()
        let refreshToken = try #require(await fixture.provider.anyLiveRefreshToken)
        let markers = [
            token.text, String(token.text.suffix(40)), refreshToken, "worker-a", "contoso", "refresh", "oid-",
        ]
        let control = Data("here is \(refreshToken) in the clear".utf8)
        #expect(markers.contains { control.range(of: Data($0.utf8)) != nil }, "the scan finds nothing at all")
        for file in try FileManager.default.contentsOfDirectory(at: fixture.folder, includingPropertiesForKeys: nil) {
            let bytes = try Data(contentsOf: file) + Data(file.lastPathComponent.utf8)
            for marker in markers { #expect(bytes.range(of: Data(marker.utf8)) == nil, "\(marker) in \(file)") }
        }
    }

    @Test func `files and folder are for this user alone`() async throws {
        _ = try await fixture.signedInClient()
        let folder = try FileManager.default.attributesOfItem(atPath: fixture.folder.path)
        #expect(folder[.posixPermissions] as? Int == 0o700)
        for file in try FileManager.default.contentsOfDirectory(atPath: fixture.folder.path) {
            let path = fixture.folder.appending(path: file).path
            #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        }
    }

    @Test func `a folder that others can write to is refused`() throws {
        let open = fixture.folder.appending(path: "open", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: open, withIntermediateDirectories: true)
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: open.path)
        #expect(throws: SignInError(.storage, .storeUnavailable, "")) {
            _ = try TokenCache(directory: open, secrets: MemorySecretStore())
        }
    }

    @Test func `an older copy of the file counts as signed out`() async throws {
        let client = try await fixture.signedInClient()
        let old = try Data(contentsOf: session())
        fixture.time.advance(.seconds(1_000))
        _ = try await client.testToken()
        let new = try Data(contentsOf: session())
        try old.write(to: session())
        let error = await failure { try await fixture.client().testToken() }
        #expect(error?.code == .interactionRequired)
        #expect(error?.fault == .rolledBack)
        #expect(try await fixture.client().accounts().isEmpty)
        try new.write(to: session())
        #expect(try await fixture.client().accounts().count == 1)
    }

    @Test func `a crash between file and counter costs nothing`() async throws {
        let client = try await fixture.signedInClient()
        let counter = fixture.secrets.snapshot
        fixture.time.advance(.seconds(1_000))
        _ = try await client.testToken()
        // The file is new, the counter is as it was: what a kill between the two writes leaves.
        fixture.secrets.restore(counter)
        _ = try await fixture.client().testToken()
    }

    @Test func `every changed byte of the file is noticed`() async throws {
        _ = try await fixture.signedInClient()
        let good = try Data(contentsOf: session())
        for index in stride(from: 0, to: good.count, by: max(1, good.count / 200)) {
            var bad = good
            bad[index] ^= 0x01
            try bad.write(to: session())
            #expect(try await fixture.client().accounts().isEmpty, "byte \(index) changed unnoticed")
        }
        for count in [0, 1, 33, 34, 50, good.count - 1] {
            try good.prefix(count).write(to: session())
            #expect(try await fixture.client().accounts().isEmpty)
            #expect(await failure { try await fixture.client().testToken() }?.code == .interactionRequired)
        }
        try good.write(to: session())
        #expect(try await fixture.client().accounts().count == 1)
    }

    @Test func `swapped records are both refused`() async throws {
        let client = try await fixture.signedInClient()
        _ = try await client.signIn(SignInFixture.request, browser: fixture.provider.browser(signingInAs: .otherWorker))
        let files = try fixture.files("session")
        try #require(files.count == 2)
        let contents = try files.map { try Data(contentsOf: $0) }
        try contents[1].write(to: files[0])
        try contents[0].write(to: files[1])
        #expect(try await fixture.client().accounts().isEmpty)
    }

    @Test func `another client's part of the folder is not opened`() async throws {
        _ = try await fixture.signedInClient()
        #expect(try await fixture.client { $0.clientID = "another-app" }.accounts().isEmpty)
        #expect(try await fixture.client { $0.issuer = "https://other.example" }.accounts().isEmpty)
    }

    @Test func `a damaged session can be signed into again`() async throws {
        let client = try await fixture.signedInClient()
        try Data("not a session".utf8).write(to: session())
        #expect(await failure { try await client.testToken() }?.fault == .storeDamaged)
        _ = try await client.signIn(SignInFixture.request, browser: fixture.provider.browser(signingInAs: .worker))
        _ = try await client.testToken()
    }

    @Test func `signing in again destroys the key of the session before`() async throws {
        let client = try await fixture.signedInClient()
        let old = try Data(contentsOf: session())
        _ = try await client.signIn(SignInFixture.request, browser: fixture.provider.browser(signingInAs: .worker))
        #expect(fixture.secrets.count == 3, "a key, a count, and which session the account has")
        try old.write(to: session())
        #expect(await failure { try await fixture.client().testToken() }?.fault == .storeDamaged)
    }

    @Test func `every session has a number of its own`() async throws {
        let client = try await fixture.signedInClient()
        let first = try #require(try await client.account("oid-worker-a")).session
        _ = try await client.signIn(SignInFixture.request, browser: fixture.provider.browser(signingInAs: .worker))
        #expect(try await client.account("OID-WORKER-A")?.session != first)
    }
}
