internal import CordonBase

/// A JSON value that can be written back without losing a digit or a member.
///
/// Integers that fit 64 bits are ``integer(_:)``; every other number keeps its own spelling in
/// ``number(_:)``. Equal values have equal spelling, so `1` and `1.0` differ.
public enum JSONValue: Hashable, Sendable {
    /// `null`
    case null
    /// `true` or `false`
    case bool(Bool)
    /// A number without fraction and exponent that fits 64 bits.
    case integer(Int64)
    /// Any other number, as spelt.
    case number(JSONNumber)
    /// Text.
    case string(String)
    /// Values in order.
    case array([JSONValue])
    /// Members by name; the order of members carries no meaning and is not kept.
    case object([String: JSONValue])
}

/// A JSON number in its own spelling, for what no machine number holds exactly.
public struct JSONNumber: Hashable, Sendable {
    /// The number as it stood in the text.
    public let literal: String

    /// Takes a spelling; nil when it is not a JSON number.
    public init?(literal: String) {
        guard JSONReader.isNumber(literal) else { return nil }
        self.literal = literal
    }

    init(checked literal: String) {
        self.literal = literal
    }

    /// The nearest double.
    public var double: Double? { Double(literal) }
}

extension JSONValue {
    /// The text, if this is one.
    public var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The truth value, if this is one.
    public var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The integer, if this is one, also when it is spelt `4.0` or `4e0`.
    public var integer: Int64? {
        switch self {
        case .integer(let value): value
        case .number(let number): number.double.flatMap(Int64.init(exactly:))
        default: nil
        }
    }

    /// The values, if this is an array.
    public var array: [JSONValue]? {
        if case .array(let values) = self { values } else { nil }
    }

    /// The members, if this is an object.
    public var object: [String: JSONValue]? {
        if case .object(let members) = self { members } else { nil }
    }

    /// A member of an object; nil when absent or when this is no object.
    public subscript(name: String) -> JSONValue? {
        object?[name]
    }

    /// Whether it nests lists and objects deeper than so many levels.
    package func isNested(deeperThan levels: Int) -> Bool {
        switch self {
        case .array(let values): levels <= 0 || values.contains { $0.isNested(deeperThan: levels - 1) }
        case .object(let members): levels <= 0 || members.values.contains { $0.isNested(deeperThan: levels - 1) }
        default: false
        }
    }

    /// The kind of value, as an error message says it.
    var kind: String {
        switch self {
        case .null: "null"
        case .bool: "true or false"
        case .integer, .number: "a number"
        case .string: "text"
        case .array: "a list"
        case .object: "an object"
        }
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Text.
    public init(stringLiteral value: String) { self = .string(value) }
    /// A truth value.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// An integer.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// A list.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// An object; of two members with one name the last stays.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(Dictionary(elements, uniquingKeysWith: { _, last in last }))
    }
}
