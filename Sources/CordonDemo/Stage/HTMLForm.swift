/// The first form of a page: where it goes and what its hidden fields hold.
struct HTMLForm: Sendable, Equatable {
    /// The address it is sent to, as the page spells it.
    let action: String
    /// The hidden fields.
    let hidden: [String: String]

    /// Reads the first form of a page; nil when there is none.
    init?(in page: String) {
        guard let form = page.firstMatch(of: /<form\b[^>]*>/) else { return nil }
        let rest = page[form.range.upperBound...]
        let content = rest.firstRange(of: "</form>").map { rest[..<$0.lowerBound] } ?? rest
        action = Self.attribute("action", of: form.output) ?? ""
        var hidden: [String: String] = [:]
        for input in content.matches(of: /<input\b[^>]*>/) {
            guard Self.attribute("type", of: input.output) == "hidden",
                let name = Self.attribute("name", of: input.output)
            else { continue }
            hidden[name] = Self.attribute("value", of: input.output) ?? ""
        }
        self.hidden = hidden
    }

    private static func attribute(_ name: String, of tag: Substring) -> String? {
        for match in tag.matches(of: /\b([a-z-]+)="([^"]*)"/) where match.output.1 == name {
            return String(match.output.2).replacing("&quot;", with: "\"").replacing("&#39;", with: "'")
                .replacing("&lt;", with: "<").replacing("&gt;", with: ">").replacing("&amp;", with: "&")
        }
        return nil
    }
}
