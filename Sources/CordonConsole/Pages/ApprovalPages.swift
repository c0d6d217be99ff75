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

    /// What a change does, in words.
    private static func title(of change: JSONValue) -> Phrase {
        switch change.text("action") {
        case "policy.create": "Make a policy"
        case "policy.update": "Change the settings of a policy"
        case "policy.assign": "Change the assignment of a policy"
        case "policy.targetApps": "Change the apps of a policy"
        case "policy.putBack": "Put back an earlier version of a policy"
        case "policy.delete": "Delete a policy"
        case "filter.save": "Change a filter"
        case "app.save": "Change an app of the catalogue"
        case "app.remove": "Take an app out of the catalogue"
        case "role.save": "Change a role"
        case "wipe.request": "Wipe a device of a person"
        case "wipe.block": "Wipe everything of a person and block them"
        case "wipe.erase": "Wipe everything of a person before erasing their data"
        case "directory.change": "Change people or groups of the directory"
        default: SettingTexts.words(change.text("action"))
        }
    }

    /// The ids of a kind among texts that name something as the audit log does, such as `user/oid`.
    private static func ids(_ kind: String, among texts: [String]) -> [String] {
        texts.filter { $0.hasPrefix(kind + "/") }
            .map { String($0.dropFirst(kind.count + 1)).replacing("%20", with: " ") }
    }

    /// The names of the people and groups whom changes name, and of the policies.
    private struct Names {
        let people: PeopleStatus
        let groups: [String: String]
        let policies: [String: String]

        init(of changes: [JSONValue], _ visit: ConsoleVisit) async throws {
            func ids(_ kind: String) -> [String] {
                ApprovalPages.ids(kind, among: changes.map { $0.text("entity") })
            }
            let acting = changes.flatMap { [$0["requester"]?.text("id") ?? "", $0.text("decidedBy")] }
            people = try await PeopleStatus(of: ids("user") + acting, visit)
            groups = try await PolicyTargeting.names(ofGroups: Set(ids("group")), visit)
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

        /// Who released or stopped a change.
        func decider(of change: JSONValue) -> Phrase {
            switch change.text("decidedBy") {
            case "machine": "a command on the service's machine"
            case "time": "nobody: it was released by itself"
            case let id: .data(people.name(of: id))
            }
        }

        /// What a change is about, as a link where there is a page for it.
        func entity(of change: JSONValue) -> Cell {
            let parts = change.text("entity").split(separator: "/", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { return .text(.data(change.text("entity"))) }
            return switch parts[0] {
            case "policy": .link(.data(policies[parts[1]] ?? parts[1]), PolicyPages.path(parts[1]))
            case "user": .link(.data(people.name(of: parts[1])), PeoplePages.path(parts[1]))
            case "group": .link(.data(groups[parts[1].lowercased()] ?? parts[1]), TargetPages.path(ofGroup: parts[1]))
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
                .link(Self.title(of: change), Self.path(change.text("id"))),
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
        var facts: [(Phrase, Cell)] = [
            ("State", .badge(text, tone)), ("Concerns", names.entity(of: change)),
            ("People it reaches", .text("\(reach.number("people"))")),
            ("Apps on devices", .text("\(reach.number("registrations"))")),
            ("Requested by", .text(names.requester(of: change))), ("Requested", .time(change.date("requested"))),
            ("Reason", .text(.data(change.text("reason")))), ("Lapses", .time(change.date("expires"))),
        ]
        let due = change.date("due")
        if change["decidedBy"]?.string != nil { facts.append(("Decided by", .text(names.decider(of: change)))) }
        if change.text("state") == "waiting", due != nil { facts.append(("Released by itself", .time(due))) }
        var blocks: [Block] = [.facts(facts)]
        if change.text("state") == "released", isOwn {
            blocks.append(
                .note(
                    .good,
                    due == nil || change["decidedBy"]?.string != nil
                        ? "A second administrator released this change." : "This change was released by itself.",
                    ["Open the form again and send it; it goes through once."]))
            if let draft = visit.session.drafts.first(where: { $0.change == change.text("id") }) {
                blocks.append(.links([Link("Open the form", draft.path, isMain: true)]))
            }
        }
        if change.text("state") == "waiting" {
            if isOwn {
                // What is due says who was known when the change was asked for: since then others may have become known.
                blocks.append(
                    .note(
                        .notice,
                        "A second administrator has to release this change. Send them the address of this page.",
                        due == nil
                            ? []
                            : [
                                "If no one does, it is released by itself at the time above. Then open the form again and send it.",
                                "Stop the change if it was a mistake.",
                            ]))
            }
            let decisions = change.list("decisions")
            if decisions.contains("release") {
                blocks.append(.form(Form(path + "/release", submit: "Release", hidden: [("page", path)], [])))
            }
            if decisions.contains("stop") {
                blocks.append(
                    .form(Form(path + "/stop", submit: "Stop this change", hidden: [("page", path)], isGrave: true, []))
                )
            }
        }
        // Of a wipe of a person or their account there is nothing to compare.
        if !change.list("changes").isEmpty { blocks += try await Self.changes(change, visit) }
        return .page(
            Page(
                Self.title(of: change), .approvals, isLive: true,
                above: Link("Approvals", "/console/approvals"), blocks))
    }

    /// The members that a change or comparison names, what people may do then, and where data is removed.
    static func changes(_ document: JSONValue, _ visit: ConsoleVisit) async throws -> [Block] {
        let changes = document.list("changes")
        let targets = changes.flatMap { [$0["from"], $0["to"]] }.compactMap { $0 }
        let named = changes.filter { isOfMembers($0.text("member")) }.flatMap { $0.list("from") + $0.list("to") }
            .compactMap(\.string)
        let people = try await PeopleStatus(of: ids("user", among: named), visit)
        let groups = try await PolicyTargeting.names(
            ofGroups: PolicyTargeting.groups(in: targets).union(ids("group", among: named)), visit)
        let rows = changes.map { change -> [Cell] in
            let direction = change["direction"]?.string
            let member = change.text("member")
            return [
                .text(label(of: member)), .text(value(change["from"], of: member, people, groups)),
                .text(value(change["to"], of: member, people, groups)),
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
        let count = "Count"
        if member.hasSuffix(count), let list = labels[String(member.dropLast(count.count))] {
            return "\(list): how many"
        }
        return labels[member] ?? SettingTexts.text(of: String(member.prefix { $0 != "[" })).label
    }

    /// Whether a member lists people and groups, as a change of the directory names them.
    private static func isOfMembers(_ member: String) -> Bool {
        ["losing", "unserved", "returning", "added", "removed", "groups"].contains(member)
    }

    /// What members are called of what is no policy.
    private static let labels: [String: Phrase] = [
        "permissions": "Permissions", "members": "Members", "rule": "Rule", "groups": "Groups", "deviceTag": "Device",
        "scopeTags": "Scope tags", "roleScopeTags": "Scope tags", "people": "People",
        "losing": "People who leave or are disabled",
        "unserved": "People whom app protection no longer serves", "returning": "People who come back",
        "added": "Who comes into the group", "removed": "Who leaves the group", "accountEnabled": "Account enabled",
        "bundleID": "Bundle id", "publisher": "Publisher", "isLineOfBusiness": "An app of your organisation's own",
    ]

    /// Members besides settings whose values are names of Cordon's own.
    private static let named: Set = ["appGroupType", "targetedAppManagementLevels", "permissions", "groups"]

    /// A value of a member as people read it: whom an assignment is for, which app it is.
    private static func value(
        _ value: JSONValue?, of member: String, _ people: PeopleStatus, _ groups: [String: String]
    ) -> Phrase {
        guard let value, value != .null, value != "" else { return SettingTexts.value(.null) }
        if let target = value["target"] { return PolicyTargeting.words(of: target, groups) }
        if value["mobileAppIdentifier"] != nil { return .data(PolicyApps.bundle(value)) }
        if isOfMembers(member), let list = value.array, list.contains(where: { $0.string?.contains("/") ?? false }) {
            // Two people may have one name.
            return .list(
                list.compactMap(\.string).map { text in
                    let user = ids("user", among: [text]).first, group = ids("group", among: [text]).first
                    let name = user.map { people.name(of: $0) } ?? group.flatMap { groups[$0.lowercased()] }
                    guard let id = user ?? group, let name, name != id else { return .data(user ?? group ?? text) }
                    return .data("\(name) (\(id))")
                })
        }
        // Elsewhere texts are ids and names that people gave: two of them must not look the same.
        guard named.contains(member) || SettingDescription.all.contains(where: { $0.name == member }) else {
            if let text = value.string { return .data(text) }
            if let list = value.array, !list.isEmpty { return .list(list.map { .data($0.string ?? $0.text()) }) }
            return SettingTexts.value(value)
        }
        return SettingTexts.value(value, of: member)
    }
}
