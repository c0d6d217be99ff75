import CordonPolicy
import CordonServiceHTTP
import Foundation
import HTTPTypes

/// Which apps a policy is about, and whom it reaches (SRV-UI-04, SRV-UI-08).
struct PolicyTargeting {
    private static let allUsers = "#microsoft.graph.allLicensedUsersAssignmentTarget"
    private static let group = "#microsoft.graph.groupAssignmentTarget"
    private static let exclusion = "#microsoft.graph.exclusionGroupAssignmentTarget"
    private static let mostShown = 20

    func add(to table: ConsoleTable) {
        table.get("/console/policies/:id/apps", needs: "writePolicies", apps)
        table.post("/console/policies/:id/apps", saveApps)
        table.get("/console/policies/:id/assignments", needs: "assignPolicies", assignments)
        table.post("/console/policies/:id/assignments", preview)
        table.post("/console/policies/:id/assign", assign)
    }

    /// The groups by their ids.
    static func groups(_ visit: ConsoleVisit) async throws -> [String: String] {
        let all = try await visit.api.all("/v1.0/groups?$top=200", atMost: 1_000)
        return Dictionary(all.map { ($0.text("id"), $0.text("displayName")) }, uniquingKeysWith: { first, _ in first })
    }

    /// Whom an assignment is for.
    static func words(of target: JSONValue, _ groups: [String: String]) -> Phrase {
        let id = target.text("groupId")
        let name = groups[id] ?? id
        return switch target.text("@odata.type") {
        case allUsers: "all people with a licence"
        case exclusion: "not \(name)"
        case group: .data(name)
        default: "all devices"
        }
    }

    // MARK: Apps

    private static func appsPage(
        _ entity: JSONValue, _ typed: String?, _ visit: ConsoleVisit, _ refusal: Refusal? = nil
    ) async -> Page {
        let known = await CataloguePages.apps(visit)
        let id = entity.text("id")
        let bundles = entity.list("apps").compactMap { $0["mobileAppIdentifier"]?["bundleId"]?.string }
        let sets: [(value: String, text: Phrase)] = [
            ("selectedPublicApps", "the apps listed below"), ("allApps", "every app"),
            ("allMicrosoftApps", "all Microsoft apps"),
            ("allCoreMicrosoftApps", "the core Microsoft apps"),
        ]
        let levels: [(value: String, text: Phrase)] = [
            ("unspecified", "any device"), ("mdm", "a device that is managed"),
            ("unmanaged", "a device that is not managed"),
        ]
        var blocks = Block.refused(refusal)
        blocks.append(
            .form(
                Form(
                    PolicyPages.path(id) + "/apps", submit: "Save the apps",
                    hidden: [("page", PolicyPages.path(id) + "/apps")], cancel: Link("Cancel", PolicyPages.path(id)),
                    [
                        Field(.choice(sets), "set", "This policy protects", value: entity.text("appGroupType")),
                        Field(
                            .choice(levels), "level", "On", value: entity.text("targetedAppManagementLevels")),
                        Field(
                            .long, "apps", "Bundle ids",
                            help:
                                "One per line, such as com.example.notes. The catalogue lists the apps that enrolled; the id stands in the app's Info.plist.",
                            value: typed ?? bundles.joined(separator: "\n")),
                    ])))
        if !known.isEmpty {
            blocks.append(
                .table(
                    Table(
                        "Apps of the catalogue", ["Name", "Bundle id", "Protected"],
                        known.prefix(50).map { app in
                            let isListed = bundles.contains { $0.lowercased() == app.text("bundleId").lowercased() }
                            return [
                                .text(.data(app.text("displayName"))), .code(app.text("bundleId")),
                                .text(isListed ? "yes" : "no"),
                            ]
                        }, empty: "")))
        }
        return Page(
            "Apps of \(entity.text("displayName"))", .policies,
            above: Link(.data(entity.text("displayName")), PolicyPages.path(id)),
            blocks)
    }

    @Sendable private func apps(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let entity = try await visit.api.get(PolicyPages.route(visit.keys[0]) + "?$expand=apps")
        return .page(await Self.appsPage(entity, visit.draft.map { $0.all("apps").joined() }, visit))
    }

    @Sendable private func saveApps(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let id = visit.keys[0]
        let entity = try await visit.api.get(PolicyPages.route(id) + "?$expand=apps")
        let isAndroid = entity.text("@odata.type").hasSuffix("androidManagedAppProtection")
        let apps = visit.form.lines("apps").map { bundle -> JSONValue in
            [
                "mobileAppIdentifier": isAndroid
                    ? ["@odata.type": "#microsoft.graph.androidMobileAppIdentifier", "packageId": .string(bundle)]
                    : ["@odata.type": "#microsoft.graph.iosMobileAppIdentifier", "bundleId": .string(bundle)]
            ]
        }
        var body: [String: JSONValue] = ["apps": .array(apps)]
        if !visit.form["set"].isEmpty { body["appGroupType"] = .string(visit.form["set"]) }
        do {
            try await visit.api.call(.post, PolicyPages.route(id) + "/targetApps", .object(body))
            let (level, known) = (visit.form["level"], entity.text("targetedAppManagementLevels"))
            if !level.isEmpty, level != known, level != "unspecified" || !known.isEmpty {
                try await visit.api.call(
                    .patch, PolicyPages.route(id), ["targetedAppManagementLevels": .string(level)])
            }
            return .moved(PolicyPages.path(id))
        } catch let refusal as Refusal where refusal.status == .badRequest {
            return .page(
                await Self.appsPage(entity, visit.form.lines("apps").joined(separator: "\n"), visit, refusal),
                .badRequest)
        }
    }

    // MARK: Assignments

    private static func form(
        _ entity: JSONValue, _ visit: ConsoleVisit, _ typed: ConsoleForm?
    ) async throws -> Block {
        let id = entity.text("id")
        let groups = try await groups(visit).sorted { $0.value.lowercased() < $1.value.lowercased() }
        let filters = try await visit.api.all("/beta/deviceManagement/assignmentFilters?$top=200")
        let targets = entity.list("assignments").compactMap { $0["target"] }
        func chosen(_ type: String) -> String {
            targets.filter { $0.text("@odata.type") == type }.map { $0.text("groupId") }.joined(separator: ",")
        }
        let options = groups.map { (value: $0.key, text: Phrase.data($0.value)) }
        let everybody = targets.contains { $0.text("@odata.type") == allUsers } ? "true" : ""
        let filter =
            targets.lazy.map { $0.text("deviceAndAppManagementAssignmentFilterId") }.first { !$0.isEmpty } ?? ""
        let mode =
            targets.lazy.map { $0.text("deviceAndAppManagementAssignmentFilterType") }.first { $0 == "exclude" }
            ?? "include"
        func value(_ name: String, _ known: String) -> String {
            typed.map { $0.all(name).joined(separator: ",") } ?? known
        }
        var fields = [
            Field(.flag, "everybody", "All people who have a licence", value: value("everybody", everybody)),
            Field(
                .several(options), "included", "Groups that get it",
                help: options.isEmpty
                    ? "The directory has no groups yet. Connect a directory, or add groups with the administration API."
                    : "", value: value("included", chosen(group))
            ),
            Field(
                .several(options), "excluded", "Groups that do not get it",
                help: "Excluding a group overrides including another one.",
                value: value("excluded", chosen(exclusion))),
        ]
        if !filters.isEmpty {
            fields.append(
                Field(
                    .choice(
                        [(value: "", text: Phrase("every device and app"))]
                            + filters.map { (value: $0.text("id"), text: Phrase.data($0.text("displayName"))) }),
                    "filter", "Only where this filter fits", value: value("filter", filter)))
            fields.append(
                Field(
                    .choice([
                        (value: "include", text: "where it fits"), (value: "exclude", text: "where it does not fit"),
                    ]),
                    "mode", "The filter is for", value: value("mode", mode)))
        }
        return .form(
            Form(
                PolicyPages.path(id) + "/assignments", submit: "Preview",
                hidden: [("page", PolicyPages.path(id) + "/assignments")], cancel: Link("Cancel", PolicyPages.path(id)),
                fields))
    }

    @Sendable private func assignments(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let entity = try await visit.api.get(PolicyPages.route(visit.keys[0]) + "?$expand=assignments")
        return .page(
            Page(
                "Who gets \(entity.text("displayName"))", .policies,
                lead: "You see who is affected before anything changes.",
                above: Link(.data(entity.text("displayName")), PolicyPages.path(entity.text("id"))),
                [try await Self.form(entity, visit, visit.draft)]))
    }

    /// The assignments that were filled in.
    private static func typed(_ form: ConsoleForm) -> [JSONValue] {
        func target(_ type: String, _ groupID: String?, filtered: Bool) -> JSONValue {
            var members: [String: JSONValue] = ["@odata.type": .string(type)]
            members["groupId"] = groupID.map { .string($0) }
            if filtered, !form["filter"].isEmpty {
                members["deviceAndAppManagementAssignmentFilterId"] = .string(form["filter"])
                members["deviceAndAppManagementAssignmentFilterType"] = .string(
                    form["mode"] == "exclude" ? "exclude" : "include")
            }
            return ["target": .object(members)]
        }
        func ids(_ name: String) -> [String] { form.all(name).flatMap { $0.split(separator: ",").map(String.init) } }
        return (form["everybody"] == "true" ? [target(allUsers, nil, filtered: true)] : [])
            + ids("included").map { target(group, $0, filtered: true) }
            + ids("excluded").map { target(exclusion, $0, filtered: false) }
    }

    @Sendable private func preview(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let entity = try await visit.api.get(PolicyPages.route(visit.keys[0]) + "?$expand=assignments")
        let id = entity.text("id")
        let typed = Self.typed(visit.form)
        let included = Set(visit.form.all("included")), excluded = Set(visit.form.all("excluded"))
        guard included.isDisjoint(with: excluded) else {
            return .page(
                Page(
                    "Who gets \(entity.text("displayName"))", .policies,
                    [
                        .note(.bad, "A group cannot be included and excluded at once.", []),
                        try await Self.form(entity, visit, visit.form),
                    ]), .badRequest)
        }
        var blocks = try await Self.audience(of: typed, visit)
        let before = try await Self.people(in: entity.list("assignments"), visit).map(\.id)
        let after = try await Self.people(in: typed, visit).map(\.id)
        let lost = Set(before).subtracting(after)
        if !lost.isEmpty {
            blocks.insert(
                .note(
                    .notice, "\(lost.count) people lose this policy.",
                    ["In apps where no other policy reaches them, organisation data is removed."]), at: 0)
        }
        let kept = visit.form.values.filter { !["csrf", "page", "impact"].contains($0.key) }.flatMap { name, values in
            values.map { (name, $0) }
        }
        let impact = try await ShownImpact(of: ["policy": .string(id), "assign": .array(typed)], visit)
        blocks += impact.blocks
        blocks.append(
            .form(
                Form(
                    PolicyPages.path(id) + "/assign", submit: "Publish",
                    hidden: kept + [("impact", impact.token), ("page", PolicyPages.path(id) + "/assignments")],
                    cancel: Link("Change nothing", PolicyPages.path(id)), [])))
        return .page(
            Page(
                "Preview: who gets \(entity.text("displayName"))", .policies, lead: "Nothing is in force yet.",
                above: Link(.data(entity.text("displayName")), PolicyPages.path(id)), blocks))
    }

    @Sendable private func assign(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let id = visit.keys[0]
        try await visit.api.call(
            .post, PolicyPages.route(id) + "/assign", ["assignments": .array(Self.typed(visit.form))],
            impact: visit.form["impact"])
        return .moved(PolicyPages.path(id))
    }

    // MARK: Whom assignments reach

    struct Person {
        var id: String
        var name: String
    }

    /// The people whom assignments reach, filters aside; at most a thousand.
    static func people(in assignments: [JSONValue], _ visit: ConsoleVisit) async throws -> [Person] {
        var (reached, excluded): ([String: String], Set<String>) = ([:], [])
        for target in assignments.compactMap({ $0["target"] }) {
            let id = ConsolePath.part(target.text("groupId"))
            let path =
                target.text("@odata.type") == allUsers
                ? "/v1.0/users?$top=200" : "/v1.0/groups/\(id)/transitiveMembers?$top=200"
            guard target.text("@odata.type") == allUsers || !id.isEmpty else { continue }
            // A group that has left the directory reaches no person.
            let members = (try? await visit.api.all(path)) ?? []
            for member in members where member["userPrincipalName"] != nil || target.text("@odata.type") == allUsers {
                if target.text("@odata.type") == exclusion {
                    excluded.insert(member.text("id"))
                } else {
                    reached[member.text("id")] = member.text("displayName")
                }
            }
        }
        return reached.filter { !excluded.contains($0.key) }.map { Person(id: $0.key, name: $0.value) }
            .sorted { ($0.name.lowercased(), $0.id) < ($1.name.lowercased(), $1.id) }
    }

    static func audience(of assignments: [JSONValue], _ visit: ConsoleVisit) async throws -> [Block] {
        let people = try await people(in: assignments, visit)
        guard !people.isEmpty else {
            return [
                .note(.notice, "This reaches no person at present. Add people to the group, or choose another one.", [])
            ]
        }
        return [
            .card(
                "Who is affected: \(people.count) people",
                [
                    .facts([
                        (
                            "By name",
                            .list(
                                people.prefix(mostShown).map { .link(.data($0.name), EffectiveRulesPage.path($0.id)) }
                                    + (people.count > mostShown ? [.text("and \(people.count - mostShown) more")] : []))
                        )
                    ])
                ])
        ]
    }
}
