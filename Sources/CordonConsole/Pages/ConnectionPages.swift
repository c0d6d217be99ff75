import CordonPolicy
import CordonServiceHTTP
import Foundation
import HTTPTypes

/// What the service is connected with (SRV-UI-24), and new signing keys (SRV-UI-25).
struct ConnectionPages {
    /// Where alerts are sent, without path and secret; nil where they are not.
    var webhook: String?

    func add(to table: ConsoleTable) {
        table.get("/console/service/connections", needs: "read", lists: "read", connections)
        table.get("/console/service/keys", needs: "manageTenant") { .page(Self.keysPage($0, $0.draft)) }
        table.post("/console/service/keys", rotate)
    }

    @Sendable private func connections(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let parts = visit.api.parts
        let provider = try? await parts.discovery()
        let bindsTokens = provider?["dpop_signing_alg_values_supported"]?.array?.contains("ES256") ?? false
        let none = Cell.badge("not connected", .plain)
        return .page(
            Page(
                "Connections", .service,
                lead: "Other systems that this service works with. They are set where the service is started.",
                above: Link("Service", "/console/service"),
                [
                    .card(
                        "Identity provider",
                        [
                            .facts([
                                ("Address", .code(parts.issuer)),
                                (
                                    "State",
                                    provider == nil
                                        ? .badge("cannot be reached", .bad) : .badge("can be reached", .good)
                                ),
                                ("Audience of administrators' tokens", .code(parts.audience)),
                                ("Binds tokens to keys", .text(bindsTokens ? "yes" : "no")),
                            ]),
                            .text(
                                "To change it, set issuer and audience of cordon serve; docs/providers.md has the steps."
                            ),
                        ]),
                    .card(
                        "Alerts",
                        [
                            .facts([("Webhook", webhook.map { .code($0) } ?? none)]),
                            .text(
                                "Failed wipes, flagged devices and waiting changes are sent to the webhook that alertWebhook of cordon serve names."
                            ),
                            .links([Link("Alerts so far", "/console/reports/alerts")]),
                        ]),
                    .card(
                        "Directory and working times",
                        [
                            .facts([
                                ("People and groups", .code(parts.base + "/scim/v2")),
                                ("Working times", .code(parts.base + "/admin/v1/users/ID/workingTime")),
                            ]),
                            .text(
                                "A directory and a source of working times send what they know to these addresses, with a token of a program."
                            ),
                        ]),
                    .card(
                        "Threat defence",
                        [
                            .text(
                                "Apps ask the connector on the device; the service needs no address of it. A policy says which connector counts, and the highest threat level."
                            )
                        ]),
                ]))
    }

    // MARK: Keys

    private static let roles: [(value: String, text: Phrase, help: Phrase)] = [
        (
            "envelope", "Rules for apps",
            "The new key is published now and signs after a week, so that every app knows it."
        ),
        ("audit", "Audit log", "The new key signs at once."),
    ]

    private static func keysPage(_ visit: ConsoleVisit, _ form: ConsoleForm?, _ refusal: Refusal? = nil) -> Page {
        Page(
            "New signing key", .service,
            lead: "Change keys once a year, and at once when one may have leaked.",
            above: Link("Service", "/console/service"),
            Block.refused(refusal) + [
                .form(
                    Form(
                        "/console/service/keys", submit: "Make a new key",
                        hidden: [("page", "/console/service/keys")], isGrave: true,
                        cancel: Link("Cancel", "/console/service"),
                        [
                            Field(.radio(Self.roles), "role", "What it signs", value: form?["role"] ?? "envelope"),
                            Field(
                                .flag, "emergency", "The key in use has leaked: end it now",
                                help:
                                    "Apps take rules of the new key alone from then on. Those that are offline learn it at their next contact.",
                                value: form?["emergency"] ?? ""),
                        ])),
                .text(
                    "The root key is never changed here. Apps pin it; docs/operating.md says how it is kept and replaced."
                ),
            ])
    }

    @Sendable private func rotate(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        do {
            try await visit.api.call(
                .post, "/admin/v1/keys",
                ["role": .string(visit.form["role"]), "emergency": .bool(visit.form["emergency"] == "true")])
            return .moved("/console/service")
        } catch let refusal as Refusal where refusal.isOfForm {
            return .page(Self.keysPage(visit, visit.form, refusal), .badRequest)
        }
    }
}
