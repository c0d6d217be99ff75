import CordonIdentity
import CordonTestSupport
import Foundation
import Testing

@testable import CordonVault

struct SealedFileTests {
    @Test(arguments: [0, 1, 4095, 4096, 4097, 12_288, 600_000])
    func `what was written is read back after a restart`(count: Int) async throws {
        let workshop = try await Workshop()
        let content = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
        let file = try await workshop.vault.create(workshop.path("note"), for: workshop.ada, chunkSize: 4096)
        try file.write(content, at: 0)
        try file.close()
        let again = try await workshop.reopened().open(workshop.path("note"), writing: false)
        #expect(try again.all() == content)
        #expect(again.owner == workshop.ada)
    }

    @Test func `a gap reads as zeros and takes no space`() async throws {
        let workshop = try await Workshop()
        let file = try await workshop.vault.create(workshop.path("sparse"), for: workshop.ada, chunkSize: 4096)
        try file.write([7], at: 1 << 40)
        try file.close()
        let again = try await workshop.vault.open(workshop.path("sparse"))
        #expect(try again.size() == (1 << 40) + 1)
        #expect(try again.read(3, at: 1 << 39) == [0, 0, 0])
        #expect(try again.read(3, at: 1 << 40) == [7])
        #expect(workshop.path("sparse").bytesOnDisk < 64 * 4096)
    }

    @Test func `a second writer is refused and a reader sees the last commit`() async throws {
        let workshop = try await Workshop()
        let path = workshop.path("shared")
        let file = try await workshop.vault.create(path, for: workshop.ada)
        try file.write([1, 2, 3], at: 0)
        try file.sync()
        let other = try await workshop.reopened()
        #expect(await code { _ = try await other.open(path) } == .inUse)
        let reader = try await other.open(path, writing: false)
        try file.write([9, 9, 9, 9], at: 0)
        #expect(try reader.all() == [1, 2, 3])
        try file.sync()
        #expect(try reader.refresh())
        #expect(try reader.all() == [9, 9, 9, 9])
        #expect(await code { try reader.write([1], at: 0) } == .readOnly)
    }

    @Test func `a reader whose commit was overtaken reads the newer one`() async throws {
        let workshop = try await Workshop()
        let path = workshop.path("busy")
        let file = try await workshop.vault.create(path, for: workshop.ada, chunkSize: 4096)
        try file.write([UInt8](repeating: 1, count: 40_000), at: 0)
        try file.sync()
        let reader = try await workshop.vault.open(path, writing: false)
        for round in 2...6 {
            try file.write([UInt8](repeating: UInt8(round), count: 40_000), at: 0)
            try file.sync()
        }
        #expect(Set(try reader.read(4096, at: 8192)) == [6])
    }

    @Test(.seeded(as: 1), arguments: [1, 2, 3, 4, 5, 6] as [UInt64])
    func `random operations agree with an array of bytes`(number: UInt64) async throws {
        let workshop = try await Workshop()
        let path = workshop.path("model")
        // 1,700,000 operations of each of the six make ten million.
        let run = DeepRun(plain: 300, deep: 1_700_000)
        var random = SeededGenerator(TestSeed.current &* 6 &+ number)
        var model: [UInt8] = []
        var file = try await workshop.vault.create(path, for: workshop.ada, chunkSize: 4096)
        let reach: Int = number % 2 == 0 ? 30_000 : 1_200_000
        for round in run {
            switch Int.random(in: 0..<10, using: &random) {
            case 0...4:
                let offset = Int.random(in: 0...min(model.count + 5000, reach), using: &random)
                let aligned = Bool.random(using: &random) ? offset / 4096 * 4096 : offset
                let count =
                    Bool.random(using: &random)
                    ? 4096 * Int.random(in: 1...3, using: &random) : Int.random(in: 0...9000, using: &random)
                let bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: round + 1), count: count)
                // Writing nothing behind the end does not move it.
                if count > 0 {
                    model += [UInt8](repeating: 0, count: max(0, aligned + count - model.count))
                    model.replaceSubrange(aligned..<aligned + count, with: bytes)
                }
                try file.write(bytes, at: Int64(aligned))
            case 5:
                let size =
                    Bool.random(using: &random)
                    ? Int.random(in: 0...reach, using: &random) : Int.random(in: 0...9000, using: &random)
                if size < model.count {
                    model.removeLast(model.count - size)
                } else {
                    model += [UInt8](repeating: 0, count: size - model.count)
                }
                try file.truncate(to: Int64(size))
            case 6: try file.sync()
            case 7 where round % 5 == 0:
                try file.close()
                file = try await workshop.vault.open(path)
            default:
                let offset = Int.random(in: 0...max(1, model.count), using: &random)
                let count = Int.random(in: 0...20_000, using: &random)
                let expected = offset < model.count ? Array(model[offset..<min(model.count, offset + count)]) : []
                #expect(try file.read(count, at: Int64(offset)) == expected, "\(number), round \(round)")
            }
            #expect(try file.size() == Int64(model.count), "\(number), round \(round)")
        }
        try file.close()
        #expect(try await workshop.reopened().open(path, writing: false).all() == model, "\(number)")
        run.finish("operations beside an array of bytes")
    }

    @Test(arguments: [false, true], [0, 4096] as [Int64])
    func `what was cut off does not come back where the file grows again, and its place is used once more`(
        isSynced: Bool, size: Int64
    ) throws {
        let device = MemoryDevice()
        let file = try Sealer().create(on: device)
        let content = [UInt8](repeating: 1, count: 1 << 20)
        var length = 0
        // Cut and written so often, a place that is not given back makes the file longer each time.
        for round in 0..<6 {
            try file.write(content, at: 0)
            if isSynced { try file.sync() }
            try file.truncate(to: size)
            if isSynced { try file.sync() }
            try file.truncate(to: 1 << 20)
            #expect(Set(try file.all().dropFirst(Int(size))) == [0], "round \(round)")
            if round == 1 { length = device.bytes.count }
        }
        #expect(device.bytes.count <= length + 1 << 19)
        try file.close()
    }

    @Test func `the cursor moves with reads and writes`() async throws {
        let workshop = try await Workshop()
        let file = try await workshop.vault.create(workshop.path("cursor"), for: workshop.ada)
        try [UInt8]("hello world".utf8).withUnsafeBytes { try file.write($0) }
        #expect(file.tell() == 11)
        try file.seek(to: 6)
        var word = [UInt8](repeating: 0, count: 20)
        #expect(try word.withUnsafeMutableBytes { try file.read(into: $0) } == 5)
        #expect(String(decoding: word[..<5], as: UTF8.self) == "world")
        #expect(await code { try file.seek(to: -1) } == .invalidArgument)
    }

    @Test func `a closed file refuses everything`() async throws {
        let workshop = try await Workshop()
        let file = try await workshop.vault.create(workshop.path("closed"), for: workshop.ada)
        try file.close()
        try file.close()
        #expect(await code { _ = try file.size() } == .closed)
        #expect(await code { _ = try file.read(1, at: 0) } == .closed)
        #expect(await code { _ = try file.refresh() } == .closed)
        #expect(await code { try file.truncate(to: 0) } == .closed)
        #expect(await code { try file.write([1], at: 0) } == .closed)
        #expect(await code { try file.sync() } == .closed)
    }
}
