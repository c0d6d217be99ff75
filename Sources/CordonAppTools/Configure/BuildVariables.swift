/// Build settings inside property-list values; what is not known stays verbatim (TL-CF-04).
struct BuildVariables {
    let defines: [String: String]

    /// The text with all variables replaced; nil when one is not known.
    func expand(_ text: String) -> String? {
        var result = ""
        var rest = Substring(text)
        while let start = rest.firstIndex(of: "$") {
            result += rest[..<start]
            let body = rest[rest.index(after: start)...]
            guard let open = body.first, open == "(" || open == "{",
                let end = body.firstIndex(of: open == "(" ? ")" : "}")
            else { return nil }
            let parts = body[body.index(after: body.startIndex)..<end].split(separator: ":", maxSplits: 1)
            guard let name = parts.first, let value = defines[String(name)] else { return nil }
            guard let modified = Self.modified(value, parts.count > 1 ? String(parts[1]) : "") else { return nil }
            result += modified
            rest = body[body.index(after: end)...]
        }
        return result + rest
    }

    /// A property list with the variables in all its texts replaced; texts with one that is not known stay as they are.
    func expanded(_ value: PropertyListValue) -> PropertyListValue {
        switch value {
        case .string(let text): .string(Self.isIn(text) ? expand(text) ?? text : text)
        case .array(let values): .array(values.map(expanded))
        case .dictionary(let entries):
            .dictionary(PropertyListDictionary(entries.entries.map { (key: $0.key, value: expanded($0.value)) }))
        case .integer, .real, .boolean, .date, .data: value
        }
    }

    /// Whether a text holds a variable. A lone dollar sign is none.
    static func isIn(_ text: String) -> Bool { text.contains("$(") || text.contains("${") }

    /// The first key or text of a property list that holds a variable.
    static func firstText(in value: PropertyListValue) -> String? {
        switch value {
        case .string(let text): isIn(text) ? text : nil
        case .array(let values): values.lazy.compactMap(firstText).first
        case .dictionary(let entries):
            entries.entries.lazy.compactMap { isIn($0.key) ? $0.key : firstText(in: $0.value) }.first
        case .integer, .real, .boolean, .date, .data: nil
        }
    }

    private static func modified(_ value: String, _ modifier: String) -> String? {
        switch modifier {
        case "": value
        case "lower": value.lowercased()
        case "upper": value.uppercased()
        case "rfc1034identifier":
            String(value.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "." || $0 == "-") ? $0 : "-" })
        case "c99extidentifier":
            String(value.map { $0.isLetter || $0.isNumber || $0 == "_" ? $0 : "_" })
        default: nil
        }
    }
}
