import CordonBase
import CordonIdentity
import CordonTestSupport
import Crypto
import Foundation
import Testing

@testable import CordonVault

/// A key that hangs on a share: what opens it, and that wrapping it anew loses nothing and leaves nothing.
struct GuardedKeyTests {
    /// A vault with one sealed file, and its key store beside it.
    private struct Scene {
        let folder: URL
        let account: AccountID = "ada@example.test"
        let share = SymmetricKey(size: .bits256)
        var home: URL { folder.appendingPathComponent("home") }
        var note: URL { home.appendingPathComponent("note") }
        var record: URL { home.appendingPathComponent("vault/keys/\(account.fileName).key") }
        var secrets: URL { folder.appendingPathComponent("keys/secrets") }

        /// A new one in a folder, or what a copy of one holds.
        init(at folder: URL) { self.folder = folder }

        static func made() async throws -> Scene {
            let scene = Scene(at: try TemporaryFolder.make())
            let vault = try scene.vault()
            try await vault.createAccountKey(for: scene.account)
            let file = try await vault.create(scene.note, for: scene.account)
            try file.write([1, 2, 3], at: 0)
            try file.close()
            return scene
        }

        func vault() throws -> Vault {
            try Vault(
                directory: home.appendingPathComponent("vault"),
                keyStore: FileKeyStore(directory: folder.appendingPathComponent("keys")), roots: [home])
        }

        func secretCount() throws -> Int { try FileManager.default.contentsOfDirectory(atPath: secrets.path).count }
    }

    private func text(of scene: Scene, _ vault: Vault) async throws -> [UInt8] {
        try await vault.open(scene.note, writing: false).all()
    }

    @Test func `a guarded key opens with its share and with nothing else, and its files stay as they were`()
        async throws
    {
        let scene = try await Scene.made()
        defer { TemporaryFolder.remove(scene.folder) }
        let (before, file) = (try Data(contentsOf: scene.record), try Data(contentsOf: scene.note))
        let vault = try scene.vault()
        let keyID = try await vault.createAccountKey(for: scene.account)
        try await vault.hang(scene.account, on: scene.share)
        #expect(try await vault.isGuarded(scene.account))
        #expect(try await text(of: scene, vault) == [1, 2, 3], "the key in memory stays")
        try await vault.unlock(scene.account)

        let next = try scene.vault()
        #expect(await code { try await next.unlock(scene.account) } == .locked)
        #expect(await code { try await next.createAccountKey(for: scene.account) } == .locked)
        #expect(await code { try await next.unlock(scene.account, with: SymmetricKey(size: .bits256)) } == .wrongKey)
        #expect(await !next.isUnlocked(scene.account))
        try await next.unlock(scene.account, with: scene.share)
        #expect(try await next.createAccountKey(for: scene.account) == keyID)
        #expect(try await text(of: scene, next) == [1, 2, 3])
        #expect(try Data(contentsOf: scene.note) == file && scene.secretCount() == 1)

        try before.write(to: scene.record)
        #expect(
            await code { try await scene.vault().unlock(scene.account) } == .wrongKey, "a copy from before the share")
    }

    @Test func `a key that hangs on no share any more opens by itself, and the record from before does not`()
        async throws
    {
        let scene = try await Scene.made()
        defer { TemporaryFolder.remove(scene.folder) }
        let vault = try scene.vault()
        try await vault.unlock(scene.account)
        try await vault.hang(scene.account, on: scene.share)
        let guarded = try Data(contentsOf: scene.record)
        try await vault.hang(scene.account, on: nil)
        let next = try scene.vault()
        try await next.unlock(scene.account)
        #expect(try await text(of: scene, next) == [1, 2, 3])
        #expect(try await !next.isGuarded(scene.account) && scene.secretCount() == 1)
        try guarded.write(to: scene.record)
        #expect(await code { try await scene.vault().unlock(scene.account, with: scene.share) } == .wrongKey)
    }

    /// A copy of all that is on the disk at each step is what a kill there leaves.
    @Test(arguments: [true, false]) func `killed at any step, the key opens in one way and nothing is left over`(
        isGuarding: Bool
    ) async throws {
        let scene = try await Scene.made()
        defer { TemporaryFolder.remove(scene.folder) }
        let vault = try scene.vault()
        try await vault.unlock(scene.account)
        if !isGuarding { try await vault.hang(scene.account, on: scene.share) }
        let copies = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(copies) }
        try await vault.hang(scene.account, on: isGuarding ? scene.share : nil) { step in
            let copy = copies.appendingPathComponent(step.rawValue)
            do { try FileManager.default.copyItem(at: scene.folder, to: copy) } catch { Issue.record(error) }
        }
        for step in RewrapStep.allCases {
            let left = Scene(at: copies.appendingPathComponent(step.rawValue))
            let next = try left.vault()
            let isGuarded = try await next.isGuarded(scene.account)
            #expect(isGuarded == (step == .secretMade ? !isGuarding : isGuarding), "\(step)")
            if isGuarded {
                #expect(await code { try await next.unlock(scene.account) } == .locked, "\(step)")
                try await next.unlock(scene.account, with: scene.share)
            } else {
                try await next.unlock(scene.account)
            }
            #expect(try await text(of: left, next) == [1, 2, 3], "\(step)")
            #expect(try left.secretCount() == 1, "\(step): a secret that nothing hangs on is destroyed")
            // And it goes on from there.
            try await next.hang(scene.account, on: isGuarding ? scene.share : nil)
            #expect(try await next.isGuarded(scene.account) == isGuarding, "\(step)")
        }
    }

    @Test func `a guarded account is wiped without its share, and no copy opens with it`() async throws {
        let scene = try await Scene.made()
        defer { TemporaryFolder.remove(scene.folder) }
        let first = try scene.vault()
        try await first.unlock(scene.account)
        try await first.hang(scene.account, on: scene.share)
        let record = try Data(contentsOf: scene.record)
        let vault = try scene.vault()
        let report = try await vault.wipe(scene.account)
        #expect(
            report.succeeded && report.destroyedKeyIDs.count == 1
                && !FileManager.default.fileExists(atPath: scene.note.path))
        #expect(try scene.secretCount() == 0)
        try record.write(to: scene.record)
        let after = try scene.vault()
        #expect(await code { try await after.unlock(scene.account, with: scene.share) } == .wiped)
        #expect(try await !after.isGuarded(scene.account), "who enrols again gets a new key")
        try await after.createAccountKey(for: scene.account)
    }

    @Test(arguments: [true, false])
    func `a key whose secret is gone is lost, is put aside on request, and comes back with the secret until a wipe`(
        isGuarded: Bool
    ) async throws {
        let scene = try await Scene.made()
        defer { TemporaryFolder.remove(scene.folder) }
        let vault = try scene.vault()
        let former = try await vault.createAccountKey(for: scene.account)
        if isGuarded { try await vault.hang(scene.account, on: scene.share) }
        let next = try scene.vault()
        #expect(try await !next.isLost(scene.account), "the secret is there")
        let kept = scene.folder.appendingPathComponent("kept")
        try FileManager.default.moveItem(at: scene.secrets, to: kept)
        #expect(try await next.isLost(scene.account))
        #expect(await code { try await next.createAccountKey(for: scene.account) } != nil)
        #expect(FileManager.default.fileExists(atPath: scene.record.path), "nothing goes by itself")

        let aside = scene.record.deletingLastPathComponent().appendingPathComponent(
            "\(scene.account.fileName).\(former).lost")
        try await next.setAsideLostKey(of: scene.account)
        #expect(FileManager.default.fileExists(atPath: aside.path))
        #expect(FileManager.default.fileExists(atPath: scene.note.path))
        #expect(try await !next.isLost(scene.account))
        #expect(try await next.createAccountKey(for: scene.account) != former)
        // The place of the secret is taken by the new key's now; what was kept of it opens the record that was put aside.
        try FileManager.default.removeItem(at: scene.secrets)
        try FileManager.default.moveItem(at: kept, to: scene.secrets)
        try FileManager.default.removeItem(at: scene.record)
        try FileManager.default.copyItem(at: aside, to: scene.record)
        let restored = try scene.vault()
        if isGuarded { try await restored.unlock(scene.account, with: scene.share) }
        #expect(try await restored.createAccountKey(for: scene.account) == former)
        #expect(try await text(of: scene, restored) == [1, 2, 3])
        #expect(try await restored.wipe(scene.account).succeeded)
        #expect(
            !FileManager.default.fileExists(atPath: aside.path)
                && !FileManager.default.fileExists(atPath: scene.note.path))
    }

    /// What a disk may leave of a key's record.
    enum Damage: String, CaseIterable {
        case empty, zeros, cut, tooLong, anotherAccount, changedWrap

        func applied(to record: Data) -> Data {
            var record = record
            switch self {
            case .empty: return Data()
            case .zeros: return Data(count: record.count)
            case .cut: return record.dropLast()
            case .tooLong: return record + [0]
            case .anotherAccount: record[32] ^= 1
            case .changedWrap: record[511] ^= 1
            }
            return record
        }
    }

    /// What was changed of the wrap of a key with a share shows with the share alone.
    @Test(arguments: Damage.allCases, [false, true])
    func `a damaged record is put aside on request alone, and an intact copy of it opens everything until then`(
        _ damage: Damage, isGuarded: Bool
    ) async throws {
        if isGuarded, damage == .changedWrap { return }
        let scene = try await Scene.made()
        defer { TemporaryFolder.remove(scene.folder) }
        let vault = try scene.vault()
        let former = try await vault.createAccountKey(for: scene.account)
        if isGuarded { try await vault.hang(scene.account, on: scene.share) }
        let intact = try Data(contentsOf: scene.record)
        let damaged = damage.applied(to: intact)
        try damaged.write(to: scene.record)

        let next = try scene.vault()
        #expect(try await next.isLost(scene.account))
        #expect(await code { try await next.createAccountKey(for: scene.account) } != nil)
        #expect(await code { try await next.unlock(scene.account, with: scene.share) } != nil)
        #expect(try Data(contentsOf: scene.record) == damaged, "nothing goes by itself")
        try intact.write(to: scene.record)
        #expect(try await !next.isLost(scene.account))
        if isGuarded { try await next.unlock(scene.account, with: scene.share) }
        #expect(try await next.createAccountKey(for: scene.account) == former)
        #expect(try await text(of: scene, next) == [1, 2, 3])

        try damaged.write(to: scene.record)
        let last = try scene.vault()
        try await last.setAsideLostKey(of: scene.account)
        let keys = scene.record.deletingLastPathComponent()
        let aside = try FileManager.default.contentsOfDirectory(atPath: keys.path).filter { $0.hasSuffix(".lost") }
        #expect(try aside.map { try Data(contentsOf: keys.appendingPathComponent($0)) } == [damaged])
        #expect(try await !last.isLost(scene.account))
        #expect(try await last.createAccountKey(for: scene.account) != former)
        #expect(FileManager.default.fileExists(atPath: scene.note.path), "what was sealed stays")
        #expect(try await last.wipe(scene.account).succeeded)
        #expect(try !FileManager.default.contentsOfDirectory(atPath: keys.path).contains { $0.hasSuffix(".lost") })
    }

    @Test func `a record of a version or with a part that is not known is not lost: a newer app may read it`()
        async throws
    {
        for (byte, value) in [(8, UInt8(3)), (12, UInt8(2))] {
            let scene = try await Scene.made()
            defer { TemporaryFolder.remove(scene.folder) }
            var record = try Data(contentsOf: scene.record)
            record[byte] = value
            try record.write(to: scene.record)
            let vault = try scene.vault()
            if byte == 8 {
                #expect(await code { _ = try await vault.isLost(scene.account) } == .unsupportedFormat)
            } else {
                #expect(try await !vault.isLost(scene.account))
            }
            #expect(await code { try await vault.createAccountKey(for: scene.account) } == .unsupportedFormat)
            try? await vault.setAsideLostKey(of: scene.account)
            #expect(try Data(contentsOf: scene.record) == record)
        }
    }

    @Test func `a wipe that has destroyed the secret and goes on later makes no key lost`() async throws {
        let scene = try await Scene.made()
        defer { TemporaryFolder.remove(scene.folder) }
        let vault = try scene.vault()
        let copies = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(copies) }
        _ = try await vault.wipe(scene.account) { step in
            guard step.kind == .secretDestroyed else { return }
            do {
                try FileManager.default.copyItem(at: scene.folder, to: copies.appendingPathComponent("copy"))
            } catch { Issue.record(error) }
        }
        let killed = try Scene(at: copies.appendingPathComponent("copy")).vault()
        #expect(await code { _ = try await killed.isLost(scene.account) } == .wipePending)
        #expect(await code { try await killed.setAsideLostKey(of: scene.account) } == .wipePending)
    }

    @Test(arguments: [false, true])
    func `a record that is gone is given up on request alone, and an intact copy of it opens everything until then`(
        isGuarded: Bool
    ) async throws {
        let scene = try await Scene.made()
        defer { TemporaryFolder.remove(scene.folder) }
        let vault = try scene.vault()
        let former = try await vault.createAccountKey(for: scene.account)
        if isGuarded { try await vault.hang(scene.account, on: scene.share) }
        let intact = try Data(contentsOf: scene.record)
        try FileManager.default.removeItem(at: scene.record)

        let next = try scene.vault()
        #expect(try await next.isLost(scene.account))
        #expect(try next.mayHaveKey(scene.account))
        #expect(try await !next.openAccountKey(for: scene.account))
        #expect(await code { try await next.createAccountKey(for: scene.account) } == .unknownAccount)
        #expect(!FileManager.default.fileExists(atPath: scene.record.path), "nothing comes by itself")
        try intact.write(to: scene.record)
        #expect(try await !next.isLost(scene.account))
        if isGuarded { try await next.unlock(scene.account, with: scene.share) }
        #expect(try await next.createAccountKey(for: scene.account) == former)
        #expect(try await text(of: scene, next) == [1, 2, 3])

        try FileManager.default.removeItem(at: scene.record)
        let last = try scene.vault()
        try await last.setAsideLostKey(of: scene.account)
        #expect(try await !last.isLost(scene.account))
        #expect(try await last.createAccountKey(for: scene.account) != former)
        #expect(try scene.secretCount() == 1)
        #expect(FileManager.default.fileExists(atPath: scene.note.path), "what was sealed stays")
        #expect(try await last.wipe(scene.account).succeeded)
        #expect(!FileManager.default.fileExists(atPath: scene.note.path))
    }

    @Test func `a wipe of an account whose record is gone destroys its secret, says so, and leaves nothing lost`()
        async throws
    {
        let scene = try await Scene.made()
        defer { TemporaryFolder.remove(scene.folder) }
        try FileManager.default.removeItem(at: scene.record)
        let vault = try scene.vault()
        let report = try await vault.wipe(scene.account)
        #expect(report.succeeded && report.destroyedKeyIDs == [String(repeating: "0", count: 32)])
        #expect(try scene.secretCount() == 0)
        for _ in 1...2 {
            let next = try scene.vault()
            #expect(try await !next.isLost(scene.account))
            #expect(try !next.mayHaveKey(scene.account))
            try await next.createAccountKey(for: scene.account)
            #expect(try await next.wipe(scene.account).succeeded)
        }
    }

    @Test func `an app that was installed anew beside the key store of before is an empty app`() async throws {
        let scene = try await Scene.made()
        defer { TemporaryFolder.remove(scene.folder) }
        try FileManager.default.removeItem(at: scene.home)
        let vault = try scene.vault()
        #expect(try await !vault.isLost(scene.account))
        #expect(try !vault.mayHaveKey(scene.account))
        try await vault.createAccountKey(for: scene.account)

        // Unless something else says that a key was in use: then its record may come back.
        try FileManager.default.removeItem(at: scene.home)
        let other = try scene.vault()
        other.recognizeKeys { [account = scene.account] in $0 == account }
        #expect(try await other.isLost(scene.account))
        #expect(await code { try await other.createAccountKey(for: scene.account) } == .unknownAccount)
    }

    @Test func `a guarded key whose share nobody has is given up where its user says so, and no other key with it`()
        async throws
    {
        let scene = try await Scene.made()
        defer { TemporaryFolder.remove(scene.folder) }
        let vault = try scene.vault()
        let former = try await vault.createAccountKey(for: scene.account)
        #expect(try vault.guardedKeyID(of: scene.account) == nil)
        try await vault.hang(scene.account, on: scene.share)
        let next = try scene.vault()
        #expect(try next.guardedKeyID(of: scene.account) == former)
        let other = String(repeating: "0", count: 32)
        for keyID in [nil, other] {
            #expect(try await !next.isLost(scene.account, withoutShareOf: keyID))
            try await next.setAsideLostKey(of: scene.account, withoutShareOf: keyID)
            #expect(FileManager.default.fileExists(atPath: scene.record.path))
        }
        #expect(try await next.isLost(scene.account, withoutShareOf: former))
        try await next.setAsideLostKey(of: scene.account, withoutShareOf: former)
        #expect(!FileManager.default.fileExists(atPath: scene.record.path))
        let made = try await next.createAccountKey(for: scene.account)
        #expect(made != former)
        try await next.hang(scene.account, on: scene.share)
        try await next.setAsideLostKey(of: scene.account, withoutShareOf: former)
        #expect(try next.guardedKeyID(of: scene.account) == made, "what came since stays")
    }

    @Test func `a record with a share is not turned into one without`() throws {
        let parts = KeyParts(root: .random(), secret: .random(), share: .random())
        let key = AccountKey(account: "ada@example.test", id: SecureRandom.bytes(16), secret: .random())
        let record = try key.record(under: parts)
        #expect(record[12] == 1 && record[13] == 1)
        guard case .key(let again) = try AccountKeyRecord.open(record, under: parts) else {
            Issue.record("no key")
            return
        }
        #expect(again.secret.withBytes { Array($0) } == key.secret.withBytes { Array($0) })
        var bare = record
        bare[13] = 0
        bare.replaceSubrange(384..<400, with: [UInt8](repeating: 0, count: 16))
        #expect(throws: VaultError(.wrongKey, "")) { _ = try AccountKeyRecord.open(bare, under: parts) }
        #expect(throws: VaultError(.locked, "")) {
            _ = try AccountKeyRecord.open(record, under: KeyParts(root: parts.root, secret: parts.secret))
        }
    }
}
