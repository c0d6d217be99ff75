import CordonPolicy
import CordonServiceHTTP
import Foundation
import HTTPTypes

/// What a policy said before: every version, what differs, and putting one back.
struct HistoryPages {
    func add(to table: ConsoleTable) {
        table.get("/console/policies/:id/history", list)
        table.get("/console/policies/:id/history/:version", compare)
        table.post("/console/policies/:id/history/:version") { visit in
            let put = try await visit.api.call(
                .post, Self.route(visit.keys[0]) + "/" + ConsolePath.part(visit.keys[1]) + "/putBack",
                ifVersion: visit.form["version"], impact: visit.form["impact"])
            return .moved(PolicyPages.path(put.text("id")))
        }
    }

    private static func route(_ id: String) -> String { "/admin/v1/policies/" + ConsolePath.part(id) + "/versions" }
    private static func path(_ id: String) -> String { PolicyPages.path(id) + "/history" }

    @Sendable private func list(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let id = visit.keys[0]
        let policy = try await visit.api.get(PolicyPages.route(id))
        let versions = try await visit.api.get(Self.route(id)).array ?? []
        let people = try await PeopleStanding(of: versions.prefix(200).map { $0["author"]?.text("id") ?? "" }, visit)
        let rows = versions.map { version -> [Cell] in
            let isPresent = version.text("version") == policy.text("version")
            return [
                isPresent
                    ? .list([.text("Version \(.data("\(version.number("number"))"))"), .badge("in force", .good)])
                    : .link(
                        "Version \(.data("\(version.number("number"))"))",
                        Self.path(id) + "/" + ConsolePath.part(version.text("version"))),
                .time(version.date("time")), .text(SettingTexts.words(version.text("action"))),
                .text(.data(people.name(of: version["author"]?.text("id") ?? ""))),
                .text(.data(version.text("reason"))),
            ]
        }
        return .page(
            Page(
                "History of \(policy.text("displayName"))", .policies,
                lead: "Open a version to compare it with the one in force.",
                above: Link(.data(policy.text("displayName")), PolicyPages.path(id)),
                [
                    .table(
                        Table(
                            "Versions", ["Version", "Time", "What", "Who", "Reason"], rows,
                            empty: "No earlier version is kept. Every change from now on appears here."
                        ))
                ]))
    }

    @Sendable private func compare(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let (id, version) = (visit.keys[0], visit.keys[1])
        let policy = try await visit.api.get(PolicyPages.route(id))
        let present = policy.text("version")
        let comparison = try await visit.api.get(
            Self.route(id) + "/" + ConsolePath.part(present) + "/comparison?with=" + ConsolePath.part(version))
        var blocks = ApprovalPages.changes(comparison)
        if visit.may("writePolicies") {
            let impact = try await ShownImpact(of: ["policy": .string(id), "putBack": .string(version)], visit)
            let path = Self.path(id) + "/" + ConsolePath.part(version)
            blocks += impact.blocks
            blocks.append(
                .form(
                    Form(
                        path, submit: "Put this version back",
                        hidden: [("version", present), ("impact", impact.token), ("page", path)],
                        cancel: Link("Keep the version in force", PolicyPages.path(id)), [])))
        }
        return .page(
            Page(
                "An earlier version of \(policy.text("displayName"))", .policies,
                lead: "What would change if it were put back in place of the version in force.",
                above: Link("History", Self.path(id)), blocks))
    }
}
