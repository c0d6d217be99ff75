import CordonPolicy
import CordonService
import CordonServiceHTTP
import Foundation
import HTTPTypes

/// Scope tags, assignment filters and the app catalogue (SRV-OP-082, 083, 086).
struct SupportingRoutes: Sendable {
    let administration: Administration
    let now: @Sendable () -> Date

    var routes: [GraphRoute] { tags + filters + apps }

    private var tags: [GraphRoute] {
        let path = "deviceManagement/roleScopeTags"
        return ResourceRoutes(
            administration: administration, path: path, reading: .readRoles, builtIn: [ScopeTag.builtIn],
            members: ["displayName", "description"], json: SupportingEntity.json
        ) { body, known in
            ScopeTag(
                id: known?.id ?? UUID().uuidString.lowercased(),
                displayName: try GraphExchange.text("displayName", in: body, else: known?.displayName) ?? "",
                description: try GraphExchange.text("description", in: body, else: known?.description))
        }.routes + [
            GraphRoute(.get, path + "/*/assignments", .readRoles) { _ in .collection([], of: path + "/assignments") }
        ]
    }

    private var filters: [GraphRoute] {
        ResourceRoutes(
            administration: administration, path: "deviceManagement/assignmentFilters", reading: .readConfiguration,
            members: [
                "displayName", "description", "platform", "rule", "assignmentFilterManagementType", "roleScopeTags",
            ],
            json: SupportingEntity.json
        ) { [now] body, known in
            // Whole seconds, as everything that is stored.
            let time = Date(timeIntervalSince1970: now().timeIntervalSince1970.rounded(.down))
            let kind = try GraphExchange.text("assignmentFilterManagementType", in: body)
            guard kind == nil || kind?.lowercased() == "apps" else {
                throw PolicyInput.refusal(
                    "assignmentFilterManagementType", "filters of devices are of no use here; the value is apps")
            }
            let tags = try GraphExchange.texts("roleScopeTags", in: body)
            return AssignmentFilter(
                id: known?.id ?? UUID().uuidString.lowercased(),
                displayName: try GraphExchange.text("displayName", in: body, else: known?.displayName) ?? "",
                description: try GraphExchange.text("description", in: body, else: known?.description),
                platform: try GraphExchange.text("platform", in: body, else: known?.platform)
                    ?? AssignmentFilter.usualPlatform,
                rule: try GraphExchange.text("rule", in: body, else: known?.rule) ?? "",
                created: known?.created ?? time, modified: time,
                scopeTags: (body["roleScopeTags"] == nil ? known?.scopeTags : tags) ?? [ScopeTag.defaultID])
        }.routes
    }

    private var apps: [GraphRoute] {
        ResourceRoutes(
            administration: administration, path: "deviceAppManagement/mobileApps", reading: .readApps,
            members: ["displayName", "publisher", "bundleId", SupportingEntity.groupsMember],
            json: SupportingEntity.json
        ) { body, known in
            let groups = try GraphExchange.texts(SupportingEntity.groupsMember, in: body)
            let named = groups?.compactMap(AppGroup.init(rawValue:))
            guard named?.count == groups?.count,
                named?.allSatisfy({ [.allCoreMicrosoftApps, .allMicrosoftApps].contains($0) }) ?? true
            else { throw PolicyInput.refusal(SupportingEntity.groupsMember, "names something that is not a set") }
            let type = try GraphExchange.text("@odata.type", in: body)?.lowercased()
            guard
                type == nil || type?.hasSuffix("managedioslobapp") == true
                    || type?.hasSuffix("managediosstoreapp") == true
            else { throw PolicyInput.refusal("@odata.type", "this kind of app is not kept here") }
            return CatalogueApp(
                bundleID: try GraphExchange.text("bundleId", in: body).flatMap { known == nil ? $0 : nil }
                    ?? known?.bundleID ?? "",
                displayName: try GraphExchange.text("displayName", in: body, else: known?.displayName) ?? "",
                publisher: try GraphExchange.text("publisher", in: body, else: known?.publisher),
                isLineOfBusiness: type?.hasSuffix("managedioslobapp") ?? known?.isLineOfBusiness ?? false,
                groups: body[SupportingEntity.groupsMember] == nil ? known?.groups ?? [] : Set(named ?? []))
        }.routes
    }
}
