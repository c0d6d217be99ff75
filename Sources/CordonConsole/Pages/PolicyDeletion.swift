import CordonPolicy
import CordonServiceHTTP
import Foundation
import HTTPTypes

/// Deleting a policy, after whom that reaches was seen.
struct PolicyDeletion {
    func add(to table: ConsoleTable) {
        table.get("/console/policies/:id/delete", needs: "deletePolicies", confirm)
        table.post("/console/policies/:id/delete/preview", needs: "deletePolicies", preview)
        table.post("/console/policies/:id/delete", delete)
    }

    private static func page(_ entity: JSONValue, _ blocks: [Block], _ form: Form) -> Page {
        let path = PolicyPages.path(entity.text("id"))
        return Page(
            "Delete \(entity.text("displayName"))?", .policies, above: Link(.data(entity.text("displayName")), path),
            blocks + [
                .note(
                    .notice, "People who had this policy fall back to the other policies that reach them.",
                    ["An app without any policy removes its organisation data."]), .form(form),
            ])
    }

    /// The people whom it would affect are counted on the next page: counting reads every app, which no link should cost.
    @Sendable private func confirm(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let entity = try await visit.api.get(PolicyPages.route(visit.keys[0]))
        let path = PolicyPages.path(visit.keys[0])
        return .page(
            Self.page(
                entity, [],
                Form(
                    path + "/delete/preview", submit: "Preview", hidden: [("page", path + "/delete")],
                    cancel: Link("Keep the policy", path), [])))
    }

    @Sendable private func preview(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let entity = try await visit.api.get(PolicyPages.route(visit.keys[0]))
        let path = PolicyPages.path(visit.keys[0])
        let impact = try await ShownImpact(of: ["policy": .string(visit.keys[0]), "delete": true], visit)
        return .page(
            Self.page(
                entity, impact.blocks,
                Form(
                    path + "/delete", submit: "Delete the policy",
                    hidden: [
                        ("version", entity.text("version")), ("impact", impact.token), ("page", path + "/delete"),
                    ], isGrave: true, cancel: Link("Keep the policy", path), [])))
    }

    @Sendable private func delete(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        try await visit.api.call(
            .delete, PolicyPages.route(visit.keys[0]), ifVersion: visit.form["version"], impact: visit.form["impact"])
        return .moved("/console/policies")
    }
}
