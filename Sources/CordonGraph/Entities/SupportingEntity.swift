import CordonPolicy
import CordonService

/// Scope tags, assignment filters and catalogue apps as Graph shows them (SRV-RS-147, 148, 156).
enum SupportingEntity {
    /// Graph has no member for the named sets that an app belongs to; this one is Cordon's.
    static let groupsMember = "cordonAppGroups"

    static func json(_ tag: ScopeTag) -> JSONValue {
        [
            "@odata.type": "#microsoft.graph.roleScopeTag", "id": .string(tag.id),
            "displayName": .string(tag.displayName), "description": .string(tag.description ?? ""),
            "isBuiltIn": .bool(tag.id == ScopeTag.defaultID),
        ]
    }

    static func json(_ filter: AssignmentFilter) -> JSONValue {
        [
            "@odata.type": "#microsoft.graph.deviceAndAppManagementAssignmentFilter", "id": .string(filter.id),
            "displayName": .string(filter.displayName), "description": .string(filter.description ?? ""),
            "platform": .string(filter.platform), "rule": .string(filter.rule),
            "assignmentFilterManagementType": "apps", "createdDateTime": GraphTime.value(filter.created),
            "lastModifiedDateTime": GraphTime.value(filter.modified),
            "roleScopeTags": .array(filter.scopeTags.map(JSONValue.string)), "payloads": [],
            // What an app says when it checks in is all that is known of it.
            "evaluationMode": "checkinTimeEvaluation",
        ]
    }

    static func json(_ app: CatalogueApp) -> JSONValue {
        [
            "@odata.type": .string(
                "#microsoft.graph.\(app.isLineOfBusiness ? "managedIOSLobApp" : "managedIOSStoreApp")"),
            "id": .string(app.id), "displayName": .string(app.displayName), "bundleId": .string(app.bundleID),
            "publisher": app.publisher.map(JSONValue.string) ?? .null,
            "appAvailability": .string(app.isLineOfBusiness ? "lineOfBusiness" : "global"), "version": .null,
            groupsMember: .array(app.groups.map(\.rawValue).sorted().map(JSONValue.string)),
        ]
    }
}
