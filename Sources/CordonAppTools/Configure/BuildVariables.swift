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
