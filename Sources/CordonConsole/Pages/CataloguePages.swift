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
        table.get("/console/service/catalogue", lists: "read", listApps)
        table.get("/console/service/catalogue/:id", editApp)
        table.post("/console/service/catalogue/:id", saveApp)
        table.get("/console/service/tags", lists: "read", listTags)
        table.get("/console/service/tags/:id", editTag)
        table.post("/console/service/tags/:id", saveTag)
    }

    /// The scope tags by id, with their names; none where the person may not read them.
    static func tags(_ visit: ConsoleVisit) async -> [(value: String, text: Phrase)] {
        let all = (try? await visit.api.all(tags + "?$top=200")) ?? []
        return all.map { ($0.text("id"), .data($0.text("displayName"))) }
    }

    /// The apps of the catalogue, to offer them; none where it cannot be read.
    static func apps(_ visit: ConsoleVisit) async -> [JSONValue] { (try? await readApps(visit)) ?? [] }

    /// The apps of the catalogue.
    static func readApps(_ visit: ConsoleVisit) async throws -> [JSONValue] {
        try await visit.api.all(apps + "?$top=200")
    }

    /// The entry of an app, however many others there are; nil where the catalogue has none.
    static func app(_ bundleID: String, _ visit: ConsoleVisit) async throws -> JSONValue? {
        do {
            return try await visit.api.get(apps + "/" + ConsolePath.part(bundleID))
        } catch let refusal as Refusal where refusal.status == .notFound {
            return nil
        }
    }

    // MARK: Lists and forms of both

    /// A kind of thing that has a list and a form.
    private struct Kind {
        var route: String
        var path: String
        var list: Link
        /// What the form of a new one is called, and its button.
        var new: Phrase
        var submit: Phrase
        /// What it takes to change one.
        var permission: String
        /// What is in force, as who was overtaken reads it.
        var words: @Sendable (JSONValue) -> [Phrase]

        func path(_ id: String) -> String { path + "/" + ConsolePath.part(id) }

        /// - Parameter version: The version that was shown when what was filled in was; nil where it is shown now.
        func page(
            _ id: String, _ one: JSONValue, _ visit: ConsoleVisit, _ notes: [Block], version: String?, _ fields: [Field]
        ) -> Page {
            Page(
                id == "new" ? new : .data(one.text("displayName")), .service, above: list,
                notes + [
                    .form(
                        Form(
                            path(id), submit: submit,
                            hidden: [("version", version ?? ShownVersion.of(one)), ("page", path(id))],
                            isLocked: !visit.may(permission), cancel: Link("Cancel", path), fields))
                ])
        }

        /// What is changed; nothing of a new one.
        func known(_ visit: ConsoleVisit) async throws -> JSONValue {
            let id = visit.keys[0]
            return id == "new" ? .null : try await visit.api.get(route + "/" + ConsolePath.part(id))
        }

        /// Saves what was filled in, and shows the list; the form again where the service refuses it, or another administrator was first.
        ///
        /// - Parameters:
        ///   - known: What was there when the form came.
        ///   - made: Members that only a new one is sent with.
        ///   - question: What asks for the impact of it; nil for what moves no policy.
        ///   - again: The form with what was filled in.
        func save(
            _ visit: ConsoleVisit, _ known: JSONValue, _ changed: [String: JSONValue], made: [String: JSONValue] = [:],
            asking question: JSONValue? = nil,
            _ again: (_ one: JSONValue, _ notes: [Block], _ version: String?) async throws -> Page
        ) async throws -> ConsoleAnswer {
            let (id, impact) = (visit.keys[0], visit.form["impact"])
            func overtaken(by now: JSONValue) async throws -> ConsoleAnswer {
                .page(
                    try await again(now, [ShownVersion.overtaken(by: words(now), ShownVersion.ofEntry)], nil), .conflict
                )
            }
            guard !ShownVersion.isOutdated(visit.form, known) else { return try await overtaken(by: known) }
            do {
                if let question,
                    let preview = try await ShownImpact.preview(
                        of: question, visit.form["name"], at: path(id), visit)
                {
                    return .page(preview)
                }
                if id == "new" {
                    try await visit.api.call(.post, route, .object(changed.merging(made) { $1 }), impact: impact)
                } else {
                    try await visit.api.call(
                        .patch, route + "/" + ConsolePath.part(id), .object(changed), ifVersion: visit.form["version"],
                        impact: impact)
                }
                return .moved(path)
            } catch let refusal as Refusal where refusal.isOfForm {
                let version = ShownVersion.of(visit.form)
                return .page(try await again(known, Block.refused(refusal), version), .badRequest)
            } catch let refusal as Refusal where refusal.status == .preconditionFailed {
                return try await overtaken(by: try await self.known(visit))
            }
        }
    }

    // MARK: Apps

    private static let appKind = Kind(
        route: apps, path: appsPath, list: Link("Catalogue of apps", appsPath), new: "New app", submit: "Save the app",
        permission: "writePolicies"
    ) { app in
        let sets = app.list("cordonAppGroups").compactMap(\.string)
        let kind: Phrase = app.text("appAvailability") == "lineOfBusiness" ? "your own" : "from a store"
        return ["displayName", "publisher"].map { .data(app.text($0)) }.filter { !$0.isEmpty } + [kind]
            + sets.map { set in Self.sets.first { $0.value == set }?.text ?? .data(set) }
    }

    private static let sets: [(value: String, text: Phrase)] = [
        ("allMicrosoftApps", "all Microsoft apps"), ("allCoreMicrosoftApps", "the core Microsoft apps"),
    ]

    @Sendable private func listApps(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let versions = Dictionary(
            grouping: try await visit.api.get("/admin/v1/reports/versions").array ?? []
        ) { $0.text("bundleID") }
        let page = try await ListPages.page(Self.apps + "?", visit)
        let rows = page.list("value").map { app -> [Cell] in
            [
                .link(.data(app.text("displayName")), Self.appKind.path(app.text("id"))),
                .code(app.text("bundleId")), .text(.data(app.text("publisher"))),
                app.text("appAvailability") == "lineOfBusiness"
                    ? .badge("your own", .good) : .badge("from a store", .plain),
                Self.seen(versions[app.text("bundleId").lowercased()] ?? []),
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
                            "Apps", ["Name", "Bundle id", "Publisher", "Kind", "Versions in use"], rows,
                            empty: "The catalogue is empty. Add your apps, so that colleagues find their bundle ids.",
                            more: ListPages.more(page, Self.appsPath))),
                ]))
    }

    /// The oldest and the newest version of an app that is on devices.
    private static func seen(_ versions: [JSONValue]) -> Cell {
        let seen = versions.filter { $0.text("part") == "app" }.map { $0.text("version") }
        guard let newest = seen.first, let oldest = seen.last else { return .text("not seen yet") }
        return .text(newest == oldest ? .data(newest) : "from \(oldest) to \(newest)")
    }

    private static func appPage(
        _ id: String, _ app: JSONValue, _ form: ConsoleForm?, _ visit: ConsoleVisit, _ notes: [Block] = [],
        version: String?
    ) async throws -> Page {
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
        var page = appKind.page(id, app, visit, notes, version: version, fields)
        guard id != "new" else { return page }
        let versions = (try await visit.api.get("/admin/v1/reports/versions").array ?? [])
            .filter { $0.text("bundleID") == app.text("bundleId").lowercased() }
        page.blocks.append(
            .table(
                Table(
                    "Versions in use", ["Of", "Version", "Apps on devices"],
                    versions.prefix(100).map {
                        [
                            .text(SettingTexts.words($0.text("part"))), .code($0.text("version")),
                            .text("\($0.number("apps"))"),
                        ]
                    }, empty: "This app has not enrolled on any device yet.")))
        return page
    }

    @Sendable private func editApp(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let app = try await Self.appKind.known(visit)
        visit.begin()
        return .page(
            try await Self.appPage(visit.keys[0], app, visit.draft, visit, version: ShownVersion.of(visit.draft)))
    }

    @Sendable private func saveApp(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let (form, id) = (visit.form, visit.keys[0])
        let sets = JSONValue.array(form.all("sets").map { .string($0) })
        let changed: [String: JSONValue] = [
            "@odata.type": .string(
                "#microsoft.graph." + (form["own"] == "true" ? "managedIOSLobApp" : "managedIOSStoreApp")),
            "displayName": .string(form["name"]), "publisher": .string(form["publisher"]),
            "cordonAppGroups": sets,
        ]
        let app = try await Self.appKind.known(visit)
        let bundle = id == "new" ? form["bundle"] : app.text("bundleId")
        return try await Self.appKind.save(
            visit, app, changed, made: ["bundleId": .string(bundle)],
            asking: ["app": .string(bundle), "cordonAppGroups": sets]
        ) { app, notes, version in
            try await Self.appPage(id, app, form, visit, notes, version: version)
        }
    }

    // MARK: Scope tags

    private static let tagKind = Kind(
        route: tags, path: tagsPath, list: Link("Scope tags", tagsPath), new: "New scope tag",
        submit: "Save the scope tag", permission: "manageTenant"
    ) { tag in
        ["displayName", "description"].map { .data(tag.text($0)) }.filter { !$0.isEmpty }
    }

    @Sendable private func listTags(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let page = try await ListPages.page(Self.tags + "?", visit)
        let rows = page.list("value").map { tag -> [Cell] in
            [
                tag["isBuiltIn"] == true
                    ? .text(.data(tag.text("displayName")))
                    : .link(.data(tag.text("displayName")), Self.tagKind.path(tag.text("id"))),
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
                            empty: "There is no scope tag. Without tags, a role holds for every policy.",
                            more: ListPages.more(page, Self.tagsPath))),
                ]))
    }

    private static func tagPage(
        _ tag: JSONValue, _ form: ConsoleForm?, _ visit: ConsoleVisit, _ notes: [Block] = [], version: String?
    ) -> Page {
        tagKind.page(
            visit.keys[0], tag, visit, notes, version: version,
            [
                Field(.text, "name", "Name", value: form?["name"] ?? tag.text("displayName"), isRequired: true),
                Field(
                    .text, "description", "Description", value: form?["description"] ?? tag.text("description")),
            ])
    }

    @Sendable private func editTag(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let tag = try await Self.tagKind.known(visit)
        return .page(Self.tagPage(tag, visit.draft, visit, version: ShownVersion.of(visit.draft)))
    }

    @Sendable private func saveTag(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let (form, known) = (visit.form, try await Self.tagKind.known(visit))
        return try await Self.tagKind.save(
            visit, known,
            [
                "displayName": .string(form.line("name", of: known.text("displayName"))),
                "description": .string(form.line("description", of: known.text("description"))),
            ]
        ) { tag, notes, version in Self.tagPage(tag, form, visit, notes, version: version) }
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
