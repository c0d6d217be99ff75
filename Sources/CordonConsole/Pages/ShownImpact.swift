import CordonPolicy
import CordonServiceHTTP
import Foundation
import HTTPTypes

/// What a change would do, as the service counts it; kept with the form, so that it is shown what is counted.
struct ShownImpact {
    let blocks: [Block]
    /// What says to the service that the numbers were seen; empty where it wants none.
    let token: String
    /// How many apps on devices have other rules then.
    let apps: Int

    /// Asks for the impact of a change.
    ///
    /// - Throws: ``Refusal`` as the change itself: what cannot be made concerns no number of people, not even none.
    init(of question: JSONValue, _ visit: ConsoleVisit) async throws {
        let impact = try await visit.api.call(.post, "/admin/v1/impact", question)
        token = impact.text("token")
        let reached = impact["reach"]?.number("registrations") ?? 0
        self.apps = reached
        let losing = impact["losing"] ?? .null
        var blocks = impact["audience"].map { Self.audience($0, apps: reached) } ?? []
        let (people, apps) = (losing.number("people"), losing.number("registrations"))
        let wipes = impact.list("wipes").map { wipe -> Phrase in
            "\(.said(wipe.text("question"))): \(.said(wipe.text("from"))) becomes \(.said(wipe.text("to")))"
        }
        if !wipes.isEmpty {
            blocks.append(
                .note(
                    .bad,
                    """
                    Where one of these holds, organisation data is removed. People whom it may concern: \(.data("\(people)")), \
                    apps on devices: \(.data("\(apps)")).
                    """, wipes))
        } else if people > 0 {
            blocks.append(
                .note(
                    .bad,
                    """
                    Organisation data is removed. People: \(.data("\(people)")), apps on devices: \
                    \(.data("\(apps)")).
                    """, []))
        }
        if impact["needsApproval"] == true {
            blocks.append(
                .note(.notice, "A second administrator has to release this change before it takes effect.", []))
        }
        if impact["needsWipePermission"] == true, !visit.may("wipe") {
            blocks.append(.note(.bad, "Your roles do not allow a change that removes data.", []))
        }
        let known =
            impact.list("winners").isEmpty
            ? [] : try await visit.api.all(PolicyPages.collection + "?$top=200&$select=displayName")
        let names = Dictionary(
            known.map { ($0.text("id"), $0.text("displayName")) }, uniquingKeysWith: { first, _ in first })
        let winners = impact.list("winners").map { winner -> [Cell] in
            let setting = winner.text("setting")
            return [
                .text(SettingTexts.text(of: setting).label),
                .text(SettingTexts.value(winner["present"] ?? .null, of: setting)),
                .text(SettingTexts.value(winner["value"] ?? .null, of: setting)),
                .link(
                    .data(names[winner.text("policy")] ?? winner.text("policy")),
                    PolicyPages.path(winner.text("policy"))),
            ]
        }
        if !winners.isEmpty {
            let table = Block.table(
                Table(
                    "Where several policies meet", ["Setting", "Today", "Value that counts then", "From the policy"],
                    winners, empty: ""))
            blocks.append(
                winners.count <= Self.mostUnfolded
                    ? table : .more("Where several policies meet: \(winners.count) settings", [table]))
        }
        self.blocks = blocks
    }

    /// What a change of something that policies name does, before it is saved; nil where it was looked at, or no app gets other rules.
    ///
    /// - Parameter path: Where the form is sent, and the page that shows it.
    static func preview(
        of question: JSONValue, _ name: String, at path: String, _ visit: ConsoleVisit
    ) async throws -> Page? {
        guard visit.form["step"] != "publish" else { return nil }
        let impact = try await ShownImpact(of: question, visit)
        guard impact.apps > 0 || !impact.token.isEmpty else { return nil }
        let filledIn = visit.form.values.filter { !["csrf", "page"].contains($0.key) }.sorted { $0.key < $1.key }
        let kept = filledIn.flatMap { name, values in values.map { (name, $0) } }
        return Page(
            "Preview: \(name)", .service, lead: "Nothing is in force yet.", above: Link(.data(name), path),
            [
                .facts([("Apps on devices whose rules change", .text("\(impact.apps)"))]),
                .text("An app without any policy removes its organisation data."),
            ] + impact.blocks + [
                .form(
                    Form(
                        path, submit: "Publish",
                        hidden: kept + [("impact", impact.token), ("step", "publish"), ("page", path)],
                        cancel: Link("Change nothing", path), []))
            ])
    }

    /// The most settings on which policies meet that are shown at once.
    private static let mostUnfolded = 12

    /// Whom the policy reaches: how many, some of them by name, and in how many apps something changes.
    private static func audience(_ audience: JSONValue, apps: Int) -> [Block] {
        let (before, after, leaving) = (
            audience.number("before"), audience.number("after"), audience.number("leaving")
        )
        var blocks: [Block] = []
        if leaving > 0 {
            blocks.append(
                .note(
                    .notice, "\(leaving) people lose this policy.",
                    ["In apps where no other policy reaches them, organisation data is removed."]))
        }
        guard after > 0 else {
            guard before == 0 else { return blocks }
            return [
                .note(
                    .notice, "This reaches no person at present.",
                    ["It does once it is assigned to a group with people."])
            ]
        }
        // No links: their pages say what is in force now, and what was filled in would be left behind.
        let people = audience.list("some").map { Cell.text(.data($0.text("displayName"))) }
        let others = after - people.count
        blocks.append(
            .card(
                "Who is affected: \(after) people",
                [
                    .facts([
                        ("By name", .list(people + (others > 0 ? [.text("and \(others) more")] : []))),
                        ("Apps on devices whose rules change", .text("\(apps)")),
                    ])
                ]))
        return blocks
    }
}
