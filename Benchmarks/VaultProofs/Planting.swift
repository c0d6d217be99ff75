import CordonIdentity
import CordonVault
import Foundation

/// 4,096 texts in files of an account that is wiped and as many in files of one that stays; only sealed they reach the disk.
struct Planting {
    let folder: URL
    let seed: UInt64
    private let ada = AccountID("ada@example.test")
    private let ben = AccountID("ben@example.test")

    init(_ folder: URL, seed: UInt64) {
        self.folder = folder
        self.seed = seed
    }

    /// The same 32 letters for a number, as `Scripts/disk-image.py` makes them.
    private func marker(_ number: Int) -> String {
        var random = Random(seed &* 0x1_0000 &+ UInt64(number))
        return (0..<2).map { _ in String(random.next(), radix: 16) }.map {
            String(repeating: "0", count: 16 - $0.count) + $0
        }.joined()
    }

    func plant() async throws {
        let documents = folder.appendingPathComponent("documents")
        try FileManager.default.createDirectory(at: documents, withIntermediateDirectories: true)
        let vault = try vault(in: folder)
        for (account, start) in [(ada, 0), (ben, 4096)] {
            _ = try await vault.createAccountKey(for: account)
            for part in 0..<64 {
                let file = try await vault.create(
                    documents.appendingPathComponent("\(start)-\(part)"), for: account, chunkSize: 4096)
                let text = (0..<64).map { marker(start + part * 64 + $0) }.joined(separator: "\n")
                // Twice, and longer in between, so that blocks are given up and used again.
                for offset in [Int64(0), 9000, 0] {
                    try Data(text.utf8).withUnsafeBytes { try file.write($0, at: offset) }
                    try file.sync()
                }
                try file.truncate(to: Int64(text.utf8.count))
                try file.close()
            }
        }
        say("planted 8192")
    }

    func wipe() async throws {
        let vault = try vault(in: folder)
        try await vault.unlock(ada)
        try await vault.unlock(ben)
        // Held open, as an app that is in use has it.
        let held = try await vault.open(folder.appendingPathComponent("documents/0-0"))
        let report = try await vault.wipe(ada)
        guard report.succeeded else { fail("wipe: \(report.failures.joined(separator: "; "))") }
        withExtendedLifetime(held) {}
        let file = try await vault.open(folder.appendingPathComponent("documents/4096-0"), writing: false)
        var bytes = [UInt8](repeating: 0, count: 32)
        _ = try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: 0) }
        guard String(decoding: bytes, as: UTF8.self) == marker(4096) else {
            fail("wipe: the other account's file changed")
        }
        say("wiped \(report.files)")
    }
}
