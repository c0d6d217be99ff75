import AllocationCounter
import CordonIdentity
import CordonVault
import Foundation
import SteadyState

/// The life of an app in a loop: files made, written, read, moved and removed, accounts locked, unlocked and wiped.
struct Soak {
    let seconds: Int
    let seed: UInt64

    func run() async throws {
        let folder = try scratch()
        defer { try? FileManager.default.removeItem(at: folder) }
        let vault = try vault(in: folder)
        var random = Random(seed)
        var operations = 0
        var held = SteadyState(seconds: seconds)
        while !held.isOver {
            operations += try await round(vault, folder, &random)
            try held.look(inUse: allocated_bytes())
        }
        let (text, isSteady) = held.verdict
        say("proof: \(operations) operations in \(seconds) s, \(text), seed \(seed)")
        if !isSteady { fail("soak: more is held as time goes on") }
    }

    /// A hundred files of an account, and its end; how many calls that were.
    private func round(_ vault: Vault, _ folder: URL, _ random: inout Random) async throws -> Int {
        let account = AccountID("person-\(Int.random(in: 0..<8, using: &random))@example.test")
        _ = try await vault.createAccountKey(for: account)
        var calls = 1
        let bytes = [UInt8](repeating: UInt8.random(in: .min ... .max, using: &random), count: 20_000)
        for number in 0..<100 {
            let place = folder.appendingPathComponent("documents/\(number % 20)")
            let file = try await vault.create(place, for: account, chunkSize: 4096)
            try bytes.withUnsafeBytes { try file.write($0, at: Int64.random(in: 0..<9000, using: &random)) }
            try file.close()
            let reader = try await vault.open(place, writing: false)
            var read = [UInt8](repeating: 0, count: 4096)
            _ = try read.withUnsafeMutableBytes { try reader.read(into: $0, at: 9000) }
            guard read.allSatisfy({ $0 == bytes[0] }) else { fail("soak: a file read back differently") }
            try reader.close()
            calls += 6
            if number % 10 == 9 {
                await vault.lock()
                try await vault.unlock(account)
                calls += 2
            }
        }
        _ = try await vault.wipe(account)
        try await vault.discardReport(for: account)
        return calls + 2
    }
}
