internal import CordonPolicy
internal import Foundation

/// Reads a message from JSON that was parsed already, so that what was checked strictly is what is used, and parsed once.
struct JSONTreeDecoder: Decoder, SingleValueDecodingContainer {
    let value: JSONValue
    var codingPath: [any CodingKey] = []
    /// Whether a member that the message does not have is refused.
    var isStrict = false
    /// What the message's own reading needs to know; what is read inside of it is not told.
    var userInfo: [CodingUserInfoKey: Any] = [:]

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .object(let members) = value else { throw mismatch("an object") }
        if isStrict, let unknown = members.keys.sorted().first(where: { Key(stringValue: $0) == nil }) {
            throw DecodingError.dataCorrupted(
                .init(codingPath: codingPath + [UnknownMember(unknown)], debugDescription: "is not known here"))
        }
        return KeyedDecodingContainer(
            JSONTreeMembers(members: members, codingPath: codingPath, isStrict: isStrict))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .array(let values) = value else { throw mismatch("an array") }
        return JSONTreeElements(values: values, codingPath: codingPath, isStrict: isStrict)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool { value == .null }

    func decode(_ type: Bool.Type) throws -> Bool { try found(value.bool, "true or false") }
    func decode(_ type: String.Type) throws -> String { try found(value.string, "text") }
    func decode(_ type: Double.Type) throws -> Double { try number() }
    func decode(_ type: Float.Type) throws -> Float { Float(try number()) }
    func decode(_ type: Int.Type) throws -> Int { try integer() }
    func decode(_ type: Int8.Type) throws -> Int8 { try integer() }
    func decode(_ type: Int16.Type) throws -> Int16 { try integer() }
    func decode(_ type: Int32.Type) throws -> Int32 { try integer() }
    func decode(_ type: Int64.Type) throws -> Int64 { try integer() }
    func decode(_ type: UInt.Type) throws -> UInt { try integer() }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try integer() }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try integer() }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try integer() }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try integer() }

    /// Any other value; times as RFC 3339, bytes as Base64 and addresses as text, as Foundation's decoder has them.
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let special: Any? =
            switch type {
            case is Date.Type:
                try found(MessageTime.moment(try decode(String.self)), "a time as RFC 3339 has it")
            case is Data.Type: try found(Data(base64Encoded: try decode(String.self)), "Base64")
            case is URL.Type: try found(URL(string: try decode(String.self)), "an address")
            case is JSONValue.Type: value
            default: nil
            }
        if let special, let value = special as? Value { return value }
        return try Value(from: self)
    }

    private func number() throws -> Double {
        switch value {
        case .integer(let value): Double(value)
        case .number(let number): try found(number.double.flatMap { $0.isFinite ? $0 : nil }, "a number")
        default: throw mismatch("a number")
        }
    }

    private func integer<Number: FixedWidthInteger>() throws -> Number {
        if case .number(let number) = value, let large = Number(number.literal) { return large }
        return try found(value.integer.flatMap { Number(exactly: $0) }, "a whole number")
    }

    private func found<Found>(_ found: Found?, _ needed: String) throws -> Found {
        guard let found else { throw mismatch(needed) }
        return found
    }

    private func mismatch(_ needed: String) -> DecodingError {
        DecodingError.dataCorrupted(.init(codingPath: codingPath, debugDescription: "needs to be \(needed)"))
    }
}

/// A member of a message that has no such one, by as much of its name as can be shown.
struct UnknownMember: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(_ name: String) {
        let isPlain = name.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        stringValue = isPlain && !name.isEmpty ? String(name.prefix(64)) : "a member"
    }

    init?(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { nil }
}

/// The members of an object.
private struct JSONTreeMembers<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let members: [String: JSONValue]
    let codingPath: [any CodingKey]
    let isStrict: Bool

    var allKeys: [Key] { members.keys.compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool { members[key.stringValue] != nil }
    func decodeNil(forKey key: Key) throws -> Bool { try member(key).decodeNil() }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try member(key).decode(type)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { try member(key).container(keyedBy: type) }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try member(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder {
        JSONTreeDecoder(value: .object(members), codingPath: codingPath, isStrict: isStrict)
    }
    func superDecoder(forKey key: Key) throws -> any Decoder { try member(key) }

    private func member(_ key: Key) throws -> JSONTreeDecoder {
        guard let value = members[key.stringValue] else {
            throw DecodingError.keyNotFound(key, .init(codingPath: codingPath, debugDescription: "is missing"))
        }
        return JSONTreeDecoder(value: value, codingPath: codingPath + [key], isStrict: isStrict)
    }
}

/// The values of an array, one after the other.
private struct JSONTreeElements: UnkeyedDecodingContainer {
    let values: [JSONValue]
    let codingPath: [any CodingKey]
    let isStrict: Bool
    private(set) var currentIndex = 0

    init(values: [JSONValue], codingPath: [any CodingKey], isStrict: Bool) {
        self.values = values
        self.codingPath = codingPath
        self.isStrict = isStrict
    }

    /// A place in an array.
    private struct Index: CodingKey {
        var intValue: Int?
        var stringValue: String { "Index \(intValue ?? 0)" }
        init(_ index: Int) { intValue = index }
        init?(intValue: Int) { self.intValue = intValue }
        init?(stringValue: String) { nil }
    }

    var count: Int? { values.count }
    var isAtEnd: Bool { currentIndex == values.count }

    mutating func decodeNil() throws -> Bool {
        let isNull = try element().decodeNil()
        if isNull { currentIndex += 1 }
        return isNull
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let value = try element().decode(type)
        currentIndex += 1
        return value
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
        let container = try element().container(keyedBy: type)
        currentIndex += 1
        return container
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        let container = try element().unkeyedContainer()
        currentIndex += 1
        return container
    }

    mutating func superDecoder() throws -> any Decoder {
        let decoder = try element()
        currentIndex += 1
        return decoder
    }

    private func element() throws -> JSONTreeDecoder {
        let path = codingPath + [Index(currentIndex)]
        guard !isAtEnd else {
            throw DecodingError.dataCorrupted(.init(codingPath: path, debugDescription: "the array ends before"))
        }
        return JSONTreeDecoder(value: values[currentIndex], codingPath: path, isStrict: isStrict)
    }
}
