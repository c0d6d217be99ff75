import CordonPolicy
import CordonProtocol
import CordonServiceHTTP
import Foundation
import HTTPTypes

/// The audit log: who did what to whom and when; its export and its verification (SRV-UI-20).
struct AuditPages {
    func add(to table: ConsoleTable) {
        table.get("/console/audit", list)
        table.get("/console/audit/export") { .response(try await $0.api.file("/admin/v1/audit")) }
        table.get("/console/audit/verify", verify)
    }

    private static let spans: [(value: String, text: Phrase)] = [
        ("1", "the last day"), ("7", "the last 7 days"), ("30", "the last 30 days"), ("365", "the last year"),
    ]

    /// How much of a value is shown; the log to download has all of it.
    private static let longest = 80
    private static let mostDetails = 8

    @Sendable private func list(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        if visit.mayEverywhere("read"), visit.mayEverywhere("readAudit") { visit.begin() }
        let days = Int(visit.query["days"]).map { min(max($0, 1), 366) } ?? 7
        let (what, who) = (visit.query["what"], visit.query["who"])
        let known = who.isEmpty ? nil : try await Self.id(of: who, visit)
        let person = who.isEmpty ? nil : known ?? who
        let since = Int64(visit.now.timeIntervalSince1970) - Int64(days) * 86_400
        let before = Int64(visit.query["before"]).map { max(0, $0) } ?? 0
        let page = try await visit.api.get(
            "/admin/v1/audit/records?limit=50&before=\(before)&action=" + ConsolePath.part(what)
                + (person.map { "&person=" + ConsolePath.part($0) } ?? ""))
        let records = page.list("records").filter { ($0["time"]?.integer ?? 0) >= since }
        let isEnd = records.count < page.list("records").count || page.number("next") == 0
        let names = try await Names(of: records, visit)
        let rows = records.map { record -> [Cell] in
            let all = (record["details"]?.object ?? [:]).sorted { $0.key < $1.key }
            var details = all.prefix(Self.mostDetails).map { name, value in
                Cell.text(
                    (name == "change" ? Self.changes(value.string ?? "") : nil)
                        ?? Self.detail(name, value.string ?? value.text()))
            }
            if all.count > details.count { details.append(.text("and \(all.count - details.count) more")) }
            return [
                .time(record["time"]?.integer.map { Date(timeIntervalSince1970: TimeInterval($0)) }),
                names.actor(record), Self.event(record.text("action")), .list([names.target(record)] + details),
                record.text("outcome") == "done" ? .badge("done", .good) : .badge("refused", .bad),
            ]
        }
        let more =
            isEnd
            ? nil
            : Link(
                "Older events",
                "/console/audit?before=\(page.number("next"))&days=\(days)&what=\(ConsolePath.part(what))&who="
                    + ConsolePath.part(who))
        var table = Table(
            "Events", ["Time", "Who", "What", "Concerns", "Result"], rows,
            empty: "There is no event in this period. Choose a longer one.", more: more)
        if more != nil { table.empty = "No such event is among those that were looked at. Go on to older ones." }
        var notes: [Block] = []
        if person != nil {
            table.empty = more == nil ? "There is no event of this person in this period." : table.empty
            notes.append(
                .text("Changes of policies that reach the person are not among these: each policy has its history."))
        }
        if person != nil, known == nil {
            notes.append(
                .note(
                    .notice, "The directory has no person with this name.",
                    ["What is shown is about a person with this object id, where there was one."]))
        }
        return .page(
            Page(
                "Audit", .audit,
                lead: "Every change and every refusal. The records form a chain, so a missing or changed record shows.",
                notes + [
                    .links([
                        Link("Verify the whole log", "/console/audit/verify", isMain: true),
                        Link("Download the log", "/console/audit/export"),
                    ]),
                    .form(
                        Form(
                            "/console/audit", submit: "Show", asks: true,
                            [
                                Field(.choice(Self.spans), "days", "From", value: String(days)),
                                Field(
                                    .text, "what", "Name of the event begins with",
                                    help: "Such as policy, wipe or role.",
                                    value: what),
                                Field(
                                    .text, "who", "Person",
                                    help:
                                        "Who did it, or to whom it was done, with their apps, wipes and groups: name, sign-in name, or object id.",
                                    value: who),
                            ])),
                    .table(table),
                ]))
    }

    /// What happened, in words and by the name that it has in the log.
    private static func event(_ action: String) -> Cell {
        .list((AuditEvents.words(action).map { [.text($0)] } ?? []) + [.code(action)])
    }

    /// The audit log of a person, for who may read it.
    static func link(to person: String, _ visit: ConsoleVisit) -> [Link] {
        visit.may("readAudit")
            ? [Link("In the audit log", "/console/audit?days=365&who=" + ConsolePath.part(person))] : []
    }

    /// The object id of a person by that, their sign-in name, or a name that no other has; nil where the directory has none or the reader
    /// may not ask it.
    private static func id(of who: String, _ visit: ConsoleVisit) async throws -> String? {
        do {
            do {
                return try await visit.api.get(PeoplePages.route(who)).text("id")
            } catch let refusal as Refusal where refusal.status == .notFound {
                let path = "/v1.0/users?$top=2&$filter=startswith(displayName,\(ConsolePath.quoted(who)))"
                let people = try await visit.api.get(path).list("value")
                return people.count == 1 ? people.first?.text("id") : nil
            }
        } catch let refusal as Refusal where [.notFound, .forbidden, .badRequest].contains(refusal.status) {
            return nil
        }
    }

    /// What was changed, by the names that the settings have on the other pages; nil for what is too much to show, or no such list.
    private static func changes(_ text: String) -> Phrase? {
        guard text.utf8.count <= 2_000, let changes = try? JSONValue(parsing: Data(text.utf8)).array, !changes.isEmpty
        else { return nil }
        func value(_ value: JSONValue?) -> Phrase {
            switch value {
            case nil, .null: "not set"
            case .object, .array: .data(clipped(value?.text() ?? ""))
            case .string(let text): .data(clipped(text))
            case .some(let other): SettingTexts.value(other)
            }
        }
        var shown = changes.prefix(mostDetails).map { change -> Phrase in
            "\(SettingTexts.text(of: change.text("member")).label): \(value(change["from"])) → \(value(change["to"]))"
        }
        if changes.count > shown.count { shown.append("and \(changes.count - shown.count) more") }
        return .list(shown, separator: "; ")
    }

    /// A fact of a record; of what is signed or written by programs, that there is such a thing.
    private static func detail(_ name: String, _ value: String) -> Phrase {
        if value.hasPrefix("eyJ") { return "\(name): signed, in the log to download" }
        if value.hasPrefix("{") || value.hasPrefix("[") { return "\(name): in the log to download" }
        return .data("\(name): \(clipped(value))")
    }

    private static func clipped(_ text: String) -> String {
        text.count > longest ? text.prefix(longest) + "…" : text
    }

    @Sendable private func verify(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        if visit.mayEverywhere("readAudit") { visit.begin() }
        var verifier = AuditLogVerifier()
        try await visit.api.lines("/admin/v1/audit") { verifier.read($0) }
        let report = verifier.report()
        let blocks: [Block] = [
            report.isSound
                ? .note(.good, "The log is complete: no record was changed, removed or added.", [])
                : .note(
                    .bad, "The log was changed after it was written.",
                    report.faults.prefix(20).map { "Line \($0.line): \(.said($0.reason))" }),
            .facts([
                ("Records", .text("\(report.records)")), ("Receipts of wipes, verified", .text("\(report.receipts)")),
                ("Root key", .code(report.rootKeyThumbprint ?? "none")), ("Verified", .time(visit.now)),
            ]),
            .text(
                "This service verified its own log. For proof against the service itself, download the log and verify it elsewhere with the root key that you wrote down:"
            ),
            .code(
                .data("cordon audit verify audit.jsonl --root-key \(report.rootKeyThumbprint ?? "ROOT-KEY")"),
                label: "Command"),
        ]
        return .page(Page("Verification of the audit log", .audit, above: Link("Audit", "/console/audit"), blocks))
    }
}

/// What the people, policies and apps of some audit records are called, and where their pages are.
private struct Names {
    private let people: PeopleStatus
    private let policies: [String: String]

    init(of records: [JSONValue], _ visit: ConsoleVisit) async throws {
        let administrators = records.compactMap { $0["actor"]?.text("kind") == "administrator" ? $0["actor"] : nil }
        let targets = records.compactMap { Self.id(in: $0, of: "user") }
        people = try await PeopleStatus(of: administrators.map { $0.text("id") } + targets, visit)
        let named = Set(records.compactMap { Self.id(in: $0, of: "policy") })
        let all = named.isEmpty ? [] : try await visit.api.all(PolicyPages.collection + "?$top=200&$select=displayName")
        policies = Dictionary(
            all.map { ($0.text("id").lowercased(), $0.text("displayName")) }, uniquingKeysWith: { first, _ in first })
    }

    /// The id of what a record is about, where it is about something of this kind.
    private static func id(in record: JSONValue, of kind: String) -> String? {
        let target = record.text("target")
        return target.hasPrefix(kind + "/") ? String(target.dropFirst(kind.count + 1)) : nil
    }

    func actor(_ record: JSONValue) -> Cell {
        let id = record["actor"]?.text("id") ?? ""
        return switch record["actor"]?.text("kind") {
        case "administrator": .text(.data(people.name(of: id)))
        case "device": .link("an app on a device", DevicePages.path(id))
        default: .text("the service")
        }
    }

    func target(_ record: JSONValue) -> Cell {
        if let id = Self.id(in: record, of: "user") { return .link(.data(people.name(of: id)), PeoplePages.path(id)) }
        if let id = Self.id(in: record, of: "policy") {
            return policies[id.lowercased()].map { .link(.data($0), PolicyPages.path(id)) } ?? .code(id)
        }
        if let id = Self.id(in: record, of: "operation"), let app = record["details"]?["registration"]?.string {
            return .link("a wipe", WipePages.path(of: id, on: app))
        }
        if let id = Self.id(in: record, of: "registration") { return .link(.data(id), DevicePages.path(id)) }
        return .code(record.text("target"))
    }
}
