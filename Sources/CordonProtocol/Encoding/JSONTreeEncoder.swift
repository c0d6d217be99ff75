internal import CordonPolicy
internal import Foundation

/// Makes JSON values of messages. Times are RFC 3339, bytes Base64 and addresses text, as with Foundation's encoder; that one takes
/// several times as long, which a list of a hundred rows is seen to wait for.
struct JSONTreeEncoder: Encoder {
    private let node: JSONTreeNode
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    fileprivate init(_ node: JSONTreeNode, _ codingPath: [any CodingKey]) {
        self.node = node
        self.codingPath = codingPath
    }

    /// The JSON value of a message.
    ///
    /// - Throws: `EncodingError` where there is none, as for a number that is not finite.
    static func value(of message: some Encodable) throws -> JSONValue { try value(of: message, at: []) }

    fileprivate static func value<Value: Encodable>(of value: Value, at path: [any CodingKey]) throws -> JSONValue {
        if Value.self == JSONValue.self, let value = value as? JSONValue { return value }
        if Value.self == Date.self, let time = value as? Date { return .string(time.formatted(.iso8601)) }
        if Value.self == Data.self, let bytes = value as? Data { return .string(bytes.base64EncodedString()) }
        if Value.self == URL.self, let address = value as? URL { return .string(address.absoluteString) }
        let node = JSONTreeNode()
        try value.encode(to: JSONTreeEncoder(node, path))
        return node.value
    }

    /// A number as Foundation's encoder spells it.
    fileprivate static func number(_ value: some BinaryFloatingPoint & CustomStringConvertible) throws -> JSONValue {
        let spelt = value.description
        let literal = spelt.hasSuffix(".0") ? String(spelt.dropLast(2)) : spelt
        if literal != "-0", let integer = Int64(literal) { return .integer(integer) }
        guard value.isFinite, let number = JSONNumber(literal: literal) else {
            throw EncodingError.invalidValue(
                value, .init(codingPath: [], debugDescription: "is not finite"))
        }
        return .number(number)
    }

    fileprivate static func integer(_ value: some FixedWidthInteger) -> JSONValue {
        if let integer = Int64(exactly: value) { return .integer(integer) }
        return JSONNumber(literal: String(value)).map(JSONValue.number) ?? .null
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        node.beginObject()
        return KeyedEncodingContainer(JSONTreeMembersWriter(node: node, codingPath: codingPath))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        node.beginArray()
        return JSONTreeElementsWriter(node: node, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        JSONTreeValueWriter(node: node, codingPath: codingPath)
    }
}

/// A value that is being made; containers of it are written to in any order until the encoding ends.
private final class JSONTreeNode {
    private enum Content {
        case value(JSONValue)
        case members([String: JSONValue], unfinished: [String: JSONTreeNode])
        case elements([JSONValue], unfinished: [Int: JSONTreeNode])
    }

    private var content = Content.value(.object([:]))

    func set(_ value: JSONValue) { content = .value(value) }

    func beginObject() {
        guard case .members = content else { return content = .members([:], unfinished: [:]) }
    }

    func beginArray() {
        guard case .elements = content else { return content = .elements([], unfinished: [:]) }
    }

    func set(_ value: JSONValue, for name: String) {
        guard case .members(var members, let unfinished) = content else { return }
        // Not two owners while it grows, or each member would copy all before it.
        content = .value(.null)
        members[name] = value
        content = .members(members, unfinished: unfinished)
    }

    func append(_ value: JSONValue) {
        guard case .elements(var elements, let unfinished) = content else { return }
        content = .value(.null)
        elements.append(value)
        content = .elements(elements, unfinished: unfinished)
    }

    /// A value that is made after this one was asked for.
    func child(for name: String) -> JSONTreeNode {
        let child = JSONTreeNode()
        if case .members(let members, var unfinished) = content {
            unfinished[name] = child
            content = .members(members, unfinished: unfinished)
        }
        return child
    }

    func child() -> JSONTreeNode {
        let child = JSONTreeNode()
        if case .elements(var elements, var unfinished) = content {
            unfinished[elements.count] = child
            elements.append(.null)
            content = .elements(elements, unfinished: unfinished)
        }
        return child
    }

    var count: Int { if case .elements(let elements, _) = content { elements.count } else { 0 } }

    var value: JSONValue {
        switch content {
        case .value(let value): return value
        case .members(let members, let unfinished):
            return .object(unfinished.isEmpty ? members : members.merging(unfinished.mapValues(\.value)) { $1 })
        case .elements(var elements, let unfinished):
            for (index, node) in unfinished { elements[index] = node.value }
            return .array(elements)
        }
    }
}

private struct JSONTreeMembersWriter<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let node: JSONTreeNode
    let codingPath: [any CodingKey]

    func encodeNil(forKey key: Key) { node.set(.null, for: key.stringValue) }
    func encode(_ value: Bool, forKey key: Key) { node.set(.bool(value), for: key.stringValue) }
    func encode(_ value: String, forKey key: Key) { node.set(.string(value), for: key.stringValue) }
    func encode(_ value: Int, forKey key: Key) { node.set(.integer(Int64(value)), for: key.stringValue) }
    func encode(_ value: Int64, forKey key: Key) { node.set(.integer(value), for: key.stringValue) }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        node.set(try JSONTreeEncoder.value(of: value, at: codingPath + [key]), for: key.stringValue)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> { encoder(key).container(keyedBy: type) }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { encoder(key).unkeyedContainer() }

    /// As Foundation has it: what a class inherits is a member of its own.
    func superEncoder() -> any Encoder { JSONTreeEncoder(node.child(for: "super"), codingPath) }
    func superEncoder(forKey key: Key) -> any Encoder { encoder(key) }

    private func encoder(_ key: Key) -> JSONTreeEncoder {
        JSONTreeEncoder(node.child(for: key.stringValue), codingPath + [key])
    }
}

private struct JSONTreeElementsWriter: UnkeyedEncodingContainer {
    let node: JSONTreeNode
    let codingPath: [any CodingKey]
    var count: Int { node.count }

    func encodeNil() { node.append(.null) }
    func encode(_ value: String) { node.append(.string(value)) }

    func encode<Value: Encodable>(_ value: Value) throws {
        node.append(try JSONTreeEncoder.value(of: value, at: codingPath))
    }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        JSONTreeEncoder(node.child(), codingPath).container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        JSONTreeEncoder(node.child(), codingPath).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { JSONTreeEncoder(node.child(), codingPath) }
}

private struct JSONTreeValueWriter: SingleValueEncodingContainer {
    let node: JSONTreeNode
    let codingPath: [any CodingKey]

    func encodeNil() { node.set(.null) }
    func encode(_ value: Bool) { node.set(.bool(value)) }
    func encode(_ value: String) { node.set(.string(value)) }
    func encode(_ value: Double) throws { node.set(try JSONTreeEncoder.number(value)) }
    func encode(_ value: Float) throws { node.set(try JSONTreeEncoder.number(value)) }
    func encode(_ value: Int) { node.set(JSONTreeEncoder.integer(value)) }
    func encode(_ value: Int8) { node.set(JSONTreeEncoder.integer(value)) }
    func encode(_ value: Int16) { node.set(JSONTreeEncoder.integer(value)) }
    func encode(_ value: Int32) { node.set(JSONTreeEncoder.integer(value)) }
    func encode(_ value: Int64) { node.set(JSONTreeEncoder.integer(value)) }
    func encode(_ value: UInt) { node.set(JSONTreeEncoder.integer(value)) }
    func encode(_ value: UInt8) { node.set(JSONTreeEncoder.integer(value)) }
    func encode(_ value: UInt16) { node.set(JSONTreeEncoder.integer(value)) }
    func encode(_ value: UInt32) { node.set(JSONTreeEncoder.integer(value)) }
    func encode(_ value: UInt64) { node.set(JSONTreeEncoder.integer(value)) }

    func encode<Value: Encodable>(_ value: Value) throws {
        node.set(try JSONTreeEncoder.value(of: value, at: codingPath))
    }
}
