import CordonPolicy
import HTTPTypes

/// A filter of one comparison for equality: all that provisioning systems send (RFC 7644 §3.4.2.2).
struct SCIMFilter: Hashable {
    var attribute: String
    var value: JSONValue

    init(_ text: String) throws {
        let words = text.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: true)
        guard words.count == 3, words[1].lowercased() == "eq" else {
            throw Refusal.scim(400, "only filters of the form ATTRIBUTE eq VALUE are known", kind: "invalidFilter")
        }
        attribute = String(words[0])
        let spelling = words[2].trimmingSuffix { $0 == " " }
        guard let value = try? JSONValue(parsing: .init(spelling.utf8)), value.array == nil, value.object == nil else {
            throw Refusal.scim(
                400, "the filter's value is not text, a number, true, false or null", kind: "invalidFilter")
        }
        self.value = value
    }

    /// Whether a resource passes; text is compared without case.
    func admits(_ resource: JSONValue) -> Bool {
        var found: [JSONValue] = [resource]
        for name in attribute.split(separator: ".") {
            found = found.flatMap { value -> [JSONValue] in
                let member = value.object?.first { $0.key.lowercased() == name.lowercased() }?.value
                return member?.array ?? [member].compactMap(\.self)
            }
        }
        return found.contains { candidate in
            if let mine = candidate.string, let theirs = value.string {
                return mine.lowercased() == theirs.lowercased()
            }
            return candidate == value
        }
    }
}

extension Substring {
    fileprivate func trimmingSuffix(while condition: (Character) -> Bool) -> Substring {
        var rest = self
        while let last = rest.last, condition(last) { rest.removeLast() }
        return rest
    }
}
