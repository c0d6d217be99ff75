import CordonPolicy
import CordonServiceHTTP
import Foundation
import HTTPTypes

/// Which apps a policy is about, and whom it reaches (SRV-UI-04, SRV-UI-08).
struct PolicyTargeting {
    private static let allUsers = "#microsoft.graph.allLicensedUsersAssignmentTarget"
    private static let group = "#microsoft.graph.groupAssignmentTarget"
    private static let exclusion = "#microsoft.graph.exclusionGroupAssignmentTarget"
    /// The most groups that are offered at once.
    private static let mostOffered = 50

    func add(to table: ConsoleTable) {
        table.get("/console/policies/:id/apps", needs: "writePolicies", apps)
        table.post("/console/policies/:id/apps", saveApps)
        table.get("/console/policies/:id/assignments", needs: "assignPolicies", assignments)
        table.post("/console/policies/:id/assignments", preview)
        table.post("/console/policies/:id/assign", assign)
    }

    /// The names of some groups by their folded ids; those that have left the directory have none.
    static func names(ofGroups ids: Set<String>, _ visit: ConsoleVisit) async throws -> [String: String] {
        var (names, rest): ([String: String], ArraySlice<String>) = ([:], ids.sorted()[...])
        while !rest.isEmpty {
            let list = rest.prefix(50).map(ConsolePath.quoted).joined(separator: ",")
            rest = rest.dropFirst(50)
            let path = "/v1.0/groups?$top=50&$filter=id%20in%20(\(list))"
            for group in try await visit.api.get(path).list("value") {
                names[group.text("id").lowercased()] = group.text("displayName")
            }
        }
        return names
    }

    /// The ids of the groups that assignments name.
    static func groups(in assignments: [JSONValue]) -> Set<String> {
        Set(assignments.compactMap { $0["target"]?["groupId"]?.string }.filter { !$0.isEmpty })
    }

    /// Whom an assignment is for.
    static func words(of target: JSONValue, _ groups: [String: String]) -> Phrase {
        let id = target.text("groupId")
        let name = groups[id.lowercased()] ?? id
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
        let filters = try await visit.api.all("/beta/deviceManagement/assignmentFilters?$top=200")
        let targets = entity.list("assignments").compactMap { $0["target"] }
        func chosen(_ type: String) -> String {
            targets.filter { $0.text("@odata.type") == type }.map { $0.text("groupId") }.joined(separator: ",")
        }
        let everybody = targets.contains { $0.text("@odata.type") == allUsers } ? "true" : ""
        let filter =
            targets.lazy.map { $0.text("deviceAndAppManagementAssignmentFilterId") }.first { !$0.isEmpty } ?? ""
        let mode =
            targets.lazy.map { $0.text("deviceAndAppManagementAssignmentFilterType") }.first { $0 == "exclude" }
            ?? "include"
        func value(_ name: String, _ known: String) -> String {
            typed.map { $0.all(name).joined(separator: ",") } ?? known
        }
        let (included, excluded) = (value("included", chosen(group)), value("excluded", chosen(exclusion)))
        let ticked = [included, excluded].flatMap { $0.split(separator: ",").map(String.init) }
        let (options, hasMore) = try await offered(beside: Set(ticked), named: typed?["find"] ?? "", visit)
        var fields = [
            Field(.flag, "everybody", "All people who have a licence", value: value("everybody", everybody))
        ]
        if hasMore || !(typed?["find"] ?? "").isEmpty {
            fields.append(
                Field(
                    .search("Search"), "find", "Find groups",
                    help: hasMore
                        ? "The directory has more groups than are listed here. Search for the beginning of a name; what is ticked stays."
                        : "Search for the beginning of a name; what is ticked stays.", value: typed?["find"] ?? ""))
        }
        fields += [
            Field(
                .several(options), "included", "Groups that get it",
                help: options.isEmpty
                    ? "The directory has no groups yet. Connect a directory, or add groups with the administration API."
                    : "", value: included),
            Field(
                .several(options), "excluded", "Groups that do not get it",
                help: "Excluding a group overrides including another one.", value: excluded),
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

    /// The groups to choose among: those that are ticked, and as many others as fit on a page, by name.
    private static func offered(
        beside ticked: Set<String>, named beginning: String, _ visit: ConsoleVisit
    ) async throws -> (options: [(value: String, text: Phrase)], hasMore: Bool) {
        let page = try await visit.api.get(
            "/v1.0/groups?$top=\(mostOffered)&$orderby=displayName"
                + (beginning.isEmpty ? "" : "&$filter=startswith(displayName,\(ConsolePath.quoted(beginning)))"))
        let names = try await names(ofGroups: ticked, visit)
        let folded = Set(ticked.map { $0.lowercased() })
        func name(_ id: String) -> String { names[id.lowercased()] ?? id }
        let chosen = ticked.sorted { (name($0).lowercased(), $0) < (name($1).lowercased(), $1) }
            .map { (value: $0, text: Phrase.data(name($0))) }
        let others = page.list("value").filter { !folded.contains($0.text("id").lowercased()) }
            .map { (value: $0.text("id"), text: Phrase.data($0.text("displayName"))) }
        return (chosen + others, page["@odata.nextLink"]?.string != nil)
    }

    @Sendable private func assignments(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let entity = try await visit.api.get(PolicyPages.route(visit.keys[0]) + "?$expand=assignments")
        return .page(try await Self.assignmentsPage(entity, visit, visit.draft))
    }

    private static func assignmentsPage(
        _ entity: JSONValue, _ visit: ConsoleVisit, _ typed: ConsoleForm?, _ notes: [Block] = []
    ) async throws -> Page {
        Page(
            "Who gets \(entity.text("displayName"))", .policies,
            lead: "You see who is affected before anything changes.",
            above: Link(.data(entity.text("displayName")), PolicyPages.path(entity.text("id"))),
            notes + [try await form(entity, visit, typed)])
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
        guard visit.form["step"] != "find" else {
            return .page(try await Self.assignmentsPage(entity, visit, visit.form))
        }
        let typed = Self.typed(visit.form)
        let included = Set(visit.form.all("included")), excluded = Set(visit.form.all("excluded"))
        guard included.isDisjoint(with: excluded) else {
            let note = Block.note(.bad, "A group cannot be included and excluded at once.", [])
            return .page(try await Self.assignmentsPage(entity, visit, visit.form, [note]), .badRequest)
        }
        let kept = visit.form.values.filter { !["csrf", "page", "impact", "find", "step"].contains($0.key) }.flatMap {
            name, values in
            values.map { (name, $0) }
        }
        let impact = try await ShownImpact(of: ["policy": .string(id), "assign": .array(typed)], visit)
        var blocks = impact.blocks
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
}
