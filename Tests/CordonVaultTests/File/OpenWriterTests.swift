import CordonIdentity
import Foundation
import Testing

@testable import CordonVault

/// A writer that has a sealed file open never goes on writing into a file that has lost its name.
struct OpenWriterTests {
    @Test func `a file that is open for writing is not sealed anew, made readable, replaced or used up`() async throws {
        let workshop = try await Workshop()
        let (vault, ada, ben) = (workshop.vault, workshop.ada, workshop.ben)
        let path = workshop.path("plan")
        let (hers, his, plain) = (workshop.path("hers"), workshop.path("his"), workshop.path("plain"))
        try await vault.create(hers, for: ada).close()
        try await vault.create(his, for: ben).close()
        try Data("readable".utf8).write(to: plain)
        let writer = try await vault.create(path, for: ada)
        try writer.write([1, 2, 3], at: 0)
        let attempts: [(String, () async throws -> Void)] = [
            ("another owner", { try await vault.protect(path, for: ben) }),
            ("readable", { try await vault.protect(path, for: ada, sealing: false) }),
            ("unowned", { try await vault.protect(path, for: nil) }),
            ("decrypted", { try await vault.decrypt(path) }),
            ("a copy over it", { try await vault.copy(hers, to: path) }),
            ("a readable copy over it", { try await vault.copy(plain, to: path) }),
            ("a decrypted copy over it", { try await vault.decrypt(his, toCopy: path) }),
            ("a file moved over it", { try await vault.move(hers, to: path) }),
            ("replaced by a sealed one", { try await vault.replace(path, by: his) }),
            ("replaced by a readable one", { try await vault.replace(path, by: plain) }),
            ("put in place of a sealed one", { try await vault.replace(his, by: path) }),
            ("put in place of a readable one", { try await vault.replace(plain, by: path) }),
        ]
        for (name, attempt) in attempts { #expect(await code(attempt) == .inUse, "\(name)") }
        try writer.write([4], at: 3)
        try writer.close()
        #expect(vault.owner(of: path) == ada)
        #expect(try await vault.open(path, writing: false).all() == [1, 2, 3, 4])
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: workshop.folder.path).sorted() == [
                "hers", "his", "plain", "plan", "vault",
            ])
        for (name, attempt) in attempts.prefix(1) { #expect(await code(attempt) == nil, "\(name)") }
    }

    @Test func `locking an account tells of the writes that could not be made durable`() async throws {
        let workshop = try await Workshop()
        let writer = try await workshop.vault.create(workshop.path("plan"), for: workshop.ada)
        let other = try await workshop.vault.create(workshop.path("other"), for: workshop.ada)
        try writer.write([1, 2, 3], at: 0)
        try other.write([1], at: 0)
        try other.close()
        let fault = FailingCall("write")
        let failures = await DiskFaults.$next.withValue({ fault.next($0) }) {
            await workshop.vault.lock(workshop.ada)
        }
        #expect(failures.map(\.code) == [.inputOutput])
        #expect(await !workshop.vault.isUnlocked(workshop.ada))
        let his = try await workshop.vault.create(workshop.path("his"), for: workshop.ben)
        try his.write([4], at: 0)
        #expect(await workshop.vault.lock().isEmpty)
        try await workshop.vault.unlock(workshop.ben)
        #expect(try await workshop.vault.open(workshop.path("his"), writing: false).all() == [4])
    }

    @Test func `what is open under a key that another process replaced ends when the new one is unlocked`() async throws
    {
        let workshop = try await Workshop()
        let other = try await workshop.reopened()
        let path = workshop.path("plan")
        try await workshop.vault.create(path, for: workshop.ada).close()
        let reader = try await workshop.vault.open(path, writing: false)
        _ = try await other.wipe(workshop.ada)
        try await other.createAccountKey(for: workshop.ada)
        try await workshop.vault.unlock(workshop.ada)
        #expect(await code { _ = try reader.all() } == .wiped)
    }

    @Test func `a read that fails leaves no plaintext in memory, wherever it fails`() async throws {
        let workshop = try await Workshop()
        let path = workshop.path("plan")
        let file = try await workshop.vault.create(path, for: workshop.ada, chunkSize: 4096)
        try file.write([UInt8](repeating: 7, count: 4 * 4096), at: 0)
        try file.close()
        let good = try Data(contentsOf: path)
        var failures = 0
        // Each block is damaged in turn, so that some chunks are read before the one that does not open.
        for block in stride(from: good.count - 4096, through: good.count - 6 * 4096, by: -4096) {
            var bytes = good
            bytes[block + 100] ^= 1
            let copy = workshop.path("copy-\(block)")
            try bytes.write(to: copy)
            for call in 1...10 {
                guard let reader = try? await workshop.vault.open(copy, writing: false) else { break }
                let fault = FailingCall("read", number: call)
                var memory = [UInt8](repeating: 0xEE, count: 4 * 4096)
                let failed = DiskFaults.$next.withValue({ fault.next($0) }) {
                    memory.withUnsafeMutableBytes { memory in (try? reader.read(into: memory, at: 0)) == nil }
                }
                guard failed else { continue }
                failures += 1
                #expect(memory.allSatisfy { $0 == 0 }, "block at \(block), call \(call)")
            }
        }
        #expect(failures > 20)
    }
}
