import CordonPolicy
import CordonServiceHTTP
import Foundation
import HTTPTypes

/// People: who is protected, by what, and why not (SRV-UI-13, SRV-UI-15, SRV-UI-18).
struct PeoplePages {
    func add(to table: ConsoleTable) {
        table.get("/console/people", list)
        table.get("/console/people/:id", live: true, show)
        table.get("/console/people/:id/block") { visit in try await Self.confirm(visit, blocks: true) }
        table.get("/console/people/:id/unblock") { visit in try await Self.confirm(visit, blocks: false) }
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
        let rows = page.list("value").map { user -> [Cell] in
            [
                .link(user.text("displayName"), Self.path(user.text("id"))), .text(user.text("userPrincipalName")),
                .text(user.text("department")),
                user["accountEnabled"] == false ? .badge("disabled", .notice) : .badge("enabled", .good),
            ]
        }
        return .page(
            Page(
                "People", .people, lead: "Find somebody to see their apps and devices, ask what they may do, or wipe.",
                [
                    .form(
                        Form(
                            "/console/people", submit: "Search", asks: true,
                            [Field(.text, "search", "Name or sign-in name begins with", value: search)])),
                    .table(
                        Table(
                            "People", ["Name", "Signs in as", "Department", "Account"], rows,
                            empty: search.isEmpty
                                ? "The directory is empty. Connect a directory, or let people enrol."
                                : "Nobody is called so.",
                            more: ListPages.more(page, "/console/people", search: search))),
                ]))
    }

    @Sendable private func show(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let id = visit.keys[0]
        let user = try await visit.api.get(Self.route(id))
        let registrations = try await visit.api.all(
            "/beta/users/\(ConsolePath.part(id))/managedAppRegistrations?$top=100&$expand=appliedPolicies")
        let checks = try await visit.api.all(Self.route(id) + "/getManagedAppDiagnosticStatuses")
        let policies = try await visit.api.all(Self.route(id) + "/getManagedAppPolicies")
        let groups = try await visit.api.all(Self.route(id) + "/memberOf")
        let isBlocked = try await visit.api.get(Self.route(id) + "/isManagedAppUserBlocked")["value"] == true
        let failing = checks.filter {
            $0.text("state").lowercased() != "passed" && $0.text("validationName") != "Intune License"
        }
        var blocks: [Block] = []
        if isBlocked {
            blocks.append(.note(.bad, "This person is blocked: their apps are wiped, and enrolling is refused.", []))
        }
        blocks.append(
            failing.isEmpty
                ? .note(.good, "Protected: everything is as it should be.", [])
                : .note(
                    .notice, "Not everything is as it should be:",
                    failing.map { "\($0.text("validationName")): \($0.text("mitigationInstruction"))" }))
        var links = [Link("Ask what they may do", "/console/ask?person=" + ConsolePath.part(id))]
        if visit.may("wipe"), !registrations.isEmpty {
            links.insert(Link("Wipe a device…", Self.path(id) + "/wipe", isMain: true), at: 0)
        }
        if visit.may("blockUsers") {
            links.append(
                isBlocked
                    ? Link("Unblock…", Self.path(id) + "/unblock")
                    : Link("Wipe everything and block…", Self.path(id) + "/block"))
        }
        blocks += [
            .links(links),
            .facts([
                ("Signs in as", .text(user.text("userPrincipalName"))), ("Object id", .code(user.text("id"))),
                ("Groups", .list(groups.isEmpty ? [.text("none")] : groups.map { .text($0.text("displayName")) })),
                (
                    "Policies",
                    .list(
                        policies.isEmpty
                            ? [.badge("none", .notice)]
                            : policies.map { .link($0.text("displayName"), PolicyPages.path($0.text("id"))) })
                ),
            ]),
            .table(DevicePages.table("Apps and devices", registrations)),
        ]
        return .page(
            Page(user.text("displayName"), .people, isLive: true, above: Link("People", "/console/people"), blocks))
    }

    private static func confirm(_ visit: ConsoleVisit, blocks: Bool) async throws -> ConsoleAnswer {
        let user = try await visit.api.get(route(visit.keys[0]))
        let action = path(visit.keys[0]) + (blocks ? "/block" : "/unblock")
        let title =
            blocks
            ? "Wipe everything of \(user.text("displayName")) and block them?" : "Unblock \(user.text("displayName"))?"
        return .page(
            Page(
                title, .people, above: Link(user.text("displayName"), path(visit.keys[0])),
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
