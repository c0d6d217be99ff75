import Foundation

/// The bytes of a source file as the lexers read them: UTF-8, with zeros behind the end so that looking ahead needs no check.
struct SourceText {
    /// The bytes and ``padding`` zeros.
    let bytes: [UInt8]
    /// How many bytes belong to the file.
    let count: Int
    /// Whether the file was neither UTF-8 nor marked UTF-16; its ASCII is read all the same.
    let isForeign: Bool

    private static let padding = 16

    init(_ data: Data) {
        var bytes: [UInt8]
        var isForeign = false
        if data.starts(with: [0xFF, 0xFE]) || data.starts(with: [0xFE, 0xFF]) {
            bytes = Array(Self.utf16(data).utf8)
        } else {
            bytes = Array(data.starts(with: [0xEF, 0xBB, 0xBF]) ? data.dropFirst(3) : data)
            isForeign = String(validating: bytes, as: UTF8.self) == nil
        }
        // A carriage return alone ends a line, too; else a waiver for its line were one for the file.
        for index in bytes.indices where bytes[index] == 0x0D && (index + 1 == bytes.count || bytes[index + 1] != 0x0A)
        {
            bytes[index] = 0x0A
        }
        count = bytes.count
        self.isForeign = isForeign
        bytes.append(contentsOf: repeatElement(0, count: Self.padding))
        self.bytes = bytes
    }

    private static func utf16(_ data: Data) -> String {
        let isLittle = data.first == 0xFF
        var units: [UInt16] = []
        units.reserveCapacity(data.count / 2)
        var low: UInt8?
        for byte in data.dropFirst(2) {
            guard let first = low else {
                low = byte
                continue
            }
            units.append(isLittle ? UInt16(byte) << 8 | UInt16(first) : UInt16(first) << 8 | UInt16(byte))
            low = nil
        }
        return String(decoding: units, as: UTF16.self)
    }

    func text(_ range: Range<Int>) -> String {
        String(decoding: bytes[range.clamped(to: 0..<count)], as: UTF8.self)
    }

    /// Finds lines and columns; asked in rising order of offsets it reads the file once.
    struct Places {
        private var offset = 0
        private var line = 1
        private var lineStart = 0

        /// The line and column of a byte, both from 1; columns are counted in Unicode scalars.
        mutating func place(of target: Int, in text: SourceText) -> (line: Int, column: Int) {
            if target < offset { self = Places() }
            let target = min(target, text.count)
            while offset < target {
                if text.bytes[offset] == 0x0A {
                    line += 1
                    lineStart = offset + 1
                }
                offset += 1
            }
            var column = 1
            // A line of a megabyte is minified; its columns are worth less than the time to count them again and again.
            for index in max(lineStart, target - 4_096)..<target where text.bytes[index] & 0xC0 != 0x80 { column += 1 }
            return (line, column + max(0, target - 4_096 - lineStart))
        }

        /// The text of the line that ``place(of:in:)`` was last asked about, at most 400 bytes of it.
        func lineText(in text: SourceText) -> String {
            var end = lineStart
            while end < text.count, end - lineStart < 400, text.bytes[end] != 0x0A { end += 1 }
            return text.text(lineStart..<end)
        }
    }
}
