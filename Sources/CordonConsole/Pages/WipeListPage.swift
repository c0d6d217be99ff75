import CordonPolicy
import CordonServiceHTTP

/// The wipes of a person, or of everyone, newest first (SRV-UI-17).
struct WipeListPage {
    func add(to table: ConsoleTable) {
        table.get("/console/wipes", lists: "read", live: true, list)
    }

    private static let mostShown = 50

    @Sendable private func list(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let (user, wanted) = (visit.query["user"], visit.query["state"])
        var asked = ["top=\(Self.mostShown)"]
        for (name, value) in [("user", user), ("state", wanted), ("after", visit.query["after"])] where !value.isEmpty {
            asked.append(name + "=" + ConsolePath.part(value))
        }
        let (wipes, next) = try await visit.api.page("/admin/v1/wipes?" + asked.joined(separator: "&"))
        let people = try await PeopleStatus(
            of: [user] + wipes.flatMap { [$0.text("userId"), $0.text("requestedBy")] }, visit)
        let rows = wipes.map { wipe -> [Cell] in
            [
                .link(.data(people.name(of: wipe.text("userId"))), PeoplePages.path(wipe.text("userId"))),
                .list([WipePages.device(wipe), .code(wipe.text("bundleId"))]),
                .list(
                    WipePages.state(wipe, visit) + (WipePages.isOpen(wipe) ? WipePages.proof(wipe) : [])
                        + [.link("Details", WipePages.path(wipe))]),
                .list([WipePages.steps(wipe), .text("by \(WipePages.author(wipe, people))")]),
            ]
        }
        let more = next.map { next in
            Link(
                "More",
                "/console/wipes?after=\(ConsolePath.part(next["after"]))&state=\(ConsolePath.part(wanted))"
                    + (user.isEmpty ? "" : "&user=" + ConsolePath.part(user)))
        }
        // Others than those that are listed may wait.
        let isWhole = wanted.isEmpty && visit.query["after"].isEmpty
        return .page(
            Page(
                user.isEmpty ? "Wipes" : "Wipes of \(people.name(of: user))", .wipes,
                lead: "From the request to the receipt that the app signed. To wipe, open a person or a device.",
                isLive: true, above: user.isEmpty ? nil : Link("Wipes", "/console/wipes"),
                [
                    .links(
                        !visit.may("wipe")
                            ? []
                            : user.isEmpty
                                ? [Link("Choose a person…", "/console/people"), Link("Devices", "/console/devices")]
                                : [Link("Wipe a device…", PeoplePages.path(user) + "/wipe")]),
                    .form(
                        Form(
                            "/console/wipes", submit: "Show", hidden: user.isEmpty ? [] : [("user", user)], asks: true,
                            [Field(.choice(Self.states), "state", "State", value: wanted)])),
                ] + (user.isEmpty || !isWhole ? [] : WipePages.waiting(wipes, visit)) + [
                    .table(
                        Table(
                            "Wipes", ["Person", "Device and app", "State", "Steps"], rows,
                            empty: "There is no wipe here. Open a person to wipe one of their devices.", more: more))
                ]))
    }

    private static let states: [(value: String, text: Phrase)] = [
        ("", "all"), ("open", "under way"), ("succeeded", "done"), ("failed", "failed or lapsed"),
        ("cancelled", "cancelled"),
    ]
}
