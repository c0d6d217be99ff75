internal import CordonPolicy
internal import Foundation

/// A value of a property list, with its own type kept: a truth value is no number.
enum PropertyValue: Decodable, Equatable, Sendable {
    case flag(Bool)
    case integer(Int64)
    case real(Double)
    case text(String)
    case list([PropertyValue])
    case dictionary([String: PropertyValue])
    /// Data or a date.
    case other

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let value = try? container.decode(Bool.self) {
            self = .flag(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .real(value)
        } else if let value = try? container.decode(String.self) {
            self = .text(value)
        } else if let values = try? container.decode([PropertyValue].self) {
            self = .list(values)
        } else if let members = try? container.decode([String: PropertyValue].self) {
            self = .dictionary(members)
        } else {
            self = .other
        }
    }

    /// Reads an XML or binary property list whose top level is a dictionary; nil for anything else.
    ///
    /// The old OpenStep form is not read: Foundation takes almost any text for it.
    static func read(_ propertyList: Data) -> [String: PropertyValue]? {
        let start = String(decoding: propertyList.prefix(256), as: UTF8.self)
        let isXML = start.contains("<?xml") || start.contains("<plist") || start.contains("<!DOCTYPE plist")
        guard isXML || start.hasPrefix("bplist00") else { return nil }
        return try? PropertyListDecoder().decode([String: PropertyValue].self, from: propertyList)
    }

    /// A value as Foundation holds it, such as one of `UserDefaults`; nil for what no property list holds.
    init?(_ value: Any) {
        guard
            let list = try? PropertyListSerialization.data(fromPropertyList: ["": value], format: .binary, options: 0),
            let read = Self.read(list)?[""]
        else { return nil }
        self = read
    }

    /// The value as policies know values; nil for data and dates.
    var json: JSONValue? {
        switch self {
        case .flag(let value): .bool(value)
        case .integer(let value): .integer(value)
        case .real(let value): Int64(exactly: value).map { .integer($0) } ?? .string("\(value)")
        case .text(let value): .string(value)
        case .list(let values): .array(values.compactMap(\.json))
        case .dictionary(let members): .object(members.compactMapValues(\.json))
        case .other: nil
        }
    }

    /// What it is, for a message.
    var kind: String {
        switch self {
        case .flag: "a truth value"
        case .integer: "a number"
        case .real: "a number with a fraction"
        case .text: "text"
        case .list: "a list"
        case .dictionary: "a dictionary"
        case .other: "data or a date"
        }
    }
}
