import CordonPolicy
import HTTPTypes

extension JSONValue {
    /// An attribute of a resource, whose name is the same in any case (RFC 7643 §2.1); nil where it is absent.
    ///
    /// - Throws: ``Refusal`` where it is there twice: which of them is meant cannot be told.
    func attribute(_ name: String) throws -> JSONValue? {
        var found: JSONValue?
        for (key, value) in object ?? [:]
        where key.utf8.count == name.utf8.count && key.lowercased() == name.lowercased() {
            guard found == nil else { throw Refusal.scim(400, "\(name) is there twice", kind: "invalidValue") }
            found = value
        }
        return found
    }
}
