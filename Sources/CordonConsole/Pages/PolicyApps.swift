import CordonPolicy
import CordonServiceHTTP
import Foundation
import HTTPTypes

/// Which apps a policy is about (SRV-UI-04).
struct PolicyApps {
    func add(to table: ConsoleTable) {
        table.get("/console/policies/:id/apps", needs: "assignPolicies", show)
        table.post("/console/policies/:id/apps", save)
    }

    /// On which devices a policy counts.
    static let levels: [(value: String, text: Phrase)] = [
        ("unspecified", "any device"), ("mdm", "a device that is managed"),
        ("unmanaged", "a device that is not managed"),
    ]

    /// The id of an app as its platform has it.
    private static func bundle(_ app: JSONValue) -> String {
        let identifier = app["mobileAppIdentifier"]
        return ["bundleId", "packageId", "windowsAppId"].lazy.compactMap { identifier?[$0]?.string }.first ?? ""
    }

    /// - Parameter version: The version that was shown when the form was, nil where it is shown now.
    private static func page(
        _ entity: JSONValue, _ typed: ConsoleForm?, _ visit: ConsoleVisit, version: String? = nil,
        _ notes: [Block] = []
    ) async -> Page {
        let known = await CataloguePages.apps(visit)
        let id = entity.text("id")
        let bundles = entity.list("apps").map(bundle)
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
                    PolicyPages.path(id) + "/apps", submit: "Save the apps",
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
                            .long, "apps", "Bundle ids",
                            help:
                                "One per line, such as com.example.notes: CFBundleIdentifier in the app's Info.plist. Apps of the catalogue are listed below.",
                            value: value("apps", bundles.joined(separator: "\n"))),
                    ])))
        if !known.isEmpty {
            blocks.append(
                .table(
                    Table(
                        "Apps of the catalogue", ["Name", "Bundle id", "Protected"],
                        known.prefix(50).map { app in
                            let isListed = bundles.contains { $0.lowercased() == app.text("bundleId").lowercased() }
                            return [
                                .text(.data(app.text("displayName"))), .code(app.text("bundleId")),
                                .text(isListed ? "yes" : "no"),
                            ]
                        }, empty: "")))
        }
        return Page(
            "Apps of \(entity.text("displayName"))", .policies,
            above: Link(.data(entity.text("displayName")), PolicyPages.path(id)),
            blocks)
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
        let isAndroid = entity.text("@odata.type").hasSuffix("androidManagedAppProtection")
        let known = Dictionary(grouping: entity.list("apps")) { Self.bundle($0).lowercased() }
        // The apps that a configuration has of another platform stay of that.
        let apps = form.lines("apps").flatMap { bundle -> [JSONValue] in
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
        do {
            try await visit.api.call(
                .post, PolicyPages.route(id) + "/targetApps", .object(body), ifVersion: form["version"])
            let (level, known) = (form["level"], entity.text("targetedAppManagementLevels"))
            if !level.isEmpty, level != known, level != "unspecified" || !known.isEmpty {
                try await visit.api.call(
                    .patch, PolicyPages.route(id), ["targetedAppManagementLevels": .string(level)])
            }
            return .moved(PolicyPages.path(id))
        } catch let refusal as Refusal where refusal.status == .preconditionFailed {
            return await Self.conflict(try await visit.api.get(path), visit)
        } catch let refusal as Refusal where refusal.status == .badRequest {
            // The apps may be saved when it is the level that is refused.
            let now = try await visit.api.get(path)
            return .page(await Self.page(now, form, visit, Block.refused(refusal)), .badRequest)
        }
    }

    private static func conflict(_ entity: JSONValue, _ visit: ConsoleVisit) async -> ConsoleAnswer {
        let set = entity.text("appGroupType")
        let now = set == "selectedPublicApps" ? [] : [SettingTexts.words(set)]
        let apps = now + entity.list("apps").map { .data(bundle($0)) }
        return .page(await page(entity, visit.form, visit, [ShownVersion.overtaken(by: apps)]), .conflict)
    }
}
