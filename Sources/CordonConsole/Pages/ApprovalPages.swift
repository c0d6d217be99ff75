import CordonPolicy
import CordonServiceHTTP
import Foundation
import HTTPTypes

/// Changes that wait for a second person.
struct ApprovalPages {
    func add(to table: ConsoleTable) {
        table.get("/console/approvals", lists: "read", live: true, list)
        table.get("/console/approvals/:id", live: true, show)
        for step in ["release", "stop"] {
            table.post("/console/approvals/:id/\(step)") { visit in
                try await visit.api.call(.post, Self.route(visit.keys[0]) + "/" + step)
                return .moved(Self.path(visit.keys[0]))
            }
        }
    }

    static func path(_ id: String) -> String { "/console/approvals/" + ConsolePath.part(id) }
    private static func route(_ id: String) -> String { "/admin/v1/changes/" + ConsolePath.part(id) }

    private static func words(_ state: String) -> (Phrase, Tone) {
        switch state {
        case "waiting": ("waits for a second administrator", .notice)
        case "released": ("released: send the change again", .good)
        case "used": ("done", .good)
        case "stopped": ("stopped", .bad)
        case "expired": ("lapsed", .plain)
        default: (SettingTexts.words(state), .plain)
        }
    }

    /// The names of the people whom changes name, and of the policies.
    private struct Names {
        let people: PeopleStatus
        let policies: [String: String]

        init(of changes: [JSONValue], _ visit: ConsoleVisit) async throws {
            func ids(_ kind: String) -> [String] {
                changes.map { $0.text("entity") }.filter { $0.hasPrefix(kind + "/") }
                    .map { String($0.dropFirst(kind.count + 1)) }
            }
            people = try await PeopleStatus(
                of: (ids("user") + changes.map { $0["requester"]?.text("id") ?? "" }).prefix(200).map(\.self), visit)
            var policies: [String: String] = [:]
            for id in Set(ids("policy")).sorted().prefix(50) {
                // One that is removed has no name any more.
                policies[id] = (try? await visit.api.get(PolicyPages.route(id)))?.text("displayName")
            }
            self.policies = policies
        }

        /// Who asked for a change.
        func requester(of change: JSONValue) -> Phrase {
            .data(people.name(of: change["requester"]?.text("id") ?? ""))
        }

        /// What a change is about, as a link where there is a page for it.
        func entity(of change: JSONValue) -> Cell {
            let parts = change.text("entity").split(separator: "/", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { return .text(.data(change.text("entity"))) }
            return switch parts[0] {
            case "policy": .link(.data(policies[parts[1]] ?? parts[1]), PolicyPages.path(parts[1]))
            case "user": .link(.data(people.name(of: parts[1])), PeoplePages.path(parts[1]))
            default: .text(.data(change.text("entity")))
            }
        }
    }

    @Sendable private func list(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let changes: [JSONValue]
        do {
            changes = try await visit.api.get("/admin/v1/changes").array ?? []
        } catch let refusal as Refusal where refusal.status == .notFound {
            changes = []
        }
        let (shown, more) = ListPages.cut(changes, "/console/approvals", visit)
        let names = try await Names(of: Array(shown), visit)
        let rows = shown.map { change -> [Cell] in
            let (text, tone) = Self.words(change.text("state"))
            return [
                .link(SettingTexts.words(change.text("action")), Self.path(change.text("id"))),
                names.entity(of: change),
                .text("\(change["reach"]?.number("people") ?? 0)"), .text(names.requester(of: change)),
                .time(change.date("requested")), .badge(text, tone),
            ]
        }
        return .page(
            Page(
                "Approvals", .approvals,
                lead:
                    "A change that can remove data from many devices waits until a second administrator has looked at it.",
                isLive: true,
                [
                    .table(
                        Table(
                            "Changes", ["Change", "Concerns", "People", "Requested by", "Requested", "State"], rows,
                            empty:
                                "No change waits for approval. Changes that can remove data from many devices appear here.",
                            more: more))
                ]))
    }

    @Sendable private func show(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let change = try await visit.api.get(Self.route(visit.keys[0]))
        visit.begin()
        let (text, tone) = Self.words(change.text("state"))
        let reach = change["reach"] ?? .null
        let requester = change["requester"]?.text("id") ?? ""
        let isOwn = requester == visit.me.text("id")
        let path = Self.path(visit.keys[0])
        let names = try await Names(of: [change], visit)
        let facts: [(Phrase, Cell)] = [
            ("State", .badge(text, tone)), ("Concerns", names.entity(of: change)),
            ("People it reaches", .text("\(reach.number("people"))")),
            ("Apps on devices", .text("\(reach.number("registrations"))")),
            ("Requested by", .text(names.requester(of: change))), ("Requested", .time(change.date("requested"))),
            ("Reason", .text(.data(change.text("reason")))), ("Lapses", .time(change.date("expires"))),
        ]
        var blocks: [Block] = [.facts(facts)]
        if change.text("state") == "released", isOwn {
            blocks.append(
                .note(
                    .good, "A second administrator released this change.",
                    ["Open the form again and send it; it goes through once."]))
            if let draft = visit.session.draft {
                blocks.append(.links([Link("Open the form", draft.path, isMain: true)]))
            }
        }
        if change.text("state") == "waiting" {
            if isOwn {
                blocks.append(
                    .note(
                        .notice,
                        "A second administrator has to release this change. Send them the address of this page.", []))
            } else if visit.may("approve") {
                blocks.append(.form(Form(path + "/release", submit: "Release", hidden: [("page", path)], [])))
            }
            blocks.append(
                .form(Form(path + "/stop", submit: "Stop this change", hidden: [("page", path)], isGrave: true, [])))
        }
        blocks += try await Self.changes(change, visit)
        return .page(
            Page(
                SettingTexts.words(change.text("action")), .approvals, isLive: true,
                above: Link("Approvals", "/console/approvals"), blocks))
    }

    /// The members that a change or comparison names, what people may do then, and where data is removed.
    static func changes(_ document: JSONValue, _ visit: ConsoleVisit) async throws -> [Block] {
        let changes = document.list("changes")
        let targets = changes.flatMap { [$0["from"], $0["to"]] }.compactMap { $0 }
        let groups = try await PolicyTargeting.names(ofGroups: PolicyTargeting.groups(in: targets), visit)
        let rows = changes.map { change -> [Cell] in
            let direction = change["direction"]?.string
            let member = change.text("member")
            return [
                .text(label(of: member)), .text(value(change["from"], of: member, groups)),
                .text(value(change["to"], of: member, groups)),
                direction == "weaker" ? .badge("weaker", .notice) : .text(SettingTexts.words(direction ?? "")),
            ]
        }
        func effects(_ name: String) -> [[Cell]] {
            document.list(name).map {
                [.text(.said($0.text("question"))), .text(.said($0.text("from"))), .text(.said($0.text("to")))]
            }
        }
        var blocks: [Block] = []
        let wipes = effects("wipes")
        if !wipes.isEmpty {
            blocks.append(.table(Table("Where data is removed", ["When", "Now", "Then"], wipes, empty: "")))
        }
        blocks.append(
            .table(Table("What changes", ["Setting", "Now", "Then", "Direction"], rows, empty: "No setting differs.")))
        let answers = effects("effects")
        if !answers.isEmpty {
            blocks.append(
                .more(
                    "\(answers.count) answers change",
                    [.table(Table("Answers that change", ["What people do", "Now", "Then"], answers, empty: ""))]))
        }
        return blocks
    }
}

extension ApprovalPages {
    /// What a member of a policy is called, or an entry of one of its lists, such as `assignments[group G]`.
    private static func label(of member: String) -> Phrase {
        SettingTexts.text(of: String(member.prefix { $0 != "[" })).label
    }

    /// A value of a member as people read it: whom an assignment is for, which app it is.
    private static func value(_ value: JSONValue?, of member: String, _ groups: [String: String]) -> Phrase {
        guard let value, value != .null else { return SettingTexts.value(.null) }
        if let target = value["target"] { return PolicyTargeting.words(of: target, groups) }
        if value["mobileAppIdentifier"] != nil { return .data(PolicyApps.bundle(value)) }
        return SettingTexts.value(value, of: member)
    }
}

/// What a change would do, as the service counts it; kept with the form, so that it is shown what is counted.
struct ShownImpact {
    let blocks: [Block]
    /// What says to the service that the numbers were seen; empty where it wants none.
    let token: String
    /// How many apps on devices have other rules then.
    let apps: Int

    /// Asks for the impact of a change; nothing where the service does not count.
    init(of question: JSONValue, _ visit: ConsoleVisit) async throws {
        let impact: JSONValue
        do {
            impact = try await visit.api.call(.post, "/admin/v1/impact", question)
        } catch let refusal as Refusal where [.notFound, .forbidden, .badRequest].contains(refusal.status) {
            (blocks, token, apps) = ([], "", 0)
            return
        }
        token = impact.text("token")
        self.apps = impact["reach"]?.number("registrations") ?? 0
        let losing = impact["losing"] ?? .null
        var blocks = impact["audience"].map(Self.audience) ?? []
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
            [
                .text(SettingTexts.text(of: winner.text("setting")).label),
                .text(SettingTexts.value(winner["value"] ?? .null, of: winner.text("setting"))),
                .link(
                    .data(names[winner.text("policy")] ?? winner.text("policy")),
                    PolicyPages.path(winner.text("policy"))),
            ]
        }
        if !winners.isEmpty {
            blocks.append(
                .more(
                    "Where several policies meet: \(winners.count) settings",
                    [
                        .table(
                            Table(
                                "Where several policies meet", ["Setting", "Value that counts", "Policy"], winners,
                                empty: ""))
                    ]))
        }
        self.blocks = blocks
    }

    /// Whom the policy reaches: how many, and some of them by name.
    private static func audience(_ audience: JSONValue) -> [Block] {
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
                .note(.notice, "This reaches no person at present. Add people to the group, or choose another one.", [])
            ]
        }
        let people = audience.list("some").map {
            Cell.link(.data($0.text("displayName")), EffectiveRulesPage.path($0.text("id")))
        }
        let others = after - people.count
        blocks.append(
            .card(
                "Who is affected: \(after) people",
                [.facts([("By name", .list(people + (others > 0 ? [.text("and \(others) more")] : [])))])]))
        return blocks
    }
}
