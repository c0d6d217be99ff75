public import Foundation

/// A property-list value whose dictionaries keep their order.
public indirect enum PropertyListValue: Equatable, Sendable {
    /// Text.
    case string(String)
    /// A whole number.
    case integer(Int64)
    /// A floating-point number.
    case real(Double)
    /// True or false, never written as text or number.
    case boolean(Bool)
    /// A point in time, whole seconds in XML.
    case date(Date)
    /// Bytes.
    case data(Data)
    /// An ordered list.
    case array([PropertyListValue])
    /// Keys and values in their written order.
    case dictionary(PropertyListDictionary)

    /// The text, if this is text.
    public var string: String? { if case .string(let value) = self { value } else { nil } }
    /// The truth value, if this is one.
    public var boolean: Bool? { if case .boolean(let value) = self { value } else { nil } }
    /// The whole number, if this is one.
    public var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
    /// The bytes, if these are bytes.
    public var data: Data? { if case .data(let value) = self { value } else { nil } }
    /// The elements, if this is an array.
    public var array: [PropertyListValue]? { if case .array(let value) = self { value } else { nil } }
    /// The entries, if this is a dictionary.
    public var dictionary: PropertyListDictionary? { if case .dictionary(let value) = self { value } else { nil } }
    /// The texts of an array; elements of other kinds are left out.
    public var strings: [String]? { array?.compactMap(\.string) }

    /// Same kind and content; a real that is no number equals itself, so that unchanged stays unchanged.
    public static func == (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.string(let left), .string(let right)): left.unicodeScalars.elementsEqual(right.unicodeScalars)
        case (.integer(let left), .integer(let right)): left == right
        case (.real(let left), .real(let right)): left == right || (left.isNaN && right.isNaN)
        case (.boolean(let left), .boolean(let right)): left == right
        case (.date(let left), .date(let right)): left == right
        case (.data(let left), .data(let right)): left == right
        case (.array(let left), .array(let right)): left == right
        case (.dictionary(let left), .dictionary(let right)): left == right
        default: false
        }
    }

    /// The name of the kind as the XML format writes it.
    var kind: String {
        switch self {
        case .string: "string"
        case .integer: "integer"
        case .real: "real"
        case .boolean: "boolean"
        case .date: "date"
        case .data: "data"
        case .array: "array"
        case .dictionary: "dict"
        }
    }

    /// The value of a key, if this is a dictionary that has it.
    public subscript(key: String) -> PropertyListValue? { dictionary?[key] }
}

/// A dictionary that keeps the order of its keys; equal to another one with the same entries in any order.
public struct PropertyListDictionary: Equatable, Sendable, ExpressibleByDictionaryLiteral {
    /// The entries in written order, keys unique.
    public private(set) var entries: [(key: String, value: PropertyListValue)]
    private var positions: [String: Int]

    /// Makes a dictionary; of two entries with one key the last value stays at the first place.
    public init(_ entries: [(key: String, value: PropertyListValue)] = []) {
        self.entries = []
        positions = [:]
        for (key, value) in entries { self[key] = value }
    }

    /// Makes a dictionary from a literal.
    public init(dictionaryLiteral elements: (String, PropertyListValue)...) {
        self.init(elements.map { (key: $0, value: $1) })
    }

    /// The keys in written order.
    public var keys: [String] { entries.map(\.key) }

    /// The value of a key; setting a new key appends, setting nil removes.
    public subscript(key: String) -> PropertyListValue? {
        get { positions[key].map { entries[$0].value } }
        set {
            switch (positions[key], newValue) {
            case (let place?, let value?): entries[place].value = value
            case (nil, let value?):
                positions[key] = entries.count
                entries.append((key, value))
            case (let place?, nil):
                entries.remove(at: place)
                positions = Dictionary(uniqueKeysWithValues: entries.enumerated().map { ($1.key, $0) })
            case (nil, nil): break
            }
        }
    }

    /// The same entries ordered by the bytes of their keys.
    var sorted: PropertyListDictionary {
        PropertyListDictionary(entries.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) })
    }

    /// Same keys with equal values, in any order.
    public static func == (left: Self, right: Self) -> Bool {
        left.entries.count == right.entries.count && left.entries.allSatisfy { right[$0.key] == $0.value }
    }
}
