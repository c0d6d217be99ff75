internal import ArgumentParser
internal import CordonPolicy
internal import CordonProtocol
import Foundation

/// `cordon audit show`: the records of an exported log as a person reads them.
struct AuditShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Print records of an exported audit log, for people to read.",
        discussion: """
            It does not check what it prints; cordon audit verify does. Times are in UTC. Of a long change it prints the first members; \
            the export has all.

            Examples:
              cordon audit show audit.jsonl --about registration/R_7Q --since 2026-03-01
              cordon audit show audit.jsonl --by oid-ada --action policy.
            """)

    @Argument(help: "The export, of the audit log or of the history; - is standard input.")
    var export: String

    @Option(help: ArgumentHelp("Only what was done to it or names it: policy/ID, user/ID, an id.", valueName: "id"))
    var about: String?

    @Option(help: ArgumentHelp("Only what a person, program or app with this id did.", valueName: "id"))
    var by: String?

    @Option(help: "Only actions that begin with this, such as wipe. or policy.update.")
    var action: String?

    @Option(help: "Only from this day or time on, such as 2026-03-01 or 2026-03-01T09:00:00Z.", transform: Self.time)
    var since: Date?

    @Option(help: "Only before this day or time.", transform: Self.time)
    var until: Date?

    func run() throws {
        var ahead = HistoryAhead()
        var (shown, unreadable) = (0, 0)
        try ExportLines.read(export) { line in
            guard !ahead.takes(line), !line.hasPrefix(#"{"checkpoint":"#) else { return }
            guard let record = try? AuditRecord(line: line) else {
                unreadable += 1
                return
            }
            guard matches(record) else { return }
            shown += 1
            Terminal.data(Self.text(of: record))
        }
        guard unreadable == 0 else {
            throw CommandFailure(
                .badInput, "\(export): \(unreadable) lines are not audit records", hint: "Run cordon audit verify.")
        }
        // An empty answer could as well mean that nothing was read.
        if shown == 0 { Terminal.talk("no record is like that") }
    }

    /// Whether a record is one of those that were asked for.
    func matches(_ record: AuditRecord) -> Bool {
        let time = Date(timeIntervalSince1970: TimeInterval(record.time))
        guard since.map({ $0 <= time }) ?? true, until.map({ time < $0 }) ?? true,
            by.map({ $0.lowercased() == record.actor.id.lowercased() }) ?? true,
            action.map(record.action.hasPrefix) ?? true
        else { return false }
        guard let about = about?.lowercased() else { return true }
        let names = [record.target] + record.details.values.flatMap { $0.components(separatedBy: ", ") }
        return names.contains { name in
            let name = name.lowercased()
            return name == about || name.hasSuffix("/" + about)
        }
    }

    /// `2026-03-03T09:00:00Z #12 policy.update policy/T_1 done by administrator oid-ada; change: …`
    static func text(of record: AuditRecord) -> String {
        let time = Date(timeIntervalSince1970: TimeInterval(record.time)).formatted(.iso8601)
        let details = record.details.sorted { $0.key < $1.key }.map {
            "\($0.key): \(words(of: $0.value, called: $0.key))"
        }
        let head =
            "\(time) #\(record.sequence) \(record.action) \(record.target) \(record.outcome.rawValue) "
            + "by \(record.actor.kind.rawValue) \(record.actor.id)"
        return ([head] + details).joined(separator: "; ")
    }

    /// A detail as people read it: of a change its members, of a signed checkpoint that it is one.
    private static func words(of value: String, called name: String) -> String {
        switch name {
        case "checkpoint": return "signed"
        case "change":
            guard let changes = (try? JSONValue(parsing: Data(value.utf8)))?.array else { return value }
            let words = changes.compactMap(words(of:))
            let more = words.count > mostMembers ? ["and \(words.count - mostMembers) more"] : []
            return (words.prefix(mostMembers) + more).joined(separator: ", ")
        default: return value
        }
    }

    private static let mostMembers = 12

    /// `printBlocked false → true (stricter)`; nil for a member of something new that says nothing.
    private static func words(of change: JSONValue) -> String? {
        guard let member = change["member"]?.string else { return nil }
        let (from, to) = (change["from"].map(short), change["to"].map(short))
        let direction = change["direction"]?.string.map { " (\($0))" } ?? ""
        switch (from, to) {
        case (nil, nil): return member
        case (nil, ""?), (nil, "null"?), (nil, "[]"?): return nil
        case (nil, let to?): return "\(member) \(to)\(direction)"
        case (let from?, let to): return "\(member) \(from) → \(to ?? "removed")\(direction)"
        }
    }

    /// A value, cut where it is long.
    private static func short(_ value: JSONValue) -> String {
        let text = value.string ?? value.text()
        return text.count > 80 ? text.prefix(79) + "…" : text
    }

    private static func time(_ text: String) throws -> Date {
        if let time = try? Date(text, strategy: .iso8601) { return time }
        guard let day = try? Date(text + "T00:00:00Z", strategy: .iso8601) else {
            throw ValidationError("use a day such as 2026-03-01, or a time such as 2026-03-01T09:00:00Z")
        }
        return day
    }
}
