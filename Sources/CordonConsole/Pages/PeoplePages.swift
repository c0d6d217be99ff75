import CordonPolicy
import CordonServiceHTTP
import Foundation
import HTTPTypes

/// People: who is protected, by what, and why not (SRV-UI-13, SRV-UI-15, SRV-UI-18).
struct PeoplePages {
    func add(to table: ConsoleTable) {
        table.get("/console/people", list)
        table.get("/console/blocked", blocked)
        table.get("/console/people/:id/data") { visit in
            .response(try await visit.api.file("/admin/v1/users/\(ConsolePath.part(visit.keys[0]))/data"))
        }
        table.get("/console/people/:id/erase", needs: "handlePersonalData", confirmErasure)
        table.post("/console/people/:id/erase", erase)
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
        let search = visit.query["search"]
        var path = "/v1.0/users?$top=50&$orderby=displayName"
        if !search.isEmpty {
            let text = ConsolePath.part(search.replacing("'", with: "''"))
            path =
                "/v1.0/users?$top=50&$filter=startswith(displayName,'\(text)')%20or%20startswith(userPrincipalName,'\(text)')"
        }
        if visit.query.has("next") { path += "&$skiptoken=" + ConsolePath.part(visit.query["next"]) }
        let page = try await visit.api.get(path)
        let flagged = try await Self.ids(
            "/beta/deviceAppManagement/managedAppRegistrations/getUserIdsWithFlaggedAppRegistration", visit)
        let blocked = try await Self.ids("/v1.0/users/getManagedAppBlockedUsers", visit)
        let rows = page.list("value").map { user -> [Cell] in
            [
                .link(.data(user.text("displayName")), Self.path(user.text("id"))),
                .text(.data(user.text("userPrincipalName"))),
                .text(.data(user.text("department"))),
                user["accountEnabled"] == false ? .badge("disabled", .notice) : .badge("enabled", .good),
                .list(
                    (flagged.contains(user.text("id")) ? [.badge("flagged device", .bad)] : [])
                        + (blocked.contains(user.text("id")) ? [.badge("blocked", .bad)] : [])),
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
                    .table(
                        Table(
                            "People", ["Name", "Signs in as", "Department", "Account", "Flags"], rows,
                            empty: search.isEmpty
                                ? "The directory is empty. Connect a directory, or let people enrol."
                                : "No name begins with this. Search for the sign-in name.",
                            more: ListPages.more(page, "/console/people", search: search))),
                ]))
    }

    private static func ids(_ path: String, _ visit: ConsoleVisit) async throws -> Set<String> {
        Set(try await visit.api.get(path).list("value").compactMap(\.string))
    }

    @Sendable private func show(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let id = visit.keys[0]
        let user = try await visit.api.get(Self.route(id))
        let registrations = try await visit.api.all(
            "/beta/users/\(ConsolePath.part(id))/managedAppRegistrations?$top=50&$expand=appliedPolicies", atMost: 50)
        let checks = try await visit.api.all(Self.route(id) + "/getManagedAppDiagnosticStatuses")
        let policies = try await visit.api.all(Self.route(id) + "/getManagedAppPolicies")
        let groups = try await visit.api.all(Self.route(id) + "/memberOf")
        let isBlocked = try await visit.api.get(Self.route(id) + "/isManagedAppUserBlocked")["value"] == true
        let failing = checks.filter(Self.fails)
        var blocks: [Block] = []
        if isBlocked {
            blocks.append(.note(.bad, "This person is blocked: their apps are wiped, and enrolling is refused.", []))
        }
        blocks.append(
            failing.isEmpty
                ? .note(.good, "Protected: the newest rules are in force.", [])
                : .note(
                    .notice, "Not fully protected:",
                    failing.map(Self.sentence)))
        var links = [
            Link("Ask what they may do", "/console/ask?person=" + ConsolePath.part(id)),
            Link("Rules in force", EffectiveRulesPage.path(id)),
        ]
        if visit.may("wipe"), !registrations.isEmpty {
            links.insert(Link("Wipe a device…", Self.path(id) + "/wipe", isMain: true), at: 0)
        }
        if visit.may("blockUsers") {
            links.append(
                isBlocked
                    ? Link("Unblock…", Self.path(id) + "/unblock")
                    : Link("Wipe everything and block…", Self.path(id) + "/block"))
        }
        if visit.may("handlePersonalData") {
            links.append(Link("Export personal data", Self.path(id) + "/data"))
            links.append(Link("Erase personal data…", Self.path(id) + "/erase"))
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
            .table(DevicePages.table("Apps and devices", registrations)),
        ]
        return .page(
            Page(
                .data(user.text("displayName")), .people, isLive: true, above: Link("People", "/console/people"), blocks
            ))
    }

    @Sendable private func blocked(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let ids = try await visit.api.get("/v1.0/users/getManagedAppBlockedUsers").list("value").compactMap(\.string)
        var rows: [[Cell]] = []
        let blocks = await Self.blocks(visit)
        for id in ids.prefix(200) {
            let user = try? await visit.api.get(Self.route(id))
            let wipes = try await visit.api.get("/admin/v1/wipes?user=" + ConsolePath.part(id)).array ?? []
            let done = wipes.count { $0.text("state") == "succeeded" }
            rows.append([
                .link(.data(user?.text("displayName") ?? id), Self.path(id)),
                .text("\(.data("\(done)")) of \(.data("\(wipes.count)"))"),
                .time(blocks[id.lowercased()]?.time), .text(.data(blocks[id.lowercased()]?.by ?? "")),
                visit.may("blockUsers") ? .link("Unblock…", Self.path(id) + "/unblock") : .text(""),
            ])
        }
        return .page(
            Page(
                "Blocked people", .people,
                lead: "Their apps are wiped, and enrolling is refused until they are unblocked.",
                above: Link("People", "/console/people"),
                [
                    .table(
                        Table(
                            "Blocked people", ["Person", "Wipes that are done", "Since", "By", ""], rows,
                            empty: "No person is blocked. To block one, open the person."))
                ]))
    }

    /// Since when people are blocked, and by whom, as the audit log of the last year says; nothing where it may not be read.
    private static func blocks(_ visit: ConsoleVisit) async -> [String: (time: Date?, by: String)] {
        let since = visit.now.addingTimeInterval(-365 * 86_400).formatted(.iso8601)
        let filter = ConsolePath.part("activityDateTime ge \(since) and startswith(activityType,'user.block')")
        let path = "/v1.0/deviceManagement/auditEvents?$top=200&$orderby=activityDateTime%20desc&$filter=" + filter
        var found: [String: (time: Date?, by: String)] = [:]
        for event in (try? await visit.api.all(path, atMost: 1_000)) ?? [] {
            let actor = event["actor"] ?? .null
            let target = event.list("resources").first?.text("resourceId") ?? ""
            let id = target.split(separator: "/").last.map { $0.lowercased() } ?? ""
            if found[id] == nil {
                let name = actor["userPrincipalName"]?.string ?? actor.text("applicationDisplayName")
                found[id] = (event.date("activityDateTime"), name)
            }
        }
        return found
    }

    @Sendable private func confirmErasure(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let user = try await visit.api.get(Self.route(visit.keys[0]))
        let path = Self.path(visit.keys[0])
        return .page(
            Page(
                "Erase the personal data of \(user.text("displayName"))?", .people,
                above: Link(.data(user.text("displayName")), path),
                [
                    .note(
                        .bad,
                        "The service forgets the person, their apps and their telemetry. The audit log keeps ids.",
                        ["Without a wipe, organisation data stays on their devices until an app notices."]),
                    .form(
                        Form(
                            path + "/erase", submit: "Erase", hidden: [("page", path + "/erase")], isGrave: true,
                            cancel: Link("Keep the data", path),
                            [
                                Field(
                                    .flag, "wipe", "Wipe their apps first; erase again when the wipes are done",
                                    value: visit.typed("wipe", else: "true"))
                            ])),
                ]))
    }

    @Sendable private func erase(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let wipesFirst = visit.form["wipe"] == "true"
        let answer = try await visit.api.call(
            .delete, "/admin/v1/users/\(ConsolePath.part(visit.keys[0]))/data?wipe=\(wipesFirst)")
        let waits = !answer.list("wipes").isEmpty
        return .moved(waits ? "/console/wipes?user=" + ConsolePath.part(visit.keys[0]) : "/console/people")
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
