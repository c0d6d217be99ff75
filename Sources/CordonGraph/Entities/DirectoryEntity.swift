import CordonPolicy
import CordonService

/// People and groups as Graph shows them (SRV-RS-153, SRV-RS-154).
enum DirectoryEntity {
    static func json(_ user: DirectoryUser) -> JSONValue {
        [
            "@odata.type": "#microsoft.graph.user", "id": .string(user.id),
            "userPrincipalName": .string(user.userPrincipalName), "displayName": .string(user.displayName),
            "mail": text(user.mail), "givenName": text(user.givenName), "surname": text(user.surname),
            "accountEnabled": .bool(user.accountEnabled), "jobTitle": text(user.jobTitle),
            "department": text(user.department),
        ]
    }

    static func json(_ group: GroupEntry) -> JSONValue {
        [
            "@odata.type": "#microsoft.graph.group", "id": .string(group.id),
            "displayName": .string(group.displayName), "description": text(group.description),
            "securityEnabled": true, "mailEnabled": false,
            "mailNickname": .string(group.mailNickname ?? nickname(group)), "groupTypes": [],
            "membershipRule": .null, "membershipRuleProcessingState": .null,
        ]
    }

    private static func nickname(_ group: GroupEntry) -> String {
        let letters = group.displayName.unicodeScalars.filter {
            $0.isASCII && ($0.properties.isAlphabetic || $0.properties.numericType != nil)
        }
        return letters.isEmpty ? group.id : String(String.UnicodeScalarView(letters))
    }

    private static func text(_ value: String?) -> JSONValue { value.map(JSONValue.string) ?? .null }
}
