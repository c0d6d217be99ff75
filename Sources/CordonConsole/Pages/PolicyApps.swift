import CordonPolicy
import CordonServiceHTTP
import Foundation
import HTTPTypes

/// Which apps a policy is about (SRV-UI-04).
struct PolicyApps {
    func add(to table: ConsoleTable) {
        table.get("/console/policies/:id/apps", needs: "assignPolicies", show)
        table.post("/console/policies/:id/apps", needs: "assignPolicies", save)
    }

    /// On which devices a policy counts.
    static let levels: [(value: String, text: Phrase)] = [
        ("unspecified", "any device"), ("mdm", "a device that is managed"),
        ("unmanaged", "a device that is not managed"),
    ]

    /// The id of an app as its platform has it.
    static func bundle(_ app: JSONValue) -> String {
        let identifier = app["mobileAppIdentifier"]
        return ["bundleId", "packageId", "windowsAppId"].lazy.compactMap { identifier?[$0]?.string }.first ?? ""
    }

    /// - Parameter version: The version that was shown when the form was, nil where it is shown now.
    private static func page(
        _ entity: JSONValue, _ typed: ConsoleForm?, _ visit: ConsoleVisit, version: String? = nil,
        _ notes: [Block] = []
    ) async -> Page {
        let (known, hasMore) = await known(visit)
        let id = entity.text("id")
        let bundles = entity.list("apps").map(bundle)
        let (offered, listed) = (Set(known.map { $0.value.lowercased() }), Set(bundles.map { $0.lowercased() }))
        let ticked = typed?.all("known") ?? known.map(\.value).filter { listed.contains($0.lowercased()) }
        func value(_ name: String, _ known: String) -> String {
            typed.flatMap { $0.has(name) ? $0.all(name).joined() : nil } ?? known
        }
        let sets: [(value: String, text: Phrase)] = [
            ("selectedPublicApps", "the apps listed below"), ("allApps", "every app"),
            ("allMicrosoftApps", "all Microsoft apps"),
            ("allCoreMicrosoftApps", "the core Microsoft apps"),
        ]
        var blocks = notes
        blocks.append(
            .form(
                Form(
                    PolicyPages.path(id) + "/apps", submit: isInForce(entity) ? "Preview" : "Save the apps",
                    hidden: [
                        ("version", version ?? entity.text("version")), ("page", PolicyPages.path(id) + "/apps"),
                    ], cancel: Link("Cancel", PolicyPages.path(id)),
                    [
                        Field(
                            .choice(sets), "set", "This policy protects",
                            value: value("set", entity.text("appGroupType"))),
                        Field(
                            .choice(Self.levels), "level", "On",
                            value: value("level", entity.text("targetedAppManagementLevels"))),
                        Field(
                            .several(known), "known", "Apps",
                            help: known.isEmpty
                                ? "No app is known yet. One that a person signs in to appears here, as do those of the catalogue."
                                : hasMore
                                    ? "Apps of the catalogue, and those that people have signed in to. There are more than are listed here: name those by bundle id below."
                                    : "Apps of the catalogue, and those that people have signed in to.",
                            value: ticked.joined(separator: ",")),
                        Field(
                            .long, "apps", "Other apps, by bundle id",
                            help:
                                "One per line, such as com.example.notes: CFBundleIdentifier in the app's Info.plist.",
                            value: value(
                                "apps", bundles.filter { !offered.contains($0.lowercased()) }.joined(separator: "\n"))),
                    ])))
        return Page(
            "Apps of \(entity.text("displayName"))", .policies,
            above: Link(.data(entity.text("displayName")), PolicyPages.path(id)),
            blocks)
    }

    /// The most apps that are offered of the catalogue, and the most others.
    private static let mostOffered = 50

    /// The apps to choose among: those of the catalogue, then those that people have on devices and it does not name; and whether there
    /// are more.
    private static func known(_ visit: ConsoleVisit) async -> (apps: [(value: String, text: Phrase)], hasMore: Bool) {
        let catalogue = await CataloguePages.apps(visit)
        let named = Set(catalogue.map { $0.text("bundleId").lowercased() })
        let installed = (try? await visit.api.get("/admin/v1/reports/versions"))?.array ?? []
        let others = Set(installed.map { $0.text("bundleID") }).filter { !named.contains($0.lowercased()) }.sorted()
        let lists: [[(value: String, text: Phrase)]] = [
            catalogue.map { ($0.text("bundleId"), "\($0.text("displayName")) (\($0.text("bundleId")))") },
            others.map { ($0, .data($0)) },
        ].map { apps in apps.filter { isBundleID($0.value) } }
        return (lists.flatMap { $0.prefix(mostOffered) }, lists.contains { $0.count > mostOffered })
    }

    /// Whether the policy reaches people already, so that a change of its apps takes effect at once.
    private static func isInForce(_ entity: JSONValue) -> Bool {
        PolicyPages.isForEveryone(entity) || entity["isAssigned"] == true
    }

    /// Whether a platform takes this for the id of an app.
    private static func isBundleID(_ text: String) -> Bool {
        text.wholeMatch(of: /[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?/) != nil
    }

    /// The apps that a form names, ticked or typed, each once.
    private static func bundles(_ form: ConsoleForm) -> [String] {
        var seen: Set<String> = []
        return (form.all("known").flatMap { $0.split(separator: ",") }.map(String.init) + form.lines("apps"))
            .filter { seen.insert($0.lowercased()).inserted }
    }

    /// Whether more than the apps changes.
    private static func isUpdate(_ body: JSONValue) -> Bool { body["targetedAppManagementLevels"] != nil }

    /// What people lose and get by other apps or on other devices, before it takes effect.
    private static func preview(
        _ entity: JSONValue, _ body: JSONValue, _ visit: ConsoleVisit
    ) async throws -> ConsoleAnswer {
        let (id, name) = (entity.text("id"), entity.text("displayName"))
        let question = isUpdate(body) ? "update" : "targetApps"
        let impact = try await ShownImpact(of: .object(["policy": .string(id), question: body]), visit)
        let changed = JSONValue.object((entity.object ?? [:]).merging(body.object ?? [:]) { $1 })
        let closed = try await ClosedApps(by: try? AppProtectionPolicy(graphJSON: entity), of: changed, visit)
        let kept =
            ["set", "level", "apps"].map { ($0, visit.form[$0]) } + visit.form.all("known").map { ("known", $0) }
        let form = Form(
            PolicyPages.path(id) + "/apps", submit: "Publish",
            hidden: kept + [
                ("version", entity.text("version")), ("impact", impact.token), ("step", "publish"),
                ("page", PolicyPages.path(id) + "/apps"),
            ], cancel: Link("Change nothing", PolicyPages.path(id)), [])
        let apps = body.list("apps").map { Cell.code(bundle($0)) }
        let isSet = PolicyPages.isSet(visit.form["set"])
        let level = levels.first { $0.value == visit.form["level"] }?.text ?? SettingTexts.words(visit.form["level"])
        return .page(
            Page(
                "Preview: apps of \(name)", .policies, lead: "Nothing is in force yet.",
                above: Link(.data(name), PolicyPages.path(id)),
                [
                    .facts([
                        (
                            Phrase("This policy protects"),
                            isSet
                                ? .text(SettingTexts.words(visit.form["set"]))
                                : .list(apps.isEmpty ? [.badge("none", .notice)] : apps)
                        ),
                        (Phrase("On"), .text(level)),
                    ])
                ] + impact.blocks + closed.blocks + [.form(form)]))
    }

    @Sendable private func show(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let entity = try await visit.api.get(PolicyPages.route(visit.keys[0]) + "?$expand=apps")
        visit.begin()
        return .page(await Self.page(entity, visit.draft, visit, version: ShownVersion.of(visit.draft)))
    }

    @Sendable private func save(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let (id, form) = (visit.keys[0], visit.form)
        let path = PolicyPages.route(id) + "?$expand=apps"
        let entity = try await visit.api.get(path)
        guard !ShownVersion.isOutdated(form, entity) else { return await Self.conflict(entity, visit) }
        let flawed = Self.bundles(form).filter { !Self.isBundleID($0) }
        guard flawed.isEmpty else {
            let note = Block.note(.bad, "These are not bundle ids:", flawed.map { .data($0) })
            let version = ShownVersion.of(form)
            return .page(await Self.page(entity, form, visit, version: version, [note]), .badRequest)
        }
        let isAndroid = entity.text("@odata.type").hasSuffix("androidManagedAppProtection")
        let known = Dictionary(grouping: entity.list("apps")) { Self.bundle($0).lowercased() }
        // The apps that a configuration has of another platform stay of that.
        let apps = Self.bundles(form).flatMap { bundle -> [JSONValue] in
            if let same = known[bundle.lowercased()] {
                return same.map { ["mobileAppIdentifier": $0["mobileAppIdentifier"] ?? .null] }
            }
            return [
                [
                    "mobileAppIdentifier": isAndroid
                        ? ["@odata.type": "#microsoft.graph.androidMobileAppIdentifier", "packageId": .string(bundle)]
                        : ["@odata.type": "#microsoft.graph.iosMobileAppIdentifier", "bundleId": .string(bundle)]
                ]
            ]
        }
        var body: [String: JSONValue] = ["apps": .array(apps)]
        if !form["set"].isEmpty { body["appGroupType"] = .string(form["set"]) }
        let (level, present) = (form["level"], entity.text("targetedAppManagementLevels"))
        if !level.isEmpty, level != (present.isEmpty ? "unspecified" : present) {
            body["targetedAppManagementLevels"] = .string(level)
        }
        // A form that does not say what it was made from is refused below.
        if Self.isInForce(entity), form["step"] != "publish", ShownVersion.of(form) != nil {
            return try await Self.preview(entity, .object(body), visit)
        }
        do {
            // On which devices a policy counts is a member of the policy, changed with its apps at once.
            let isUpdate = Self.isUpdate(.object(body))
            try await visit.api.call(
                isUpdate ? .patch : .post, PolicyPages.route(id) + (isUpdate ? "" : "/targetApps"), .object(body),
                ifVersion: form["version"], impact: form["impact"])
            return PolicyOutcome.apps.shown(on: id)
        } catch let refusal as Refusal where refusal.status == .preconditionFailed {
            return await Self.conflict(try await visit.api.get(path), visit)
        } catch let refusal as Refusal where refusal.status == .badRequest {
            let version = form["version"]
            return .page(await Self.page(entity, form, visit, version: version, Block.refused(refusal)), .badRequest)
        }
    }

    private static func conflict(_ entity: JSONValue, _ visit: ConsoleVisit) async -> ConsoleAnswer {
        let set = entity.text("appGroupType")
        let now = PolicyPages.isSet(set) ? [SettingTexts.words(set)] : []
        let apps = now + entity.list("apps").map { .data(bundle($0)) }
        return .page(await page(entity, visit.form, visit, [ShownVersion.overtaken(by: apps)]), .conflict)
    }
}
