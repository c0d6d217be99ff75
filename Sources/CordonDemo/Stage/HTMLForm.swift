/// The first form of a page: where it goes and what its fields hold before a person types.
struct HTMLForm: Sendable, Equatable {
    /// The address it is sent to, as the page spells it.
    let action: String
    /// The fields by name, hidden ones included.
    let fields: [String: String]

    /// Reads the first form of a page; nil when there is none.
    init?(in page: String) {
        guard let form = page.firstMatch(of: /<form\b[^>]*>/) else { return nil }
        let rest = page[form.range.upperBound...]
        let content = rest.firstRange(of: "</form>").map { rest[..<$0.lowerBound] } ?? rest
        action = Self.attribute("action", of: form.output) ?? ""
        var fields: [String: String] = [:]
        for input in content.matches(of: /<input\b[^>]*>/) {
            guard let name = Self.attribute("name", of: input.output) else { continue }
            fields[name] = Self.attribute("value", of: input.output) ?? ""
        }
        self.fields = fields
    }

    private static func attribute(_ name: String, of tag: Substring) -> String? {
        for match in tag.matches(of: /\b([a-z-]+)="([^"]*)"/) where match.output.1 == name {
            return String(match.output.2).replacing("&quot;", with: "\"").replacing("&#39;", with: "'")
                .replacing("&lt;", with: "<").replacing("&gt;", with: ">").replacing("&amp;", with: "&")
        }
        return nil
    }
}
