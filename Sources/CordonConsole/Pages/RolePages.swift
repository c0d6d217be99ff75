import CordonPolicy
import CordonService
import CordonServiceHTTP
import Foundation
import HTTPTypes

/// Roles: who may do what (SRV-UI-23).
struct RolePages {
    func add(to table: ConsoleTable) {
        table.get("/console/roles", lists: "read", list)
        table.get("/console/roles/:id", needs: "manageTenant", edit)
        table.post("/console/roles/:id", save)
        table.post("/console/roles/:id/delete", delete)
    }

    private static func path(_ id: String) -> String { "/console/roles/" + ConsolePath.part(id) }
    private static func route(_ id: String) -> String { "/admin/v1/roles/" + ConsolePath.part(id) }

    @Sendable private func list(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let all = try await visit.api.get("/admin/v1/roles").array ?? []
        let (roles, more) = ListPages.cut(all, "/console/roles", visit)
        func members(_ role: JSONValue) -> [String] { role.list("members").compactMap(\.string) }
        let named = roles.flatMap(members).filter { $0.hasPrefix("user:") }.prefix(200).map { String($0.dropFirst(5)) }
        let people = try await PeopleStatus(of: named, visit)
        let rows = roles.map { role -> [Cell] in
            let isBuiltIn = role["isBuiltIn"] == true
            let permissions = Phrase.list(role.list("permissions").compactMap(\.string).map(SettingTexts.words))
            return [
                isBuiltIn
                    ? .text(SettingTexts.words(role.text("displayName")))
                    : visit.may("manageTenant")
                        ? .link(.data(role.text("displayName")), Self.path(role.text("id")))
                        : .text(.data(role.text("displayName"))),
                isBuiltIn ? .badge("built in", .plain) : .badge("your own", .good), .text(permissions),
                isBuiltIn && members(role).isEmpty
                    ? .list([.text("people with the app role")] + Self.values(of: role.text("id")).map { .code($0) })
                    : .list(
                        members(role).map { member in
                            let id = String(member.dropFirst(5))
                            guard member.hasPrefix("user:"), people.knows(id) else { return .code(member) }
                            return .link(.data(people.name(of: id)), PeoplePages.path(id))
                        }),
            ]
        }
        let mine = visit.me.list("permissions").compactMap(\.string).map(SettingTexts.words)
        return .page(
            Page(
                "Roles", .roles,
                lead:
                    "Built-in roles come with the groups and roles of your identity provider. Roles of your own list their members here.",
                [
                    .facts([
                        ("You are", .text(visit.roles)),
                        ("You may", .text(.list(mine))),
                    ]),
                    .links(visit.may("manageTenant") ? [Link("New role", "/console/roles/new", isMain: true)] : []),
                    .note(
                        .plain, "How a person gets a built-in role:",
                        [
                            "In your identity provider, make an app role of the value shown with it, and give it to the person. The service reads the claim roles of access tokens, unless its configuration names another claim.",
                            "Or give the role to a group or person under roles in the service's configuration file.",
                            "A value that is also the name of one of the person's groups gives no role.",
                        ]),
                    .table(Table("Roles", ["Role", "Kind", "May", "Members"], rows, empty: "", more: more)),
                ]))
    }

    /// The values of the claim that give a built-in role.
    private static func values(of role: String) -> [String] {
        let directory =
            role == AdministratorRole.cloudDeviceAdministrator.rawValue ? ["Cloud Device Administrator"] : []
        return ["cordon." + role, role] + directory
    }

    /// What each permission lets a person do, and the built-in roles to begin with.
    private static func help(_ visit: ConsoleVisit) -> [Block] {
        let rows = Permission.allCases.map { permission -> [Cell] in
            [.text(SettingTexts.words(permission.rawValue)), .text(meaning(of: permission))]
        }
        let explained = Block.more(
            "What each permission allows", [.table(Table("Permissions", ["Permission", "Allows"], rows, empty: ""))])
        guard visit.keys[0] == "new" else { return [explained] }
        let links = AdministratorRole.allCases.map { role in
            Link(SettingTexts.words(role.rawValue), path("new") + "?from=" + role.rawValue)
        }
        return [.text("Begin with the permissions of a built-in role:"), .links(links), explained]
    }

    private static func meaning(of permission: Permission) -> Phrase {
        switch permission {
        case .read: "See policies, people, devices and wipes."
        case .writePolicies: "Make and change policies, app configurations and the catalogue of apps."
        case .deletePolicies: "Delete policies and app configurations."
        case .assignPolicies: "Say which groups and apps a policy reaches, and make filters."
        case .wipe: "Remove organisation data from the apps of a person's device."
        case .approve: "Release what another administrator asked for and what needs a second person."
        case .cancelWipes: "Take back a wipe that no app has fetched yet."
        case .blockUsers: "Wipe everything of a person and keep them out; let them in again."
        case .forgetRegistrations: "Forget an app on a device that is lost. Nothing is wiped by that."
        case .writeDirectory: "Write people and groups, as a directory's synchronisation does."
        case .registerDevices: "Register and release shared devices."
        case .collectLogs: "Ask apps for their logs, and read them."
        case .commandApps: "Tell apps to fetch their configuration, to enrol again or to ask for a new PIN."
        case .handlePersonalData: "Export and erase what is kept about a person."
        case .readAudit: "Read, verify and export the audit log."
        case .manageTenant:
            "Change roles, signing keys, allowed accounts and what else holds for the whole organisation."
        }
    }

    private static func page(
        _ visit: ConsoleVisit, _ role: JSONValue, _ form: ConsoleForm?, _ notes: [Block] = [], version: String? = nil
    ) async throws -> Page {
        var shown = [("version", version ?? role.text("version")), ("page", path(visit.keys[0]))]
        // A role that a second person releases is known by its id when it is sent once more.
        if visit.keys[0] == "new" { shown.append(("id", form?["id"] ?? "role-" + UUID().uuidString.lowercased())) }
        let tags = await CataloguePages.tags(visit)
        let id = visit.keys[0]
        let permissions = Permission.allCases.map { (value: $0.rawValue, text: SettingTexts.words($0.rawValue)) }
        func known(_ name: String, _ separator: String) -> String {
            role.list(name).compactMap(\.string).joined(separator: separator)
        }
        func value(_ name: String, _ known: String) -> String {
            form.map { $0.all(name).joined(separator: ",") } ?? known
        }
        var blocks = notes + (try await limit(role, visit)) + help(visit)
        blocks.append(
            .form(
                Form(
                    path(id), submit: "Save the role", hidden: shown,
                    cancel: Link("Cancel", "/console/roles"),
                    [
                        Field(.text, "name", "Name", value: value("name", role.text("displayName")), isRequired: true),
                        Field(
                            .text, "description", "Description", value: value("description", role.text("description"))),
                        Field(
                            .several(permissions), "permissions", "May",
                            value: value("permissions", known("permissions", ","))),
                        Field(
                            .long, "members", "Members",
                            help:
                                "One per line: the sign-in name of a person, user: and an object id, or a group as the provider's tokens name it. A name with @ that no person has is a group's; group: before a name makes it a group's in any case.",
                            value: value("members", known("members", "\n"))),
                        Field(
                            .several(tags), "tags", "Only for policies with these scope tags",
                            help: "With none of them, the role holds for every policy.",
                            value: value("tags", known("scopeTags", ","))),
                    ])))
        if id != "new" {
            blocks.append(
                .form(
                    Form(path(id) + "/delete", submit: "Delete the role", hidden: shown, isGrave: true, [])))
        }
        return Page(
            id == "new" ? "New role" : .data(role.text("displayName")), .roles, above: Link("Roles", "/console/roles"),
            blocks)
    }

    /// Whose people the role is limited to, which the form does not change.
    private static func limit(_ role: JSONValue, _ visit: ConsoleVisit) async throws -> [Block] {
        let ids = role.list("people").compactMap(\.string)
        guard !ids.isEmpty else { return [] }
        let names = try await PolicyTargeting.names(ofGroups: Set(ids), visit)
        return [
            .note(
                .notice,
                "This role is limited to the people of these groups. Saving keeps that; the administration API changes it.",
                ids.map { .data(names[$0.lowercased()] ?? $0) })
        ]
    }

    /// The role of the page as it is now; nothing of a new one.
    private static func known(_ visit: ConsoleVisit) async throws -> JSONValue {
        guard visit.keys[0] != "new" else {
            guard let role = AdministratorRole(rawValue: visit.query["from"]) else { return .null }
            return ["permissions": .array(role.permissions.map(\.rawValue).sorted().map { .string($0) })]
        }
        let roles = try await visit.api.get("/admin/v1/roles").array ?? []
        guard let role = roles.first(where: { $0.text("id") == visit.keys[0] && $0["isBuiltIn"] != true }) else {
            throw Refusal(.notFound, "not-found", "There is no such role to change.")
        }
        return role
    }

    /// The id of the role of a form; of a new one, that which its form was given, unless a role has it by now.
    private static func id(_ visit: ConsoleVisit) async throws -> String {
        guard visit.keys[0] == "new" else { return visit.keys[0] }
        let id = visit.form["id"]
        let roles = try await visit.api.get("/admin/v1/roles").array ?? []
        let isFree = id.hasPrefix("role-") && !roles.contains { $0.text("id") == id }
        return isFree ? id : "role-" + UUID().uuidString.lowercased()
    }

    @Sendable private func edit(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        // What is kept of a deletion says nothing of the role.
        let draft = visit.draft.flatMap { $0.has("name") ? $0 : nil }
        let role = try await Self.known(visit)
        visit.begin()
        return .page(try await Self.page(visit, role, draft, version: ShownVersion.of(draft)))
    }

    @Sendable private func save(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let form = visit.form
        let known = try await Self.known(visit)
        let id = try await Self.id(visit)
        let tags = form.all("tags").flatMap { $0.split(separator: ",") }.map { JSONValue.string(String($0)) }
        do {
            var members: [JSONValue] = []
            for line in form.lines("members") { members.append(.string(try await Self.member(line, of: known, visit))) }
            try await visit.api.call(
                .put, Self.route(id),
                [
                    "displayName": .string(form.line("name", of: known.text("displayName"))),
                    "description": .string(form.line("description", of: known.text("description"))),
                    "permissions": .array(form.all("permissions").map { .string($0) }),
                    "members": .array(members),
                    "scopeTags": tags.isEmpty ? .null : .array(tags),
                    // The route takes the whole role: what the form does not show is sent as it is, or it would be gone.
                    "people": known["people"] ?? .null,
                ], ifVersion: visit.keys[0] == "new" ? nil : form["version"])
            return .moved("/console/roles")
        } catch let refusal as Refusal where refusal.isOfForm {
            let page = try await Self.page(
                visit, known, form, Block.refused(refusal), version: ShownVersion.of(form))
            return .page(page, .badRequest)
        } catch let refusal as Refusal where refusal.status == .preconditionFailed {
            return try await Self.overtaken(visit)
        }
    }

    @Sendable private func delete(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        do {
            try await visit.api.call(
                .delete, Self.route(visit.keys[0]), ifVersion: visit.form["version"])
            return .moved("/console/roles")
        } catch let refusal as Refusal where refusal.status == .preconditionFailed {
            let note = Block.note(
                .bad, "Another administrator changed this role while you did.",
                ["Nothing was deleted. Below is the role as it is now."])
            return .page(try await Self.page(visit, try await Self.known(visit), nil, [note]), .conflict)
        }
    }

    /// Shows what was filled in, and above it the role as another administrator has changed it.
    private static func overtaken(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let now = try await known(visit)
        func texts(_ name: String) -> [String] { now.list(name).compactMap(\.string) }
        let names = Dictionary(await CataloguePages.tags(visit), uniquingKeysWith: { first, _ in first })
        let described = now.text("description")
        let said: [Phrase] =
            [.data(now.text("displayName"))] + (described.isEmpty ? [] : [.data(described)])
            + texts("permissions").map(SettingTexts.words) + texts("members").map { .data($0) }
        let tags = texts("scopeTags").map { names[$0] ?? .data($0) }
        let limit: [Phrase] = tags.isEmpty ? [] : ["Only for policies with these scope tags: \(.list(tags))"]
        let note = ShownVersion.overtaken(
            by: said + limit, "Another administrator changed this role while you did.")
        return .page(try await page(visit, now, visit.form, [note]), .conflict)
    }

    /// A member as the service knows it: a person who is named by the sign-in name, by the object id.
    private static func member(_ line: String, of role: JSONValue, _ visit: ConsoleVisit) async throws -> String {
        // A member that is a group stays one when a person gets the same name.
        let members = role.list("members").compactMap(\.string)
        if let member = members.first(where: { $0.trimmingCharacters(in: .whitespaces) == line }) { return member }
        if line.hasPrefix("group:") { return line.dropFirst(6).trimmingCharacters(in: .whitespaces) }
        guard line.contains("@"), !line.contains(":") else { return line }
        do {
            return "user:" + (try await visit.api.get(PeoplePages.route(line)).text("id"))
        } catch let refusal as Refusal where [.notFound, .badRequest].contains(refusal.status) {
            return line
        }
    }
}
