import Foundation

/// Writes `bplist00`; equal scalars are stored once. The object order is our own (TL-CF-33).
struct BinaryPropertyListWriter {
    private var objects: [Data] = []
    private var references: [(object: Int, targets: [Int])] = []
    /// Where each scalar stands, by its bytes: texts that are equal in another normal form are two.
    private var known: [[UInt8]: Int] = [:]

    static func document(_ value: PropertyListValue) -> Data {
        var writer = Self()
        let top = writer.add(value)
        return writer.document(top: top)
    }

    private mutating func add(_ value: PropertyListValue) -> Int {
        switch value {
        case .string(let text): scalar(Self.text(text))
        case .integer(let number): scalar(Self.integer(number))
        case .real(let number): scalar(Data([0x23]) + Self.big(number.bitPattern, 8))
        case .boolean(let truth): scalar(Data([truth ? 9 : 8]))
        case .date(let date):
            scalar(Data([0x33]) + Self.big(date.timeIntervalSinceReferenceDate.bitPattern, 8))
        case .data(let data): scalar(Self.marker(4, data.count) + data)
        case .array(let values): container(0xA, values.count, values)
        case .dictionary(let dictionary):
            container(
                0xD, dictionary.entries.count,
                dictionary.keys.map { .string($0) } + dictionary.entries.map(\.value))
        }
    }

    private mutating func scalar(_ bytes: Data) -> Int {
        // Of `Data` no more than the beginning is hashed.
        let key = [UInt8](bytes)
        if let place = known[key] { return place }
        known[key] = objects.count
        objects.append(bytes)
        return objects.count - 1
    }

    private mutating func container(_ kind: UInt8, _ count: Int, _ children: [PropertyListValue]) -> Int {
        let place = objects.count
        objects.append(Self.marker(kind, count))
        let targets = children.map { add($0) }
        references.append((place, targets))
        return place
    }

    private func document(top: Int) -> Data {
        let referenceSize = Self.width(UInt64(objects.count))
        var bodies = objects
        for (object, targets) in references {
            for target in targets { bodies[object] += Self.big(UInt64(target), referenceSize) }
        }
        var result = Data("bplist00".utf8)
        var offsets: [Int] = []
        for body in bodies {
            offsets.append(result.count)
            result += body
        }
        let table = result.count
        let offsetSize = Self.width(UInt64(table))
        for offset in offsets { result += Self.big(UInt64(offset), offsetSize) }
        result += Data([0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(referenceSize)])
        return result + Self.big(UInt64(objects.count), 8) + Self.big(UInt64(top), 8) + Self.big(UInt64(table), 8)
    }

    private static func text(_ text: String) -> Data {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return marker(5, text.utf8.count) + Data(text.utf8) }
        return marker(6, text.utf16.count) + Data(text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] })
    }

    private static func integer(_ number: Int64) -> Data {
        let width = number < 0 ? 8 : width(UInt64(number))
        return Data([0x10 | UInt8(width.trailingZeroBitCount)]) + big(UInt64(bitPattern: number), width)
    }

    private static func marker(_ kind: UInt8, _ count: Int) -> Data {
        count < 15 ? Data([kind << 4 | UInt8(count)]) : Data([kind << 4 | 0xF]) + integer(Int64(count))
    }

    private static func width(_ number: UInt64) -> Int {
        number < 1 << 8 ? 1 : number < 1 << 16 ? 2 : number < 1 << 32 ? 4 : 8
    }

    private static func big(_ number: UInt64, _ width: Int) -> Data {
        number.bigBytes.suffix(width)
    }
}
