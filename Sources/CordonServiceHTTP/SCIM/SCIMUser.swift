package import CordonPolicy
package import CordonService
import HTTPTypes

/// A person as SCIM has it (RFC 7643 §4.1).
package enum SCIMUser {
    static let schema = "urn:ietf:params:scim:schemas:core:2.0:User"
    static let enterprise = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"
    static let extensions = [enterprise]

    package static func json(_ user: DirectoryUser, base: String, withState: Bool = true) -> JSONValue {
        var members: [String: JSONValue] = [
            "schemas": [.string(schema), .string(enterprise)], "id": .string(user.id), "externalId": .string(user.id),
            "userName": .string(user.userPrincipalName), "displayName": .string(user.displayName),
            "meta": ["resourceType": "User", "location": .string(SCIMFormat.address(base, "Users", user.id))],
        ]
        if withState { members["active"] = .bool(user.accountEnabled) }
        var name: [String: JSONValue] = [:]
        name["givenName"] = user.givenName.map(JSONValue.string)
        name["familyName"] = user.surname.map(JSONValue.string)
        if !name.isEmpty { members["name"] = .object(name) }
        members["title"] = user.jobTitle.map(JSONValue.string)
        if let mail = user.mail { members["emails"] = [["value": .string(mail), "type": "work", "primary": true]] }
        if let department = user.department { members[enterprise] = ["department": .string(department)] }
        return .object(members)
    }

    /// The person that a document describes.
    ///
    /// - Parameters:
    ///   - id: The id of the person, who exists; nil for a new one, who gets the external id, because tokens name people by
    ///     the id that their own directory gave them.
    ///   - known: The person as known so far, whose licence stays.
    package static func user(_ document: JSONValue, id: String?, known: DirectoryUser?) throws -> DirectoryUser {
        guard let name = try document.attribute("userName")?.string, !name.isEmpty else {
            throw Refusal.scim(400, "userName is missing", kind: "invalidValue")
        }
        let names = try document.attribute("name")
        let given = try names?.attribute("givenName")?.string
        let family = try names?.attribute("familyName")?.string
        let formatted = try names?.attribute("formatted")?.string
        let composed = [given, family].compactMap(\.self).joined(separator: " ")
        let external = try document.attribute("externalId")?.string ?? ""
        let mails = try document.attribute("emails")?.array ?? []
        let mail = try mails.first { truth(try $0.attribute("primary")) == true } ?? mails.first
        // A person who was disabled stays so until a document says otherwise.
        let isActive = try active(document) ?? known?.accountEnabled ?? true
        return DirectoryUser(
            id: id ?? (external.isEmpty ? RandomID.system.identifier() : external), userPrincipalName: name,
            displayName: try document.attribute("displayName")?.string ?? formatted
                ?? (composed.isEmpty ? name : composed),
            mail: try mail?.attribute("value")?.string, givenName: given, surname: family,
            jobTitle: try document.attribute("title")?.string,
            department: try document.attribute(enterprise)?.attribute("department")?.string,
            accountEnabled: isActive, isLicensed: known?.isLicensed ?? true)
    }

    /// Whether the document says if the account may be used.
    static func saysState(_ document: JSONValue) throws -> Bool { try active(document) != nil }

    /// Whether the document says that the account may be used; nil where it does not say.
    ///
    /// - Throws: ``Refusal`` for what is neither true nor false, so that nothing misunderstood enables an account.
    private static func active(_ document: JSONValue) throws -> Bool? {
        guard let value = try document.attribute("active") else { return nil }
        guard let isActive = truth(value) else {
            throw Refusal.scim(400, "active must be true or false", kind: "invalidValue")
        }
        return isActive
    }

    /// A truth value (RFC 7643 §2.3.2), also as the texts "True" and "False" in any case, which common systems send.
    private static func truth(_ value: JSONValue?) -> Bool? {
        value?.bool ?? value?.string.flatMap { ["true": true, "false": false][$0.lowercased()] }
    }
}
