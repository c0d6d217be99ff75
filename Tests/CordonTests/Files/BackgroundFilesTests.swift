import CordonBase
import CordonIdentity
import CordonTestSupport
import CordonVault
import Foundation
import Testing

@testable import Cordon

/// Files under the device's secrets alone, beside those that a PIN guards.
@Suite(.timeLimit(.minutes(10))) struct BackgroundFilesTests {
    private static let text = Data("waits to be sent".utf8)

    /// A guarded account with one file of each class.
    private func stand() async throws -> (GuardStand, AppProtection) {
        let stand = try await GuardStand()
        let protection = try await stand.opened { $0.keepsBackgroundFiles = true }
        try await protection.files.background.write(Self.text, as: "queue", of: stand.account)
        return (stand, protection)
    }

    private func start(_ stand: GuardStand) async throws -> AppProtection {
        try await stand.house.start { $0.keepsBackgroundFiles = true }
    }

    @Test func `a background file is read and written behind a closed gate, and a guarded one beside it is not`()
        async throws
    {
        let (stand, _) = try await stand()
        let account = stand.account
        let next = try await start(stand)
        #expect(try await next.files.background.read("queue", of: account) == Self.text)
        try await next.files.background.write(Data("more".utf8), as: "second", of: account)
        #expect(try await next.files.background.names(of: account) == ["queue", "second"])
        try await next.files.background.remove("queue", of: account)
        #expect(try await next.files.background.names(of: account) == ["second"])
        #expect(await !next.context.vault.isUnlocked(account), "the guarded key is not in memory")
        await #expect(throws: ProtectionError(.gateClosed, "")) {
            _ = try await next.files.read("note", of: account)
        }
        await #expect(throws: ProtectionError(.nothingThere, "")) {
            _ = try await next.files.background.read("note", of: account)
        }
        #expect(await stand.reads(next))
        #expect(
            try await next.files.names(of: account) == ["note"], "the names of one class are not those of the other")
        let (data, needle) = (stand.house.device.folder.appending(path: "data"), Data("more".utf8))
        for case let name as String in try #require(FileManager.default.enumerator(atPath: data.path)) {
            #expect(!name.contains("second"))
            let bytes = FileManager.default.contents(atPath: data.appending(path: name).path)
            #expect(bytes?.range(of: needle) == nil, "sealed like every other")
        }
    }

    @Test func `the key of background files opens no guarded file`() async throws {
        let (stand, _) = try await stand()
        let folder = stand.house.device.folder
        let vault = try Vault(
            directory: folder.appending(path: "data/background/vault"),
            keyStore: FileKeyStore(directory: folder.appending(path: "keys")), name: "example.notes background")
        try await vault.unlock(stand.account)
        let files = folder.appending(path: "data/files")
        var tried = 0
        for case let name as String in try #require(FileManager.default.enumerator(atPath: files.path)) {
            let path = files.appending(path: name)
            guard vault.isSealed(path) else { continue }
            tried += 1
            await #expect(throws: VaultError(.wrongKey, "")) { _ = try await vault.open(path, writing: false) }
        }
        #expect(tried == 2, "the note and the directory")
    }

    @Test(arguments: [true, false])
    func `a wipe removes background files too, whichever step the app is killed at and what it says afterwards`(
        stillKeeps: Bool
    ) async throws {
        let (stand, _) = try await stand()
        let protection = try await stand.house.start { configuration in
            configuration.keepsBackgroundFiles = true
            configuration.wipeObserver = { [weak stand] in stand?.keepCopy(at: $0) }
        }
        try await protection.wipe(stand.account)
        let copies = stand.kept
        #expect(copies.count { $0.step == "vault-keyDestroyed" } == 2, "each class has a key")
        for copy in copies {
            let next = try await stand.start(on: copy) { $0.keepsBackgroundFiles = stillKeeps }
            #expect(next.enrolledAccounts.isEmpty, "killed at \(copy.step)")
            for vault in next.context.vaults {
                #expect(try await vault.accounts().isEmpty, "killed at \(copy.step)")
                #expect(await vault.finishedReports().isEmpty, "killed at \(copy.step)")
            }
            #expect(next.context.vaults.count == 2)
            for folder in [next.context.folder(of: stand.account), next.context.backgroundFolder(of: stand.account)] {
                #expect(!FileManager.default.fileExists(atPath: folder.path), "killed at \(copy.step)")
            }
        }
    }

    @Test func `an app that does not say that it keeps background files has none, and no folder for them`() async throws
    {
        let device = try Device()
        let protection = try await device.enrolled()
        await #expect(throws: ProtectionError(.invalidConfiguration, "")) {
            try await protection.files.background.write(Self.text, as: "queue", of: device.account.id)
        }
        #expect(device.files(in: "background").isEmpty)
    }

    @Test func `leaving without a wipe, and rules that cannot be read, close background files`() async throws {
        let (stand, protection) = try await stand()
        let account = stand.account
        let record = try #require(protection.context.accounts[account])
        protection.context.accounts.denyEverything(of: record)
        await #expect(throws: ProtectionError(.gateClosed, "")) {
            _ = try await protection.files.background.read("queue", of: account)
        }
        #expect(await protection.unenroll(account, wiping: false) == .unenrolled)
        await #expect(throws: ProtectionError(.notEnrolled, "")) {
            _ = try await protection.files.background.read("queue", of: account)
        }
        let vault = try #require(protection.context.backgroundVault)
        #expect(await !vault.isUnlocked(account))
        _ = await protection.enroll(stand.house.device.account)
        #expect(try await protection.files.background.read("queue", of: account) == Self.text)
    }

    @Test(arguments: [false, true])
    func `where the record of the background key alone is damaged or gone, a sign-in goes on, and guarded files stay`(
        isGone: Bool
    ) async throws {
        let (stand, _) = try await stand()
        let keys = stand.house.device.folder.appending(path: "data/background/vault/keys")
        let names = try FileManager.default.contentsOfDirectory(atPath: keys.path).filter { $0.hasSuffix(".key") }
        #expect(names.count == 1)
        for name in names {
            let record = keys.appending(path: name)
            if isGone { try FileManager.default.removeItem(at: record) } else { try Data(count: 512).write(to: record) }
        }
        let next = try await start(stand)
        await #expect(throws: ProtectionError.self) {
            _ = try await next.files.background.read("queue", of: stand.account)
        }
        stand.house.clock.advance(.seconds(3600))
        await stand.house.person.set { $0.signIns = [.signedIn("oid-a")] }
        #expect(await next.launch(stand.account).isOpen)
        #expect(try await next.files.background.names(of: stand.account).isEmpty)
        try await next.files.background.write(Self.text, as: "queue", of: stand.account)
        #expect(try await next.files.background.read("queue", of: stand.account) == Self.text)
        #expect(await stand.reads(next), "what the gate guards was not lost")
    }

    @Test func `where the key store has lost its secrets, background files go on after the same sign-in`() async throws
    {
        let (stand, _) = try await stand()
        let secrets = stand.house.device.folder.appending(path: "keys/secrets")
        for name in try FileManager.default.contentsOfDirectory(atPath: secrets.path) where name.hasSuffix(".key") {
            try FileManager.default.removeItem(at: secrets.appending(path: name))
        }
        let next = try await start(stand)
        await #expect(throws: ProtectionError.self) {
            _ = try await next.files.background.read("queue", of: stand.account)
        }
        stand.house.clock.advance(.seconds(3600))
        #expect(await next.launch(stand.account).isOpen)
        #expect(try await next.files.background.names(of: stand.account).isEmpty)
        try await next.files.background.write(Self.text, as: "queue", of: stand.account)
        #expect(try await next.files.background.read("queue", of: stand.account) == Self.text)
    }
}
