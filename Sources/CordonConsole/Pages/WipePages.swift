import CordonBase
import CordonPolicy
import CordonService
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
        table.get("/console/wipes/:registration/:id", show)
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
        // Of one device alone, there is nothing to choose.
        let tag = tag.isEmpty && devices.count == 1 ? devices.keys.first ?? tag : tag
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
        let names = Dictionary(
            await CataloguePages.apps(visit).map { ($0.text("bundleId").lowercased(), $0.text("displayName")) },
            uniquingKeysWith: { first, _ in first })
        // Who reads the text knows the app's name; the id is for apps that the catalogue does not have.
        let called = Set(
            apps.map { app in
                let bundle = app["appIdentifier"]?.text("bundleId") ?? ""
                return names[bundle.lowercased()] ?? bundle
            }
        ).sorted().joined(separator: ", ")
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
                        apps.map { app in
                            let bundle = app["appIdentifier"]?.text("bundleId") ?? ""
                            let name = names[bundle.lowercased()].map { [Cell.text(.data($0))] } ?? []
                            return [
                                .list(name + [.code(bundle)]),
                                .text(.data(app.text("applicationVersion"))),
                                .time(app.date("lastSyncDateTime")),
                            ]
                        }, empty: "")),
                .facts([
                    ("Person", .text(.data("\(user.text("displayName")), \(user.text("userPrincipalName"))"))),
                    ("Device", .text(.data(name))), ("Device tag", .code(tag)),
                ]),
                .note(
                    .notice, "What happens then:",
                    [
                        "Each app removes its data at its next contact with the service, and sends a receipt that it has signed.",
                        "This is enough for a lost phone: the data there becomes unreadable, and only this person's sign-in opens the apps again. To keep the person out too, choose Wipe everything and block on their page.",
                        "A phone that is off or offline is wiped when it is back. The wipe waits for it, usually \(usualDays) days, and longer where the rules let the app be offline longer; the list of wipes shows until when. Then it lapses, and the service asks for it again if the app comes back later.",
                        cancelling(visit),
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
                            Your organisation removes its data from \(apps.count) apps on \(name): \(called). Your own \
                            photos, messages and files are not touched. To use the apps again, here or on another \
                            device, open them and sign in with your work account; install them first where they are \
                            missing. If you did not expect this, call the help desk.
                            """,
                            label: "Text to forward"),
                    ]),
            ])
    }

    /// How many days a wipe waits as a rule.
    private static let usualDays = Int(ServiceConfiguration().wipeLifetime.components.seconds / 86_400)

    /// Whether a wipe can be taken back, and by whom.
    private static func cancelling(_ visit: ConsoleVisit) -> Phrase {
        visit.may("cancelWipes")
            ? "Until an app has fetched it, you can cancel it in the list of wipes. After that it is too late: the app has the signed order, and carries it out without asking again."
            : "Until an app has fetched it, an administrator who may cancel wipes can take it back. After that it is too late: the app has the signed order, and carries it out without asking again."
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

    /// - Parameter registration: The id of the app on a device whose wipes they are.
    static func table(_ caption: Phrase, _ operations: [JSONValue], on registration: String) -> Table {
        Table(
            caption, ["Wipe", "State", "Changed"],
            operations.map { operation in
                let (text, tone) = words(operation.text("state"))
                return [
                    .link(.said(operation.text("displayName")), path(of: operation.text("id"), on: registration)),
                    .badge(text, tone),
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
            [
                .link(.data(people.name(of: wipe.text("userId"))), PeoplePages.path(wipe.text("userId"))),
                .list([Self.device(wipe), .code(wipe.text("bundleId"))]),
                .list(
                    Self.state(wipe, visit) + (Self.isOpen(wipe) ? Self.proof(wipe) : [])
                        + [.link("Details", Self.path(wipe))]),
                .list([Self.steps(wipe), .text("by \(Self.author(wipe, people))")]),
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
                ] + (user.isEmpty ? [] : Self.waiting(wipes, visit)) + [
                    .table(
                        Table(
                            "Wipes", ["Person", "Device and app", "State", "Steps"], rows,
                            empty: "There is no wipe here. Open a person to wipe one of their devices.", more: more))
                ]))
    }

    /// What becomes of the wipes of a person that are under way, and whether they can still be taken back.
    private static func waiting(_ wipes: [JSONValue], _ visit: ConsoleVisit) -> [Block] {
        let open = wipes.filter(isOpen)
        guard !open.isEmpty else {
            // Of the newest wipe, the page has just said that it is under way.
            guard wipes.first?.text("state") == "succeeded" else { return [] }
            return [
                .note(
                    .good,
                    "The newest wipe is done: the app has removed its data and signed a receipt, which was verified.",
                    [])
            ]
        }
        let pending = open.filter { $0.text("state") == "pending" }
        var said: [Phrase] = []
        if let first = pending.compactMap({ $0.date("notAfter") }).min() {
            said.append(
                "Each app removes its data at its next contact with the service. A phone that is off is waited for until \(.data(Moment.text(first))); then the wipe lapses, and the service asks for it again if the app comes back later."
            )
            said.append(cancelling(visit))
        }
        if pending.count < open.count {
            said.append(
                "\(open.count - pending.count) wipes have been delivered, and cannot be cancelled any more: the app has the signed order."
            )
        }
        return [.note(.notice, "Wipe requested: \(open.count) apps have not reported yet.", said)]
    }

    /// The device of a wipe, by the name that it has on the other pages.
    private static func device(_ wipe: JSONValue) -> Cell {
        wipe["deviceTag"]?.string == nil
            ? .text("not known any more")
            : .link(.data(DevicePages.name(wipe)), DevicePages.path(wipe.text("registrationId")))
    }

    private static func author(_ wipe: JSONValue, _ people: PeopleStatus) -> Phrase {
        let author = wipe.text("requestedBy")
        return author == wipe.text("registrationId") ? "the app itself" : .data(people.name(of: author))
    }

    /// How long a wipe waits; of one that is over, that its receipt was verified, and when.
    private static func proof(_ wipe: JSONValue) -> [Cell] {
        if isOpen(wipe) { return [.text("waits until"), .time(wipe.date("notAfter"))] }
        guard wipe["receipt"]?.string != nil else { return [.text("none")] }
        return [.badge("signed, verified", .good), .time(verified(wipe))]
    }

    /// When the service took the receipt, which it does once it has verified it.
    private static func verified(_ wipe: JSONValue) -> Date? {
        wipe.list("steps").last { ["succeeded", "failed"].contains($0.text("state")) }?.date("time")
            ?? wipe.date("modified")
    }

    static func path(of wipe: String, on registration: String) -> String {
        "/console/wipes/" + [registration, wipe].map(ConsolePath.part).joined(separator: "/")
    }

    private static func path(_ wipe: JSONValue) -> String {
        path(of: wipe.text("id"), on: wipe.text("registrationId"))
    }

    // MARK: One wipe

    /// A wipe with what its app signed, which is a file to take along as well.
    @Sendable private func show(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let wipe = try await visit.api.get("/admin/v1/wipes/" + ConsolePath.part(visit.keys[1]))
        guard wipe.text("registrationId") == visit.keys[0] else {
            throw Refusal(.notFound, "not-found", "There is no such wipe.")
        }
        let user = wipe.text("userId")
        let receipt = wipe["receipt"]?.string
        if visit.query["format"] == "jws" {
            guard let receipt else { throw Refusal(.notFound, "not-found", "This wipe has no receipt.") }
            return .response(ReportFile.signature(receipt, named: Self.fileName(of: wipe)))
        }
        visit.begin()
        let people = try await PeopleStatus(of: [user, wipe.text("requestedBy")], visit)
        let facts: [(Phrase, Cell)] = [
            ("Person", .link(.data(people.name(of: user)), PeoplePages.path(user))),
            ("Device", Self.device(wipe)), ("App", .code(wipe.text("bundleId"))),
            ("State", .list(Self.state(wipe, visit))), ("Steps", Self.steps(wipe)),
            ("Requested by", .text(Self.author(wipe, people))), ("Receipt", .list(Self.proof(wipe))),
        ]
        var blocks: [Block] = [.links(AuditPages.link(to: user, visit)), .facts(facts)]
        if let receipt {
            blocks.append(
                .card(
                    "The receipt",
                    [
                        .text(
                            "The app signed this with its own key, and the service verified it before it called the wipe done or failed. The audit log has it too, with the key, so that others can verify it."
                        ),
                        .text(
                            wipe.text("state") == "succeeded"
                                ? "The app destroyed the keys that it names, so no one can read what is left of the files, not even in copies. It counts the files that the app still found and deleted."
                                : ""),
                        .code(Self.content(ofReceipt: receipt), label: "What the app signed"),
                        .links([Link("Download the receipt", Self.path(wipe) + "?format=jws", isMain: true)]),
                    ]))
        } else {
            blocks += Self.waiting([wipe], visit)
        }
        return .page(
            Page(
                "A wipe of \(people.name(of: user))", .wipes,
                above: Link("Wipes of \(people.name(of: user))", "/console/wipes?user=" + ConsolePath.part(user)),
                blocks))
    }

    /// What the file of a receipt is called: by its device and the day.
    private static func fileName(of wipe: JSONValue) -> String {
        let tag = wipe.text("deviceTag").filter { $0.isASCII && ($0.isLetter || $0.isNumber) }.suffix(8)
        let day = verified(wipe).map { "-" + Moment.text($0).prefix(10) } ?? ""
        return "wipe-receipt\(tag.isEmpty ? "" : "-" + tag)\(day).jws"
    }

    /// What a receipt says, a line for each member.
    private static func content(ofReceipt text: String) -> Phrase {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let bytes = Base64URL.decode(String(parts[1])),
            let members = (try? JSONValue(parsing: bytes))?.object
        else { return .data(text) }
        return .data(
            members.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.string ?? $0.value.text())" }
                .joined(separator: "\n"))
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
            state.append(.button("Cancel", action: path(wipe) + "/cancel"))
        }
        return state
    }
}
