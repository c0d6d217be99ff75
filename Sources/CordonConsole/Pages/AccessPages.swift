import CordonPolicy
import CordonServiceHTTP
import Foundation
import HTTPTypes

/// What scripts need, and policies that come as files (SRV-UI-10, SRV-UI-26).
struct AccessPages {
    func add(to table: ConsoleTable) {
        table.get("/console/service/api", needs: "read", api)
        table.get("/console/policies/import", needs: "writePolicies") { .page(Self.importPage($0, nil)) }
        table.post("/console/policies/import", needs: "writePolicies", importPolicy)
    }

    @Sendable private func api(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let base = visit.api.parts.base
        return .page(
            Page(
                "For scripts", .service, lead: "The console uses these routes too; your roles hold for both.",
                above: Link("Service", "/console/service"),
                [
                    .facts([
                        ("Administration", .code(base + "/v1.0, /beta")), ("Beside that", .code(base + "/admin/v1")),
                        ("Identity provider", .code(visit.api.parts.issuer)),
                        ("Audience of tokens", .code(visit.api.parts.audience)),
                    ]),
                    .text("Sign in with your provider's tool, ask for a token of this audience, and send it:"),
                    .code(
                        .data(
                            "curl -H \"Authorization: Bearer $TOKEN\" \(base)/v1.0/deviceAppManagement/managedAppPolicies"
                        ),
                        label: "List policies"),
                    .code(
                        .data("curl -H \"Authorization: Bearer $TOKEN\" \(base)/admin/v1/audit > audit.jsonl"),
                        label: "Export the audit log"),
                    .text("docs/openapi.yaml names every route; docs/operating.md says how programs get tokens."),
                ]))
    }

    // MARK: Policies from files

    private static func importPage(_ visit: ConsoleVisit, _ typed: String?, _ refusal: Refusal? = nil) -> Page {
        var blocks = Block.refused(refusal)
        let help: Phrase = """
            The JSON of one policy, as the export makes it or as the administration API of an existing service answers it. \
            The apps come along; the assignments do not.
            """
        blocks.append(
            .form(
                Form(
                    "/console/policies/import", submit: "Make the policy",
                    hidden: [("page", "/console/policies/import")],
                    cancel: Link("Cancel", "/console/policies"),
                    [Field(.long, "json", "Policy", help: help, value: typed ?? visit.typed("json"))])))
        return Page(
            "Policy from JSON", .policies,
            lead: "The policy has no effect until you assign it. One for everyone is previewed first.",
            above: Link("Policies", "/console/policies"), blocks)
    }

    @Sendable private func importPolicy(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let typed = visit.form.values["json"]?.first ?? ""
        guard let value = try? JSONValue(parsing: Data(typed.utf8)), let document = value.object,
            value.text("@odata.type").hasPrefix("#microsoft.graph.")
        else {
            let refusal = Refusal(
                .badRequest, "json", "This is not the JSON of a policy: an object with @odata.type is needed.")
            return .page(Self.importPage(visit, typed, refusal), .badRequest)
        }
        let policy = PolicyMaking.unassigned(document)
        do {
            if PolicyPages.isForEveryone(.object(policy)), visit.form["step"] != "publish" {
                return .page(
                    try await PolicyMaking.preview(
                        policy, typed: [("json", typed)], on: "/console/policies/import", visit))
            }
            let made = try await visit.api.call(
                .post, PolicyPages.collection, .object(policy), impact: visit.form["impact"])
            return .moved(PolicyPages.path(made.text("id")))
        } catch let refusal as Refusal where refusal.isOfForm {
            return .page(Self.importPage(visit, typed, refusal), .badRequest)
        }
    }
}
