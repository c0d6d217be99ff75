import AllocationCounter
import CordonVault
import Foundation

extension Bench {
    private static let block = 1 << 18

    /// Makes a plain file of pseudo-random bytes.
    func plainFile(_ name: String) throws {
        var bytes = Data(count: Self.block)
        for index in 0..<bytes.count { bytes[index] = UInt8(truncatingIfNeeded: index &* index >> 3) }
        _ = FileManager.default.createFile(atPath: path(name).path, contents: nil)
        let file = try FileHandle(forWritingTo: path(name))
        for _ in 0..<size / Self.block { try file.write(contentsOf: bytes) }
        try file.close()
    }

    private func eachBlock(of name: String, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        let source = open(path(name).path, O_RDONLY)
        defer { close(source) }
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.block, alignment: 4096)
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

    func sealFile(_ name: String, _ target: String, _ chunkSize: Int) async throws {
        let file = try await vault.create(path(target), for: account, chunkSize: chunkSize)
        try eachBlock(of: name) { try file.write($0) }
        try file.close()
    }

    func readSealed(_ name: String) async throws {
        let file = try await vault.open(path(name), writing: false)
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.block, alignment: 4096)
        defer { memory.deallocate() }
        while try file.read(into: memory) > 0 {}
        try file.close()
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
