import CordonPolicy
import CordonProtocol
import CordonService
import Foundation

/// Audit records as Graph shows them (SRV-RS-149…151), with the names that ids have now.
struct AuditEventEntity: Sendable {
    private var names: [String: String] = [:]
    private var titles: [String: String] = [:]

    /// Adds the names of those who acted.
    mutating func add(_ users: [DirectoryUser]) {
        for user in users { names[user.id.lowercased()] = user.userPrincipalName }
    }

    /// Adds the names of policies.
    mutating func add(_ policies: [ManagedAppPolicy]) {
        for policy in policies { titles[policy.id] = policy.document["displayName"]?.string ?? "" }
    }

    @Sendable func json(_ record: AuditRecord) -> JSONValue {
        let halves = record.target.split(separator: "/", maxSplits: 1).map(String.init)
        let id = halves.count == 2 ? halves[1] : record.target
        let component = Self.component(halves.first ?? "", id)
        let operation = Self.operation(record.action)
        let title = .string("\(operation) \(component)") as JSONValue
        return [
            "@odata.type": "#microsoft.graph.auditEvent", "id": .string(String(record.sequence)),
            "displayName": title, "componentName": .string(component), "activity": title,
            "activityDateTime": GraphTime.value(Date(timeIntervalSince1970: TimeInterval(record.time))),
            "activityType": .string(record.action), "activityOperationType": .string(operation),
            "activityResult": .string(record.outcome == .done ? "Success" : "Failure"),
            "category": "Application", "correlationId": .string(Self.guid(record.hash)),
            "actor": actor(record.actor),
            "resources": [
                [
                    "@odata.type": "#microsoft.graph.auditResource", "resourceId": .string(id),
                    "auditResourceType": .string(component), "displayName": .string(titles[id] ?? id),
                    "modifiedProperties": .array(Self.properties(of: record)),
                ]
            ],
        ]
    }

    /// What changed, member by member where the record says so, and the record's other facts.
    private static func properties(of record: AuditRecord) -> [JSONValue] {
        func property(_ name: String, _ old: JSONValue?, _ new: JSONValue?) -> JSONValue {
            func text(_ value: JSONValue?) -> JSONValue { value.map { .string($0.string ?? $0.text()) } ?? .null }
            return [
                "@odata.type": "#microsoft.graph.auditProperty", "displayName": .string(name), "oldValue": text(old),
                "newValue": text(new),
            ]
        }
        let changes = record.details["change"].flatMap { try? JSONValue(parsing: Data($0.utf8)) }?.array
        let members = (changes ?? []).map { property($0["member"]?.string ?? "", $0["from"], $0["to"]) }
        let facts = record.details.filter { changes == nil || $0.key != "change" }.sorted { $0.key < $1.key }
        return members + facts.map { name, value in property(name, nil, .string(value)) }
    }

    /// A person by the sign-in name; a program, an app and the service itself by id.
    private func actor(_ actor: AuditRecord.Actor) -> JSONValue {
        let name = actor.kind == .administrator ? names[actor.id.lowercased()] : nil
        return [
            "@odata.type": "#microsoft.graph.auditActor",
            "auditActorType": .string(name == nil ? "Application" : "ItPro"),
            "userPrincipalName": name.map(JSONValue.string) ?? .null,
            "userId": name == nil ? .null : .string(actor.id),
            "applicationDisplayName": name == nil ? .string(actor.id) : .null,
            "applicationId": name == nil ? .string(actor.id) : .null, "servicePrincipalName": .null,
            "ipAddress": .null, "userPermissions": [],
        ]
    }

    private static func component(_ kind: String, _ id: String) -> String {
        switch kind {
        case "policy":
            id.hasPrefix(PolicyKind.targetedManagedAppConfiguration.idPrefix)
                ? "MobileAppConfiguration" : "ManagedAppProtection"
        case "registration", "operation", "wipe": "ManagedAppRegistration"
        case "user": "User"
        case "group": "Group"
        case "filter": "AssignmentFilter"
        case "scopeTag": "RoleScopeTag"
        case "app": "MobileApp"
        default: "Service"
        }
    }

    private static func operation(_ action: String) -> String {
        switch action.split(separator: ".").last {
        case "create": "Create"
        case "update", "save", "set", "members", "putBack": "Patch"
        case "delete", "remove", "forget": "Delete"
        default: "Action"
        }
    }

    /// The first half of a hash, written as a GUID.
    private static func guid(_ hash: String) -> String {
        var text = ""
        for (index, digit) in hash.prefix(32).enumerated() {
            if [8, 12, 16, 20].contains(index) { text += "-" }
            text.append(digit)
        }
        return text
    }
}
