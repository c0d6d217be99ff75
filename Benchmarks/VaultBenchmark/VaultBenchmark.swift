import CordonIdentity
import CordonVault
import Foundation

/// Ratios of the vault to the limits of the same run: `VaultBenchmark [MEBIBYTES] [ROUNDS] [PART…]`; all parts if none is
/// named.
///
/// CPU time of this process, variants in turn, medians. One JSON object a line: what, the ratio, the goal, whether it was
/// met (performance goals P2 to P5). Peers are measured where they are installed: `age`, `openssl`, `sqlcipher`. The exit status
/// is 1 when a goal is missed.
@main
struct VaultBenchmark {
    static func main() async throws {
        let numbers = CommandLine.arguments.dropFirst().compactMap { Int($0) }
        let bench = try await Bench(mebibytes: numbers.first ?? 256, rounds: numbers.dropFirst().first ?? 5)
        defer { bench.remove() }
        let parts: [(name: String, measure: () async throws -> Void)] = [
            ("streams", bench.streams), ("floors", bench.floors), ("allocations", bench.allocations),
            ("peers", bench.peers),
            ("random", bench.randomReads), ("databases", bench.databases), ("wipes", bench.wipes),
            ("wipetail", bench.wipeTail),
        ]
        let named = Set(parts.map(\.name)).intersection(CommandLine.arguments)
        try bench.plainFile("plain")
        for part in parts where named.isEmpty || named.contains(part.name) { try await part.measure() }
        let missed = Meter.missed.withLock { $0 }
        if !missed.isEmpty {
            print("NOT MET: \(missed.joined(separator: "; "))")
            bench.remove()
            exit(1)
        }
    }
}

/// One folder on a memory disk, where only the processor counts.
struct Bench {
    let folder: URL
    let vault: Vault
    let account: AccountID = "ada@example.test"
    let size: Int
    let rounds: Int

    init(mebibytes: Int, rounds: Int) async throws {
        size = mebibytes << 20
        self.rounds = rounds
        let memory = FileManager.default.fileExists(atPath: "/dev/shm") ? "/dev/shm" : NSTemporaryDirectory()
        folder = URL(fileURLWithPath: memory).appendingPathComponent("cordon-bench-" + UUID().uuidString)
        vault = try Vault(
            directory: folder.appendingPathComponent("vault"), keyStore: InMemoryKeyStore(), roots: [folder])
        try await vault.createAccountKey(for: account)
    }

    func remove() { try? FileManager.default.removeItem(at: folder) }

    func path(_ name: String) -> URL { folder.appendingPathComponent(name) }

    /// Encryption and decryption of a large file against a plain copy (P2), and the memory it takes.
    func streams() async throws {
        let before = Meter.ownMemory()
        var ratios: [Int: (seal: [Double], open: [Double])] = [:]
        for _ in 0..<rounds {
            for chunkSize in [4096, 16384, 65536] {
                let copy = try Meter.seconds { try copyPlain("plain", "copied") }
                let seal = try await Meter.seconds { try await sealFile("plain", "sealed", chunkSize) }
                let sink = try Meter.seconds { try readPlain("plain") }
                let open = try await Meter.seconds { try await readSealed("sealed") }
                ratios[chunkSize, default: ([], [])].seal.append(copy / seal)
                ratios[chunkSize, default: ([], [])].open.append(sink / open)
            }
        }
        for (chunkSize, found) in ratios.sorted(by: { $0.key < $1.key }) {
            let isStream = chunkSize == 65536
            Meter.say("P2 seal, chunks of \(chunkSize), of a copy's rate", found.seal, atLeast: isStream ? 0.5 : nil)
            Meter.say("P2 open, chunks of \(chunkSize), of a read's rate", found.open, atLeast: isStream ? 0.6 : nil)
        }
        Meter.say("P2 memory over idle, MiB", [Double(Meter.ownMemory() - before) / 1_048_576], atMost: 4)
    }

    /// A read and the bare cipher after one another: no reader that copies from the system's cache can undercut that.
    func floors() async throws {
        let bare = try BareCipher()
        defer { bare.free() }
        for chunkSize in [4096, 65536] {
            var ratios: [Double] = []
            for _ in 0..<rounds {
                let read = try Meter.seconds { try readPlain("plain") }
                ratios.append(read / (read + (try bare.secondsToOpen(size / chunkSize, chunksOf: chunkSize))))
            }
            Meter.say("P2 a read and the bare cipher, chunks of \(chunkSize), of a read's rate", ratios)
        }
    }

    /// Random reads of 4 KiB against `pread` (P3).
    func randomReads() async throws {
        try await sealFile("plain", "random", 4096)
        let sealed = try await vault.open(path("random"), writing: false)
        let bare = try BareCipher()
        defer { bare.free() }
        let plain = open(path("plain").path, O_RDONLY)
        defer { close(plain) }
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 4096)
        defer { memory.deallocate() }
        let pages = Int64(size / 4096)
        let count = 100_000
        var (ratios, floors): ([Double], [Double]) = ([], [])
        for round in 0..<4 * rounds + 1 {
            var state = UInt64(round + 1)
            func next() -> Int64 {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return Int64(state >> 33) % pages * 4096
            }
            let limit = Meter.seconds {
                for _ in 0..<count { _ = pread(plain, memory.baseAddress, 4096, off_t(next())) }
            }
            let mine = try Meter.seconds { for _ in 0..<count { _ = try sealed.read(into: memory, at: next()) } }
            // The first round fills the memory for nodes.
            if round == 0 { continue }
            ratios.append(mine / limit)
            floors.append((limit + (try bare.secondsToOpen(count, chunksOf: 4096))) / limit)
        }
        Meter.say("P3 random read of 4 KiB, times pread", ratios, atMost: 1.5)
        Meter.say("P3 a pread and the bare cipher, times pread", floors)
    }

    /// The time until the key is gone, against deleting 5,000 files and syncing; both on a real disk (P5).
    func wipes() async throws {
        let disk = FileManager.default.temporaryDirectory.appendingPathComponent("cordon-bench-" + UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: disk) }
        let vault = try Vault(directory: disk.appendingPathComponent("vault"), keyStore: InMemoryKeyStore())
        var ratios: [Double] = []
        for _ in 0..<rounds {
            let many = disk.appendingPathComponent("many")
            try FileManager.default.createDirectory(at: many, withIntermediateDirectories: true)
            for number in 0..<5000 { try Data("x".utf8).write(to: many.appendingPathComponent("\(number)")) }
            sync()
            let delete = try Meter.elapsed {
                try FileManager.default.removeItem(at: many)
                sync()
            }
            try await vault.createAccountKey(for: account)
            let start = Moment()
            let gone = Moment()
            _ = try await vault.wipe(account) { step in
                if step.kind == .begun { start.set(DispatchTime.now().uptimeNanoseconds) }
                if step.kind == .keyDestroyed { gone.set(DispatchTime.now().uptimeNanoseconds) }
            }
            ratios.append(delete / (Double(gone.value - start.value) / 1e9))
        }
        Meter.say("P5 key gone, times faster than deleting 5,000 files", ratios, atLeast: 1000)
    }
}
