import CordonPolicy
import CordonServiceHTTP
import Foundation
import HTTPTypes

/// Whom a policy reaches (SRV-UI-08).
struct PolicyTargeting {
    private static let allUsers = "#microsoft.graph.allLicensedUsersAssignmentTarget"
    private static let group = "#microsoft.graph.groupAssignmentTarget"
    private static let allDevices = "#microsoft.graph.allDevicesAssignmentTarget"
    private static let exclusion = "#microsoft.graph.exclusionGroupAssignmentTarget"
    /// The most groups that are offered at once.
    private static let mostOffered = 50

    func add(to table: ConsoleTable) {
        table.get("/console/policies/:id/assignments", needs: "assignPolicies", assignments)
        table.post("/console/policies/:id/assignments", needs: "assignPolicies", preview)
        table.post("/console/policies/:id/assign", assign)
    }

    /// Whether a group of the directory may have this id; an assignment may wait for a group that none will ever be.
    private static func isGroupID(_ id: String) -> Bool {
        (1...128).contains(id.utf8.count) && ConsolePath.part(id) == id
    }

    /// The names of some groups by their folded ids; those that have left the directory have none, nor do any where the
    /// directory refuses to be asked: a page says more with ids than not at all.
    static func names(ofGroups ids: Set<String>, _ visit: ConsoleVisit) async throws -> [String: String] {
        let asked = ids.filter(isGroupID).sorted()
        var (names, rest): ([String: String], ArraySlice<String>) = ([:], asked[...])
        while !rest.isEmpty {
            let list = rest.prefix(50).map(ConsolePath.quoted).joined(separator: ",")
            rest = rest.dropFirst(50)
            let path = "/v1.0/groups?$top=50&$filter=id%20in%20(\(list))"
            do {
                for group in try await visit.api.get(path).list("value") {
                    names[group.text("id").lowercased()] = group.text("displayName")
                }
            } catch let refusal as Refusal where refusal.status != .unauthorized {
                continue
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

    /// A filter of an assignment.
    private struct Filter: Hashable {
        var (id, mode) = ("", "include")

        /// The one that a target has.
        init(of target: JSONValue) {
            id = target.text("deviceAndAppManagementAssignmentFilterId")
            if !id.isEmpty, target.text("deviceAndAppManagementAssignmentFilterType") == "exclude" { mode = "exclude" }
        }

        /// The one that a form names; nil where it has no such field.
        init?(in form: ConsoleForm) {
            guard form.has("filter") else { return nil }
            id = form["filter"]
            if !id.isEmpty, form["mode"] == "exclude" { mode = "exclude" }
        }

        /// The one that the form shows: the first that there is.
        static func shown(of targets: [JSONValue]) -> Filter {
            targets.lazy.map(Filter.init).first { !$0.id.isEmpty } ?? Filter(of: .null)
        }
    }

    /// Whom a policy is for at present.
    private static func targets(of entity: JSONValue) -> [JSONValue] {
        entity.list("assignments").compactMap { $0["target"] }
    }

    /// The ids of groups that a form names. They are escaped there, because between them stand commas.
    private static func ids(_ form: ConsoleForm, _ name: String) -> [String] {
        form.all(name).flatMap { $0.split(separator: ",") }.map { $0.removingPercentEncoding ?? String($0) }
    }

    /// - Parameter version: The version that was shown when the form was, nil where it is shown now.
    private static func form(
        _ entity: JSONValue, _ visit: ConsoleVisit, _ typed: ConsoleForm?, version: String?
    ) async throws -> Block {
        let id = entity.text("id")
        let filters = try await visit.api.all("/beta/deviceManagement/assignmentFilters?$top=200")
        let targets = targets(of: entity)
        func chosen(_ type: String, _ name: String) -> [String] {
            typed.map { ids($0, name) }
                ?? targets.filter { $0.text("@odata.type") == type }.map { $0.text("groupId") }
        }
        func has(_ type: String) -> String { targets.contains { $0.text("@odata.type") == type } ? "true" : "" }
        let filter = Filter.shown(of: targets)
        let including = targets.filter { $0.text("@odata.type") != exclusion }
        let isMixed = Set(including.map(Filter.init)).count > 1
        func value(_ name: String, _ known: String) -> String {
            typed.map { $0.all(name).joined(separator: ",") } ?? known
        }
        let (included, excluded) = (chosen(group, "included"), chosen(exclusion, "excluded"))
        let (options, hasMore) = try await offered(beside: Set(included + excluded), named: typed?["find"] ?? "", visit)
        func several(_ ids: [String]) -> String { ids.map(ConsolePath.part).joined(separator: ",") }
        var fields = [
            Field(.flag, "everybody", "All people who have a licence", value: value("everybody", has(allUsers)))
        ]
        if !has(allDevices).isEmpty {
            fields.append(Field(.flag, "devices", "All devices", value: value("devices", has(allDevices))))
        }
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
                    : "", value: several(included))
        ]
        if !filters.isEmpty {
            fields.append(
                Field(
                    .choice(
                        [(value: "", text: Phrase("every device and app"))]
                            + filters.map { (value: $0.text("id"), text: Phrase.data($0.text("displayName"))) }),
                    "filter", "Only where this filter fits",
                    help: isMixed
                        ? "Not all have the same filter now. They keep what they have unless you choose another one here, which then holds for all."
                        : "", value: value("filter", filter.id)))
            fields.append(
                Field(
                    .choice([
                        (value: "include", text: "where it fits"), (value: "exclude", text: "where it does not fit"),
                    ]),
                    "mode", "The filter is for", value: value("mode", filter.mode)))
        }
        return .form(
            Form(
                PolicyPages.path(id) + "/assignments", submit: "Preview",
                hidden: [
                    ("version", version ?? entity.text("version")), ("page", PolicyPages.path(id) + "/assignments"),
                ], cancel: Link("Cancel", PolicyPages.path(id)),
                fields,
                fieldsets: [
                    Fieldset(
                        legend: "Leave groups out",
                        fields: [
                            Field(
                                .several(options), "excluded", "Groups that do not get it",
                                help:
                                    "For people who are in a group that gets it and should not: excluding a group overrides including another one.",
                                value: several(excluded))
                        ], isFolded: excluded.isEmpty)
                ]))
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
            .map { (value: ConsolePath.part($0), text: Phrase.data(name($0))) }
        let others = page.list("value").filter { !folded.contains($0.text("id").lowercased()) }
            .map { (value: ConsolePath.part($0.text("id")), text: Phrase.data($0.text("displayName"))) }
        return (chosen + others, page["@odata.nextLink"]?.string != nil)
    }

    @Sendable private func assignments(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let entity = try await visit.api.get(PolicyPages.route(visit.keys[0]) + "?$expand=assignments")
        visit.begin()
        return .page(
            try await Self.assignmentsPage(entity, visit, visit.draft, version: ShownVersion.of(visit.draft)))
    }

    private static func assignmentsPage(
        _ entity: JSONValue, _ visit: ConsoleVisit, _ typed: ConsoleForm?, version: String?, _ notes: [Block] = []
    ) async throws -> Page {
        Page(
            "Who gets \(entity.text("displayName"))", .policies,
            lead: "You see who is affected before anything changes.",
            above: Link(.data(entity.text("displayName")), PolicyPages.path(entity.text("id"))),
            notes + [try await form(entity, visit, typed, version: version)])
    }

    /// Shows what was filled in again, above the policy as another administrator has changed it.
    private static func conflict(_ entity: JSONValue, _ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let groups = try await names(ofGroups: groups(in: entity.list("assignments")), visit)
        let now = targets(of: entity).map { words(of: $0, groups) }
        return .page(
            try await assignmentsPage(entity, visit, visit.form, version: nil, [ShownVersion.overtaken(by: now)]),
            .conflict)
    }

    /// The assignments that were filled in. Who had the policy before keeps what the form does not show of that, such as a
    /// filter of their own where not all have the same.
    private static func typed(_ form: ConsoleForm, _ entity: JSONValue) -> [JSONValue] {
        let targets = targets(of: entity)
        let filter = Filter(in: form) ?? Filter.shown(of: targets)
        let isFilterChanged = filter != Filter.shown(of: targets)
        func target(_ type: String, _ groupID: String? = nil) -> JSONValue {
            let known = targets.first { $0.text("@odata.type") == type && $0["groupId"]?.string == groupID }
            if let known, !isFilterChanged || type == exclusion { return ["target": known] }
            var members: [String: JSONValue] = ["@odata.type": .string(type)]
            members["groupId"] = groupID.map { .string($0) }
            if type != exclusion, !filter.id.isEmpty {
                members["deviceAndAppManagementAssignmentFilterId"] = .string(filter.id)
                members["deviceAndAppManagementAssignmentFilterType"] = .string(filter.mode)
            }
            return ["target": .object(members)]
        }
        return (form["everybody"] == "true" ? [target(allUsers)] : [])
            + (form["devices"] == "true" ? [target(allDevices)] : [])
            + ids(form, "included").map { target(group, $0) } + ids(form, "excluded").map { target(exclusion, $0) }
    }

    @Sendable private func preview(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let entity = try await visit.api.get(PolicyPages.route(visit.keys[0]) + "?$expand=apps,assignments")
        let id = entity.text("id")
        let version = ShownVersion.of(visit.form)
        guard visit.form["step"] != "find" else {
            return .page(try await Self.assignmentsPage(entity, visit, visit.form, version: version))
        }
        guard !ShownVersion.isOutdated(visit.form, entity) else { return try await Self.conflict(entity, visit) }
        let typed = Self.typed(visit.form, entity)
        let (included, excluded) = (Set(Self.ids(visit.form, "included")), Set(Self.ids(visit.form, "excluded")))
        guard included.isDisjoint(with: excluded) else {
            let note = Block.note(.bad, "A group cannot be included and excluded at once.", [])
            return .page(
                try await Self.assignmentsPage(entity, visit, visit.form, version: version, [note]), .badRequest)
        }
        let left: Set = ["csrf", "page", "impact", "find", "step", "version"]
        let kept = visit.form.values.filter { !left.contains($0.key) }.flatMap { name, values in
            values.map { (name, $0) }
        }
        let impact = try await ShownImpact(of: ["policy": .string(id), "assign": .array(typed)], visit)
        var blocks = try await Self.summary(of: typed, visit) + impact.blocks
        if let policy = try? AppProtectionPolicy(graphJSON: entity) {
            blocks += try await ClosedApps(by: policy, of: entity, visit).blocks
            blocks.append(PolicyPages.remarks(on: policy))
        }
        blocks.append(
            .form(
                Form(
                    PolicyPages.path(id) + "/assign", submit: "Publish",
                    hidden: kept + [
                        ("version", entity.text("version")), ("impact", impact.token),
                        ("page", PolicyPages.path(id) + "/assignments"),
                    ],
                    cancel: Link("Change nothing", PolicyPages.path(id)), [])))
        return .page(
            Page(
                "Preview: who gets \(entity.text("displayName"))", .policies, lead: "Nothing is in force yet.",
                above: Link(.data(entity.text("displayName")), PolicyPages.path(id)), blocks))
    }

    /// Whom assignments are for, group by group, and whom not.
    private static func summary(of assignments: [JSONValue], _ visit: ConsoleVisit) async throws -> [Block] {
        let names = try await names(ofGroups: groups(in: assignments), visit)
        let targets = assignments.compactMap { $0["target"] }
        let (out, into) = (
            targets.filter { $0.text("@odata.type") == exclusion },
            targets.filter { $0.text("@odata.type") != exclusion }
        )
        func cell(_ targets: [JSONValue]) -> Cell {
            .list(targets.isEmpty ? [.text("none")] : targets.map { .text(words(of: $0, names)) })
        }
        var blocks: [Block] = [.facts([(Phrase("For"), cell(into)), (Phrase("Not for"), cell(out))])]
        if into.isEmpty {
            blocks.append(
                .note(
                    .bad, "This policy would be for no person: no group is chosen that gets it.",
                    out.isEmpty ? [] : ["Groups that do not get it only take people away from those that do."]))
        }
        return blocks
    }

    @Sendable private func assign(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let id = visit.keys[0]
        let path = PolicyPages.route(id) + "?$expand=assignments"
        let entity = try await visit.api.get(path)
        guard !ShownVersion.isOutdated(visit.form, entity) else { return try await Self.conflict(entity, visit) }
        do {
            try await visit.api.call(
                .post, PolicyPages.route(id) + "/assign", ["assignments": .array(Self.typed(visit.form, entity))],
                ifVersion: visit.form["version"], impact: visit.form["impact"])
            return PolicyOutcome.assignment.shown(on: id)
        } catch let refusal as Refusal where refusal.status == .preconditionFailed {
            return try await Self.conflict(try await visit.api.get(path), visit)
        }
    }
}
