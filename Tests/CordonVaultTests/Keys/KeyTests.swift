import CordonIdentity
import CordonTestSupport
import Crypto
import Foundation
import Testing

@testable import CordonVault

struct KeyTests {
    private func folder() throws -> URL {
        let folder = try TemporaryFolder.make()
        return folder
    }

    @Test func `what was made of a secret that is destroyed meanwhile is not given out`() {
        let secret = SecretBytes.random()
        #expect(secret.withBytes { $0.count } == 32)
        let made = secret.withBytes { bytes in
            secret.destroy()
            return Array(bytes)
        }
        #expect(made == nil)
        #expect(secret.symmetricKey == nil)
    }

    @Test func `a key file is private, stays the same, and is refused when others may read it`() throws {
        let folder = try folder()
        defer { TemporaryFolder.remove(folder) }
        let store = FileKeyStore(directory: folder.appendingPathComponent("root"))
        let key = try store.rootKey()
        #expect(try store.rootKey() == key)
        let path = folder.appendingPathComponent("root/root.key").path
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        let directory = folder.appendingPathComponent("root").path
        #expect(try FileManager.default.attributesOfItem(atPath: directory)[.posixPermissions] as? Int == 0o700)
        chmod(path, 0o644)
        #expect(throws: VaultError(.keyStore, "")) { _ = try store.rootKey() }
        chmod(path, 0o600)
        let kept = try Data(contentsOf: URL(fileURLWithPath: path))
        let others = [
            Data("damaged".utf8), kept + [0], kept.prefix(39), Data("anything".utf8) + kept.suffix(32), Data(count: 40),
        ]
        for other in others {
            try other.write(to: URL(fileURLWithPath: path))
            #expect(throws: VaultError(.keyStore, "")) { _ = try store.rootKey() }
        }
        try kept.write(to: URL(fileURLWithPath: path))
        #expect(try store.rootKey() == key)
    }

    @Test func `an account key opens under its own root key alone, and no bit of its record can change`() throws {
        let key = AccountKey(account: "ada@example.test", id: SecureRandom.bytes(16), secret: .random())
        let (root, secret) = (SecretBytes.random(), SecretBytes.random())
        for parts in [KeyParts(root: root, secret: nil), KeyParts(root: root, secret: secret)] {
            let record = try key.record(under: parts)
            guard case .key(let again) = try AccountKeyRecord.open(record, under: parts) else {
                Issue.record("no key")
                return
            }
            #expect(again.id == key.id)
            #expect(throws: VaultError(.wrongKey, "")) {
                _ = try AccountKeyRecord.open(record, under: KeyParts(root: .random(), secret: parts.secret))
            }
            for bit in 0..<record.count * 8 {
                var changed = record
                changed[bit / 8] ^= 1 << UInt8(bit % 8)
                #expect((try? AccountKeyRecord.open(changed, under: parts)) == nil, "bit \(bit)")
            }
        }
    }

    @Test func `a secret that is destroyed is overwritten at once, whoever holds it`() {
        let secret = SecretBytes.random()
        var memory = UnsafeRawBufferPointer(start: nil, count: 0)
        _ = secret.withBytes { memory = $0 }
        #expect(!memory.allSatisfy { $0 == 0 })
        secret.destroy()
        withExtendedLifetime(secret) { #expect(memory.count == 32 && memory.allSatisfy { $0 == 0 }) }
    }

    @Test func `a key that hangs on a secret opens with the root key and that secret alone`() throws {
        let key = AccountKey(account: "ada@example.test", id: SecureRandom.bytes(16), secret: .random())
        let root = SecretBytes.random()
        let record = try key.record(under: KeyParts(root: root, secret: .random()))
        for other in [nil, SecretBytes.random()] {
            #expect(throws: VaultError(.wrongKey, "")) {
                _ = try AccountKeyRecord.open(record, under: KeyParts(root: root, secret: other))
            }
        }
        // A record that is said to need no secret is another one.
        var plain = record
        plain.replaceSubrange(12..<13, with: [0])
        plain.replaceSubrange(368..<384, with: [UInt8](repeating: 0, count: 16))
        #expect(throws: VaultError(.wrongKey, "")) {
            _ = try AccountKeyRecord.open(plain, under: KeyParts(root: root, secret: nil))
        }
    }

    @Test func `a second app of the key group opens what the first hands over, and no other app does`() async throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let group = FileKeyStore(directory: folder.appendingPathComponent("group"))
        let shared = folder.appendingPathComponent("group/accounts")
        let first = try Vault(directory: folder.appendingPathComponent("one"), keyStore: group, keyDirectory: shared)
        let second = try Vault(directory: folder.appendingPathComponent("two"), keyStore: group, keyDirectory: shared)
        let stranger = try Vault(directory: folder.appendingPathComponent("three"), keyStore: group)
        let thief = try Vault(
            directory: folder.appendingPathComponent("four"), keyStore: InMemoryKeyStore(), keyDirectory: shared)
        let ada = AccountID("ada@example.test")
        try await first.createAccountKey(for: ada)
        let path = folder.appendingPathComponent("handed-over")
        let file = try await first.create(path, for: ada)
        try file.write([1, 2, 3], at: 0)
        try file.close()
        try await second.createAccountKey(for: ada)
        #expect(try await second.open(path, writing: false).all() == [1, 2, 3])
        try await stranger.createAccountKey(for: ada)
        #expect(await code { _ = try await stranger.open(path) } == .wrongKey)
        #expect(await code { try await thief.unlock(ada) } == .wrongKey)
    }

    @Test func `a locked account opens nothing until it is unlocked, and its open files end`() async throws {
        let workshop = try await Workshop()
        let path = workshop.path("note")
        let file = try await workshop.vault.create(path, for: workshop.ada)
        try file.write([5], at: 0)
        await workshop.vault.lock()
        #expect(await code { _ = try file.size() } == .locked)
        #expect(await code { _ = try await workshop.vault.open(path) } == .locked)
        try await workshop.vault.unlock(workshop.ada)
        #expect(try await workshop.vault.open(path, writing: false).all() == [5])
        #expect(await code { try await workshop.vault.unlock("eve@example.test") } == .unknownAccount)
        #expect(Set(try await workshop.vault.accounts()) == [workshop.ada, workshop.ben])
    }

    @Test func `no key shows itself in a description`() throws {
        let secret = SecretBytes(SymmetricKey(data: [UInt8](repeating: 0xAB, count: 32)))
        let store = InMemoryKeyStore(rootKey: SymmetricKey(data: [UInt8](repeating: 0xAB, count: 32)))
        let key = AccountKey(account: "ada@example.test", id: [1], secret: secret)
        var text = "\(secret) \(String(reflecting: secret)) \(store) \(String(reflecting: store)) \(key)"
        dump(secret, to: &text)
        dump(store, to: &text)
        dump(key, to: &text)
        for trace in ["171", "ab, ", "ABAB", "abab", "q6ur"] { #expect(!text.contains(trace)) }
        #expect(text.contains("redacted"))
    }

    #if os(Linux)
        @Test func `a scan of the live process finds the account key before lock and wipe, and never after`()
            async throws
        {
            // In a process of its own, so that nothing else moves memory meanwhile.
            await #expect(processExitsWith: .success) {
                let workshop = try await Workshop()
                let path = workshop.path("note")
                let mask: UInt8 = 0x5A
                let needle = try #require(
                    await workshop.vault.key(for: workshop.ada).secret.withBytes { $0.map { $0 ^ mask } })
                let file = try await workshop.vault.create(path, for: workshop.ada)
                try file.write([1, 2, 3], at: 0)
                try file.sync()
                try #require(MemoryScan.count(of: needle, maskedWith: mask) > 0)
                await workshop.vault.lock()
                try #require(MemoryScan.count(of: needle, maskedWith: mask) == 0)
                try await workshop.vault.unlock(workshop.ada)
                _ = try await workshop.vault.open(path, writing: false).all()
                try #require(MemoryScan.count(of: needle, maskedWith: mask) > 0)
                _ = try await workshop.vault.wipe(workshop.ada)
                try #require(MemoryScan.count(of: needle, maskedWith: mask) == 0)
            }
        }
    #endif
}
