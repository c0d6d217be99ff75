import CordonIdentity
import Foundation
import Testing

@testable import CordonVault

/// Chunks that are read and written together are what each of them is alone.
struct SpanTests {
    private static let mebibyte = 1 << 20

    /// Bytes that differ from chunk to chunk.
    private static func content(_ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        bytes.withUnsafeMutableBytes { memory in
            for place in stride(from: 0, to: count - 7, by: 8) {
                memory.storeBytes(of: UInt64(place) &* 0x9E37_79B9_7F4A_7C15, toByteOffset: place, as: UInt64.self)
            }
        }
        return bytes
    }

    /// A file of chunks of 4 KiB that was written in one go: chunk after chunk, from the first slot on.
    private static func file(_ content: [UInt8], _ workshop: Workshop) async throws -> URL {
        let path = workshop.path("span")
        let file = try await workshop.vault.create(path, for: workshop.ada, chunkSize: 4096)
        try file.write(content, at: 0)
        try file.close()
        return path
    }

    private static func damage(_ path: URL, chunk: Int) throws {
        let handle = try FileHandle(forUpdating: path)
        defer { try? handle.close() }
        let place = UInt64(12288 + chunk * 4096 + 17)
        try handle.seek(toOffset: place)
        let byte = try #require(try handle.read(upToCount: 1)?.first)
        try handle.seek(toOffset: place)
        try handle.write(contentsOf: [byte ^ 1])
    }

    /// What a read that must fail throws, having left nothing but zeros.
    private static func failure(of file: SealedFile, _ count: Int) throws -> VaultError {
        var memory = [UInt8](repeating: 0xEE, count: count)
        let error = #expect(throws: VaultError.self) {
            _ = try memory.withUnsafeMutableBytes { try file.read(into: $0, at: 0) }
        }
        let isZero = memory == [UInt8](repeating: 0, count: count)
        #expect(isZero)
        return try #require(error)
    }

    @Test(
        arguments: [-1, 0, 1, 4095, 4096, 4097, 1 << 16, (1 << 17) - 1, 1 << 17, (1 << 17) + 4097],
        [4096, 65536])
    func `what is written in one go opens again, whatever the length`(more: Int, chunkSize: Int) async throws {
        let workshop = try await Workshop()
        let content = Self.content(Self.mebibyte + more)
        let file = try await workshop.vault.create(workshop.path("span"), for: workshop.ada, chunkSize: chunkSize)
        try file.write(content, at: 0)
        try file.close()
        let isSame = try await workshop.vault.open(workshop.path("span"), writing: false).all() == content
        #expect(isSame)
    }

    @Test func `chunks of a mebibyte are sealed and opened in one go`() async throws {
        let workshop = try await Workshop()
        let content = Self.content(9 * Self.mebibyte + 3)
        let path = workshop.path("span")
        let file = try await workshop.vault.create(path, for: workshop.ada, chunkSize: Self.mebibyte)
        try file.write(content, at: 0)
        try file.close()
        let isSame = try await workshop.vault.open(path, writing: false).all() == content
        #expect(isSame)
    }

    @Test func `a span of several windows and many nodes is read as it was written, at any offset`() async throws {
        let workshop = try await Workshop()
        let content = Self.content(17 * Self.mebibyte + 4096 * 3 + 5)
        let path = workshop.path("span")
        let file = try await workshop.vault.create(path, for: workshop.ada, chunkSize: 4096)
        try file.write(content, at: 0)
        // In one go that begins and ends within chunks.
        try file.write(Array(content[4097..<3 * Self.mebibyte]), at: 4097)
        try file.close()
        let reader = try await workshop.vault.open(path, writing: false)
        for offset in [0, 1, 4096, 8 * Self.mebibyte - 4096, 5] {
            let isSame = try reader.read(content.count, at: Int64(offset)) == Array(content[offset...])
            #expect(isSame, "from \(offset) on")
        }
    }

    @Test func `holes and what is not on the disk yet are read among the rest`() async throws {
        let workshop = try await Workshop()
        let path = workshop.path("span")
        let file = try await workshop.vault.create(path, for: workshop.ada, chunkSize: 4096)
        var model = Self.content(2 * Self.mebibyte)
        try file.write(model, at: 0)
        try file.truncate(to: 3 * Int64(Self.mebibyte))
        model += [UInt8](repeating: 0, count: Self.mebibyte)
        let added = Self.content(4096 * 2)
        try file.write(added, at: 2_621_440)
        model.replaceSubrange(2_621_440..<2_621_440 + added.count, with: added)
        try file.sync()
        // Chunks that no longer lie beside each other, and one that is still collected.
        for chunk in [3, 4, 100] {
            try file.write([UInt8](repeating: 9, count: 4096), at: Int64(chunk * 4096))
            model.replaceSubrange(chunk * 4096..<(chunk + 1) * 4096, with: [UInt8](repeating: 9, count: 4096))
        }
        try file.write([1, 2, 3], at: 1_000_000)
        model.replaceSubrange(1_000_000..<1_000_003, with: [1, 2, 3])
        let isSame = try file.all() == model
        #expect(isSame)
        try file.close()
        let reader = try await workshop.vault.open(path, writing: false)
        let isSameAfterwards = try reader.all() == model
        #expect(isSameAfterwards)
    }

    @Test func `a collected chunk within a span that is written gives way to it`() async throws {
        let workshop = try await Workshop()
        let path = workshop.path("span")
        let content = Self.content(2 * Self.mebibyte)
        let file = try await workshop.vault.create(path, for: workshop.ada, chunkSize: 4096)
        try file.write([UInt8](repeating: 1, count: content.count), at: 0)
        try file.write([7, 7, 7], at: 700_000)
        try file.write(content, at: 0)
        let isSame = try file.all() == content
        #expect(isSame)
        try file.close()
        let isSameAfterwards = try await workshop.vault.open(path, writing: false).all() == content
        #expect(isSameAfterwards)
    }

    @Test(arguments: [0, 15, 16, 31, 32, 100, 255, 256, 511])
    func `a damaged chunk is told of, wherever in a run it lies`(chunk: Int) async throws {
        let workshop = try await Workshop()
        let path = try await Self.file(Self.content(2 * Self.mebibyte), workshop)
        try Self.damage(path, chunk: chunk)
        let reader = try await workshop.vault.open(path, writing: false)
        let error = try Self.failure(of: reader, 2 * Self.mebibyte)
        #expect(error.code == .damaged)
        #expect(error.place == "level 0, block \(chunk)")
    }

    @Test func `of chunks that are damaged in several parts the first is told of`() async throws {
        let workshop = try await Workshop()
        let path = try await Self.file(Self.content(4 * Self.mebibyte), workshop)
        for chunk in [1000, 999, 300, 130, 77, 76] {
            try Self.damage(path, chunk: chunk)
            let reader = try await workshop.vault.open(path, writing: false)
            let error = try Self.failure(of: reader, 4 * Self.mebibyte)
            #expect(error.place == "level 0, block \(chunk)")
        }
    }

    @Test
    func `where the disk ends early, the first chunk that is missing is told of, and one damaged before it first`()
        async throws
    {
        let workshop = try await Workshop()
        let path = workshop.path("span")
        // A writer: a reader would find that the length is not the commit's.
        let file = try await workshop.vault.create(path, for: workshop.ada, chunkSize: 4096)
        try file.write(Self.content(2 * Self.mebibyte), at: 0)
        try file.sync()
        let handle = try FileHandle(forWritingTo: path)
        try handle.truncate(atOffset: 12288 + 300 * 4096 + 10)
        try handle.close()
        let missing = try Self.failure(of: file, 2 * Self.mebibyte)
        #expect(missing.place == "offset \(12288 + 300 * 4096)")
        try Self.damage(path, chunk: 298)
        let damaged = try Self.failure(of: file, 2 * Self.mebibyte)
        #expect(damaged.place == "level 0, block 298")
    }

    @Test
    func `after a write that fails in one of its runs nothing is written any more, and what was synced is intact`()
        async throws
    {
        let workshop = try await Workshop()
        let path = workshop.path("span")
        let content = Self.content(3 * Self.mebibyte)
        let file = try await workshop.vault.create(path, for: workshop.ada, chunkSize: 4096)
        try file.write(content, at: 0)
        try file.sync()
        for number in [3, 20] {
            let failing = FailingCall("write", number: number)
            let writer = number == 3 ? file : try await workshop.vault.open(path)
            let failed = await code {
                try DiskFaults.$next.withValue({ failing.next($0) }) {
                    try writer.write([UInt8](repeating: 5, count: content.count), at: 0)
                }
            }
            #expect(failing.isMet)
            #expect(failed == .inputOutput)
            #expect(await code { try writer.write([1], at: 0) } == .closed)
            #expect(await code { try writer.close() } != nil)
            let isSame = try await workshop.vault.open(path, writing: false).all() == content
            #expect(isSame, "call \(number)")
        }
    }

    @Test func `a read that the disk refuses in one of its runs fails and leaves zeros`() async throws {
        let workshop = try await Workshop()
        let path = try await Self.file(Self.content(3 * Self.mebibyte), workshop)
        let reader = try await workshop.vault.open(path, writing: false)
        let failing = FailingCall("read", number: 30)
        let error = try DiskFaults.$next.withValue({ failing.next($0) }) {
            try Self.failure(of: reader, 3 * Self.mebibyte)
        }
        #expect(failing.isMet)
        #expect(error.code == .inputOutput)
        let isSame = try reader.all() == Self.content(3 * Self.mebibyte)
        #expect(isSame, "the next read finds everything")
    }

    @Test(.timeLimit(.minutes(10)))
    func `many tasks read large files at once, and a wipe among them lets a read end or fail whole`() async throws {
        let workshop = try await Workshop()
        let content = Self.content(2 * Self.mebibyte)
        let path = try await Self.file(content, workshop)
        let (vault, ada) = (workshop.vault, workshop.ada)
        // All before the first one may wipe the account.
        let shared = try await vault.open(path, writing: false)
        var files: [SealedFile] = []
        for number in 0..<8 {
            files.append(number % 2 == 0 ? shared : try await vault.open(path, writing: false))
        }
        let ends = try await withThrowingTaskGroup(of: (good: Int, error: VaultError.Code?).self) { group in
            for (number, file) in files.enumerated() {
                group.addTask {
                    var good = 0
                    do {
                        while true {
                            guard try file.all() == content else { return (-1, nil) }
                            good += 1
                            if number == 0, good == 2 { _ = try await vault.wipe(ada) }
                            await Task.yield()
                        }
                    } catch {
                        return (good, (error as? VaultError)?.code)
                    }
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(ends.count == 8)
        #expect(ends.allSatisfy { $0.good >= 0 && $0.error == .wiped }, "\(ends)")
    }

    @Test func `a large file is sealed and made readable again`() async throws {
        let workshop = try await Workshop()
        let content = Data(Self.content(3 * Self.mebibyte + 12_345))
        let (path, sealed, copy) = (workshop.path("plain"), workshop.path("sealed"), workshop.path("copy"))
        try content.write(to: path)
        try await workshop.vault.protect(path, toCopy: sealed, for: workshop.ada)
        try await workshop.vault.decrypt(sealed, toCopy: copy)
        let isSame = try Data(contentsOf: copy) == content
        #expect(isSame)
        let isSameSealed = try await workshop.vault.open(sealed, writing: false).contents() == content
        #expect(isSameSealed)
    }

    @Test func `single chunks are read right, whether or not they lie beside each other`() async throws {
        let workshop = try await Workshop()
        var model = Self.content(600 * 4096)
        let path = try await Self.file(model, workshop)
        let file = try await workshop.vault.open(path)
        for chunk in [3, 130, 599] {
            try file.write([UInt8](repeating: 9, count: 4096), at: Int64(chunk * 4096))
            model.replaceSubrange(chunk * 4096..<(chunk + 1) * 4096, with: [UInt8](repeating: 9, count: 4096))
        }
        try file.close()
        let reader = try await workshop.vault.open(path, writing: false)
        for _ in 0..<2 {
            for chunk in 0..<600 {
                let isSame =
                    try reader.read(4096, at: Int64(chunk * 4096))
                    == Array(model[chunk * 4096..<(chunk + 1) * 4096])
                #expect(isSame, "chunk \(chunk)")
            }
        }
    }
}
