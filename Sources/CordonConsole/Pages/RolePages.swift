import CordonPolicy
import CordonService
import CordonServiceHTTP
import Foundation
import HTTPTypes

/// Roles: who may do what (SRV-UI-23).
struct RolePages {
    func add(to table: ConsoleTable) {
        table.get("/console/roles", list)
        table.get("/console/roles/:id", edit)
        table.post("/console/roles/:id", save)
        table.post("/console/roles/:id/delete") { visit in
            try await visit.api.call(.delete, Self.route(visit.keys[0]))
            return .moved("/console/roles")
        }
    }

    private static func path(_ id: String) -> String { "/console/roles/" + ConsolePath.part(id) }
    private static func route(_ id: String) -> String { "/admin/v1/roles/" + ConsolePath.part(id) }

    @Sendable private func list(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let roles = try await visit.api.get("/admin/v1/roles").array ?? []
        let rows = roles.map { role -> [Cell] in
            let isBuiltIn = role["isBuiltIn"] == true
            let permissions = Phrase.list(role.list("permissions").compactMap(\.string).map(SettingTexts.words))
            return [
                isBuiltIn
                    ? .text(SettingTexts.words(role.text("displayName")))
                    : .link(.data(role.text("displayName")), Self.path(role.text("id"))),
                isBuiltIn ? .badge("built in", .plain) : .badge("your own", .good), .text(permissions),
                isBuiltIn && role.list("members").isEmpty
                    ? .text("as your identity provider says")
                    : .list(role.list("members").compactMap(\.string).map { .code($0) }),
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
                    .table(Table("Roles", ["Role", "Kind", "May", "Members"], rows, empty: "")),
                ]))
    }

    private static func page(
        _ visit: ConsoleVisit, _ role: JSONValue, _ form: ConsoleForm?, _ refusal: Refusal? = nil
    ) async -> Page {
        let tags = await CataloguePages.tags(visit)
        let id = visit.keys[0]
        let permissions = Permission.allCases.map { (value: $0.rawValue, text: SettingTexts.words($0.rawValue)) }
        func known(_ name: String, _ separator: String) -> String {
            role.list(name).compactMap(\.string).joined(separator: separator)
        }
        func value(_ name: String, _ known: String) -> String {
            form.map { $0.all(name).joined(separator: ",") } ?? known
        }
        var blocks = Block.refused(refusal)
        blocks.append(
            .form(
                Form(
                    path(id), submit: "Save the role", hidden: [("page", path(id))],
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
                            help: "One per line: a group as the provider's tokens name it, or user: and an object id.",
                            value: value("members", known("members", "\n"))),
                        Field(
                            .several(tags), "tags", "Only for policies with these scope tags",
                            help: "With none of them, the role holds for every policy.",
                            value: value("tags", known("scopeTags", ","))),
                    ])))
        if id != "new" {
            blocks.append(
                .form(
                    Form(
                        path(id) + "/delete", submit: "Delete the role", hidden: [("page", path(id))], isGrave: true, []
                    )))
        }
        return Page(
            id == "new" ? "New role" : .data(role.text("displayName")), .roles, above: Link("Roles", "/console/roles"),
            blocks)
    }

    @Sendable private func edit(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let roles = try await visit.api.get("/admin/v1/roles").array ?? []
        let role = roles.first { $0.text("id") == visit.keys[0] && $0["isBuiltIn"] != true }
        guard visit.keys[0] == "new" || role != nil else {
            throw Refusal(.notFound, "not-found", "There is no such role to change.")
        }
        return .page(await Self.page(visit, role ?? .null, visit.draft))
    }

    @Sendable private func save(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let form = visit.form
        let id = visit.keys[0] == "new" ? "role-" + UUID().uuidString.lowercased() : visit.keys[0]
        let tags = form.all("tags").flatMap { $0.split(separator: ",") }.map { JSONValue.string(String($0)) }
        do {
            try await visit.api.call(
                .put, Self.route(id),
                [
                    "displayName": .string(form["name"]), "description": .string(form["description"]),
                    "permissions": .array(form.all("permissions").map { .string($0) }),
                    "members": .array(form.lines("members").map { .string($0) }),
                    "scopeTags": tags.isEmpty ? .null : .array(tags),
                ])
            return .moved("/console/roles")
        } catch let refusal as Refusal where refusal.status == .badRequest || refusal.status == .conflict {
            return .page(await Self.page(visit, .null, form, refusal), .badRequest)
        }
    }
}
