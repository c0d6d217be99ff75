import AllocationCounter
import CordonVault
import Foundation

extension Bench {
    private static let block = 1 << 18
    /// What the vault's own copies take at a time, and at least what several cores share.
    private static let largeBlock = 1 << 20

    /// Makes a plain file of pseudo-random bytes.
    func plainFile(_ name: String) throws {
        var bytes = Data(count: Self.block)
        for index in 0..<bytes.count { bytes[index] = UInt8(truncatingIfNeeded: index &* index >> 3) }
        _ = FileManager.default.createFile(atPath: path(name).path, contents: nil)
        let file = try FileHandle(forWritingTo: path(name))
        for _ in 0..<size / Self.block { try file.write(contentsOf: bytes) }
        try file.close()
    }

    private func eachBlock(
        of name: String, size: Int = Self.block, _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        let source = open(path(name).path, O_RDONLY)
        defer { close(source) }
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 4096)
        defer { memory.deallocate() }
        while true {
            let count = read(source, memory.baseAddress, memory.count)
            if count <= 0 { return }
            try body(UnsafeRawBufferPointer(rebasing: memory[..<count]))
        }
    }

    /// Copies as a plain read and write loop does: the limit.
    func copyPlain(_ name: String, _ target: String) throws {
        let output = open(path(target).path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        defer { close(output) }
        try eachBlock(of: name) { _ = write(output, $0.baseAddress, $0.count) }
    }

    /// Reads and drops: the limit of opening.
    func readPlain(_ name: String) throws {
        try eachBlock(of: name) { _ in }
    }

    func sealFile(_ name: String, _ target: String, _ chunkSize: Int, isLarge: Bool = false) async throws {
        let file = try await vault.create(path(target), for: account, chunkSize: chunkSize)
        try eachBlock(of: name, size: isLarge ? Self.largeBlock : Self.block) { try file.write($0) }
        try file.close()
    }

    func readSealed(_ name: String, isLarge: Bool = false) async throws {
        let file = try await vault.open(path(name), writing: false)
        let size = isLarge ? Self.largeBlock : Self.block
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 4096)
        defer { memory.deallocate() }
        while try file.read(into: memory) > 0 {}
        try file.close()
    }

    /// The same by the time that a person waits, a mebibyte at a time, which several cores share (P2); and what the processor does for it, relative
    /// to one core alone.
    func spans() async throws {
        var ratios: [String: [Double]] = [:]
        for _ in 0..<rounds {
            for chunkSize in [4096, 16384, 65536] {
                let copy = try Meter.elapsed { try copyPlain("plain", "copied") }
                let seal = try await Meter.elapsed { try await sealFile("plain", "sealed", chunkSize, isLarge: true) }
                let sink = try Meter.elapsed { try readPlain("plain") }
                let open = try await Meter.elapsed { try await readSealed("sealed", isLarge: true) }
                ratios["seal, chunks of \(chunkSize), of a copy's rate", default: []].append(copy / seal)
                ratios["open, chunks of \(chunkSize), of a read's rate", default: []].append(sink / open)
            }
            let alone = try await Meter.seconds { try await readSealed("sealed") }
            let shared = try await Meter.seconds { try await readSealed("sealed", isLarge: true) }
            ratios["open, processor's time, times that of one core", default: []].append(shared / alone)
        }
        for (what, found) in ratios.sorted(by: { $0.key < $1.key }) {
            let goal = what.contains("65536") ? what.hasPrefix("seal") ? 0.5 : 0.6 : nil
            Meter.say("P2 by the clock, 1 MiB at a time: \(what)", found, atLeast: goal)
        }
    }

    /// Calls of the allocator for each chunk sealed and opened, once a file is under way (P1).
    func allocations() async throws {
        guard allocation_count() >= 0 else { return }
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.block, alignment: 4096)
        defer { memory.deallocate() }
        memory.initializeMemory(as: UInt8.self, repeating: 7)
        for chunkSize in [4096, 65536] {
            let file = try await vault.create(path("counted"), for: account, chunkSize: chunkSize)
            let blocks = 64
            var chunks = Double(blocks * Self.block / chunkSize)
            for _ in 0..<blocks { try file.write(UnsafeRawBufferPointer(memory)) }
            try file.sync()
            var before = allocation_count()
            try file.seek(to: 0)
            for _ in 0..<blocks { try file.write(UnsafeRawBufferPointer(memory)) }
            Meter.say(
                "P1 allocations a sealed chunk of \(chunkSize)", [Double(allocation_count() - before) / chunks],
                atMost: 0.05)
            try file.sync()
            before = allocation_count()
            try file.seek(to: 0)
            chunks = 0
            while try file.read(into: memory) > 0 { chunks += Double(Self.block / chunkSize) }
            Meter.say(
                "P1 allocations an opened chunk of \(chunkSize)", [Double(allocation_count() - before) / chunks],
                atMost: 0.05)
            try file.close()
        }
    }
}
