package import CordonPolicy
package import CordonService
import HTTPTypes

/// A person as SCIM has it (RFC 7643 §4.1).
package enum SCIMUser {
    static let schema = "urn:ietf:params:scim:schemas:core:2.0:User"
    static let enterprise = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"
    static let extensions = [enterprise]

    package static func json(_ user: DirectoryUser, base: String) -> JSONValue {
        var members: [String: JSONValue] = [
            "schemas": [.string(schema), .string(enterprise)], "id": .string(user.id), "externalId": .string(user.id),
            "userName": .string(user.userPrincipalName), "displayName": .string(user.displayName),
            "active": .bool(user.accountEnabled),
            "meta": ["resourceType": "User", "location": .string(SCIMFormat.address(base, "Users", user.id))],
        ]
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
        guard let name = document["userName"]?.string, !name.isEmpty else {
            throw Refusal.scim(400, "userName is missing", kind: "invalidValue")
        }
        let given = document["name"]?["givenName"]?.string
        let family = document["name"]?["familyName"]?.string
        let formatted = document["name"]?["formatted"]?.string
        let composed = [given, family].compactMap(\.self).joined(separator: " ")
        let external = document["externalId"]?.string ?? ""
        let mails = document["emails"]?.array ?? []
        let mail = mails.first { truth($0["primary"]) == true } ?? mails.first
        // A person who was disabled stays so until a document says otherwise.
        let isActive = try active(document) ?? known?.accountEnabled ?? true
        return DirectoryUser(
            id: id ?? (external.isEmpty ? RandomID.system.identifier() : external), userPrincipalName: name,
            displayName: document["displayName"]?.string ?? formatted ?? (composed.isEmpty ? name : composed),
            mail: mail?["value"]?.string, givenName: given, surname: family, jobTitle: document["title"]?.string,
            department: document[enterprise]?["department"]?.string,
            accountEnabled: isActive, isLicensed: known?.isLicensed ?? true)
    }

    /// Whether the document says that the account may be used; nil where it does not say.
    ///
    /// - Throws: ``Refusal`` for what is neither true nor false, so that nothing misunderstood enables an account.
    private static func active(_ document: JSONValue) throws -> Bool? {
        // Names of attributes are the same in any case (RFC 7643 §2.1).
        let values = (document.object ?? [:]).filter { $0.key.lowercased() == "active" }.map(\.value)
        guard let value = values.first else { return nil }
        guard values.count == 1, let isActive = truth(value) else {
            throw Refusal.scim(400, "active must be true or false", kind: "invalidValue")
        }
        return isActive
    }

    /// A truth value (RFC 7643 §2.3.2), also as the texts "True" and "False" in any case, which common systems send.
    private static func truth(_ value: JSONValue?) -> Bool? {
        value?.bool ?? value?.string.flatMap { ["true": true, "false": false][$0.lowercased()] }
    }
}
