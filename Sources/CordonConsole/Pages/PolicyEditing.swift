import CordonPolicy
import CordonServiceHTTP
import Foundation
import HTTPTypes

/// Changing what a policy says: settings by group, a preview, and publishing what was previewed (SRV-UI-03…07, SRV-UI-09).
struct PolicyEditing {
    func add(to table: ConsoleTable) {
        table.get("/console/policies/:id/edit/:group", needs: "writePolicies") { visit in
            let entity = try await Self.entity(visit)
            visit.begin()
            return .page(try await Self.editor(visit, entity, visit.draft, version: nil))
        }
        table.post("/console/policies/:id/edit/:group", needs: "writePolicies") { visit in
            let entity = try await Self.entity(visit)
            return .page(try await Self.editor(visit, entity, visit.form, version: visit.form["version"]))
        }
        table.post("/console/policies/:id/preview/:group", needs: "writePolicies") {
            try await Self.preview($0, newest: false)
        }
        table.post("/console/policies/:id/publish/:group", needs: "writePolicies") { try await Self.publish($0) }
    }

    private static func group(_ visit: ConsoleVisit) throws -> SettingDescription.Group {
        guard let group = SettingDescription.Group(rawValue: visit.keys[1]) else {
            throw Refusal(.notFound, "not-found", "Policies have no such group of settings.")
        }
        return group
    }

    /// The policy, with its apps where the form says which versions of them there are.
    private static func entity(_ visit: ConsoleVisit) async throws -> JSONValue {
        let expanded = try group(visit) == .launch ? "?$expand=apps" : ""
        return try await visit.api.get(PolicyPages.route(visit.keys[0]) + expanded)
    }

    private static func settings(_ visit: ConsoleVisit) throws -> [SettingDescription] {
        let group = try group(visit)
        return SettingDescription.all.filter { $0.group == group }
    }

    private static func path(_ visit: ConsoleVisit, _ step: String) -> String {
        PolicyPages.path(visit.keys[0]) + "/\(step)/" + ConsolePath.part(visit.keys[1])
    }

    // MARK: The form

    private static func editor(
        _ visit: ConsoleVisit, _ entity: JSONValue, _ form: ConsoleForm?, version: String?, errors: [PolicyError] = []
    ) async throws -> Page {
        let policy = try AppProtectionPolicy(graphJSON: entity)
        let shown =
            form.flatMap { try? AppProtectionPolicy(graphJSON: merged(entity, try changes(visit, $0))) } ?? policy
        let remarks = Dictionary(grouping: PolicyLint.findings(in: shown), by: \.setting)
        let idle = shown.idleSettings
        let group = try group(visit)
        var (named, fields): ([Field], [Field]) = ([], [])
        if group == .transfer || form?.has("name") ?? false {
            named.append(
                Field(.text, "name", "Name", value: form?["name"] ?? entity.text("displayName"), isRequired: true))
            named.append(
                Field(.text, "description", "Description", value: form?["description"] ?? entity.text("description")))
            let known = entity.list("roleScopeTagIds").compactMap(\.string).joined(separator: ",")
            named.append(
                Field(
                    .several(await CataloguePages.tags(visit)), "tags", "Scope tags",
                    help: "Roles that are limited to a tag hold for the policies that carry it.",
                    value: form?.all("tags").joined(separator: ",") ?? known))
        }
        // Who may not see it changes the policy all the same.
        let reported = group == .launch ? try? await ReportedVersions(of: entity, visit) : nil
        for setting in try settings(visit) {
            var field = field(setting, value: policy.value(ofSetting: setting.name))
            if let reported, ReportedVersions.areLimited(by: setting.name) {
                let parts = [field.help, reported.summary(limitedBy: setting.name)]
                field.help = .list(parts.filter { !$0.isEmpty }, separator: " ")
            }
            field.value = PeriodTexts.shown(field.value, of: setting.name, in: visit.language)
            if let form { field.value = form.all(field.name).joined(separator: ",") }
            field.remarks = (remarks[setting.name] ?? []).map { .said($0.message) }
            if idle.contains(setting.name) { field.idle = "Has no effect at present, because of other settings." }
            if let error = errors.first(where: { Self.setting(of: $0) == setting.name }) {
                field.error = Self.reason(error)
            }
            fields.append(field)
        }
        var blocks: [Block] = group == .launch ? [.table(PolicyPages.conditions(shown))] : []
        if !errors.isEmpty {
            blocks.append(
                .note(
                    .bad, "Nothing was changed: \(errors.count) values cannot be used.",
                    errors.map { "\(SettingTexts.text(of: Self.setting(of: $0)).label): \(Self.reason($0))" }))
        }
        blocks.append(
            .form(
                Form(
                    path(visit, "preview"), submit: "Preview",
                    hidden: [
                        ("version", Self.base(version, form, entity)),
                        ("page", path(visit, "edit")),
                    ] + (named.contains { $0.name == "tags" } ? [("asks", "tags")] : []),
                    cancel: Link("Cancel", PolicyPages.path(visit.keys[0])), named,
                    fieldsets: [
                        Fieldset(
                            legend: SettingTexts.title(of: group), help: SettingTexts.help(of: group), fields: fields)
                    ])))
        return Page(
            "\(SettingTexts.title(of: group)) of \(entity.text("displayName"))", .policies,
            lead: "Nothing is in force before you have seen the preview and publish it.",
            above: Link(.data(entity.text("displayName")), PolicyPages.path(visit.keys[0])), blocks)
    }

    /// The version that was looked at when editing began.
    private static func base(_ version: String?, _ form: ConsoleForm?, _ entity: JSONValue) -> String {
        for known in [version ?? "", form?["version"] ?? ""] where !known.isEmpty { return known }
        return entity.text("version")
    }

    /// The setting that an error is about, without the place in its value.
    private static func setting(of error: PolicyError) -> String {
        String(error.place.prefix(while: { $0.isLetter || $0.isNumber }))
    }

    private static func reason(_ error: PolicyError) -> Phrase {
        error.hint.map { "\(.said(error.reason)) (\(.said($0)))" } ?? .said(error.reason)
    }

    /// Everything that is wrong with what was typed: a wrong value gives way to the present one, until what is left can be read.
    private static func errors(in typed: [String: JSONValue], of entity: JSONValue) -> [PolicyError] {
        var (rest, errors): ([String: JSONValue], [PolicyError]) = (typed, [])
        while true {
            do {
                _ = try AppProtectionPolicy(graphJSON: merged(entity, rest))
                return errors
            } catch {
                errors.append(error)
                guard rest.removeValue(forKey: setting(of: error)) != nil else { return errors }
            }
        }
    }

    private static func field(_ setting: SettingDescription, value: JSONValue) -> Field {
        let text = SettingTexts.text(of: setting.name)
        let options = setting.names.map { (value: $0, text: SettingTexts.words($0)) }
        let kind: Field.Kind
        var typed = ""
        switch (setting.usual, setting.names.isEmpty) {
        case (.bool, _):
            kind = .flag
            typed = value == true ? "true" : ""
        case (.array, false):
            kind = .several(options)
            typed = (value.array ?? []).compactMap(\.string).joined(separator: ",")
        case (.array, true):
            kind = .long
            typed = (value.array ?? []).map { $0.string ?? $0["value"]?.string ?? "" }.joined(separator: "\n")
        case (_, false):
            kind = .choice((setting.usual == .null ? [(value: "", text: Phrase("not set"))] : []) + options)
            typed = value.string ?? ""
        default:
            kind = .text
            typed = value.string ?? value.integer.map(String.init) ?? ""
        }
        let range = setting.range.map { range -> Phrase in
            "From \(.data("\(range.lowerBound)")) to \(.data("\(range.upperBound)"))."
        }
        return Field(
            kind, "s." + setting.name, text.label,
            help: .list([text.help, range ?? ""].filter { $0 != "" }, separator: " "), value: typed)
    }

    /// What was typed, as the members of a policy.
    private static func changes(_ visit: ConsoleVisit, _ form: ConsoleForm) throws -> [String: JSONValue] {
        var members: [String: JSONValue] = [:]
        if form.has("name") {
            members["displayName"] = .string(form["name"])
            members["description"] = .string(form["description"])
            // Nothing is sent of boxes without a tick.
            if form["asks"] == "tags" {
                members["roleScopeTagIds"] = .array(
                    form.all("tags").flatMap { $0.split(separator: ",") }.map { .string(String($0)) })
            }
        }
        for setting in try settings(visit) {
            let name = "s." + setting.name
            members[setting.name] =
                switch (setting.usual, setting.names.isEmpty) {
                case (.bool, _): .bool(form[name] == "true")
                case (.array, false):
                    .array(form.all(name).flatMap { $0.split(separator: ",") }.map { .string(String($0)) })
                case (.array, true):
                    if setting.name == "exemptedAppProtocols" {
                        form[name].isEmpty
                            ? [] : [["name": "Default", "value": .string(form.lines(name).joined(separator: ";"))]]
                    } else {
                        .array(form.lines(name).map { .string($0) })
                    }
                case (.integer, _): Int64(form[name]).map { .integer($0) } ?? .string(form[name])
                default: form[name].isEmpty ? .null : .string(PeriodTexts.read(form[name], of: setting.name))
                }
        }
        return members
    }

    private static func merged(_ entity: JSONValue, _ changes: [String: JSONValue]) -> JSONValue {
        .object((entity.object ?? [:]).merging(changes) { $1 })
    }

    // MARK: Preview and publishing

    /// - Parameter newest: Whether what was typed is to be put on the version that is in force now, not on the one that was edited.
    private static func preview(_ visit: ConsoleVisit, newest: Bool) async throws -> ConsoleAnswer {
        let entity = try await visit.api.get(PolicyPages.route(visit.keys[0]) + "?$expand=apps,assignments")
        let typed = try changes(visit, visit.form)
        let errors = errors(in: typed, of: entity)
        guard errors.isEmpty else {
            return .page(
                try await editor(visit, entity, visit.form, version: visit.form["version"], errors: errors), .badRequest
            )
        }
        let old = try AppProtectionPolicy(graphJSON: entity)
        let new = try AppProtectionPolicy(graphJSON: merged(entity, typed))
        let diff = PolicyDiff(from: old, to: new)
        let isOutdated = !newest && visit.form["version"] != entity.text("version")
        var blocks: [Block] = []
        if isOutdated || newest {
            blocks.append(
                .note(
                    .bad, "Another administrator changed this policy while you did.",
                    ["Nothing was overwritten. Below is what your change would do to the version in force now."]))
        }
        blocks += consequences(diff)
        let changed = differing(typed, from: old, entity)
        let impact: ShownImpact
        do {
            impact = try await ShownImpact(of: ["policy": .string(visit.keys[0]), "update": .object(changed)], visit)
        } catch let refusal as Refusal where refusal.status == .badRequest {
            return try await refused(refusal, entity, visit)
        }
        blocks += impact.blocks
        blocks += try await ClosedApps(by: new, of: entity, visit).blocks
        blocks.append(PolicyPages.remarks(on: new))
        let kept = visit.form.values.filter { !["csrf", "version", "page", "impact"].contains($0.key) }
            .sorted { $0.key < $1.key }.flatMap { name, values in values.map { (name, $0) } }
        if changed.isEmpty {
            blocks.insert(.note(.notice, "Nothing would change. Go on editing to change a setting.", []), at: 0)
        } else {
            blocks.append(
                .form(
                    Form(
                        path(visit, "publish"), submit: "Publish",
                        hidden: kept + [
                            ("version", entity.text("version")), ("impact", impact.token),
                            ("page", path(visit, "edit")),
                        ],
                        cancel: Link("Change nothing", PolicyPages.path(visit.keys[0])), [])))
        }
        blocks.append(
            .form(
                Form(
                    path(visit, "edit"), submit: "Go on editing",
                    hidden: kept + [("version", entity.text("version")), ("page", path(visit, "edit"))], isQuiet: true,
                    [])))
        return .page(
            Page(
                "Preview: \(entity.text("displayName"))", .policies,
                lead: "What would change, for whom, and what gets weaker. Nothing is in force yet.",
                above: Link(.data(entity.text("displayName")), PolicyPages.path(visit.keys[0])), blocks),
            newest ? .conflict : .ok)
    }

    /// What differs from the policy as it is; no more is sent, so that the audit log says what was changed.
    private static func differing(
        _ typed: [String: JSONValue], from old: AppProtectionPolicy, _ entity: JSONValue
    ) -> [String: JSONValue] {
        let settings = Set(SettingDescription.all.map(\.name))
        return typed.filter { name, value in
            guard settings.contains(name) else {
                return value.array.map { $0 != entity.list(name) }
                    ?? (value.string != ConsoleForm.line(entity.text(name)))
            }
            return value != old.value(ofSetting: name)
        }
    }

    /// What a change does.
    private static func consequences(_ diff: PolicyDiff) -> [Block] {
        var blocks: [Block] = []
        let wiping = diff.changes.filter { change in
            change.to.string == "wipe"
                || (change.setting.lowercased().contains("wipe") && change.to != .null && change.direction != .weaker)
        }
        if !wiping.isEmpty {
            blocks.append(
                .note(
                    .bad, "This can remove organisation data from devices:",
                    wiping.map {
                        "\(SettingTexts.text(of: $0.setting).label): \(SettingTexts.value($0.to, of: $0.setting))"
                    }))
        }
        let weaker = diff.changes.filter { $0.direction == .weaker }
        if !weaker.isEmpty {
            blocks.append(
                .note(.notice, "This gets weaker:", weaker.map { SettingTexts.text(of: $0.setting).label }))
        }
        let rows = diff.changes.map { change -> [Cell] in
            let direction: Cell =
                switch change.direction {
                case .stricter: .badge("stricter", .good)
                case .weaker: .badge("weaker", .notice)
                case .different: .badge("different", .plain)
                case nil: .badge("no effect here", .plain)
                }
            return [
                .text(SettingTexts.text(of: change.setting).label),
                .text(SettingTexts.value(change.from, of: change.setting)),
                .text(SettingTexts.value(change.to, of: change.setting)), direction,
            ]
        }
        blocks.append(
            .table(
                Table(
                    "Settings that change", ["Setting", "Now", "Then", "Direction"], rows, empty: "No setting changes.")
            ))
        if !diff.effects.isEmpty {
            blocks.append(
                .more(
                    "\(diff.effects.count) answers change",
                    [
                        .table(
                            Table(
                                "Answers that change", ["What people do", "Now", "Then"],
                                diff.effects.map {
                                    [
                                        .text(.said($0.sentence)), .text(SettingTexts.words($0.from.rawValue)),
                                        .text(SettingTexts.words($0.to.rawValue)),
                                    ]
                                },
                                empty: ""))
                    ]))
        }
        return blocks
    }

    private static func publish(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let id = visit.keys[0]
        let entity = try await visit.api.get(PolicyPages.route(id))
        let typed = try changes(visit, visit.form)
        let changed = differing(typed, from: try AppProtectionPolicy(graphJSON: entity), entity)
        do {
            try await visit.api.call(
                .patch, PolicyPages.route(id), .object(changed), ifVersion: visit.form["version"],
                impact: visit.form["impact"])
            return PolicyOutcome.settings.shown(on: id)
        } catch let refusal as Refusal where refusal.status == .preconditionFailed {
            return try await preview(visit, newest: true)
        } catch let refusal as Refusal where refusal.status == .badRequest {
            return try await refused(refusal, entity, visit)
        }
    }

    /// The form again, with why the service refuses what was filled in.
    private static func refused(
        _ refusal: Refusal, _ entity: JSONValue, _ visit: ConsoleVisit
    ) async throws -> ConsoleAnswer {
        var page = try await editor(visit, entity, visit.form, version: visit.form["version"])
        page.blocks.insert(contentsOf: Block.refused(refusal), at: 0)
        return .page(page, .badRequest)
    }
}
