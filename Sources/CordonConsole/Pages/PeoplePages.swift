import CordonPolicy
import CordonService
import CordonServiceHTTP
import Foundation
import HTTPTypes
import Hummingbird

/// People: who is protected, by what, and why not (SRV-UI-13, SRV-UI-15, SRV-UI-18).
struct PeoplePages {
    func add(to table: ConsoleTable) {
        table.get("/console/people", lists: "read", list)
        table.get("/console/blocked", lists: "read", blocked)
        table.get("/console/people/:id/data") { visit in
            let data = try await visit.api.file("/admin/v1/users/\(ConsolePath.part(visit.keys[0]))/data")
            return .response(ReportFile.json(data.body, named: "person.json"))
        }
        table.get("/console/people/:id/erase", needs: "handlePersonalData") { visit in
            .page(try await Self.erasure(visit))
        }
        table.post("/console/people/:id/erase", needs: "handlePersonalData", erase)
        table.get("/console/people/:id", live: true, show)
        table.get("/console/people/:id/block", needs: "blockUsers") { visit in
            try await Self.confirm(visit, blocks: true)
        }
        table.get("/console/people/:id/unblock", needs: "blockUsers") { visit in
            try await Self.confirm(visit, blocks: false)
        }
        table.post("/console/people/:id/block") { visit in
            try await visit.api.call(.post, Self.route(visit.keys[0]) + "/wipeAndBlockManagedApps")
            return .moved(Self.path(visit.keys[0]))
        }
        table.post("/console/people/:id/unblock") { visit in
            try await visit.api.call(.post, Self.route(visit.keys[0]) + "/unblockManagedApps")
            return .moved(Self.path(visit.keys[0]))
        }
    }

    static func path(_ id: String) -> String { "/console/people/" + ConsolePath.part(id) }
    static func route(_ id: String) -> String { "/v1.0/users/" + ConsolePath.part(id) }

    /// Whether a check of a person's protection found something.
    static func fails(_ check: JSONValue) -> Bool {
        check.text("state").lowercased() == "fail" && check.text("validationName") != "Intune License"
    }

    static func sentence(_ check: JSONValue) -> Phrase {
        "\(.said(check.text("validationName"))): \(.said(check.text("mitigationInstruction")))"
    }

    @Sendable private func list(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        if let state = Self.states[visit.query["state"]] {
            return try await Self.list(of: visit.query["state"], state, visit)
        }
        let search = visit.query["search"]
        var path = "/v1.0/users?$top=50&$orderby=displayName"
        if !search.isEmpty {
            let text = ConsolePath.quoted(search)
            path =
                "/v1.0/users?$top=50&$filter=startswith(displayName,\(text))%20or%20startswith(userPrincipalName,\(text))"
        }
        if visit.query.has("next") { path += "&$skiptoken=" + ConsolePath.part(visit.query["next"]) }
        let page = try await visit.api.get(path)
        let people = page.list("value")
        let standing = try await PeopleStatus(of: people.map { $0.text("id") }, visit)
        let rows = people.map { user -> [Cell] in
            [
                .link(.data(user.text("displayName")), Self.path(user.text("id"))),
                .text(.data(user.text("userPrincipalName"))),
                .text(.data(user.text("department"))),
                user["accountEnabled"] == false ? .badge("disabled", .notice) : .text("enabled"),
                standing.cell(of: user.text("id")),
            ]
        }
        return .page(
            Page(
                "People", .people, lead: "Open a person to see their apps and devices, ask what they may do, or wipe.",
                [
                    .form(
                        Form(
                            "/console/people", submit: "Search", asks: true,
                            [Field(.text, "search", "Name or sign-in name begins with", value: search)])),
                    .links([
                        Link("People who are not protected yet", "/console/people?state=unprotected"),
                        Link("People without a policy", "/console/people?state=unassigned"),
                        Link("Blocked people", "/console/blocked"),
                    ]),
                    .table(
                        Table(
                            "People", ["Name", "Signs in as", "Department", "Account", "Protection"], rows,
                            empty: search.isEmpty
                                ? "The directory is empty. Connect a directory, or let people enrol."
                                : "No name begins with this. Search for the sign-in name.",
                            more: ListPages.more(page, "/console/people", search: search))),
                ]))
    }

    /// What lists of people in a state say.
    private struct State {
        var (title, lead, empty): (Phrase, Phrase, Phrase)
    }

    private static let states = [
        "unprotected": State(
            title: "People who are not protected yet",
            lead: "A policy is meant for them, and no app of theirs has it in force. Open a person to see why.",
            empty: "No person with a policy is without protection."),
        "unassigned": State(
            title: "People without a policy",
            lead:
                "They have a licence, and no policy is assigned to them or to a group of theirs. Assign one to a group that they are in.",
            empty: "Every person with a licence has a policy."),
    ]

    private static func list(of name: String, _ state: State, _ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let page = try await people(in: name, visit)
        let standing = PeopleStatus(page.list("people"))
        let rows = page.list("people").map { person -> [Cell] in
            [
                .link(.data(person["displayName"]?.string ?? person.text("userID")), path(person.text("userID"))),
                .text("\(person.number("apps"))"), standing.cell(of: person.text("userID")),
            ]
        }
        return .page(
            Page(
                state.title, .people, lead: state.lead,
                above: Link("People", "/console/people"),
                [
                    .table(
                        Table(
                            "People", ["Name", "Apps on devices", "Protection"], rows,
                            empty: page["next"]?.string == nil && visit.query["after"].isEmpty
                                ? state.empty : "No such person is on this page.",
                            more: more(page, "/console/people?state=\(name)&after=")))
                ]))
    }

    /// A page of the people in a state.
    private static func people(in state: String, _ visit: ConsoleVisit) async throws -> JSONValue {
        let after = visit.query["after"].isEmpty ? "" : "&after=" + ConsolePath.part(visit.query["after"])
        return try await visit.api.get("/admin/v1/people?state=\(state)&top=50" + after)
    }

    private static func more(_ page: JSONValue, _ address: String) -> Link? {
        page["next"]?.string.map { Link("More", address + ConsolePath.part($0)) }
    }

    @Sendable private func show(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let id = visit.keys[0]
        let user = try await visit.api.get(Self.route(id))
        visit.begin()
        let after = visit.query.has("next") ? "&$skiptoken=" + ConsolePath.part(visit.query["next"]) : ""
        let page = try await visit.api.get(
            "/beta/users/\(ConsolePath.part(id))/managedAppRegistrations?$expand=appliedPolicies($select=id)"
                + "&$top=\(ListPages.mostShown)" + after)
        let registrations = page.list("value")
        let checks = try await visit.api.all(Self.route(id) + "/getManagedAppDiagnosticStatuses")
        let policies = try await visit.api.all(Self.route(id) + "/getManagedAppPolicies?$select=displayName")
        let groups = try await visit.api.all(Self.route(id) + "/memberOf")
        let isBlocked = try await visit.api.get(Self.route(id) + "/isManagedAppUserBlocked")["value"] == true
        let failing = checks.filter(Self.fails)
        let late = try await visit.api.get("/admin/v1/reports/drift?top=51&user=" + ConsolePath.part(id)).array ?? []
        var blocks: [Block] = []
        if isBlocked {
            blocks.append(.note(.bad, "This person is blocked: their apps are wiped, and enrolling is refused.", []))
        }
        blocks.append(
            !failing.isEmpty
                ? .note(
                    .notice,
                    registrations.isEmpty ? "No app of this person is enrolled at present:" : "Not fully protected:",
                    failing.map(Self.sentence))
                : late.isEmpty
                    ? .note(.good, "Protected: the newest rules are in force.", [])
                    : .note(
                        .notice, "Protected by earlier rules. Apps that wait for the newest ones:",
                        late.prefix(50).map { "\(.data($0.text("bundleID"))) on \(.data($0.text("deviceTag")))" }
                            + (late.count > 50 ? ["and others"] : [])))
        var links =
            [
                Link("Ask what they may do", "/console/ask?person=" + ConsolePath.part(id)),
                Link("Rules in force", EffectiveRulesPage.path(id)),
                Link("Wipes", "/console/wipes?user=" + ConsolePath.part(id)),
            ] + AuditPages.link(to: id, visit)
        var removing: [Link] = []
        if visit.may("wipe"), !registrations.isEmpty {
            removing.append(Link("Wipe a device…", Self.path(id) + "/wipe"))
        }
        if visit.may("blockUsers") {
            if isBlocked {
                links.append(Link("Unblock…", Self.path(id) + "/unblock"))
            } else {
                removing.append(Link("Wipe everything and block…", Self.path(id) + "/block"))
            }
        }
        if visit.may("handlePersonalData") {
            links.append(Link("Export personal data", Self.path(id) + "/data"))
            removing.append(Link("Erase personal data…", Self.path(id) + "/erase"))
        }
        blocks += [
            .links(links),
            .facts([
                ("Signs in as", .text(.data(user.text("userPrincipalName")))), ("Object id", .code(user.text("id"))),
                (
                    "Groups",
                    .list(groups.isEmpty ? [.text("none")] : groups.map { .text(.data($0.text("displayName"))) })
                ),
                (
                    "Policies",
                    .list(
                        policies.isEmpty
                            ? [.badge("none", .notice)]
                            : policies.map { .link(.data($0.text("displayName")), PolicyPages.path($0.text("id"))) })
                ),
            ]),
            .table(
                DevicePages.table(
                    "Apps and devices", registrations,
                    empty:
                        "No app is enrolled at present. Apps enrol when the person signs in to them; what was removed is listed under Wipes.",
                    more: ListPages.more(page, Self.path(id)))),
        ]
        if !removing.isEmpty {
            blocks.append(
                .card(
                    "Removing data",
                    [
                        .text("What is removed cannot be brought back. Each link asks again before it does anything."),
                        .links(removing),
                    ]))
        }
        return .page(
            Page(
                .data(user.text("displayName")), .people, isLive: true, above: Link("People", "/console/people"), blocks
            ))
    }

    @Sendable private func blocked(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let page = try await Self.people(in: "blocked", visit)
        let people = page.list("people")
        let administrators = try await PeopleStatus(of: people.map { $0.text("blockedBy") }, visit)
        let rows = people.map { person -> [Cell] in
            let id = person.text("userID")
            return [
                .link(.data(person["displayName"]?.string ?? id), Self.path(id)),
                .text("\(person.number("apps"))"), .time(person.date("blockedSince")),
                .text(.data(administrators.name(of: person.text("blockedBy")))),
                .list(
                    [.link("Wipes", "/console/wipes?user=" + ConsolePath.part(id))]
                        + (visit.may("blockUsers") ? [.link("Unblock…", Self.path(id) + "/unblock")] : [])),
            ]
        }
        return .page(
            Page(
                "Blocked people", .people,
                lead: "Their apps are wiped, and enrolling is refused until they are unblocked.",
                above: Link("People", "/console/people"),
                [
                    .table(
                        Table(
                            "Blocked people", ["Person", "Apps that are left", "Since", "By", ""], rows,
                            empty: "No person is blocked. To block one, open the person.",
                            more: Self.more(page, "/console/blocked?after=")))
                ]))
    }

    /// - Parameter refusal: Why nothing was erased yet; nil before it is asked for.
    private static func erasure(_ visit: ConsoleVisit, _ refusal: Refusal? = nil) async throws -> Page {
        let user = try await visit.api.get(route(visit.keys[0]))
        let address = path(visit.keys[0])
        var blocks: [Block] = []
        if refusal != nil {
            blocks.append(
                .note(
                    .bad, "Apps of this person still hold organisation data, or are being wiped. Nothing was erased.",
                    ["Wait for the wipes, or forget the apps of devices that are lost. Then erase again."]))
            blocks.append(.links([Link("Wipes", "/console/wipes?user=" + ConsolePath.part(visit.keys[0]))]))
        }
        blocks.append(
            .note(
                .bad, "The service forgets the person, their apps and their telemetry. The audit log keeps ids.",
                ["This happens once no app of theirs is enrolled, so that no organisation data is left behind."]))
        blocks.append(
            .form(
                Form(
                    // Nothing is sent of a box without a tick.
                    address + "/erase", submit: "Erase", hidden: [("page", address + "/erase"), ("asks", "wipe")],
                    isGrave: true,
                    cancel: Link("Keep the data", address),
                    [
                        Field(
                            .flag, "wipe", "Wipe their apps first; erase again when the wipes are done",
                            value: refusal == nil ? visit.typed("wipe", else: "true") : visit.form["wipe"])
                    ])))
        return Page(
            "Erase the personal data of \(user.text("displayName"))?", .people,
            above: Link(.data(user.text("displayName")), address), blocks)
    }

    @Sendable private func erase(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let wipesFirst = visit.form["wipe"] == "true"
        do {
            let answer = try await visit.api.call(
                .delete, "/admin/v1/users/\(ConsolePath.part(visit.keys[0]))/data?wipe=\(wipesFirst)")
            let waits = !answer.list("wipes").isEmpty
            return .moved(waits ? "/console/wipes?user=" + ConsolePath.part(visit.keys[0]) : "/console/people")
        } catch let refusal as Refusal where refusal.status == .conflict && refusal.isOfForm {
            return .page(try await Self.erasure(visit, refusal), .conflict)
        }
    }

    private static func confirm(_ visit: ConsoleVisit, blocks: Bool) async throws -> ConsoleAnswer {
        let user = try await visit.api.get(route(visit.keys[0]))
        let action = path(visit.keys[0]) + (blocks ? "/block" : "/unblock")
        let title: Phrase =
            blocks
            ? "Wipe everything of \(user.text("displayName")) and block them?" : "Unblock \(user.text("displayName"))?"
        return .page(
            Page(
                title, .people, above: Link(.data(user.text("displayName")), path(visit.keys[0])),
                [
                    .note(
                        blocks ? .bad : .notice,
                        blocks
                            ? "Organisation data is removed from every app of this person on every device, and they cannot enrol again until they are unblocked."
                            : "They can enrol again. What was wiped does not come back by itself.", []),
                    .form(
                        Form(
                            action, submit: blocks ? "Wipe and block" : "Unblock", hidden: [("page", action)],
                            isGrave: blocks, cancel: Link("Cancel", path(visit.keys[0])), [])),
                ]))
    }
}

/// Lists that come in pages.
enum ListPages {
    /// The most rows of a page.
    static let mostShown = 50

    /// The page of a collection that the address asks for, ordered by name.
    ///
    /// - Parameter path: The collection with a `?`, and what else it is asked with.
    static func page(_ path: String, _ visit: ConsoleVisit) async throws -> JSONValue {
        let after = visit.query.has("next") ? "&$skiptoken=" + ConsolePath.part(visit.query["next"]) : ""
        let joined = path.hasSuffix("?") ? path : path + "&"
        return try await visit.api.get(joined + "$top=\(mostShown)&$orderby=displayName" + after)
    }

    /// The rows of a list that the address asks for, of one that is known whole, and the link to the next ones.
    static func cut<Row>(_ rows: [Row], _ path: String, _ visit: ConsoleVisit) -> (rows: ArraySlice<Row>, more: Link?) {
        let first = min(max(0, Int(visit.query["from"]) ?? 0), rows.count)
        let shown = rows.dropFirst(first).prefix(mostShown)
        let next = first + shown.count
        return (shown, next < rows.count ? Link("More", path + "?from=\(next)") : nil)
    }

    /// The link to the next page of a list.
    static func more(_ page: JSONValue, _ path: String, search: String = "") -> Link? {
        guard let link = page["@odata.nextLink"]?.string, let parts = URLComponents(string: link),
            let token = parts.queryItems?.first(where: { $0.name == "$skiptoken" })?.value
        else { return nil }
        return Link(
            "More",
            "\(path)?next=\(ConsolePath.part(token))" + (search.isEmpty ? "" : "&search=\(ConsolePath.part(search))"))
    }
}

/// How the people of a page stand, asked for at once.
struct PeopleStatus {
    private let people: [String: JSONValue]

    init(_ people: [JSONValue]) {
        self.people = Dictionary(
            people.map { ($0.text("userID").lowercased(), $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Those of any number of people, asked for as many at a time as the route answers.
    init(of ids: [String], _ visit: ConsoleVisit) async throws {
        var rest = Set(ids.filter { !$0.isEmpty }).sorted()[...]
        var people: [JSONValue] = []
        while !rest.isEmpty {
            let asked = rest.prefix(Administration.mostPeople).map { "user=" + ConsolePath.part($0) }
            rest = rest.dropFirst(asked.count)
            people += try await visit.api.get("/admin/v1/people?" + asked.joined(separator: "&")).list("people")
        }
        self.init(people)
    }

    /// Whether the service knows the person.
    func knows(_ id: String) -> Bool { people[id.lowercased()] != nil }

    /// The name to show of a person; of one whom the service does not know, the id.
    func name(of id: String) -> String { people[id.lowercased()]?["displayName"]?.string ?? id }

    /// What the person's row says of them.
    func cell(of id: String) -> Cell {
        guard let person = people[id.lowercased()] else { return .text("no policy") }
        func holds(_ member: String) -> Bool { person[member] == true }
        var cells: [Cell] = []
        if holds("isBlocked") { cells.append(.badge("blocked", .bad)) }
        if holds("isFlagged") { cells.append(.badge("flagged device", .bad)) }
        if holds("isProtected") {
            cells.append(.badge("protected", .good))
        } else if holds("isAssigned") {
            cells.append(.badge("not protected yet", .notice))
        } else if cells.isEmpty {
            cells.append(.text("no policy"))
        }
        return .list(cells)
    }
}
