import Foundation
import Testing

@testable import CordonVault

struct TamperTests {
    private let sealer = Sealer()
    private let isDeep = ProcessInfo.processInfo.environment["CORDON_DEEP"] != nil

    @Test func `no bit of a three-chunk file can change unnoticed`() throws {
        let content = (0..<8292).map { UInt8(truncatingIfNeeded: $0) }
        let image = try sealer.image(content)
        #expect(try sealer.open(MemoryDevice(image)).all() == content)
        let device = MemoryDevice(image)
        let open = try sealer.open(device)
        _ = try open.all()
        var accepted: [Int] = []
        // Every byte that means something, with a bit that wanders; every bit of every byte in the long run.
        for index in image.indices
        where isDeep || (12288..<20480).contains(index) || index % 4096 < 700 || index % 31 == 0 {
            for bit in isDeep ? Array(0..<8) : [index % 8] {
                device.bytes[index] ^= 1 << UInt8(bit)
                // Whole chunks are never kept in memory, so one open file reads them anew each time.
                let isChunk = (12288..<20480).contains(index)
                let read =
                    try? isChunk ? open.read(4096, at: Int64(index - 12288) / 4096 * 4096) : sealer.open(device).all()
                if read != nil { accepted.append(index * 8 + bit) }
                device.bytes[index] ^= 1 << UInt8(bit)
            }
        }
        #expect(accepted.isEmpty)
    }

    @Test func `no byte of a mebibyte can change unnoticed`() throws {
        let image = try sealer.image((0..<1 << 20).map { UInt8(truncatingIfNeeded: $0 / 4096 + $0) })
        let device = MemoryDevice(image)
        let open = try sealer.open(device)
        var accepted: [Int] = []
        for index in stride(from: 12288, to: image.count, by: isDeep ? 1 : 331) {
            device.bytes[index] ^= 1 << UInt8(index % 8)
            // The chunk of the byte is read alone. Behind the chunks come the nodes, which an open file keeps in memory.
            let start = Int64(index - 12288) / 4096 * 4096
            let read = try? start < 1 << 20 ? open.read(4096, at: start) : sealer.open(device).all()
            if read != nil { accepted.append(index) }
            device.bytes[index] ^= 1 << UInt8(index % 8)
        }
        #expect(accepted.isEmpty)
        #expect(try open.all().count == 1 << 20, "what was put back is read again")
    }

    @Test func `no shorter or longer file is accepted`() throws {
        let image = try sealer.image((0..<8292).map { UInt8(truncatingIfNeeded: $0) })
        for count in stride(from: 0, to: image.count, by: isDeep ? 1 : 61) {
            #expect((try? sealer.open(MemoryDevice(Array(image[..<count]))).all()) == nil, "\(count) bytes")
        }
        for extra in [1, 16, 4096] {
            #expect((try? sealer.open(MemoryDevice(image + [UInt8](repeating: 0, count: extra)))) == nil)
        }
    }

    @Test func `no slot can take another's place, within a file, between files and between versions`() throws {
        let device = MemoryDevice()
        let file = try sealer.create(on: device)
        let content = [UInt8](repeating: 1, count: 4 * 4096)
        try file.write(content, at: 0)
        try file.sync()
        try file.write([UInt8](repeating: 2, count: 2 * 4096), at: 4096)
        try file.sync()
        try file.write([UInt8](repeating: 3, count: 4096), at: 4096)
        try file.close()
        let image = device.bytes
        let plain = try sealer.open(MemoryDevice(image)).all()
        let others = [image, try sealer.image(content), try Sealer().image(content)]
        let slots = (image.count - 12288 + 4095) / 4096
        for other in others {
            for from in 0..<(other.count - 12288 + 4095) / 4096 {
                for to in 0..<slots where other != image || from != to {
                    var mixed = image
                    let source = other[12288 + from * 4096..<min(other.count, 12288 + (from + 1) * 4096)]
                    let target = 12288 + to * 4096
                    let count = min(source.count, mixed.count - target)
                    mixed.replaceSubrange(target..<target + count, with: source.prefix(count))
                    // A slot that no block uses any more may hold anything; nothing of it is ever read.
                    let read = try? sealer.open(MemoryDevice(mixed)).all()
                    #expect(read == nil || read == plain, "slot \(from) over \(to)")
                }
            }
        }
    }

    @Test func `a failed read leaves zeros in the caller's memory`() throws {
        var image = try sealer.image([UInt8](repeating: 7, count: 8292))
        image[12288 + 4096 + 5] ^= 1
        let file = try sealer.open(MemoryDevice(image))
        var memory = [UInt8](repeating: 0xEE, count: 8292)
        #expect(throws: VaultError(.damaged, "")) {
            _ = try memory.withUnsafeMutableBytes { try file.read(into: $0, at: 0) }
        }
        #expect(memory.allSatisfy { $0 == 0 })
        #expect(try file.read(100, at: 0) == [UInt8](repeating: 7, count: 100))
    }

    @Test func `a torn commit record is refused unless recovery is asked for`() throws {
        let device = MemoryDevice()
        let file = try sealer.create(on: device)
        try file.write([1, 1, 1], at: 0)
        try file.sync()
        try file.write([2, 2, 2], at: 0)
        try file.sync()
        for page in [4096, 8192] {
            let torn = MemoryDevice(device.bytes)
            torn.bytes[page + 50] ^= 1
            #expect(throws: VaultError(.damaged, "")) { _ = try sealer.open(torn) }
            let read = try sealer.open(torn, recovering: true).all()
            #expect(read == [1, 1, 1] || read == [2, 2, 2])
        }
    }

    @Test(arguments: [0, 1], [20, 600, 4095])
    func `what is synced in a file that was opened by one record is there, wherever the other one's page was damaged`(
        page: Int, offset: Int
    ) throws {
        let device = MemoryDevice(try sealer.image([UInt8](repeating: 1, count: 3 * 4096)))
        device.bytes[Int(Layout.recordOffsets[page]) + offset] ^= 1
        #expect(throws: VaultError(.damaged, "")) { _ = try sealer.open(device) }
        let file = try sealer.open(device, writing: true, recovering: true)
        var model = try file.all()
        for round in 0..<4 as Range<UInt8> {
            let bytes = [UInt8](repeating: 10 + round, count: 5000)
            try file.write(bytes, at: 0)
            model.replaceSubrange(..<min(5000, model.count), with: bytes)
            try file.sync()
            #expect(try sealer.open(MemoryDevice(device.bytes)).all() == model, "sync \(round)")
        }
        try file.close()
        #expect(try sealer.open(device).all() == model)
    }
}
