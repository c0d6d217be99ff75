import CordonPolicy
import CordonService
import CordonServiceHTTP
import Crypto
import Foundation
import HTTPTypes

/// Asking for a wipe: what exactly is affected, and the number repeated (SRV-UI-16).
struct WipeRequest {
    func add(to table: ConsoleTable) {
        table.get("/console/people/:id/wipe", needs: "wipe", choose)
        table.post("/console/people/:id/wipe", needs: "wipe", request)
    }

    /// The number that has to be repeated: the same in one session for one person and device, and of no use elsewhere.
    private static func number(_ visit: ConsoleVisit, _ tag: String) -> String {
        let text = Data("\(visit.keys[0])/\(tag)".utf8)
        let code = HMAC<SHA256>.authenticationCode(for: text, using: SymmetricKey(data: Data(visit.session.csrf.utf8)))
        return String(1_000 + code.prefix(4).reduce(0 as UInt32) { $0 << 8 | UInt32($1) } % 9_000)
    }

    @Sendable private func choose(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        // A link to another device leads to that one, whatever was filled in before.
        let tag = visit.query.has("tag") ? visit.query["tag"] : visit.draft?["tag"] ?? ""
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
        let own = path + "?tag=" + ConsolePath.part(tag)
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
        let again = ConsolePath.signIn(own, isFresh: true)
        let freshness: [Block] =
            visit.me["isFresh"] == false
            ? [
                .note(.notice, "The service asks for a fresh sign-in before a wipe.", []),
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
                        WipePages.cancelling(visit),
                    ]),
                .form(
                    Form(
                        path, submit: "Wipe", hidden: [("tag", tag), ("page", own)], isGrave: true,
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

    @Sendable private func request(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let tag = visit.form["tag"]
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
}
