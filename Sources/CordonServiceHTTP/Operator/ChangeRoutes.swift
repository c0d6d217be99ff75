import CordonPolicy
import CordonService
import Foundation
import HTTPTypes
import Hummingbird

/// Changes that wait for a second person.
struct ChangeRoutes: Sendable {
    let administration: Administration
    let now: @Sendable () -> Date

    func add(to routing: AdministrationRouting) {
        routing.allowing(.readApps).on("/admin/v1/changes", method: .get) { _, context in
            let changes = try await administration.approvals.changes(as: context.administrator)
            return try Response(.ok, changes)
        }
        routing.allowing(.readApps).on("/admin/v1/changes/:id", method: .get) { _, context in
            let change = try await administration.approvals.change(context.key("id"), as: context.administrator)
            return try Response(.ok, change)
        }
        routing.allowing(.writeApps, stepsUp: true).on("/admin/v1/changes/:id/release", method: .post) { _, context in
            let change = try await administration.approvals.release(context.key("id"), as: context.administrator)
            return try Response(.ok, change)
        }
        routing.allowing(.writeApps).on("/admin/v1/changes/:id/stop", method: .post) { _, context in
            let change = try await administration.approvals.stop(context.key("id"), as: context.administrator)
            return try Response(.ok, change)
        }
        routing.allowing(.readApps).on("/admin/v1/impact", method: .post) { request, context in
            let body = try await RequestBodyReader.json(request, atMost: AdministrationRouting.largestBody)
            let impact = try await administration.impact(
                of: try await question(body, context.administrator), as: context.administrator)
            return try Response(.ok, impact)
        }
    }

    /// What `POST /admin/v1/impact` asks: one member beside the id says what.
    private func question(_ body: JSONValue, _ administrator: Administrator) async throws -> ImpactQuestion {
        let known: Set = [
            "policy", "create", "update", "assign", "targetApps", "delete", "putBack", "filter", "rule", "wipe",
            "deviceTag", "group", "add", "remove", "app", "cordonAppGroups",
        ]
        guard let members = body.object else { throw Self.malformed("the body is a JSON object") }
        if let unknown = members.keys.sorted().first(where: { !known.contains($0) }) {
            throw Self.malformed("\(unknown.prefix(64)) is not known here")
        }
        if let user = members["wipe"]?.string { return .wipe(user, deviceTag: members["deviceTag"]?.string) }
        if let group = members["group"]?.string {
            func people(_ member: String) throws -> Set<DirectoryGroup.Member> {
                guard let list = members[member] else { return [] }
                guard let ids = list.array?.map(\.string), !ids.contains(nil), ids.count <= 1_000 else {
                    throw Self.malformed("\(member) is a list of at most 1000 ids")
                }
                return Set(ids.compactMap(\.self).map { .user($0) })
            }
            return .group(group, adding: try people("add"), removing: try people("remove"))
        }
        if let document = members["create"] {
            guard let kind = document["@odata.type"]?.string.flatMap(PolicyKind.init(odataType:)) else {
                throw Self.malformed("create needs the @odata.type of a policy")
            }
            return .policy(.create(kind, document))
        }
        if let id = members["filter"]?.string {
            let present = try await administration.resource(AssignmentFilter.self, id, as: administrator)
            guard let rule = members["rule"]?.string else { throw Self.malformed("filter needs rule") }
            var filter = present
            (filter.rule, filter.modified) = (rule, now())
            return .filter(filter)
        }
        if let id = members["app"]?.string {
            let groups = members["cordonAppGroups"]?.array?.map { $0.string.flatMap(AppGroup.init(rawValue:)) }
            guard let groups, !groups.contains(nil) else {
                throw Self.malformed("app needs cordonAppGroups, the sets that it would be in")
            }
            let known = try await administration.resources(CatalogueApp.self, as: administrator)
                .first { $0.id.lowercased() == id.lowercased() }
            var app = known ?? CatalogueApp(bundleID: id, displayName: id)
            app.groups = Set(groups.compactMap(\.self))
            return .app(app)
        }
        guard let id = members["policy"]?.string else {
            throw Self.malformed("policy, create, filter, app, group or wipe is missing")
        }
        if let changes = members["update"] { return .policy(.update(id, changes)) }
        if members["delete"] == true { return .policy(.delete(id)) }
        if let version = members["putBack"]?.string { return .putBack(id, version: version) }
        if let assignments = try GraphAssignments.assignments(in: members["assign"]) {
            return .policy(.assign(id, assignments))
        }
        if let apps = members["targetApps"] {
            return .policy(
                .targetApps(
                    id, try GraphApps.apps(in: apps["apps"]) ?? [], try GraphApps.group(in: apps["appGroupType"])))
        }
        throw Self.malformed("update, assign, targetApps, putBack or delete is missing")
    }

    private static func malformed(_ reason: String) -> Refusal { .malformedBody(reason) }
}
