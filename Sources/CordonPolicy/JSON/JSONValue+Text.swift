internal import CordonBase
public import Foundation

extension JSONValue {
    /// The largest text that is read: 16 MiB, a thousand times any policy seen.
    static let largest = 16 * 1024 * 1024

    /// Reads JSON text (RFC 8259).
    /// - Throws: ``PolicyError`` with `malformedJSON` and line and column, or `tooLarge`.
    public init(parsing data: Data) throws(PolicyError) {
        guard data.count <= Self.largest else {
            throw PolicyError(.tooLarge, "more than \(Self.largest) bytes", at: "")
        }
        var reader = JSONReader(data)
        do {
            self = try Self.read(&reader)
            try reader.finish()
        } catch {
            throw PolicyError(error.kind == .tooLarge ? .tooLarge : .malformedJSON, error.reason, at: error.place)
        }
    }

    private static func read(_ reader: inout JSONReader) throws(TextFlaw) -> JSONValue {
        switch try reader.next() {
        case .null: return .null
        case .bool(let value): return .bool(value)
        case .string(let text): return .string(text)
        case .number(let literal):
            if literal != "-0", let integer = Int64(literal) { return .integer(integer) }
            return .number(JSONNumber(checked: literal))
        case .array:
            var values: [JSONValue] = []
            while try reader.hasElement(isFirst: values.isEmpty) { values.append(try read(&reader)) }
            return .array(values)
        case .object:
            // Tokens and documents have some ten members; making room for them once is a third of the cost of reading them.
            var members = [String: JSONValue](minimumCapacity: reader.isOutermost ? 12 : 0)
            while let name = try reader.member(isFirst: members.isEmpty) {
                let value = try read(&reader)
                guard members.updateValue(value, forKey: name) == nil else { throw reader.repeated(name) }
            }
            return .object(members)
        }
    }

    /// JSON text with sorted member names; with `pretty`, one member per line.
    public func text(pretty: Bool = false) -> String {
        var output = ""
        write(into: &output, indent: pretty ? 0 : nil)
        return output
    }

    private func write(into output: inout String, indent: Int?) {
        switch self {
        case .null: output += "null"
        case .bool(let value): output += value ? "true" : "false"
        case .integer(let value): output += String(value)
        case .number(let number): output += number.literal
        case .string(let text): Self.write(text, into: &output)
        case .array(let values):
            Self.writeList(values, "[", "]", into: &output, indent: indent) { value, output, inner in
                value.write(into: &output, indent: inner)
            }
        case .object(let members):
            let sorted = members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            Self.writeList(sorted, "{", "}", into: &output, indent: indent) { member, output, inner in
                Self.write(member.key, into: &output)
                output += inner == nil ? ":" : ": "
                member.value.write(into: &output, indent: inner)
            }
        }
    }

    private static func writeList<Element>(
        _ elements: [Element], _ open: String, _ close: String, into output: inout String, indent: Int?,
        each: (Element, inout String, Int?) -> Void
    ) {
        output += open
        let inner = indent.map { $0 + 1 }
        for (index, element) in elements.enumerated() {
            if index > 0 { output += "," }
            if let inner { output += "\n" + String(repeating: "  ", count: inner) }
            each(element, &output, inner)
        }
        if let indent, !elements.isEmpty { output += "\n" + String(repeating: "  ", count: indent) }
        output += close
    }

    private static func write(_ text: String, into output: inout String) {
        output += "\""
        defer { output += "\"" }
        // Nearly every text stands for itself, and is copied at once.
        guard text.utf8.contains(where: { $0 < 0x20 || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }) else {
            output += text
            return
        }
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": output += "\\\""
            case "\\": output += "\\\\"
            case "\n": output += "\\n"
            case "\r": output += "\\r"
            case "\t": output += "\\t"
            case Unicode.Scalar(0)..<Unicode.Scalar(0x20):
                let digits = String(scalar.value, radix: 16)
                output += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: output.unicodeScalars.append(scalar)
            }
        }
    }
}
