import Foundation

/// A value of CBOR (RFC 8949), as far as attestations and keys in them use it: whole numbers, bytes, texts, lists and maps of known length.
///
/// Only the shortest encoding is accepted: no indefinite lengths, no tags, no floats, no key twice, nothing after the end.
/// Lengths are checked before memory is allocated for them.
enum CBORValue: Hashable {
    case integer(Int64)
    case bytes(Data)
    case text(String)
    case list([CBORValue])
    case map([CBORValue: CBORValue])

    /// How deep lists and maps may be in one another.
    static let deepest = 4
    /// How many values a list or a map may have.
    static let longest = 64

    /// Reads one value that is all of the bytes; nil for anything else.
    init?(_ bytes: Data) {
        var reader = CBORReader(bytes)
        guard let value = reader.value(depth: 0), reader.isAtEnd else { return nil }
        self = value
    }

    /// A member of a map by its name; nil where there is none, and where the value is not a map.
    subscript(name: String) -> CBORValue? { self[.text(name)] }

    /// A member of a map; nil where there is none, and where the value is not a map.
    subscript(key: CBORValue) -> CBORValue? {
        guard case .map(let members) = self else { return nil }
        return members[key]
    }

    /// The bytes, where it is some.
    var bytes: Data? {
        guard case .bytes(let bytes) = self else { return nil }
        return bytes
    }

    /// The values, where it is a list.
    var list: [CBORValue]? {
        guard case .list(let values) = self else { return nil }
        return values
    }
}

private struct CBORReader {
    private let bytes: Data
    private var place: Data.Index

    init(_ bytes: Data) {
        self.bytes = bytes
        place = bytes.startIndex
    }

    var isAtEnd: Bool { place == bytes.endIndex }

    mutating func value(depth: Int) -> CBORValue? {
        guard depth <= CBORValue.deepest, let (kind, argument) = head() else { return nil }
        switch kind {
        case 0: return Int64(exactly: argument).map { .integer($0) }
        case 1: return Int64(exactly: argument).map { .integer(-1 - $0) }
        case 2: return take(argument).map { .bytes($0) }
        case 3: return take(argument).flatMap { String(data: $0, encoding: .utf8) }.map { .text($0) }
        case 4: return list(argument, depth: depth)
        case 5: return map(argument, depth: depth)
        default: return nil
        }
    }

    private mutating func list(_ count: UInt64, depth: Int) -> CBORValue? {
        guard count <= CBORValue.longest else { return nil }
        var values: [CBORValue] = []
        for _ in 0..<count {
            guard let value = value(depth: depth + 1) else { return nil }
            values.append(value)
        }
        return .list(values)
    }

    private mutating func map(_ count: UInt64, depth: Int) -> CBORValue? {
        guard count <= CBORValue.longest else { return nil }
        var members: [CBORValue: CBORValue] = [:]
        for _ in 0..<count {
            guard let key = value(depth: depth + 1), let value = value(depth: depth + 1) else { return nil }
            guard members.updateValue(value, forKey: key) == nil else { return nil }
        }
        return .map(members)
    }

    /// The kind of a value and the number that stands with it.
    private mutating func head() -> (kind: UInt8, argument: UInt64)? {
        guard let first = take(1)?.first else { return nil }
        let (kind, short) = (first >> 5, first & 0x1f)
        guard short >= 24 else { return (kind, UInt64(short)) }
        // 28 and above is reserved, or of no stated length.
        guard short <= 27, let rest = take(1 << UInt64(short - 24)) else { return nil }
        let argument = rest.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let smallest: UInt64 = [24, 1 << 8, 1 << 16, 1 << 32][Int(short - 24)]
        return argument >= smallest ? (kind, argument) : nil
    }

    private mutating func take(_ count: UInt64) -> Data? {
        guard count <= UInt64(bytes.distance(from: place, to: bytes.endIndex)), let count = Int(exactly: count) else {
            return nil
        }
        let end = bytes.index(place, offsetBy: count)
        defer { place = end }
        return Data(bytes[place..<end])
    }
}
