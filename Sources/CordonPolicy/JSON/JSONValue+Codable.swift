internal import Foundation

extension JSONValue: Codable {
    /// Reads any value. Through Foundation's decoder a number keeps at most 38 digits;
    /// ``init(parsing:)`` keeps them all.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Decimal.self) {
            self = .number(JSONNumber(checked: "\(value)"))
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let values = try? container.decode([JSONValue].self) {
            self = .array(values)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }

    /// Writes the value. Through Foundation's encoder a number keeps at most 38 digits; ``text(pretty:)`` keeps them all.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .number(let number):
            if let value = UInt64(number.literal) {
                try container.encode(value)
            } else if let value = Decimal(string: number.literal, locale: nil) {
                try container.encode(value)
            } else {
                try container.encode(number.double ?? 0)
            }
        case .string(let value): try container.encode(value)
        case .array(let values): try container.encode(values)
        case .object(let members): try container.encode(members)
        }
    }
}
