import CordonPolicy
import HTTPTypes

/// Where in a resource a change is made (RFC 7644 §3.5.2): `attribute`, `attribute.sub`, `attribute[filter]` or
/// `attribute[filter].sub`, with a schema's URN in front where it is not the core.
struct SCIMPath: Hashable {
    /// The extension's URN, nil for the core schema.
    var schema: String?
    var attribute: String
    var filter: SCIMFilter?
    var sub: String?

    init(_ text: String) throws {
        var rest = text[...]
        for schema in SCIMUser.extensions where rest.lowercased().hasPrefix(schema.lowercased() + ":") {
            self.schema = schema
            rest = rest.dropFirst(schema.count + 1)
        }
        for core in [SCIMUser.schema, SCIMGroup.schema] where rest.lowercased().hasPrefix(core.lowercased() + ":") {
            rest = rest.dropFirst(core.count + 1)
        }
        let name = rest.prefix { $0 != "[" && $0 != "." }
        rest = rest.dropFirst(name.count)
        guard Self.isName(name) else { throw Self.malformed }
        attribute = String(name)
        if rest.first == "[" {
            guard let end = rest.lastIndex(of: "]") else { throw Self.malformed }
            filter = try SCIMFilter(String(rest[rest.index(after: rest.startIndex)..<end]))
            rest = rest[rest.index(after: end)...]
        }
        if rest.first == "." {
            let name = rest.dropFirst()
            guard Self.isName(name) else { throw Self.malformed }
            sub = String(name)
        } else if !rest.isEmpty {
            throw Self.malformed
        }
    }

    /// What all spellings of the path have in common.
    var folded: SCIMPath {
        var path = self
        path.attribute = attribute.lowercased()
        if let filter { path.filter?.attribute = filter.attribute.lowercased() }
        path.sub = sub?.lowercased()
        return path
    }

    static let malformed = Refusal.scim(400, "the path is not one of this service", kind: "invalidPath")

    /// Whether a text is a name of an attribute (RFC 7643 §2.1), or the `$ref` of one.
    private static func isName(_ text: Substring) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 | 0x20 || UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0
                    || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "$") || $0 == UInt8(ascii: "_")
            }
    }
}
