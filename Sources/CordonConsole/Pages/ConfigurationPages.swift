import CordonPolicy
import CordonServiceHTTP
import Foundation
import HTTPTypes

/// App configuration: keys and values for apps (SRV-UI-11).
struct ConfigurationPages {
    private static let collection = "/beta/deviceAppManagement/targetedManagedAppConfigurations"
    /// How many empty rows a form has for further values.
    private static let spare = 4
    private static let most = 100

    func add(to table: ConsoleTable) {
        table.get("/console/configurations", list)
        table.get("/console/configurations/:id", edit)
        table.post("/console/configurations/:id", save)
    }

    static func path(_ id: String) -> String { "/console/configurations/" + ConsolePath.part(id) }

    @Sendable private func list(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let all = try await visit.api.all(Self.collection + "?$top=100&$expand=apps,assignments")
        let rows = all.map { one -> [Cell] in
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
                    .links(
                        visit.may("writePolicies")
                            ? [Link("New configuration", "/console/configurations/new", isMain: true)] : []),
                    .table(
                        Table(
                            "Configurations", ["Name", "Values", "Apps", "Reaches", "Changed"], rows,
                            empty:
                                "There is no configuration yet. Make one, then add its apps and assign it to a group.")),
                ]))
    }

    private static func page(
        _ id: String, _ one: JSONValue, _ form: ConsoleForm?, _ visit: ConsoleVisit, _ refusal: Refusal? = nil
    ) -> Page {
        let known = one.list("customSettings")
        let count = min(most, max(form?.values.keys.count { $0.hasPrefix("key.") } ?? 0, known.count + spare))
        var fields = [Field(.text, "name", "Name", value: form?["name"] ?? one.text("displayName"), isRequired: true)]
        var rows: [Field] = []
        for index in 0..<count {
            func value(_ name: String, _ known: String) -> String {
                form.map { $0.all("\(name).\(index)").first ?? "" } ?? known
            }
            let pair = known.indices.contains(index) ? known[index] : .null
            rows.append(Field(.text, "key.\(index)", "Key \(index + 1)", value: value("key", pair.text("name"))))
            rows.append(
                Field(
                    .text, "value.\(index)", "Value \(index + 1)",
                    help: index == 0
                        ? "{{userprincipalname}}, {{userid}} and similar become the values of each person." : "",
                    value: value("value", pair["value"].map { ReportFile.text($0) } ?? "")))
        }
        fields.append(
            Field(.text, "description", "Description", value: form?["description"] ?? one.text("description")))
        var blocks: [Block] = []
        if let refusal {
            blocks.append(
                .note(.bad, .said(refusal.message), refusal.details.map { "\($0.target): \(.said($0.message))" }))
        }
        if id != "new" {
            let links = [
                Link("Apps", PolicyPages.path(id) + "/apps"), Link("Assign", PolicyPages.path(id) + "/assignments"),
                Link("Delete", PolicyPages.path(id) + "/delete"),
            ]
            blocks.append(.links(visit.may("writePolicies") ? links : []))
        }
        blocks.append(
            .form(
                Form(
                    path(id), submit: "Save", hidden: [("version", one.text("version")), ("page", path(id))],
                    cancel: Link("Cancel", "/console/configurations"),
                    fieldsets: [
                        Fieldset(fields: fields),
                        Fieldset(
                            legend: "Values", help: "A row without a key is left out. Save to get more rows.",
                            fields: rows),
                    ])))
        return Page(
            id == "new" ? "New configuration" : .data(one.text("displayName")), .configurations,
            above: Link("App configuration", "/console/configurations"), blocks)
    }

    @Sendable private func edit(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let id = visit.keys[0]
        let one = id == "new" ? JSONValue.null : try await visit.api.get(Self.collection + "/" + ConsolePath.part(id))
        return .page(Self.page(id, one, visit.draft, visit))
    }

    @Sendable private func save(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let (id, form) = (visit.keys[0], visit.form)
        let pairs = (0..<Self.most).compactMap { index -> JSONValue? in
            let key = form["key.\(index)"]
            return key.isEmpty ? nil : ["name": .string(key), "value": .string(form["value.\(index)"])]
        }
        let body: JSONValue = [
            "displayName": .string(form["name"]), "description": .string(form["description"]),
            "customSettings": .array(pairs),
        ]
        do {
            if id == "new" {
                let made = try await visit.api.call(.post, Self.collection, body)
                return .moved(Self.path(made.text("id")))
            }
            try await visit.api.call(
                .patch, Self.collection + "/" + ConsolePath.part(id), body, ifVersion: form["version"])
            return .moved(Self.path(id))
        } catch let refusal as Refusal where [.badRequest, .conflict].contains(refusal.status) {
            return .page(
                Self.page(
                    id, ["displayName": .string(form["name"]), "version": .string(form["version"])], form, visit,
                    refusal), .badRequest)
        } catch let refusal as Refusal where refusal.status == .preconditionFailed {
            let one = try await visit.api.get(Self.collection + "/" + ConsolePath.part(id))
            var page = Self.page(id, one, form, visit)
            let now = one.list("customSettings").map {
                Phrase.data("\($0.text("name")) = \(ReportFile.text($0["value"]))")
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
