import CordonPolicy
import CordonService
import CordonServiceHTTP
import Foundation
import HTTPTypes

/// App configuration: keys and values for apps, for people of some groups and for everyone (SRV-UI-11).
struct ConfigurationPages {
    /// Where values stand.
    private struct Place {
        /// The route of what has the values.
        var collection: String
        /// The list of it.
        var list: Link

        /// Configurations, each assigned to groups.
        static let assigned = Place(
            collection: "/beta/deviceAppManagement/targetedManagedAppConfigurations",
            list: Link("App configuration", "/console/configurations"))
        /// The policies for all people without another one: their values are default values, which every person's apps get.
        static let defaults = Place(
            collection: "/beta/deviceAppManagement/defaultManagedAppProtections",
            list: Link("Default values", "/console/configurations/defaults"))

        /// Whether name, description, apps and assignments are beside the values, and not of a policy with a page of its own.
        var isWhole: Bool { collection == Place.assigned.collection }

        func path(_ id: String) -> String { list.href + "/" + ConsolePath.part(id) }
        func route(_ id: String) -> String { collection + "/" + ConsolePath.part(id) }

        /// What has the values now; nothing of a new configuration.
        func known(_ visit: ConsoleVisit) async throws -> JSONValue {
            isWhole && visit.keys[0] == "new" ? .null : try await visit.api.get(route(visit.keys[0]))
        }
    }

    /// How many empty rows a form has for further values.
    private static let spare = 4
    private static let most = 100

    func add(to table: ConsoleTable) {
        table.get("/console/configurations", lists: "read", list)
        table.get("/console/configurations/defaults", lists: "read", defaults)
        table.get("/console/configurations/defaults/:id") { try await Self.edit($0, .defaults) }
        table.post("/console/configurations/defaults/:id") { try await Self.save($0, .defaults) }
        table.get("/console/configurations/:id") { try await Self.edit($0, .assigned) }
        table.post("/console/configurations/:id") { try await Self.save($0, .assigned) }
    }

    private static func tabs(_ current: Place) -> Block {
        .tabs(
            "App configuration",
            [Link("For groups", Place.assigned.list.href), Link("For everyone", Place.defaults.list.href)],
            current: current.list.href)
    }

    /// A value as one person's apps get it; of a secret one, that there is one.
    static func shown(_ pair: JSONValue, for user: JSONValue) -> Cell {
        guard !SecretValues.isSecret(pair) else { return .badge("secret", .plain) }
        let person = DirectoryUser(
            id: user.text("id"), userPrincipalName: user.text("userPrincipalName"),
            displayName: user.text("displayName"), mail: user["mail"]?.string)
        return .code(ConfigurationTokens(user: person, tenant: nil).replaced(in: ReportFile.text(pair["value"])))
    }

    /// What a value looks like to an app.
    private static func help(_ pair: JSONValue, isSecret: Bool, isFirst: Bool) -> Phrase {
        let value = ReportFile.text(pair["value"])
        if isSecret, !value.isEmpty { return "A secret is set. Leave this empty to keep it." }
        if isFirst { return "{{userprincipalname}}, {{userid}} and similar become the values of each person." }
        if value.contains("{{") { return "Differs for each person." }
        if Int(value) != nil { return "A whole number." }
        if ["true", "false", "yes", "no"].contains(value.lowercased()) { return "Yes or no." }
        if URL(string: value)?.scheme != nil { return "An address." }
        return value.isEmpty ? "" : "Text."
    }

    /// Asks for a person, and shows the values as their apps get them.
    private static func preview(_ path: String, _ one: JSONValue, _ visit: ConsoleVisit) async -> Block {
        let name = visit.query["person"]
        var blocks: [Block] = [
            .form(
                Form(
                    path, submit: "Show", asks: true,
                    [Field(.text, "person", "Person", help: "Sign-in name or object id.", value: name)]))
        ]
        if !name.isEmpty, let user = try? await visit.api.get(PeoplePages.route(name)) {
            let rows = one.list("customSettings").map { [Cell.code($0.text("name")), shown($0, for: user)] }
            blocks.append(
                .table(
                    Table(
                        "Values of \(user.text("displayName"))", ["Key", "Value"], rows,
                        empty: "This configuration has no value yet.")))
        } else if !name.isEmpty {
            blocks.append(.note(.bad, "The directory has no person with this name.", []))
        }
        return .card("Values for one person", blocks)
    }

    static func path(_ id: String) -> String { Place.assigned.path(id) }

    /// The page of the default values that a policy for everyone has.
    static func path(ofDefaults id: String) -> String { Place.defaults.path(id) }

    @Sendable private func list(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let page = try await ListPages.page(Place.assigned.collection + "?$expand=apps,assignments", visit)
        let rows = page.list("value").map { one -> [Cell] in
            [
                .link(.data(one.text("displayName")), Self.path(one.text("id"))),
                .text("\(one.list("customSettings").count)"),
                .list(one.list("apps").compactMap { $0["mobileAppIdentifier"]?["bundleId"]?.string }.map { .code($0) }),
                one.list("assignments").isEmpty ? .badge("not assigned", .notice) : .badge("assigned", .good),
                .time(one.date("lastModifiedDateTime")),
            ]
        }
        return .page(
            Page(
                "App configuration", .configurations, lead: "Values that apps read, such as the address of a server.",
                [
                    Self.tabs(.assigned),
                    .links(
                        visit.may("writePolicies")
                            ? [Link("New configuration", "/console/configurations/new", isMain: true)] : []),
                    .table(
                        Table(
                            "Configurations", ["Name", "Values", "Apps", "Reaches", "Changed"], rows,
                            empty:
                                "There is no configuration yet. Make one, then add its apps and assign it to a group.",
                            more: ListPages.more(page, "/console/configurations"))),
                ]))
    }

    /// The policies for all people without another one, with how many default values each has.
    @Sendable private func defaults(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let page = try await ListPages.page(Place.defaults.collection + "?$expand=apps", visit)
        let rows = page.list("value").map { one -> [Cell] in
            let apps = one.list("apps").compactMap { $0["mobileAppIdentifier"]?["bundleId"]?.string }
            return [
                .link(.data(one.text("displayName")), Place.defaults.path(one.text("id"))),
                .text("\(one.list("customSettings").count)"),
                apps.isEmpty ? .text("every app") : .list(apps.map { .code($0) }),
                .time(one.date("lastModifiedDateTime")),
            ]
        }
        var blocks = [Self.tabs(.defaults)]
        if rows.isEmpty, visit.may("writePolicies"), visit.may("assignPolicies") {
            let new = PolicyMaking.path(for: .everyone)
            blocks.append(.links([Link("New policy for everyone", new, isMain: true)]))
        }
        blocks.append(
            .table(
                Table(
                    "Default values", ["Policy", "Values", "Apps", "Changed"], rows,
                    empty:
                        "There is no policy for everyone yet. Default values belong to one, which also protects people whom no other policy reaches.",
                    more: ListPages.more(page, Place.defaults.list.href))))
        return .page(
            Page(
                "Default values", .configurations,
                lead:
                    "Values that the apps of everyone get. Where a configuration for groups has a value of the same key, that one counts.",
                blocks))
    }

    /// The pair that a row of a form was made from, whatever became of the others since; else the one of the row's key.
    private static func pair(_ index: Int, of form: ConsoleForm, in known: [JSONValue]) -> JSONValue? {
        func named(_ name: String) -> JSONValue? {
            name.isEmpty ? nil : known.first { ConsoleForm.line($0.text("name")) == name }
        }
        return named(form["was.\(index)"]) ?? named(form["key.\(index)"])
    }

    /// - Parameter version: The version that was shown when what was filled in was; nil where it is shown now.
    private static func page(
        _ place: Place, _ id: String, _ one: JSONValue, _ form: ConsoleForm?, _ visit: ConsoleVisit,
        _ refusal: Refusal? = nil, version: String? = nil
    ) -> Page {
        let known = one.list("customSettings")
        let count = min(most, max(form?.values.keys.count { $0.hasPrefix("key.") } ?? 0, known.count + spare))
        var fields = [Field(.text, "name", "Name", value: form?["name"] ?? one.text("displayName"), isRequired: true)]
        fields.append(
            Field(.text, "description", "Description", value: form?["description"] ?? one.text("description")))
        var rows: [Field] = []
        var hidden = [("version", version ?? one.text("version")), ("page", place.path(id))]
        for index in 0..<count {
            func value(_ name: String, _ known: String) -> String {
                form.map { $0.all("\(name).\(index)").first ?? "" } ?? known
            }
            let shown = known.indices.contains(index) ? known[index] : .null
            let pair = form.map { Self.pair(index, of: $0, in: known) ?? .null } ?? shown
            let isSecret = form.map { $0["secret.\(index)"] == "true" } ?? SecretValues.isSecret(pair)
            let present = isSecret && form == nil ? "" : pair["value"].map { ReportFile.text($0) } ?? ""
            hidden.append(("was.\(index)", value("was", ConsoleForm.line(pair.text("name")))))
            rows.append(Field(.text, "key.\(index)", "Key \(index + 1)", value: value("key", pair.text("name"))))
            rows.append(
                Field(
                    .text, "value.\(index)", "Value \(index + 1)",
                    help: help(pair, isSecret: isSecret, isFirst: index == 0), value: value("value", present)))
            rows.append(
                Field(
                    .flag, "secret.\(index)", "Value \(index + 1) is secret", value: isSecret ? "true" : ""))
        }
        var blocks = Block.refused(refusal)
        if !place.isWhole {
            blocks.append(.links([Link("Policy", PolicyPages.path(id))]))
        } else if id != "new" {
            let aim = [
                Link("Apps", PolicyPages.path(id) + "/apps"), Link("Assign", PolicyPages.path(id) + "/assignments"),
            ]
            let delete = [Link("Delete", PolicyPages.path(id) + "/delete")]
            blocks.append(
                .links((visit.may("assignPolicies") ? aim : []) + (visit.may("deletePolicies") ? delete : [])))
        }
        blocks.append(
            .form(
                Form(
                    place.path(id), submit: "Save",
                    hidden: hidden, isLocked: !visit.may("writePolicies"), cancel: Link("Cancel", place.list.href),
                    fieldsets: (place.isWhole ? [Fieldset(fields: fields)] : []) + [
                        Fieldset(
                            legend: "Values",
                            help: known.count > most
                                ? "A row without a key is left out. Values beyond these rows are kept; the administration API changes them."
                                : "A row without a key is left out. Save to get more rows.",
                            fields: rows)
                    ])))
        let name = one.text("displayName")
        let title: Phrase =
            place.isWhole ? id == "new" ? "New configuration" : .data(name) : "Default values of \(name)"
        return Page(title, .configurations, above: place.list, blocks)
    }

    private static func edit(_ visit: ConsoleVisit, _ place: Place) async throws -> ConsoleAnswer {
        let id = visit.keys[0]
        let one = try await place.known(visit)
        visit.begin()
        var page = page(place, id, one, visit.draft, visit, version: ShownVersion.of(visit.draft))
        if one != .null { page.blocks.append(await preview(place.path(id), one, visit)) }
        return .page(page)
    }

    private static func save(_ visit: ConsoleVisit, _ place: Place) async throws -> ConsoleAnswer {
        let (id, form) = (visit.keys[0], visit.form)
        let one = try await place.known(visit)
        let present = one.list("customSettings")
        let pairs = (0..<most).compactMap { index -> JSONValue? in
            let (key, value) = (form["key.\(index)"], form["value.\(index)"])
            let isSecret = form["secret.\(index)"] == "true"
            guard !key.isEmpty else { return nil }
            // A secret is shown on no page, so an empty field keeps it, under another key too. A field shows no line breaks, and takes
            // none away.
            let known = Self.pair(index, of: form, in: present)
            // Somebody else removed it meanwhile, and nothing was typed in its place.
            if known == nil, isSecret, value.isEmpty, !form["was.\(index)"].isEmpty { return nil }
            let isUntouchedSecret = isSecret && value.isEmpty && known.map { SecretValues.isSecret($0) } ?? false
            var pair = known?.object ?? [:]
            let text = ReportFile.text(known?["value"])
            pair["name"] = .string(form.line("key.\(index)", of: known?.text("name") ?? ""))
            pair["value"] = .string(isUntouchedSecret ? text : form.line("value.\(index)", of: text))
            if isSecret || pair["isSecret"] != nil { pair["isSecret"] = .bool(isSecret) }
            return .object(pair)
        }
        // What is beyond the rows of the form stays as it is.
        var body: [String: JSONValue] = ["customSettings": .array(pairs + present.dropFirst(most))]
        if place.isWhole {
            body["displayName"] = .string(form.line("name", of: one.text("displayName")))
            body["description"] = .string(form.line("description", of: one.text("description")))
        }
        do {
            guard one != .null else {
                let made = try await visit.api.call(.post, place.collection, .object(body))
                return .moved(place.path(made.text("id")))
            }
            try await visit.api.call(.patch, place.route(id), .object(body), ifVersion: form["version"])
            return .moved(place.path(id))
        } catch let refusal as Refusal where refusal.isOfForm {
            return .page(page(place, id, one, form, visit, refusal, version: form["version"]), .badRequest)
        } catch let refusal as Refusal where refusal.status == .preconditionFailed {
            let one = try await place.known(visit)
            var page = page(place, id, one, form, visit)
            let now = one.list("customSettings").map {
                let value = SecretValues.isSecret($0) ? "…" : ReportFile.text($0["value"])
                return Phrase.data("\($0.text("name")) = \(value)")
            }
            page.blocks.insert(
                .note(
                    .bad,
                    "Another administrator changed this configuration while you did. Nothing was overwritten. In force now:",
                    now), at: 0)
            return .page(page, .conflict)
        }
    }
}
