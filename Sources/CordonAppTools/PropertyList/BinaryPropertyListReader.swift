import Foundation

/// Reads `bplist00`. Every offset is checked before use, and the work is bounded although objects may be shared.
struct BinaryPropertyListReader {
    private let bytes: ByteReader
    private let offsetSize: Int
    private let referenceSize: Int
    private let objectCount: Int
    private let tableOffset: Int
    /// Objects and bytes that may still be unpacked; sharing could otherwise grow without limit.
    private var objectBudget = 1_000_000
    private var byteBudget = PropertyList.largestSize

    static func read(_ data: Data) throws(AppToolsError) -> PropertyListValue {
        let (reader, top) = try open(ByteReader(data))
        var copy = reader
        return try copy.object(top, depth: 0)
    }

    private static func open(_ bytes: ByteReader) throws(AppToolsError) -> (Self, Int) {
        guard bytes.count >= 40, try bytes.text(at: 0, count: 8) == "bplist00" else {
            throw AppToolsError(.malformed, "not a version 0 binary property list")
        }
        let trailer = bytes.count - 32
        let counts = try [8, 16, 24].map { (offset) throws(AppToolsError) in
            let number = try bytes.big64(at: trailer + offset)
            guard number < UInt64(bytes.count) else {
                throw bytes.failure("trailer out of range", at: trailer + offset)
            }
            return Int(number)
        }
        let reader = Self(
            bytes: bytes, offsetSize: Int(try bytes.byte(at: trailer + 6)),
            referenceSize: Int(try bytes.byte(at: trailer + 7)), objectCount: counts[0], tableOffset: counts[2])
        guard (1...8).contains(reader.offsetSize), (1...8).contains(reader.referenceSize), counts[1] < counts[0],
            counts[2] >= 8, counts[0] <= (trailer - counts[2]) / reader.offsetSize
        else { throw bytes.failure("trailer is inconsistent", at: trailer) }
        return (reader, counts[1])
    }

    private init(bytes: ByteReader, offsetSize: Int, referenceSize: Int, objectCount: Int, tableOffset: Int) {
        self.bytes = bytes
        self.offsetSize = offsetSize
        self.referenceSize = referenceSize
        self.objectCount = objectCount
        self.tableOffset = tableOffset
    }

    private mutating func object(_ index: Int, depth: Int) throws(AppToolsError) -> PropertyListValue {
        guard index < objectCount else { throw bytes.failure("object \(index) does not exist", at: tableOffset) }
        let entry = tableOffset + index * offsetSize
        let place = try bytes.bigNumber(at: entry, count: offsetSize)
        guard place >= 8, place < UInt64(tableOffset) else { throw bytes.failure("offset out of range", at: entry) }
        guard depth < PropertyList.deepestNesting else { throw bytes.failure("nested too deeply", at: entry) }
        objectBudget -= 1
        guard objectBudget >= 0 else { throw bytes.failure("too many objects", at: entry) }
        let offset = Int(place)
        let marker = try bytes.byte(at: offset)
        switch (marker >> 4, marker & 0xF) {
        case (0, 8): return .boolean(false)
        case (0, 9): return .boolean(true)
        case (1, let power) where power <= 3:
            return .integer(Int64(truncatingIfNeeded: try bytes.bigNumber(at: offset + 1, count: 1 << Int(power))))
        case (1, 4):
            let high = try bytes.big64(at: offset + 1)
            let low = try bytes.big64(at: offset + 9)
            guard high == 0, let number = Int64(exactly: low) else { break }
            return .integer(number)
        case (2, 2): return .real(Double(Float(bitPattern: try bytes.big32(at: offset + 1))))
        case (2, 3): return .real(Double(bitPattern: try bytes.big64(at: offset + 1)))
        case (3, 3):
            let seconds = Double(bitPattern: try bytes.big64(at: offset + 1))
            guard abs(seconds) < 1e13 else { break }
            return .date(Date(timeIntervalSinceReferenceDate: seconds))
        case (4, let low): return .data(try content(offset, low, width: 1))
        case (5, let low):
            guard let text = String(data: try content(offset, low, width: 1), encoding: .ascii) else { break }
            return .string(text)
        case (6, let low):
            guard let text = String(data: try content(offset, low, width: 2), encoding: .utf16BigEndian) else { break }
            return .string(text)
        case (0xA, let low): return .array(try elements(offset, low, depth: depth))
        case (0xD, let low): return .dictionary(try entries(offset, low, depth: depth))
        default: break
        }
        throw bytes.failure("object of an unknown kind", at: offset)
    }

    private mutating func elements(
        _ offset: Int, _ low: UInt8, depth: Int
    ) throws(AppToolsError) -> [PropertyListValue] {
        let (count, start) = try length(offset, low)
        guard count <= (bytes.count - start) / referenceSize else { throw bytes.failure("array too long", at: offset) }
        var values: [PropertyListValue] = []
        for position in 0..<count { values.append(try object(try reference(start, position), depth: depth + 1)) }
        return values
    }

    private mutating func entries(
        _ offset: Int, _ low: UInt8, depth: Int
    ) throws(AppToolsError) -> PropertyListDictionary {
        let (count, start) = try length(offset, low)
        guard count <= (bytes.count - start) / referenceSize / 2 else {
            throw bytes.failure("dictionary too long", at: offset)
        }
        var dictionary = PropertyListDictionary()
        for position in 0..<count {
            guard case .string(let key) = try object(try reference(start, position), depth: depth + 1) else {
                throw bytes.failure("a dictionary key is not text", at: offset)
            }
            guard dictionary[key] == nil else { throw bytes.failure("key \"\(key)\" appears twice", at: offset) }
            dictionary[key] = try object(try reference(start, count + position), depth: depth + 1)
        }
        return dictionary
    }

    private func reference(_ start: Int, _ position: Int) throws(AppToolsError) -> Int {
        let place = start + position * referenceSize
        guard let index = Int(exactly: try bytes.bigNumber(at: place, count: referenceSize)) else {
            throw bytes.failure("reference out of range", at: place)
        }
        return index
    }

    private mutating func content(_ offset: Int, _ low: UInt8, width: Int) throws(AppToolsError) -> Data {
        let (count, start) = try length(offset, low)
        guard count <= bytes.count / width else { throw bytes.failure("length out of range", at: offset) }
        byteBudget -= count * width
        guard byteBudget >= 0 else { throw bytes.failure("too much content", at: offset) }
        return Data(try bytes.data(at: start, count: count * width))
    }

    private func length(_ offset: Int, _ low: UInt8) throws(AppToolsError) -> (count: Int, start: Int) {
        guard low == 0xF else { return (Int(low), offset + 1) }
        let marker = try bytes.byte(at: offset + 1)
        guard marker >> 4 == 1, marker & 0xF <= 3 else { throw bytes.failure("length is not a number", at: offset) }
        let width = 1 << Int(marker & 0xF)
        let number = try bytes.bigNumber(at: offset + 2, count: width)
        guard number <= UInt64(bytes.count) else { throw bytes.failure("length out of range", at: offset) }
        return (Int(number), offset + 2 + width)
    }
}
