import CordonPolicy
import CordonServiceHTTP
import Foundation
import HTTPTypes

/// The service itself: allowed accounts, filters, keys (SRV-UI-25).
struct ServicePages {
    func add(to table: ConsoleTable) {
        table.get("/console/service", lists: "read", show)
        table.get("/console/service/accounts", needs: "manageTenant", lists: "manageTenant", accounts)
        table.post("/console/service/accounts", saveAccounts)
    }

    @Sendable private func show(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let accounts = try await visit.api.get(Self.accountsRoute)["accounts"]?.array
        let keys = try await visit.api.get("/admin/v1/keys").array ?? []
        let filters = try await ListPages.page(TargetPages.filters + "?", visit)
        let isMoving = try await visit.api.get("/admin/v1/moving")["moving"] == true
        let restoration = try await visit.api.get("/admin/v1/restoration")
        var blocks: [Block] = []
        if restoration["isWaiting"] == true {
            blocks.append(
                .note(
                    .bad, "The store was restored from a backup, and waits for your confirmation.",
                    ["Check what was lost since the backup, then confirm with DELETE /admin/v1/restoration."]))
        }
        if isMoving {
            blocks.append(.note(.notice, "The organisation is being moved: apps are told to come back later.", []))
        }
        blocks += [
            .links([
                Link("Catalogue of apps", "/console/service/catalogue"), Link("Groups", "/console/service/groups"),
                Link("Scope tags", "/console/service/tags"),
                Link("Connections", "/console/service/connections"), Link("For scripts", "/console/service/api"),
            ]),
            .card(
                "Accounts that may be used",
                [
                    .facts([
                        (
                            "Allowed",
                            accounts.map(Self.first) ?? .text("every account")
                        )
                    ]),
                    .links(visit.may("manageTenant") ? [Link("Change the accounts", "/console/service/accounts")] : []),
                ]),
            .table(
                Table(
                    "Filters", ["Name", "Rule", "Changed"],
                    filters.list("value").map {
                        [
                            .link(
                                .data($0.text("displayName")),
                                "/console/service/filters/" + ConsolePath.part($0.text("id"))),
                            .code($0.text("rule")), .time($0.date("lastModifiedDateTime")),
                        ]
                    },
                    empty: "There is no filter yet. A filter limits an assignment to certain devices or apps.",
                    more: ListPages.more(filters, "/console/service"))),
            .links(visit.may("assignPolicies") ? [Link("New filter", "/console/service/filters/new")] : []),
            .table(
                Table(
                    "Keys that sign", ["Key", "For", "Signs from", "Ends"],
                    keys.map {
                        [
                            .code($0.text("id")), .text(Self.purpose(ofKey: $0.text("role"))),
                            .time($0.date("activeFrom")),
                            $0["retires"]?.string == nil ? .text("no end yet") : .time($0.date("retires")),
                        ]
                    },
                    empty: "")),
            .links(visit.may("manageTenant") ? [Link("New signing key", "/console/service/keys")] : []),
        ]
        return .page(Page("Service", .service, lead: "What holds for the whole organisation.", blocks))
    }

    /// The first of the accounts, and how many others there are.
    private static func first(of accounts: [JSONValue]) -> Cell {
        let shown = accounts.prefix(20).map { Cell.text(.data($0["userPrincipalName"]?.string ?? $0.text("id"))) }
        let others = accounts.count - shown.count
        return .list(shown + (others > 0 ? [.text("and \(others) more")] : []))
    }

    private static func purpose(ofKey role: String) -> Phrase {
        switch role {
        case "envelope": "Rules for apps"
        case "audit": "Audit log"
        case "root": "The other keys; apps are bound to it"
        default: SettingTexts.words(role)
        }
    }

    // MARK: Accounts

    /// A page of the accounts, with what to add to them and which of them to remove.
    ///
    /// - Parameter present: What the service says of the accounts.
    private static func accountsPage(
        _ present: JSONValue, _ form: ConsoleForm?, _ visit: ConsoleVisit, _ notes: [Block] = [],
        version: String? = nil
    ) -> Page {
        let known = present["accounts"]?.array
        let (shown, more) = ListPages.cut(known ?? [], "/console/service/accounts", visit)
        var fields = [
            Field(
                .flag, "restricted", "Only certain accounts may be used",
                value: form.map { $0["restricted"] } ?? (known == nil ? "" : "true")),
            Field(
                .long, "add", "Accounts to add",
                help:
                    "One per line: the sign-in name of a person in the directory, such as worker@example.com; of anyone else, the object id and the sign-in name.",
                value: form.map { $0.all("add").joined() } ?? ""),
        ]
        if !shown.isEmpty {
            fields.append(
                Field(
                    .several(shown.map { (ConsolePath.part($0.text("id")), .data(line(of: $0))) }), "remove",
                    "Accounts to remove", value: form?.all("remove").joined(separator: ",") ?? ""))
        }
        var blocks = notes
        blocks.append(
            .form(
                Form(
                    "/console/service/accounts", submit: "Save",
                    hidden: [
                        ("version", version ?? present.text("version")), ("page", "/console/service/accounts"),
                    ], cancel: Link("Cancel", "/console/service"), fields)))
        if let more { blocks.append(.links([more])) }
        return Page("Accounts that may be used", .service, above: Link("Service", "/console/service"), blocks)
    }

    private static let accountsRoute = "/admin/v1/allowedAccounts"

    /// The line that stands for an account.
    private static func line(of account: JSONValue) -> String {
        [account["id"]?.string, account["userPrincipalName"]?.string].compactMap(\.self).joined(separator: " ")
            .trimmingCharacters(in: .whitespaces)
    }

    @Sendable private func accounts(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        .page(
            Self.accountsPage(
                try await visit.api.get(Self.accountsRoute), visit.draft, visit, version: ShownVersion.of(visit.draft)))
    }

    @Sendable private func saveAccounts(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let (form, version) = (visit.form, ShownVersion.of(visit.form))
        let present = try await visit.api.get(Self.accountsRoute)
        do {
            let isRestricted = form["restricted"] == "true"
            if !isRestricted, let line = form.lines("add").first {
                throw Self.refusal(
                    of: line, "Accounts are named, and every account may be used.",
                    "Tick that only certain accounts may be used, or name none.")
            }
            let known = present.list("accounts")
            let removed = Set(form.all("remove").map { $0.removingPercentEncoding ?? $0 })
            var accounts = known.filter { !removed.contains($0.text("id")) }
            for line in form.lines("add") {
                let account = try await Self.account(line, among: known, visit)
                if !accounts.contains(where: { $0["id"] == account["id"] }) { accounts.append(account) }
            }
            try await visit.api.call(
                .put, Self.accountsRoute, ["accounts": isRestricted ? .array(accounts) : .null],
                ifVersion: version)
            return .moved("/console/service")
        } catch let refusal as Refusal where refusal.status == .badRequest {
            return .page(
                Self.accountsPage(present, form, visit, Block.refused(refusal), version: version), .badRequest)
        } catch let refusal as Refusal where refusal.status == .preconditionFailed {
            let note = Block.note(
                .bad, "Another administrator changed the accounts while you did.",
                ["Nothing was changed. Send the form again to make your changes to the accounts as they are now."])
            return .page(Self.accountsPage(present, form, visit, [note]), .conflict)
        }
    }

    /// The account that a line names: by id and sign-in name, or by either of them where the directory knows the person.
    private static func account(
        _ line: String, among known: [JSONValue], _ visit: ConsoleVisit
    ) async throws -> JSONValue {
        if let account = known.first(where: { Self.line(of: $0) == line }) { return account }
        let words = line.split(separator: " ").map(String.init)
        guard words.count == 2 else {
            guard let user = try await user(line, visit) else {
                throw refusal(
                    of: line, "The directory has no person with this name.",
                    "Write the object id before the sign-in name.")
            }
            return ["id": .string(user.text("id")), "userPrincipalName": .string(user.text("userPrincipalName"))]
        }
        func isSame(_ left: String, _ right: String) -> Bool { left.lowercased() == right.lowercased() }
        // An id may look like a sign-in name; those of two people would make an account that neither of them has.
        if words.allSatisfy({ $0.contains("@") }), !isSame(words[0], words[1]) {
            let user = try await user(words[0], visit)
            guard let user, isSame(user.text("id"), words[0]), isSame(user.text("userPrincipalName"), words[1]) else {
                throw refusal(
                    of: line, "Two sign-in names are on one line.", "Write each person on a line of their own.")
            }
        }
        return ["id": .string(words[0]), "userPrincipalName": .string(words[1])]
    }

    /// The person of the directory with an id or a sign-in name; nil where there is none.
    private static func user(_ name: String, _ visit: ConsoleVisit) async throws -> JSONValue? {
        do {
            return try await visit.api.get(PeoplePages.route(name))
        } catch let refusal as Refusal where refusal.status == .notFound {
            return nil
        }
    }

    private static func refusal(of line: String, _ message: String, _ advice: String) -> Refusal {
        var refusal = Refusal(.badRequest, "accounts", message)
        refusal.details = [.init(target: line, message: advice)]
        return refusal
    }
}
