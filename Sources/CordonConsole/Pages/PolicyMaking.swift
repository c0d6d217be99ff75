import CordonPolicy
import CordonServiceHTTP
import Foundation
import HTTPTypes

/// Making a policy: from a baseline, or as a copy of another one (SRV-UI-02).
struct PolicyMaking {
    func add(to table: ConsoleTable) {
        table.get("/console/policies/new", needs: "writePolicies", new)
        table.post("/console/policies/new", create)
        table.post("/console/policies/:id/copy", copy)
    }

    private static let levels: [(value: String, text: Phrase, help: Phrase)] = [
        (
            "level1", "Level 1: basic",
            "A PIN, encryption and selective wipe. Data may still go to other apps. For everyday data."
        ),
        (
            "level2", "Level 2: enhanced",
            "Data stays among protected apps: no saving elsewhere, limited copying, links in the protected browser, no backups, a recent system. For most people with organisation data on their phones."
        ),
        (
            "level3", "Level 3: high",
            "As level 2, and: no printing, no other keyboards, data comes in from protected apps only, longer PINs, wipe on a jailbroken device, and a threat-defence connector is needed. For people with very sensitive data."
        ),
    ]

    private static func newPage(_ visit: ConsoleVisit, _ form: ConsoleForm?, refusal: Refusal? = nil) -> Page {
        let level = form?["level"] ?? visit.typed("level", else: "level2")
        var blocks = Block.refused(refusal)
        blocks.append(
            .form(
                Form(
                    "/console/policies/new", submit: "Make the policy", cancel: Link("Cancel", "/console/policies"),
                    [
                        Field(
                            .text, "name", "Name",
                            help: "As your colleagues will look for it, such as Field workers, enhanced.",
                            value: form?["name"] ?? visit.typed("name"), isRequired: true),
                        Field(
                            .text, "description", "Description",
                            value: form?["description"] ?? visit.typed("description")),
                        Field(.radio(Self.levels), "level", "Begin with", value: level),
                    ])))
        return Page(
            "New policy", .policies, lead: "The policy has no effect until you add apps and assign it.",
            above: Link("Policies", "/console/policies"), blocks)
    }

    @Sendable private func new(_ visit: ConsoleVisit) async throws -> ConsoleAnswer { .page(Self.newPage(visit, nil)) }

    @Sendable private func create(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let level = AppProtectionPolicy.Baseline(rawValue: visit.form["level"]) ?? .level2
        var document = AppProtectionPolicy.baseline(level).completeGraphJSON.object ?? [:]
        document["id"] = nil
        document["version"] = nil
        document["displayName"] = .string(visit.form["name"])
        document["description"] = .string(visit.form["description"])
        do {
            let made = try await visit.api.call(
                .post, "/beta/deviceAppManagement/iosManagedAppProtections", .object(document))
            return .moved(PolicyPages.path(made.text("id")))
        } catch let refusal as Refusal where refusal.status == .badRequest || refusal.status == .conflict {
            return .page(Self.newPage(visit, visit.form, refusal: refusal), .badRequest)
        }
    }

    /// The members of a policy from which an unassigned copy is made.
    static func unassigned(_ document: [String: JSONValue]) -> [String: JSONValue] {
        let own: Set = [
            "id", "version", "createdDateTime", "lastModifiedDateTime", "isAssigned", "assignments", "deployedAppCount",
        ]
        return document.filter { name, _ in
            !own.contains(name) && (name == "@odata.type" || !name.contains("@odata."))
        }
    }

    @Sendable private func copy(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let policy = try await visit.api.get(PolicyPages.route(visit.keys[0]))
        var document = Self.unassigned(policy.object ?? [:])
        document["displayName"] = .string("Copy of " + policy.text("displayName"))
        let made = try await visit.api.call(.post, PolicyPages.collection, .object(document))
        return .moved(PolicyPages.path(made.text("id")))
    }
}
