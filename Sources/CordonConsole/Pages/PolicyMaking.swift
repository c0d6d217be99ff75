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

    /// Whom a new policy is for.
    enum Audience: String, CaseIterable {
        /// The people of groups that are chosen afterwards.
        case groups
        /// All people whom no other policy reaches, from the start.
        case everyone
    }

    /// The page on which a policy is made for some people.
    static func path(for audience: Audience) -> String { "/console/policies/new?for=\(audience.rawValue)" }

    private static let audiences: [(value: String, text: Phrase, help: Phrase)] = [
        (
            Audience.groups.rawValue, "People of groups",
            "It has no effect until you add apps and assign it. Where other policies reach the same people, the stricter value of each setting counts; the preview shows which."
        ),
        (
            Audience.everyone.rawValue, "Everyone without another policy",
            "In every app, until you name some. It takes effect as soon as you publish it, and its values for apps are the default values of all people."
        ),
    ]

    private static func newPage(_ visit: ConsoleVisit, _ form: ConsoleForm?, refusal: Refusal? = nil) -> Page {
        let level = form?["level"] ?? visit.typed("level", else: "level2")
        let asked = Audience(rawValue: visit.query["for"]) ?? .groups
        var blocks = Block.refused(refusal)
        blocks.append(
            .form(
                Form(
                    "/console/policies/new", submit: "Make the policy", hidden: [("page", "/console/policies/new")],
                    cancel: Link("Cancel", "/console/policies"),
                    [
                        Field(
                            .text, "name", "Name",
                            help: "As your colleagues will look for it, such as Field workers, enhanced.",
                            value: form?["name"] ?? visit.typed("name"), isRequired: true),
                        Field(
                            .text, "description", "Description",
                            value: form?["description"] ?? visit.typed("description")),
                        Field(
                            .radio(Self.audiences), "for", "For",
                            value: form?["for"] ?? visit.typed("for", else: asked.rawValue)),
                        Field(.radio(Self.levels), "level", "Begin with", value: level),
                    ])))
        return Page(
            "New policy", .policies, lead: "The settings of a baseline can be changed one by one afterwards.",
            above: Link("Policies", "/console/policies"), blocks)
    }

    @Sendable private func new(_ visit: ConsoleVisit) async throws -> ConsoleAnswer { .page(Self.newPage(visit, nil)) }

    @Sendable private func create(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let form = visit.form
        let level = AppProtectionPolicy.Baseline(rawValue: form["level"]) ?? .level2
        let audience = Audience(rawValue: form["for"]) ?? .groups
        let kind = audience == .everyone ? "defaultManagedAppProtection" : "iosManagedAppProtection"
        var document = AppProtectionPolicy.baseline(level).completeGraphJSON.object ?? [:]
        document["id"] = nil
        document["version"] = nil
        document["@odata.type"] = .string("#microsoft.graph." + kind)
        document["displayName"] = .string(form["name"])
        document["description"] = .string(form["description"])
        if audience == .everyone, form["step"] != "publish" {
            let kept = ["name", "description", "for", "level"].map { ($0, form[$0]) }
            return .page(try await Self.preview(document, typed: kept, on: "/console/policies/new", visit))
        }
        do {
            let made = try await visit.api.call(
                .post, "/beta/deviceAppManagement/\(kind)s", .object(document), impact: form["impact"])
            return PolicyOutcome.made.shown(on: made.text("id"))
        } catch let refusal as Refusal where refusal.isOfForm {
            return .page(Self.newPage(visit, form, refusal: refusal), .badRequest)
        }
    }

    /// What a policy for everyone would do, before it takes effect.
    ///
    /// - Parameters:
    ///   - typed: What was filled in, which comes again when the policy is published.
    ///   - path: The page where it was.
    static func preview(
        _ document: [String: JSONValue], typed: [(String, String)], on path: String, _ visit: ConsoleVisit
    ) async throws -> Page {
        guard visit.may("writePolicies"), visit.may("assignPolicies") else {
            throw Refusal(.forbidden, "forbidden", "Your roles do not include this.")
        }
        let impact = try await ShownImpact(of: ["create": .object(document)], visit)
        let policy = try? AppProtectionPolicy(graphJSON: .object(document))
        let closed = try await ClosedApps(by: policy, of: .object(document), visit)
        let name = document["displayName"]?.string ?? ""
        return Page(
            "\(name) for everyone without another policy", .policies,
            lead: "Nothing is in force before you have seen the preview and publish it.",
            above: Link("Policies", "/console/policies"),
            [
                .note(
                    .notice, "This reaches every person whom no other policy reaches, now and later.",
                    ["Apps on devices that get these rules now: \(impact.apps)."])
            ] + impact.blocks + closed.blocks + [
                .form(
                    Form(
                        path, submit: "Publish",
                        hidden: typed + [("step", "publish"), ("impact", impact.token), ("page", path)],
                        cancel: Link("Make no policy", "/console/policies"), []))
            ])
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
        return PolicyOutcome.made.shown(on: made.text("id"))
    }
}
