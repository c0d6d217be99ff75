import CordonPolicy
import CordonServiceHTTP
import Crypto
import Foundation
import HTTPTypes

/// Wipes: what exactly is affected, the number repeated, and the way to the verified receipt (SRV-UI-16, SRV-UI-17).
struct WipePages {
    func add(to table: ConsoleTable) {
        table.get("/console/people/:id/wipe", needs: "wipe", choose)
        table.post("/console/people/:id/wipe", needs: "wipe", request)
        table.get("/console/wipes", lists: "read", live: true, list)
        table.post("/console/wipes/:registration/:id/cancel") { visit in
            try await visit.api.call(
                .delete, DevicePages.route(visit.keys[0]) + "/operations/" + ConsolePath.part(visit.keys[1]))
            return .moved("/console/wipes")
        }
    }

    /// The number that has to be repeated: the same in one session for one person and device, and of no use elsewhere.
    private static func number(_ visit: ConsoleVisit, _ tag: String) -> String {
        let text = Data("\(visit.keys[0])/\(tag)".utf8)
        let code = HMAC<SHA256>.authenticationCode(for: text, using: SymmetricKey(data: Data(visit.session.csrf.utf8)))
        return String(1_000 + code.prefix(4).reduce(0 as UInt32) { $0 << 8 | UInt32($1) } % 9_000)
    }

    @Sendable private func choose(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let tag = visit.draft?["tag"] ?? visit.query["tag"]
        return .page(try await Self.page(visit, tag: tag))
    }

    private static func page(_ visit: ConsoleVisit, tag: String, error: Phrase = "") async throws -> Page {
        let id = visit.keys[0]
        let user = try await visit.api.get(PeoplePages.route(id))
        visit.begin()
        let all = try await visit.api.all("/beta/users/\(ConsolePath.part(id))/managedAppRegistrations?$top=100")
        let above = Link(.data(user.text("displayName")), PeoplePages.path(id))
        let devices = Dictionary(grouping: all) { $0.text("deviceTag") }
        guard let apps = devices[tag], let first = apps.first else {
            let rows = devices.sorted { $0.key < $1.key }.map { tag, apps -> [Cell] in
                [
                    .link(
                        .data(apps.first.map(DevicePages.name) ?? tag),
                        PeoplePages.path(id) + "/wipe?tag=" + ConsolePath.part(tag)),
                    .list(apps.map { .code($0["appIdentifier"]?.text("bundleId") ?? "") }),
                    .time(apps.compactMap { $0.date("lastSyncDateTime") }.max()), .code(tag),
                ]
            }
            return Page(
                "Which device of \(user.text("displayName"))?", .wipes,
                lead:
                    "A wipe removes organisation data from the apps of one person on one device. Nothing else is touched.",
                above: above,
                [
                    .table(
                        Table(
                            "Devices", ["Device", "Apps", "Last contact", "Device tag"], rows,
                            empty: "This person has no app to wipe."))
                ])
        }
        let name = DevicePages.name(first)
        let path = PeoplePages.path(id) + "/wipe"
        let number = number(visit, tag)
        let bundles = apps.map { $0["appIdentifier"]?.text("bundleId") ?? "" }.joined(separator: ", ")
        let again = "/console/sign-in?fresh=1&next=" + ConsolePath.part(path + "?tag=" + ConsolePath.part(tag))
        let freshness: [Block] =
            visit.me["isFresh"] == false
            ? [
                .note(.notice, "The service wants a fresh sign-in for a wipe.", []),
                .links([Link("Sign in again first", again, isMain: true)]),
            ] : []
        return Page(
            "Wipe \(name) of \(user.text("displayName"))", .wipes,
            lead: "Organisation data in these apps is destroyed. It cannot be brought back; private data stays.",
            above: above,
            freshness + [
                .table(
                    Table(
                        "What is affected", ["App", "Version", "Last contact"],
                        apps.map {
                            [
                                .code($0["appIdentifier"]?.text("bundleId") ?? ""),
                                .text(.data($0.text("applicationVersion"))),
                                .time($0.date("lastSyncDateTime")),
                            ]
                        }, empty: "")),
                .facts([
                    ("Person", .text(.data("\(user.text("displayName")), \(user.text("userPrincipalName"))"))),
                    ("Device", .text(.data(name))), ("Device tag", .code(tag)),
                ]),
                .form(
                    Form(
                        path, submit: "Wipe", hidden: [("tag", tag), ("page", path)], isGrave: true,
                        cancel: Link("Do not wipe", PeoplePages.path(id)),
                        [
                            Field(
                                .text, "number", "Repeat the number \(number)",
                                help: "The number guards against a wipe by a slip of the hand.", error: error,
                                isRequired: true)
                        ])),
                .card(
                    "A text for the person",
                    [
                        .text("Send it before or after, by a way that reaches them without the app:"),
                        .code(
                            """
                            Your organisation removes its data from \(apps.count) apps on \(name): \(bundles). Your own \
                            photos, messages and files are not touched. If you did not expect this, call the help desk.
                            """,
                            label: "Text to forward"),
                    ]),
            ])
    }

    @Sendable private func request(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let tag = visit.form["tag"]
        // After a fresh sign-in the session is another one, and so is its number.
        guard visit.form["number"] == Self.number(visit, tag) else {
            return .page(
                try await Self.page(visit, tag: tag, error: "This is not the number that is shown. Nothing was wiped."),
                .badRequest)
        }
        try await visit.api.call(
            .post, PeoplePages.route(visit.keys[0]) + "/wipeManagedAppRegistrationsByDeviceTag",
            ["deviceTag": .string(tag)])
        return .moved("/console/wipes?user=" + ConsolePath.part(visit.keys[0]))
    }

    // MARK: What became of them

    private static let steps = ["pending", "delivered", "acknowledged", "succeeded"]

    static func words(_ state: String) -> (Phrase, Tone) {
        switch state {
        case "pending": ("1 of 4: requested", .notice)
        case "delivered": ("2 of 4: delivered to the app", .notice)
        case "acknowledged": ("3 of 4: under way", .notice)
        case "succeeded": ("4 of 4: done, receipt verified", .good)
        case "failed": ("failed", .bad)
        case "cancelled": ("cancelled", .plain)
        case "expired": ("lapsed", .bad)
        default: (SettingTexts.words(state), .plain)
        }
    }

    static func table(_ caption: Phrase, _ operations: [JSONValue]) -> Table {
        Table(
            caption, ["Wipe", "State", "Changed"],
            operations.map { operation in
                let (text, tone) = words(operation.text("state"))
                return [
                    .text(.said(operation.text("displayName"))), .badge(text, tone),
                    .time(operation.date("lastModifiedDateTime")),
                ]
            }, empty: "This app was never wiped.")
    }

    /// The steps that a wipe has made, each with its time.
    private static func steps(_ wipe: JSONValue) -> Cell {
        let known = wipe.list("steps")
        var cells = known.flatMap { step -> [Cell] in
            [.text(self.step(step.text("state"))), .time(step.date("time"))]
        }
        // Of what an earlier version moved on, the last step alone has a time.
        if let last = known.last, last.text("state") != wipe.text("state") {
            cells += [.text(step(wipe.text("state"))), .time(wipe.date("modified"))]
        }
        return .list(cells)
    }

    private static func step(_ state: String) -> Phrase {
        switch state {
        case "pending": "requested"
        case "delivered": "delivered"
        case "acknowledged": "under way"
        case "succeeded": "done"
        default: words(state).0
        }
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
            let author = wipe.text("requestedBy")
            return [
                .link(.data(people.name(of: wipe.text("userId"))), PeoplePages.path(wipe.text("userId"))),
                .link(.data(wipe.text("bundleId")), DevicePages.path(wipe.text("registrationId"))),
                .list(Self.state(wipe, visit)), Self.steps(wipe),
                .text(author == wipe.text("registrationId") ? "the app itself" : .data(people.name(of: author))),
                Self.isOpen(wipe)
                    ? .list([.text("lapses"), .time(wipe.date("notAfter"))])
                    : wipe["receipt"]?.string.map { .badge("signed, \($0.count) bytes", .good) } ?? .text("none"),
            ]
        }
        let more = next.map { next in
            Link(
                "More",
                "/console/wipes?after=\(ConsolePath.part(next["after"]))&state=\(ConsolePath.part(wanted))"
                    + (user.isEmpty ? "" : "&user=" + ConsolePath.part(user)))
        }
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
                    .table(
                        Table(
                            "Wipes", ["Person", "App", "State", "Steps", "Requested by", "Receipt"], rows,
                            empty: "There is no wipe here. Open a person to wipe one of their devices.", more: more)),
                ]))
    }

    private static let states: [(value: String, text: Phrase)] = [
        ("", "all"), ("open", "under way"), ("succeeded", "done"), ("failed", "failed or lapsed"),
        ("cancelled", "cancelled"),
    ]

    private static func isOpen(_ wipe: JSONValue) -> Bool { steps.dropLast().contains(wipe.text("state")) }

    /// How far a wipe is, and what can be done about it.
    private static func state(_ wipe: JSONValue, _ visit: ConsoleVisit) -> [Cell] {
        let (text, tone) = words(wipe.text("state"))
        var state: [Cell] = [.badge(text, tone)]
        if let failure = wipe["failureReason"]?.string { state.append(.text(.said(failure))) }
        if ["failed", "expired"].contains(wipe.text("state")), visit.may("wipe") {
            state.append(
                wipe["successorId"]?.string == nil
                    ? .link("Wipe again…", PeoplePages.path(wipe.text("userId")) + "/wipe") : .text("wiped again"))
        }
        if wipe.number("attempt") > 1 { state.append(.text("attempt \(.data("\(wipe.number("attempt"))"))")) }
        if visit.may("cancelWipes"), wipe.text("state") == "pending" {
            let path = [wipe.text("registrationId"), wipe.text("id")].map(ConsolePath.part).joined(separator: "/")
            state.append(.button("Cancel", action: "/console/wipes/\(path)/cancel"))
        }
        return state
    }
}
