import CordonPolicy
import CordonServiceHTTP
import Foundation
import HTTPTypes

/// What a policy said before: every version, what differs, and putting one back.
struct HistoryPages {
    func add(to table: ConsoleTable) {
        table.get("/console/policies/:id/history", list)
        table.get("/console/policies/:id/history/:version") { .page(try await Self.comparison($0)) }
        table.post("/console/policies/:id/history/:version/preview", needs: "writePolicies", preview)
        table.post("/console/policies/:id/history/:version") { visit in
            let put = try await visit.api.call(
                .post, Self.route(visit.keys[0]) + "/" + ConsolePath.part(visit.keys[1]) + "/putBack",
                ifVersion: visit.form["version"], impact: visit.form["impact"])
            return PolicyOutcome.putBack.shown(on: put.text("id"))
        }
    }

    private static func route(_ id: String) -> String { "/admin/v1/policies/" + ConsolePath.part(id) + "/versions" }
    private static func path(_ id: String) -> String { PolicyPages.path(id) + "/history" }

    /// What made a version.
    private static func words(_ action: String) -> Phrase {
        switch action {
        case "policy.create": "made"
        case "policy.update": "settings changed"
        case "policy.targetApps": "apps changed"
        case "policy.assign": "assignment changed"
        default: SettingTexts.words(action)
        }
    }

    @Sendable private func list(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let id = visit.keys[0]
        let policy = try await visit.api.get(PolicyPages.route(id) + "?$select=displayName,version")
        visit.begin()
        let all = try await visit.api.get(Self.route(id)).array ?? []
        let (versions, more) = ListPages.cut(all, Self.path(id), visit)
        let people = try await PeopleStatus(of: versions.map { $0["author"]?.text("id") ?? "" }, visit)
        let rows = versions.map { version -> [Cell] in
            let isPresent = version.text("version") == policy.text("version")
            return [
                isPresent
                    ? .list([.text("Version \(.data("\(version.number("number"))"))"), .badge("in force", .good)])
                    : .link(
                        "Version \(.data("\(version.number("number"))"))",
                        Self.path(id) + "/" + ConsolePath.part(version.text("version"))),
                .time(version.date("time")), .text(Self.words(version.text("action"))),
                .text(.data(people.name(of: version["author"]?.text("id") ?? ""))),
                .text(.data(version.text("reason"))),
            ]
        }
        return .page(
            Page(
                "History of \(policy.text("displayName"))", .policies,
                lead: "Open a version to see how it differs from the one in force, and to put it back.",
                above: Link(.data(policy.text("displayName")), PolicyPages.path(id)),
                [
                    .table(
                        Table(
                            "Versions", ["Version", "Time", "What", "Who", "Reason"], rows,
                            empty: "No earlier version is kept. Every change from now on appears here.", more: more
                        ))
                ]))
    }

    /// How an earlier version differs; the people whom it would affect are counted on the next page.
    private static func comparison(_ visit: ConsoleVisit, then next: [Block]? = nil) async throws -> Page {
        let (id, version) = (visit.keys[0], visit.keys[1])
        // What the versions say is long, and not needed to know that there are two to compare.
        let place = try await visit.api.get(route(id) + "/" + ConsolePath.part(version) + "/place")
        guard let present = place["inForce"]?.string else {
            throw Refusal(.notFound, "not-found", "The policy was deleted, so there is nothing to compare with.")
        }
        visit.begin()
        let policy = try await visit.api.get(PolicyPages.route(id) + "?$select=displayName")
        let comparison = try await visit.api.get(
            route(id) + "/" + ConsolePath.part(present) + "/comparison?with=" + ConsolePath.part(version))
        var blocks = try await ApprovalPages.changes(comparison, visit)
        if let next {
            blocks += next
        } else if visit.may("writePolicies") {
            let page = path(id) + "/" + ConsolePath.part(version)
            blocks.append(
                .form(
                    Form(
                        page + "/preview", submit: "Preview putting it back", hidden: [("page", page)],
                        cancel: Link("Keep the version in force", PolicyPages.path(id)), [])))
        }
        return Page(
            "An earlier version of \(policy.text("displayName"))", .policies,
            lead: "What would change if it were put back in place of the version in force.",
            above: Link("History", path(id)), blocks)
    }

    @Sendable private func preview(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let (id, version) = (visit.keys[0], visit.keys[1])
        let present = try await visit.api.get(PolicyPages.route(id)).text("version")
        let impact = try await ShownImpact(of: ["policy": .string(id), "putBack": .string(version)], visit)
        let path = Self.path(id) + "/" + ConsolePath.part(version)
        let form = Form(
            path, submit: "Put this version back",
            hidden: [("version", present), ("impact", impact.token), ("page", path)],
            cancel: Link("Keep the version in force", PolicyPages.path(id)), [])
        return .page(try await Self.comparison(visit, then: impact.blocks + [.form(form)]))
    }
}
