import CordonPolicy
import CordonServiceHTTP
import Foundation
import HTTPTypes

/// One policy: what it says, whom it reaches and how far it has come (SRV-UI-02, SRV-UI-10).
struct PolicyPages {
    static let collection = "/beta/deviceAppManagement/managedAppPolicies"

    func add(to table: ConsoleTable) {
        PolicyListPage().add(to: table)
        PolicyMaking().add(to: table)
        table.get("/console/policies/:id", live: true, show)
        table.get("/console/policies/:id/export", export)
        PolicyComparison().add(to: table)
        PolicyDeletion().add(to: table)
    }

    static func path(_ id: String) -> String { "/console/policies/" + ConsolePath.part(id) }
    static func route(_ id: String) -> String { collection + "/" + ConsolePath.part(id) }

    /// What kind of policy it is, in words.
    static func kind(_ policy: JSONValue) -> Phrase {
        switch policy.text("@odata.type").split(separator: ".").last {
        case "iosManagedAppProtection": "Protection, iOS"
        case "androidManagedAppProtection": "Protection, Android: stored, not enforced here"
        case "defaultManagedAppProtection": "Protection, for all people without another policy"
        case "targetedManagedAppConfiguration": "App configuration"
        default: "Policy"
        }
    }

    /// What kind of policy it is, and on which devices it counts where that is not any.
    static func described(_ policy: JSONValue) -> Cell {
        let level = policy.text("targetedAppManagementLevels")
        guard !["", "unspecified"].contains(level) else { return .text(kind(policy)) }
        let words = PolicyApps.levels.first { $0.value == level }?.text ?? SettingTexts.words(level)
        return .list([.text(kind(policy)), .badge(words, .plain)])
    }

    static func isConfiguration(_ policy: JSONValue) -> Bool {
        policy.text("@odata.type").hasSuffix("targetedManagedAppConfiguration")
    }

    /// Whether it reaches all people whom no other policy reaches, so that it is not assigned.
    static func isForEveryone(_ policy: JSONValue) -> Bool {
        policy.text("@odata.type").hasSuffix("defaultManagedAppProtection")
    }

    private static let everyone: Phrase = "everyone without another policy"

    @Sendable private func show(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let id = visit.keys[0]
        let entity = try await visit.api.get(Self.route(id) + "?$expand=apps,assignments")
        guard !Self.isConfiguration(entity) else { return .moved(ConfigurationPages.path(id)) }
        visit.begin()
        let policy = try? AppProtectionPolicy(graphJSON: entity)
        var blocks = PolicyOutcome(rawValue: visit.query["done"]).map { [$0.note(on: entity)] } ?? []
        blocks += try await Self.state(entity, visit)
        let path = Self.path(id)
        var links: [Link] = []
        if visit.may("writePolicies") {
            links += SettingDescription.Group.allCases.map {
                Link("Change: \(SettingTexts.title(of: $0))", path + "/edit/\($0.rawValue)")
            }
        }
        if visit.may("assignPolicies") {
            // One step after the other, the next one first: what a policy has no app for, it cannot protect.
            let (lacksApps, isIdle) = (Self.lacksApps(entity), entity.list("assignments").isEmpty)
            links.insert(Link("Apps", path + "/apps", isMain: lacksApps), at: lacksApps ? 0 : links.count)
            if !Self.isForEveryone(entity) {
                links.insert(
                    Link("Assign", path + "/assignments", isMain: !lacksApps && isIdle),
                    at: !lacksApps && isIdle ? 0 : links.count)
            }
        }
        if Self.isForEveryone(entity) { links.append(Link("Default values", ConfigurationPages.path(ofDefaults: id))) }
        links.append(Link("History", path + "/history"))
        links.append(Link("Compare", path + "/compare"))
        links.append(Link("Export as JSON", path + "/export"))
        if visit.may("deletePolicies") { links.append(Link("Delete", path + "/delete")) }
        blocks.append(.links(links))
        if let policy {
            blocks += try await ClosedApps(by: policy, of: entity, visit).blocks
            blocks += [Self.remarks(on: policy), .table(Self.conditions(policy))]
            blocks += Self.settings(policy)
        }
        // A copy of what reaches everyone would take effect unseen.
        if visit.may("writePolicies"), !Self.isForEveryone(entity) {
            blocks.append(
                .form(Form(path + "/copy", submit: "Make a copy", hidden: [("page", path)], isQuiet: true, [])))
        }
        return .page(
            Page(
                .data(entity.text("displayName")), .policies, lead: .data(entity.text("description")), isLive: true,
                above: Link("Policies", "/console/policies"), blocks))
    }

    /// The set of apps of a policy that names none.
    static func apps(_ policy: JSONValue) -> Phrase {
        isForEveryone(policy) ? "every app" : SettingTexts.words(policy.text("appGroupType"))
    }

    /// Whom a policy reaches that is not assigned.
    static func unassigned(_ policy: JSONValue) -> Cell {
        isForEveryone(policy) ? .text(everyone) : .badge("not assigned", .notice)
    }

    /// Whether the policy is about no app: it names none, nor a set of them.
    static func lacksApps(_ entity: JSONValue) -> Bool {
        !isForEveryone(entity) && entity.list("apps").isEmpty
            && !hasSet(entity)
    }

    /// Whether the policy is about a set of apps, beside those that it names.
    static func hasSet(_ entity: JSONValue) -> Bool { isSet(entity.text("appGroupType")) }

    /// Whether a group of apps is a set, and not the apps that a policy names.
    static func isSet(_ group: String) -> Bool { !["", "selectedPublicApps"].contains(group) }

    /// How many apps without the newest rules are looked at for one page.
    private static let mostLate = 50

    /// Whom the policy reaches and how far it has come.
    private static func state(_ entity: JSONValue, _ visit: ConsoleVisit) async throws -> [Block] {
        let id = entity.text("id")
        let assignments = entity.list("assignments")
        let groups = try await PolicyTargeting.names(ofGroups: PolicyTargeting.groups(in: assignments), visit)
        let reached = assignments.map { PolicyTargeting.words(of: $0["target"] ?? .null, groups) }
        let apps = entity.list("apps").compactMap { $0["mobileAppIdentifier"]?["bundleId"]?.string }
        let hasSet = isForEveryone(entity) ? apps.isEmpty : Self.hasSet(entity)
        let summary = try? await visit.api.get(route(id) + "/deploymentSummary")
        let late = (try? await visit.api.get("/admin/v1/reports/drift?top=\(mostLate)"))?.array
        let waiting = (late ?? []).filter { app in
            (app.list("intended") + app.list("applied")).contains { $0.text("id") == id }
        }
        let rest = Self.rest(waiting.count, among: late?.count)
        let inForce = try await VersionsInForce(of: [id], visit)
        var blocks: [Block] = []
        if lacksApps(entity) {
            blocks.append(.note(.notice, "This policy has no app yet.", ["Add the apps that it protects."]))
        }
        if reached.isEmpty, !isForEveryone(entity) {
            blocks.append(.note(.notice, "This policy is not assigned yet.", ["Assign it to a group."]))
        } else if !lacksApps(entity), summary?.number("configurationDeployedUserCount") == 0, waiting.isEmpty {
            blocks.append(
                .note(
                    .notice, "No app has these rules yet.",
                    [
                        "Nothing is left to do here. An app gets them when a person signs in to it, or at its next contact, and this page shows it."
                    ]))
        }
        blocks.append(
            .facts([
                (Phrase("Kind"), described(entity)), (Phrase("Newest version"), inForce.version(of: entity)),
                (Phrase("Changed"), .time(entity.date("lastModifiedDateTime"))),
                (Phrase("Changed by"), .text(inForce.name(of: id))),
                (
                    "Apps",
                    lacksApps(entity)
                        ? .badge("none yet", .notice)
                        : .list((hasSet ? [.text(Self.apps(entity))] : []) + apps.map { .code($0) })
                ),
                ("Reaches", .list(reached.isEmpty ? [unassigned(entity)] : reached.map { .text($0) })),
                (
                    "People whose apps have it, in any version",
                    .text("\(summary?.number("configurationDeployedUserCount") ?? 0)")
                ),
                (Phrase("Apps that have not confirmed it"), rest),
            ]))
        if !waiting.isEmpty {
            let people = try await PeopleStatus(of: waiting.prefix(20).map { $0.text("userID") }, visit)
            blocks.append(
                .table(
                    Table(
                        "Apps that have not confirmed the version yet",
                        ["Person", "App", "Device tag", "Last contact"],
                        waiting.prefix(20).map { app in
                            [
                                .link(.data(people.name(of: app.text("userID"))), PeoplePages.path(app.text("userID"))),
                                .link(.data(app.text("bundleID")), DevicePages.path(app.text("registrationID"))),
                                .code(app.text("deviceTag")), .time(app.date("lastSync")),
                            ]
                        }, empty: "",
                        more: waiting.count > 20 ? Link("More", "/console/reports/drift") : nil)))
        }
        return blocks
    }

    /// How many apps wait for a policy, of those that were looked at; nil where that is not known.
    private static func rest(_ count: Int, among looked: Int?) -> Cell {
        guard let looked else { return .text("not known") }
        guard looked >= mostLate else { return count == 0 ? .badge("none", .good) : .badge("\(count)", .notice) }
        return count == 0
            ? .link("many apps wait for rules: see the report", "/console/reports/drift")
            : .badge("\(count) or more", .notice)
    }

    /// What the rules say about a policy, such as what its people could be locked out by.
    static func remarks(on policy: AppProtectionPolicy) -> Block {
        let findings = PolicyLint.findings(in: policy)
        guard !findings.isEmpty else {
            return .note(.good, "The settings of this policy do not contradict each other.", [])
        }
        let worst = findings.contains { $0.severity == .error } ? Tone.bad : .notice
        return .note(
            worst, "\(findings.count) remarks on this policy:",
            findings.map { "\(SettingTexts.text(of: $0.setting).label): \(.said($0.message))" })
    }

    /// What must be true before apps open, each with its value and what happens where it is not (SRV-UI-07).
    static func conditions(_ policy: AppProtectionPolicy) -> Table {
        let actions = [("Required", "block"), ("Warning", "warn"), ("Wipe", "wipe")]
        let idle = policy.idleSettings
        let rows = SettingDescription.all.filter { $0.group == .launch }.compactMap { setting -> [Cell]? in
            let value = policy.value(ofSetting: setting.name)
            // What is not configured, or waits for a setting that is not, is no condition.
            guard value != .null, value != false, value.string?.isEmpty != true, value.array?.isEmpty != true,
                value.string != "notConfigured", !idle.contains(setting.name)
            else { return nil }
            let action: Phrase
            var shown = SettingTexts.value(value, of: setting.name)
            if let known = actions.first(where: { setting.name.contains($0.0) && setting.name.hasSuffix("Version") }) {
                action = SettingTexts.words(known.1)
            } else if setting.names.contains("wipe") {
                (shown, action) = ("–", SettingTexts.value(value))
            } else if setting.name.hasSuffix("WipeIsEnforced") {
                action = SettingTexts.words("wipe")
            } else {
                action = SettingTexts.words("block")
            }
            return [
                .text(SettingTexts.text(of: setting.name).label), .text(shown), .text(action),
            ]
        }
        return Table(
            "Conditions", ["Setting", "Value", "Action"], rows,
            empty: "No condition is set. Apps open on any device and system.")
    }

    private static func settings(_ policy: AppProtectionPolicy) -> [Block] {
        let idle = policy.idleSettings
        return SettingDescription.Group.allCases.map { group in
            let facts = SettingDescription.all.filter { $0.group == group }.map { setting -> (Phrase, Cell) in
                let value = policy.value(ofSetting: setting.name)
                let text = SettingTexts.value(value, of: setting.name)
                return (
                    SettingTexts.text(of: setting.name).label,
                    idle.contains(setting.name)
                        ? .list([.text(text), .badge("no effect at present", .plain)])
                        : value == setting.usual ? .text(text) : .list([.text(text), .badge("set", .good)])
                )
            }
            return .more("\(SettingTexts.title(of: group)): \(facts.count) settings", [.facts(facts)])
        }
    }

    @Sendable private func export(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let entity = try await visit.api.get(Self.route(visit.keys[0]) + "?$expand=apps,assignments")
        return .response(ReportFile.json(entity, named: "policy.json"))
    }
}
