import AllocationCounter
import CordonIdentity
import CordonVault
import Foundation

/// The life of an app in a loop: files made, written, read, moved and removed, accounts locked, unlocked and wiped. After a warm-up
/// resident memory must not grow by more than a hundredth, no descriptor may stay, and the least memory in use between two rounds must be
/// no more in the last quarter than in the second: what the allocator keeps in pieces counts for the first of these alone.
struct Soak {
    let seconds: Int
    let seed: UInt64

    func run() async throws {
        let folder = try scratch()
        defer { try? FileManager.default.removeItem(at: folder) }
        let vault = try vault(in: folder)
        let end = ContinuousClock.now + .seconds(seconds)
        // The first quarter fills caches and the allocator's pools.
        let warm = ContinuousClock.now + .seconds(max(1, seconds / 4))
        var random = Random(seed)
        var operations = 0
        var before: Footprint?
        let quarter = Duration.seconds(seconds) / 4
        var leastInUse = [Int](repeating: .max, count: 4)
        while ContinuousClock.now < end {
            operations += try await round(vault, folder, &random)
            let inUse = allocated_bytes()
            let part = min(3, max(0, 3 - Int((end - ContinuousClock.now) / quarter)))
            leastInUse[part] = min(leastInUse[part], inUse)
            if before == nil, ContinuousClock.now >= warm { before = Footprint.now }
        }
        guard let before, let after = Footprint.now else {
            fail("soak: the kernel does not say what this process holds")
        }
        let growth = Double(after.resident - before.resident) / Double(before.resident) * 100
        let told = String(format: "%.2f", growth)
        say(
            "proof: \(operations) operations in \(seconds) s, resident memory \(before.resident) to \(after.resident) KiB (\(told) %), descriptors \(before.descriptors) to \(after.descriptors), at least \(leastInUse[1]) and \(leastInUse[3]) bytes in use in the second and the last quarter, seed \(seed)"
        )
        if leastInUse[3] > leastInUse[1] + leastInUse[1] / 100 { fail("soak: more memory stays in use") }
        if growth > 1 { fail("soak: memory grew by \(told) %") }
        if after.descriptors > before.descriptors { fail("soak: descriptors stayed open") }
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

/// What the process holds of memory and descriptors.
private struct Footprint {
    /// KiB.
    let resident: Int
    let descriptors: Int

    static var now: Footprint? {
        guard let status = FileHandle(forReadingAtPath: "/proc/self/status").flatMap({ try? $0.readToEnd() }),
            let line = String(decoding: status, as: UTF8.self).split(separator: "\n").first(where: {
                $0.hasPrefix("VmRSS:")
            }),
            let resident = line.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.flatMap({ Int($0) }
            ),
            let descriptors = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
        else { return nil }
        return Footprint(resident: resident, descriptors: descriptors)
    }
}
