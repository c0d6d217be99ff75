import CordonPolicy
import CordonServiceHTTP
import Foundation
import HTTPTypes

/// The catalogue of apps (SRV-UI-22), and scope tags (SRV-UI-23): what policies and roles name.
struct CataloguePages {
    private static let apps = "/beta/deviceAppManagement/mobileApps"
    private static let tags = "/beta/deviceManagement/roleScopeTags"
    private static let appsPath = "/console/service/catalogue"
    private static let tagsPath = "/console/service/tags"

    func add(to table: ConsoleTable) {
        table.get("/console/service/catalogue", listApps)
        table.get("/console/service/catalogue/:id", editApp)
        table.post("/console/service/catalogue/:id", saveApp)
        table.get("/console/service/tags", listTags)
        table.get("/console/service/tags/:id", editTag)
        table.post("/console/service/tags/:id", saveTag)
    }

    /// The scope tags by id, with their names; none where the person may not read them.
    static func tags(_ visit: ConsoleVisit) async -> [(value: String, text: Phrase)] {
        let all = (try? await visit.api.all(tags + "?$top=200")) ?? []
        return all.map { ($0.text("id"), .data($0.text("displayName"))) }
    }

    /// The apps of the catalogue.
    static func apps(_ visit: ConsoleVisit) async -> [JSONValue] {
        (try? await visit.api.all(apps + "?$top=200")) ?? []
    }

    // MARK: Apps

    private static let sets: [(value: String, text: Phrase)] = [
        ("allMicrosoftApps", "all Microsoft apps"), ("allCoreMicrosoftApps", "the core Microsoft apps"),
    ]

    @Sendable private func listApps(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let rows = try await visit.api.all(Self.apps + "?$top=200").map { app -> [Cell] in
            [
                .link(.data(app.text("displayName")), Self.appsPath + "/" + ConsolePath.part(app.text("id"))),
                .code(app.text("bundleId")), .text(.data(app.text("publisher"))),
                app.text("appAvailability") == "lineOfBusiness"
                    ? .badge("your own", .good) : .badge("from a store", .plain),
            ]
        }
        return .page(
            Page(
                "Catalogue of apps", .service, lead: "Apps that policies can name, and the sets that they belong to.",
                above: Link("Service", "/console/service"),
                [
                    .links(visit.may("writePolicies") ? [Link("New app", Self.appsPath + "/new", isMain: true)] : []),
                    .table(
                        Table(
                            "Apps", ["Name", "Bundle id", "Publisher", "Kind"], rows,
                            empty: "The catalogue is empty. Add your apps, so that colleagues find their bundle ids.")),
                ]))
    }

    private static func appPage(_ id: String, _ app: JSONValue, _ form: ConsoleForm?, _ refusal: Refusal? = nil) -> Page
    {
        let path = appsPath + "/" + ConsolePath.part(id)
        func value(_ name: String, _ member: String) -> String { form?[name] ?? app.text(member) }
        let sets = app.list("cordonAppGroups").compactMap(\.string).joined(separator: ",")
        var fields = [Field(.text, "name", "Name", value: value("name", "displayName"), isRequired: true)]
        if id == "new" {
            fields.append(
                Field(
                    .text, "bundle", "Bundle id", help: "Such as com.example.notes, from the app's Info.plist.",
                    value: value("bundle", "bundleId"), isRequired: true))
        }
        fields += [
            Field(.text, "publisher", "Publisher", value: value("publisher", "publisher")),
            Field(
                .flag, "own", "An app of your organisation's own",
                value: form.map { $0["own"] } ?? (app.text("appAvailability") == "global" ? "" : "true")),
            Field(
                .several(Self.sets), "sets", "Belongs to",
                help: "A policy for one of these sets protects the app too.",
                value: form?.all("sets").joined(separator: ",") ?? sets),
        ]
        return Page(
            id == "new" ? "New app" : .data(app.text("displayName")), .service,
            above: Link("Catalogue of apps", appsPath),
            Block.refused(refusal) + [
                .form(
                    Form(
                        path, submit: "Save the app", hidden: [("page", path)], cancel: Link("Cancel", appsPath), fields
                    ))
            ])
    }

    @Sendable private func editApp(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let id = visit.keys[0]
        let app = id == "new" ? JSONValue.null : try await visit.api.get(Self.apps + "/" + ConsolePath.part(id))
        return .page(Self.appPage(id, app, visit.draft))
    }

    @Sendable private func saveApp(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let (id, form) = (visit.keys[0], visit.form)
        let body: JSONValue = .object([
            "@odata.type": .string(
                "#microsoft.graph." + (form["own"] == "true" ? "managedIOSLobApp" : "managedIOSStoreApp")),
            "displayName": .string(form["name"]), "publisher": .string(form["publisher"]),
            "cordonAppGroups": .array(form.all("sets").map { .string($0) }),
        ])
        do {
            if id == "new" {
                var made = body.object ?? [:]
                made["bundleId"] = .string(form["bundle"])
                try await visit.api.call(.post, Self.apps, .object(made))
            } else {
                try await visit.api.call(.patch, Self.apps + "/" + ConsolePath.part(id), body)
            }
            return .moved(Self.appsPath)
        } catch let refusal as Refusal where [.badRequest, .conflict].contains(refusal.status) {
            return .page(Self.appPage(id, ["displayName": .string(form["name"])], form, refusal), .badRequest)
        }
    }

    // MARK: Scope tags

    @Sendable private func listTags(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let rows = try await visit.api.all(Self.tags + "?$top=200").map { tag -> [Cell] in
            [
                tag["isBuiltIn"] == true
                    ? .text(.data(tag.text("displayName")))
                    : .link(.data(tag.text("displayName")), Self.tagsPath + "/" + ConsolePath.part(tag.text("id"))),
                .text(.data(tag.text("description"))), .code(tag.text("id")),
            ]
        }
        return .page(
            Page(
                "Scope tags", .service,
                lead: "A tag marks policies, and a role can be limited to the policies with certain tags.",
                above: Link("Service", "/console/service"),
                [
                    .links(
                        visit.may("manageTenant") ? [Link("New scope tag", Self.tagsPath + "/new", isMain: true)] : []),
                    .table(
                        Table(
                            "Scope tags", ["Name", "Description", "Id"], rows,
                            empty: "There is no scope tag. Without tags, a role holds for every policy.")),
                ]))
    }

    private static func tagPage(_ id: String, _ tag: JSONValue, _ form: ConsoleForm?, _ refusal: Refusal? = nil) -> Page
    {
        let path = tagsPath + "/" + ConsolePath.part(id)
        return Page(
            id == "new" ? "New scope tag" : .data(tag.text("displayName")), .service,
            above: Link("Scope tags", tagsPath),
            Block.refused(refusal) + [
                .form(
                    Form(
                        path, submit: "Save the scope tag", hidden: [("page", path)], cancel: Link("Cancel", tagsPath),
                        [
                            Field(
                                .text, "name", "Name", value: form?["name"] ?? tag.text("displayName"), isRequired: true
                            ),
                            Field(
                                .text, "description", "Description",
                                value: form?["description"] ?? tag.text("description")),
                        ]))
            ])
    }

    @Sendable private func editTag(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let id = visit.keys[0]
        let tag = id == "new" ? JSONValue.null : try await visit.api.get(Self.tags + "/" + ConsolePath.part(id))
        return .page(Self.tagPage(id, tag, visit.draft))
    }

    @Sendable private func saveTag(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let (id, form) = (visit.keys[0], visit.form)
        let body: JSONValue = [
            "displayName": .string(form["name"]), "description": .string(form["description"]),
        ]
        do {
            if id == "new" {
                try await visit.api.call(.post, Self.tags, body)
            } else {
                try await visit.api.call(.patch, Self.tags + "/" + ConsolePath.part(id), body)
            }
            return .moved(Self.tagsPath)
        } catch let refusal as Refusal where [.badRequest, .conflict].contains(refusal.status) {
            return .page(Self.tagPage(id, body, form, refusal), .badRequest)
        }
    }
}

extension Block {
    /// What a route refused, for the top of a form; nothing where it refused nothing.
    static func refused(_ refusal: Refusal?) -> [Block] {
        refusal.map {
            [.note(.bad, .said($0.message), $0.details.map { "\($0.target): \(.said($0.message))" })]
        } ?? []
    }
}
