import CordonPolicy
import CordonServiceHTTP
import Foundation
import HTTPTypes

/// What assignments name: filters, with what they fit, and groups, with where they come from (SRV-UI-21).
struct TargetPages {
    static let filters = "/beta/deviceManagement/assignmentFilters"

    func add(to table: ConsoleTable) {
        table.get("/console/service/filters/:id", live: true, filter)
        table.post("/console/service/filters/:id", saveFilter)
        table.get("/console/service/groups", lists: "read", groups)
        table.get("/console/service/groups/:id", group)
    }

    private static func path(_ id: String) -> String { "/console/service/filters/" + ConsolePath.part(id) }

    // MARK: Filters

    /// - Parameter version: The version that was shown when what was filled in was; nil where it is shown now.
    private static func page(
        _ id: String, _ filter: JSONValue, _ form: ConsoleForm?, _ visit: ConsoleVisit, _ notes: [Block] = [],
        version: String?
    ) async -> Page {
        let path = path(id)
        let rule = form?["rule"] ?? filter.text("rule")
        var blocks = notes
        if id != "new", notes.isEmpty { blocks += await matches(filter.text("rule"), visit) }
        blocks.append(
            .form(
                Form(
                    path, submit: "Save the filter",
                    hidden: [("version", version ?? ShownVersion.of(filter)), ("page", path)],
                    isLocked: !visit.may("assignPolicies"),
                    cancel: Link("Cancel", "/console/service"),
                    [
                        Field(
                            .text, "name", "Name", value: form?["name"] ?? filter.text("displayName"), isRequired: true),
                        Field(
                            .text, "rule", "Rule",
                            help:
                                "Such as (app.appVersion -startsWith \"2.\") and (device.deviceModel -contains \"iPad\").",
                            value: rule, isRequired: true),
                    ])))
        blocks.append(await attempt(path, usual: rule, visit))
        return Page(
            id == "new" ? "New filter" : .data(filter.text("displayName")), .service, isLive: id != "new",
            above: Link("Service", "/console/service"), blocks)
    }

    /// A rule that can be tried before it is saved.
    private static func attempt(_ path: String, usual: String, _ visit: ConsoleVisit) async -> Block {
        let tried = visit.query["try"]
        return .card(
            "Try a rule",
            [
                .form(
                    Form(
                        path, submit: "Count", asks: true,
                        [
                            Field(
                                .text, "try", "Rule to try", help: "Counts what it fits; nothing is saved.",
                                value: tried.isEmpty ? usual : tried)
                        ]))
            ] + (tried.isEmpty ? [] : await matches(tried, visit)))
    }

    /// How many apps on devices a rule fits now; why it cannot be evaluated, where it cannot.
    private static func matches(_ rule: String, _ visit: ConsoleVisit) async -> [Block] {
        do {
            let found = try await visit.api.get("/admin/v1/filters/matches?rule=" + ConsolePath.part(rule))
            let (matching, total) = (found.number("matching"), found.number("total"))
            return [
                .note(
                    matching == 0 ? .notice : .good,
                    "Fits \(.data("\(matching)")) of \(.data("\(total)")) apps on devices at present.", [])
            ]
        } catch let refusal as Refusal where refusal.status == .badRequest {
            return Block.refused(refusal)
        } catch {
            return []
        }
    }

    @Sendable private func filter(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let filter = try await Self.known(visit)
        visit.begin()
        return .page(
            await Self.page(visit.keys[0], filter, visit.draft, visit, version: ShownVersion.of(visit.draft)))
    }

    /// What is changed; nothing of a new one.
    private static func known(_ visit: ConsoleVisit) async throws -> JSONValue {
        let id = visit.keys[0]
        return id == "new" ? .null : try await visit.api.get(filters + "/" + ConsolePath.part(id))
    }

    /// Shows what was filled in, and above it the filter as another administrator has changed it.
    private static func overtaken(by filter: JSONValue, _ visit: ConsoleVisit) async -> ConsoleAnswer {
        let now = ["displayName", "rule"].map { Phrase.data(filter.text($0)) }
        let note = ShownVersion.overtaken(by: now, ShownVersion.ofEntry)
        return .page(await page(visit.keys[0], filter, visit.form, visit, [note], version: nil), .conflict)
    }

    @Sendable private func saveFilter(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let id = visit.keys[0]
        let known = try await Self.known(visit)
        guard !ShownVersion.isOutdated(visit.form, known) else { return await Self.overtaken(by: known, visit) }
        var body: [String: JSONValue] = [
            "displayName": .string(visit.form.line("name", of: known.text("displayName"))),
            "rule": .string(visit.form.line("rule", of: known.text("rule"))),
        ]
        do {
            guard id == "new" else {
                let question: JSONValue = ["filter": .string(id), "rule": body["rule"] ?? .null]
                let (name, path) = (known.text("displayName"), Self.path(id))
                if let preview = try await ShownImpact.preview(of: question, name, at: path, visit) {
                    return .page(preview)
                }
                try await visit.api.call(
                    .patch, Self.filters + "/" + ConsolePath.part(id), .object(body), ifVersion: visit.form["version"],
                    impact: visit.form["impact"])
                return .moved(path)
            }
            body["platform"] = "iOSMobileApplicationManagement"
            let made = try await visit.api.call(.post, Self.filters, .object(body))
            return .moved(Self.path(made.text("id")))
        } catch let refusal as Refusal where refusal.isOfForm {
            let (notes, version) = (Block.refused(refusal), ShownVersion.of(visit.form))
            return .page(await Self.page(id, known, visit.form, visit, notes, version: version), .badRequest)
        } catch let refusal as Refusal where refusal.status == .preconditionFailed {
            return await Self.overtaken(by: try await Self.known(visit), visit)
        }
    }

    // MARK: Groups

    static func path(ofGroup id: String) -> String { "/console/service/groups/" + ConsolePath.part(id) }

    /// A group and a page of those who are directly in it.
    @Sendable private func group(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let route = "/v1.0/groups/" + ConsolePath.part(visit.keys[0])
        let group = try await visit.api.get(route)
        visit.begin()
        let path = Self.path(ofGroup: group.text("id"))
        let after = visit.query.has("next") ? "&$skiptoken=" + ConsolePath.part(visit.query["next"]) : ""
        let page = try await visit.api.get(route + "/members?$top=\(ListPages.mostShown)" + after)
        let members = page.list("value")
        func isGroup(_ member: JSONValue) -> Bool { member.text("@odata.type").hasSuffix("group") }
        let standing = try await PeopleStatus(of: members.filter { !isGroup($0) }.map { $0.text("id") }, visit)
        let rows = members.map { member -> [Cell] in
            let id = member.text("id")
            return isGroup(member)
                ? [.link(.data(member.text("displayName")), Self.path(ofGroup: id)), .text("a group"), .text("")]
                : [
                    .link(.data(member.text("displayName")), PeoplePages.path(id)),
                    .text(.data(member.text("userPrincipalName"))), standing.cell(of: id),
                ]
        }
        let more = ListPages.more(page, path)
        var facts: [(Phrase, Cell)] = [("Id", .code(group.text("id")))]
        // Of a group that has more pages, a number would take reading all of them.
        if after.isEmpty, more == nil { facts.append(("Members", .text(.data("\(members.count)")))) }
        if after.isEmpty, more != nil { facts.append(("Members", .text("more than \(.data("\(members.count)"))"))) }
        return .page(
            Page(
                .data(group.text("displayName")), .service,
                lead: "Who is directly in the group. The members of a group in it are on that group's page.",
                above: Link("Groups", "/console/service/groups"),
                [
                    .facts(facts),
                    .table(
                        Table(
                            "Members", ["Name", "Signs in as", "Protection"], rows,
                            empty: after.isEmpty
                                ? "The group is empty. Fill it in your directory, or with the administration API."
                                : "There are no more members.", more: more)),
                ]))
    }

    @Sendable private func groups(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let search = visit.query["search"]
        var path = "/v1.0/groups?$top=50&$orderby=displayName"
        if !search.isEmpty {
            path += "&$filter=startswith(displayName,\(ConsolePath.quoted(search)))"
        }
        if visit.query.has("next") { path += "&$skiptoken=" + ConsolePath.part(visit.query["next"]) }
        let page = try await visit.api.get(path)
        let asked = page.list("value").map { ConsolePath.part($0.text("id")) }.joined(separator: "&group=")
        let sources = try await visit.api.get("/admin/v1/directory/sources?group=" + asked).array ?? []
        func source(of id: String) -> Cell {
            let known = sources.first { $0.list("groups").contains(.string(id.lowercased())) }
            return known.map { .badge("synchronised from \($0.text("name")): read only", .plain) }
                ?? .text("kept here, by SCIM or the administration API")
        }
        let rows = page.list("value").map { group -> [Cell] in
            [
                .link(.data(group.text("displayName")), Self.path(ofGroup: group.text("id"))),
                source(of: group.text("id")), .code(group.text("id")),
            ]
        }
        let from: [Phrase] = sources.map { source in
            "\(source.text("name")) (people: \(.data("\(source.number("people"))")), groups: \(.data("\(source.number("groupCount"))")))"
        }
        return .page(
            Page(
                "Groups", .service, lead: "What policies can be assigned to, and where each group comes from.",
                above: Link("Service", "/console/service"),
                [
                    from.isEmpty
                        ? .text(
                            "No directory is synchronised. People and groups come by SCIM or the administration API.")
                        : .note(.good, "Synchronised directories:", from),
                    .form(
                        Form(
                            "/console/service/groups", submit: "Search", asks: true,
                            [Field(.text, "search", "Name begins with", value: search)])),
                    .table(
                        Table(
                            "Groups", ["Name", "Comes from", "Id"], rows,
                            empty: search.isEmpty
                                ? "The directory has no groups yet. Connect a directory, or add groups with the administration API."
                                : "No group's name begins with this.",
                            more: ListPages.more(page, "/console/service/groups", search: search))),
                ]))
    }
}
