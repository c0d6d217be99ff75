import CordonPolicy
import CordonServiceHTTP
import Foundation
import HTTPTypes

/// What reaches one person in one app, as the routes list it.
struct PersonRules {
    /// The bundle id that was asked for, else the first one that a policy of the person names; empty where there is none.
    let bundleID: String
    /// Every bundle id that a policy of the person names.
    let known: [String]
    /// The protections that reach the person in the app, as entities.
    let protections: [JSONValue]
    /// The app configurations that do.
    let configurations: [JSONValue]

    /// - Parameters:
    ///   - level: How the device is managed, `mdm` or `unmanaged`; empty for any.
    init(of person: String, app: String, level: String = "", _ visit: ConsoleVisit) async throws {
        let listed = try await visit.api.all(
            PeoplePages.route(person) + "/getManagedAppPolicies?$expand=apps", atMost: 200)
        var entities: [JSONValue] = []
        // Lists of a person's policies leave out which apps each is about.
        for policy in listed {
            entities.append(try await visit.api.get(PolicyPages.route(policy.text("id")) + "?$expand=apps"))
        }
        known = Set(entities.flatMap(Self.apps)).sorted()
        let named = Set(entities.map { $0.text("appGroupType") }.filter(PolicyPages.isSet)).subtracting(["allApps"])
        // Which apps are in a named set, the catalogue says. What cannot be read there is no answer about the person.
        var bundle = app.isEmpty ? entities.lazy.flatMap(Self.apps).first ?? "" : app
        var entry: JSONValue?
        if !named.isEmpty {
            entry =
                bundle.isEmpty
                ? try await CataloguePages.readApps(visit).first { !named.isDisjoint(with: Self.sets($0)) }
                : try await CataloguePages.app(bundle, visit)
        }
        if bundle.isEmpty { bundle = entry?.text("bundleId") ?? "" }
        bundleID = bundle
        let (sets, folded) = (Set(entry.map(Self.sets) ?? []), bundle.lowercased())
        let reaching = entities.filter { entity in
            let (apps, group) = (Self.apps(entity).map { $0.lowercased() }, entity.text("appGroupType"))
            let levels = entity.text("targetedAppManagementLevels").lowercased()
            return
                (apps.contains(folded) || group == "allApps" || sets.contains(group)
                || (apps.isEmpty && PolicyPages.isForEveryone(entity)))
                && (level.isEmpty || levels.isEmpty || levels.contains("unspecified")
                    || levels.split(separator: ",").contains { $0.trimmingCharacters(in: .whitespaces) == level })
        }
        // What is for everyone is for those whom no other policy reaches in the app.
        let own = reaching.filter { !PolicyPages.isConfiguration($0) && !PolicyPages.isForEveryone($0) }
        protections = own.isEmpty ? reaching.filter(PolicyPages.isForEveryone) : own
        configurations = reaching.filter(PolicyPages.isConfiguration)
    }

    /// The sets that an app of the catalogue belongs to.
    private static func sets(_ app: JSONValue) -> [String] { app.list("cordonAppGroups").compactMap(\.string) }

    private static func apps(_ entity: JSONValue) -> [String] {
        entity.list("apps").compactMap { $0["mobileAppIdentifier"]?["bundleId"]?.string }
    }
}

/// The rules that a person has in an app: each value, the policy it comes from, and the policies that lost (SRV-UI-12).
struct EffectiveRulesPage {
    func add(to table: ConsoleTable) { table.get("/console/people/:id/rules", show) }

    private static let levels: [(value: String, text: Phrase)] = [
        ("", "any device"), ("mdm", "a device that is managed"), ("unmanaged", "a device that is not managed"),
    ]

    static func path(_ person: String) -> String { PeoplePages.path(person) + "/rules" }

    @Sendable private func show(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let id = visit.keys[0]
        let user = try await visit.api.get(PeoplePages.route(id))
        visit.begin()
        let rules = try await PersonRules(of: id, app: visit.query["app"], level: visit.query["level"], visit)
        var blocks: [Block] = [
            .form(
                Form(
                    Self.path(id), submit: "Show", asks: true,
                    [
                        Field(
                            .text, "app", "App",
                            help: rules.known.isEmpty
                                ? "Bundle id. No policy of this person names an app."
                                : "Bundle id, such as \(.data(rules.known.joined(separator: ", "))).",
                            value: rules.bundleID),
                        Field(.choice(Self.levels), "level", "On", value: visit.query["level"]),
                    ]))
        ]
        let checks = try await visit.api.all(PeoplePages.route(id) + "/getManagedAppDiagnosticStatuses")
        let failing = checks.filter(PeoplePages.fails)
        blocks.append(
            failing.isEmpty
                ? .note(.good, "An app that checks in now is protected.", [])
                : .note(.notice, "An app that checks in now is told:", failing.map(PeoplePages.sentence)))
        let policies = rules.protections.compactMap { try? AppProtectionPolicy(graphJSON: $0) }
        if let effective = EffectivePolicy.merging(policies) {
            blocks.append(.table(Self.table(effective, rules.protections)))
        } else {
            blocks.append(
                .note(
                    .notice, "No policy reaches this person in this app.",
                    ["Assign a policy to a group of this person, or look at another app."]))
        }
        let values = rules.configurations.flatMap { one in
            one.list("customSettings").map { pair -> [Cell] in
                [
                    .code(pair.text("name")), ConfigurationPages.shown(pair, for: user),
                    .link(.data(one.text("displayName")), ConfigurationPages.path(one.text("id"))),
                ]
            }
        }
        blocks.append(
            .table(
                Table(
                    "App configuration", ["Key", "Value for this person", "Comes from"], values,
                    empty: "No app configuration reaches this person in this app.")))
        return .page(
            Page(
                "Rules of \(user.text("displayName"))", .people,
                lead: "Each value that is in force, the policy it comes from, and the policies that say otherwise.",
                above: Link(.data(user.text("displayName")), PeoplePages.path(id)), blocks))
    }

    private static func table(_ effective: EffectivePolicy, _ protections: [JSONValue]) -> Table {
        func link(_ id: String) -> Cell {
            .link(
                .data(protections.first { $0.text("id") == id }?.text("displayName") ?? id), PolicyPages.path(id))
        }
        let conflicts = Dictionary(
            effective.conflicts.map { ($0.setting, $0) }, uniquingKeysWith: { first, _ in first })
        let rows = SettingDescription.all.compactMap { setting -> [Cell]? in
            let value = effective.policy.value(ofSetting: setting.name)
            let losers = (conflicts[setting.name]?.candidates ?? []).filter { $0.value != value }
            guard value != setting.usual || !losers.isEmpty else { return nil }
            return [
                .text(SettingTexts.text(of: setting.name).label), .text(SettingTexts.value(value, of: setting.name)),
                link(effective.origin(of: setting.name).id),
                .list(losers.flatMap { [link($0.policyId), .text(SettingTexts.value($0.value, of: setting.name))] }),
            ]
        }
        return Table(
            "Settings in force", ["Setting", "Value in force", "Comes from", "Says otherwise"], rows,
            empty: "Every setting has its default value.")
    }
}
