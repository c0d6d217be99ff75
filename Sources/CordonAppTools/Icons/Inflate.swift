import Foundation

/// Unpacks raw deflate data (RFC 1951) into a buffer of a known size; more output than that is an error.
struct Inflate {
    private let bytes: [UInt8]
    private var position = 0
    private var bits: UInt32 = 0
    private var bitCount = 0
    private var output: [UInt8] = []
    private let limit: Int

    static func unpack(_ data: [UInt8], limit: Int) throws(AppToolsError) -> [UInt8] {
        var inflate = Inflate(bytes: data, limit: limit)
        try inflate.run()
        return inflate.output
    }

    private init(bytes: [UInt8], limit: Int) {
        self.bytes = bytes
        self.limit = limit
        output.reserveCapacity(min(limit, bytes.count * 8))
    }

    private static func failure(_ reason: String) -> AppToolsError { AppToolsError(.malformed, "image data \(reason)") }

    private mutating func take(_ count: Int) throws(AppToolsError) -> Int {
        while bitCount < count {
            guard position < bytes.count else { throw Self.failure("ends early") }
            bits |= UInt32(bytes[position]) << UInt32(bitCount)
            position += 1
            bitCount += 8
        }
        let value = Int(bits & ((1 << UInt32(count)) - 1))
        bits >>= UInt32(count)
        bitCount -= count
        return value
    }

    private mutating func put(_ byte: UInt8) throws(AppToolsError) {
        guard output.count < limit else { throw Self.failure("is longer than the image") }
        output.append(byte)
    }

    private mutating func run() throws(AppToolsError) {
        var isLast = false
        while !isLast {
            isLast = try take(1) == 1
            switch try take(2) {
            case 0: try stored()
            case 1: try compressed(Self.fixedLiterals, Self.fixedDistances)
            case 2:
                let (literals, distances) = try tables()
                try compressed(literals, distances)
            default: throw Self.failure("has a block of an unknown kind")
            }
        }
    }

    private mutating func stored() throws(AppToolsError) {
        bits = 0
        bitCount = 0
        let length = try take(16)
        guard try take(16) == length ^ 0xFFFF else { throw Self.failure("has a damaged block") }
        for _ in 0..<length { try put(UInt8(try take(8))) }
    }

    /// Codes by length: how many there are of each, and the symbols in order.
    private struct Huffman {
        var counts = [Int](repeating: 0, count: 16)
        var symbols: [Int] = []

        init(_ lengths: [Int]) {
            for length in lengths where length > 0 { counts[length] += 1 }
            for length in 1..<16 { symbols += lengths.indices.filter { lengths[$0] == length } }
        }
    }

    private static let fixedLiterals = Huffman(
        (0..<288).map { $0 < 144 ? 8 : $0 < 256 ? 9 : $0 < 280 ? 7 : 8 })
    private static let fixedDistances = Huffman([Int](repeating: 5, count: 30))
    private static let lengthBases = [
        3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227,
        258,
    ]
    private static let distanceBases = [
        1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097,
        6145,
        8193, 12289, 16385, 24577,
    ]
    private static let orderOfLengths = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]

    private mutating func symbol(_ table: Huffman) throws(AppToolsError) -> Int {
        var code = 0
        var first = 0
        var index = 0
        for length in 1..<16 {
            code |= try take(1)
            let count = table.counts[length]
            if code - count < first { return table.symbols[index + code - first] }
            index += count
            first = (first + count) << 1
            code <<= 1
        }
        throw Self.failure("has a code that does not exist")
    }

    private mutating func compressed(_ literals: Huffman, _ distances: Huffman) throws(AppToolsError) {
        while true {
            let next = try symbol(literals)
            if next == 256 { return }
            if next < 256 {
                try put(UInt8(next))
                continue
            }
            let lengthCode = next - 257
            guard lengthCode < Self.lengthBases.count else { throw Self.failure("has a wrong length") }
            let extra = lengthCode < 8 || lengthCode == 28 ? 0 : (lengthCode - 4) / 4
            let length = Self.lengthBases[lengthCode] + (try take(extra))
            let distanceCode = try symbol(distances)
            guard distanceCode < Self.distanceBases.count else { throw Self.failure("has a wrong distance") }
            let more = distanceCode < 4 ? 0 : (distanceCode - 2) / 2
            let distance = Self.distanceBases[distanceCode] + (try take(more))
            guard distance <= output.count else { throw Self.failure("points before its start") }
            for _ in 0..<length { try put(output[output.count - distance]) }
        }
    }

    private mutating func tables() throws(AppToolsError) -> (Huffman, Huffman) {
        let literalCount = try take(5) + 257
        let distanceCount = try take(5) + 1
        let lengthCount = try take(4) + 4
        var lengths = [Int](repeating: 0, count: 19)
        for index in 0..<lengthCount { lengths[Self.orderOfLengths[index]] = try take(3) }
        let table = Huffman(lengths)
        var all: [Int] = []
        while all.count < literalCount + distanceCount {
            switch try symbol(table) {
            case 16:
                guard let last = all.last else { throw Self.failure("repeats nothing") }
                all += [Int](repeating: last, count: try take(2) + 3)
            case 17: all += [Int](repeating: 0, count: try take(3) + 3)
            case 18: all += [Int](repeating: 0, count: try take(7) + 11)
            case let length: all.append(length)
            }
        }
        guard all.count == literalCount + distanceCount else { throw Self.failure("has too many codes") }
        return (Huffman(Array(all[..<literalCount])), Huffman(Array(all[literalCount...])))
    }
}
