import Foundation

/// Writes PNG images with the same bytes every time: no filter, stored blocks, no times (TL-IC-07).
enum PNGWriter {
    static func write(_ bitmap: Bitmap) -> Data {
        var raw: [UInt8] = []
        for row in 0..<bitmap.height {
            raw.append(0)
            raw += bitmap.pixels[row * bitmap.width * 4..<(row + 1) * bitmap.width * 4]
        }
        let header = UInt32(bitmap.width).bigBytes + UInt32(bitmap.height).bigBytes + Data([8, 6, 0, 0, 0])
        return Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) + chunk("IHDR", header)
            + chunk("IDAT", zlib(raw)) + chunk("IEND", Data())
    }

    private static func zlib(_ raw: [UInt8]) -> Data {
        var result = Data([0x78, 0x01])
        var rest = raw[...]
        repeat {
            let block = rest.prefix(0xFFFF)
            rest = rest.dropFirst(0xFFFF)
            let length = UInt16(block.count)
            result += Data([rest.isEmpty ? 1 : 0]) + length.littleBytes + (~length).littleBytes + block
        } while !rest.isEmpty
        return result + adler(raw).bigBytes
    }

    private static func chunk(_ name: String, _ body: Data) -> Data {
        let named = Data(name.utf8) + body
        return UInt32(body.count).bigBytes + named + crc(named).bigBytes
    }

    private static func adler(_ bytes: [UInt8]) -> UInt32 {
        var low: UInt32 = 1
        var high: UInt32 = 0
        for byte in bytes {
            low = (low + UInt32(byte)) % 65521
            high = (high + low) % 65521
        }
        return high << 16 | low
    }

    private static func crc(_ data: Data) -> UInt32 {
        var value: UInt32 = 0xFFFF_FFFF
        for byte in data {
            value ^= UInt32(byte)
            for _ in 0..<8 { value = value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
        }
        return ~value
    }
}
