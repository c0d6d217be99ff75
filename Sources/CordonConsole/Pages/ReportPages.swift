import CordonBase
import CordonPolicy
import CordonServiceHTTP
import Foundation
import HTTPTypes
import Hummingbird

/// Reports as pages, CSV and JSON (SRV-UI-19).
struct ReportPages {
    /// A report: where it comes from and what its columns are.
    private struct Report {
        var name: String
        var title: Phrase
        var lead: Phrase
        var path: String
        /// Whether the route says no more rows than it is asked for with `top`.
        var isCut = false
        var columns: [(title: Phrase, member: String)]
    }

    private static let reports = [
        Report(
            name: "flagged", title: "Flagged devices", lead: "What devices report about themselves.",
            path: "/admin/v1/reports/flagged", isCut: true,
            columns: [
                ("Person", "userID"), ("App", "bundleID"), ("Device", "deviceName"), ("Device tag", "deviceTag"),
                ("Reasons", "reasons"), ("Since", "since"),
            ]),
        Report(
            name: "drift", title: "Apps without the newest rules",
            lead: "Apps that have not taken what was published, and for how long.",
            path: "/admin/v1/reports/drift", isCut: true,
            columns: [
                ("Person", "userID"), ("App", "bundleID"), ("Device tag", "deviceTag"), ("Last contact", "lastSync"),
                ("Hours", "hours"), ("Overdue", "isOverdue"),
            ]),
        Report(
            name: "expiring", title: "Apps about to be forgotten",
            lead: "Apps that have not been in contact for long. The service forgets them unless they check in.",
            path: "/admin/v1/reports/expiring", isCut: true,
            columns: [
                ("Person", "userID"), ("App", "bundleID"), ("Device tag", "deviceTag"), ("Last contact", "lastSync"),
                ("Forgotten from", "expires"),
            ]),
        Report(
            name: "versions", title: "Versions in use",
            lead: "Versions of apps, of the protection library and of systems, and on how many devices they are.",
            path: "/admin/v1/reports/versions",
            columns: [("App", "bundleID"), ("Of", "part"), ("Version", "version"), ("Apps on devices", "apps")]),
        Report(
            name: "wipes", title: "Wipes", lead: "The newest wipes.", path: "/admin/v1/wipes", isCut: true,
            columns: [
                ("Person", "userId"), ("App", "bundleId"), ("State", "state"), ("Requested", "requested"),
                ("By", "requestedBy"), ("Changed", "modified"), ("Failure", "failureReason"),
            ]),
        Report(
            name: "alerts", title: "Alerts", lead: "What operators were told.", path: "/admin/v1/reports/alerts",
            isCut: true,
            columns: [
                ("Kind", "kind"), ("Time", "time"), ("Concerns", "target"), ("People", "people"), ("By", "actor"),
                ("Person", "userID"), ("App", "bundleID"), ("Attempts", "attempts"),
            ]),
    ]

    func add(to table: ConsoleTable) {
        table.get("/console/reports", lists: "read", overview)
        table.get("/console/reports/:name", show)
        table.post("/console/reports/:name/filters", save)
        table.post("/console/reports/filters/:id/remove") { visit in
            try await visit.api.call(.delete, Self.filtersRoute + "/" + ConsolePath.part(visit.keys[0]))
            return .moved("/console/reports")
        }
    }

    private static let filtersRoute = "/admin/v1/reports/filters"
    private static func path(_ name: String) -> String { "/console/reports/" + ConsolePath.part(name) }

    /// The page of a report with the rows that have a word.
    private static func path(_ name: String, filteredBy search: String) -> String {
        path(name) + "?search=" + ConsolePath.part(search)
    }

    @Sendable private func overview(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let summary = try await visit.api.get("/admin/v1/reports/summary")
        let days = try await visit.api.get("/admin/v1/telemetry").array ?? []
        let saved = try await visit.api.get(Self.filtersRoute).array ?? []
        var blocks: [Block] = [.links(Self.reports.map { Link($0.title, Self.path($0.name)) })]
        blocks.append(.table(Self.table(of: saved)))
        blocks += OverviewPage.charts(summary, days)
        blocks.append(
            .chart(
                Chart(
                    title: "Protected people by app",
                    bars: summary.list("topProtectedApps").map {
                        .init(name: .data($0.text("bundleID")), value: $0.number("users"))
                    })))
        return .page(Page("Reports", .reports, lead: "Figures, and lists to read or to download.", blocks))
    }

    /// The person's own filters, each with a way to see its rows and to remove it.
    private static func table(of saved: [JSONValue]) -> Table {
        Table(
            "Saved filters", ["Name", "Report", "Contains", ""],
            saved.map { filter in
                let report = filter.text("report")
                return [
                    .link(.data(filter.text("name")), path(report, filteredBy: filter.text("search"))),
                    .text(reports.first { $0.name == report }?.title ?? .data(report)),
                    .text(.data(filter.text("search"))),
                    .button(
                        "Remove", action: path("filters") + "/" + ConsolePath.part(filter.text("id")) + "/remove",
                        fields: [("page", "/console/reports")]),
                ]
            }, empty: "You have saved no filter. Open a report to save one.")
    }

    /// The filters that are saved for a report, and a form to save another one.
    private static func filters(of report: Report, _ search: String, _ visit: ConsoleVisit) async throws -> [Block] {
        let saved = try await visit.api.get(filtersRoute).array?.filter { $0.text("report") == report.name } ?? []
        let links = saved.map { Link(.data($0.text("name")), path(report.name, filteredBy: $0.text("search"))) }
        let form = Form(
            path(report.name) + "/filters", submit: "Save the filter",
            hidden: [("page", path(report.name, filteredBy: search))], isQuiet: true,
            [
                Field(
                    .text, "name", "Name", help: "Only you see your filters.",
                    value: visit.typed("name", else: visit.form["name"]), isRequired: true),
                Field(.text, "word", "Contains", value: visit.typed("word", else: search), isRequired: true),
            ])
        return (saved.isEmpty ? [] : [.card("Saved filters", [.links(links)])]) + [
            .more("Save a filter", [.form(form)])
        ]
    }

    @Sendable private func save(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let (report, word) = (try Self.report(visit), visit.form["word"])
        do {
            try await visit.api.call(
                .post, Self.filtersRoute,
                ["name": .string(visit.form["name"]), "report": .string(report.name), "search": .string(word)])
            return .moved(Self.path(report.name, filteredBy: word))
        } catch let refusal as Refusal where refusal.isOfForm {
            var page = try await Self.page(report, word, visit)
            let taken = Block.note(
                .bad, "A filter of this name is saved already, or you have as many as one person keeps.",
                ["Choose another name, or remove a filter on the page of reports."])
            page.blocks = (refusal.status == .conflict ? [taken] : Block.refused(refusal)) + page.blocks
            return .page(page, .badRequest)
        }
    }

    private static func report(_ visit: ConsoleVisit) throws -> Report {
        guard let report = reports.first(where: { $0.name == visit.keys[0] }) else {
            throw Refusal(.notFound, "not-found", "There is no such report.")
        }
        return report
    }

    /// The most rows of a page, and among how many of them a word is looked for.
    private static let (mostShown, mostSearched) = (50, 200)
    private static let people: Set = ["userID", "userId", "requestedBy", "actor"]
    /// What alerts are about.
    private static let alerts: [String: Phrase] = [
        "wipe.failed": "A wipe failed and is not tried again", "wipe.mass": "The limit of wipes in an hour was reached",
        "policy.destructive": "A change of a policy can remove data", "change.waiting": "A change waits for approval",
        "role.granted": "A role with far-reaching permissions was given",
        "key.emergency": "Every signing key but a new one was withdrawn",
        "rules.drift": "Apps have not taken their rules for more than a day",
    ]
    private static let names: Set = ["bundleID", "bundleId", "deviceName", "deviceTag", "version"]

    /// A value of a row: people by their names, times, and names of the service in the person's language.
    private static func cell(_ row: JSONValue, _ member: String, _ people: PeopleStatus) -> Cell {
        let value = row[member]
        if Self.people.contains(member), let id = value?.string {
            // Where the device decided by itself, the registration is named.
            guard people.knows(id) else { return .text(.data(id)) }
            return .link(.data(people.name(of: id)), PeoplePages.path(id))
        }
        if member == "kind", let words = value?.string.flatMap({ alerts[$0] }) { return .text(words) }
        if member == "target", let target = value?.string, target.hasPrefix("policy/") {
            return .link("Policy", PolicyPages.path(String(target.dropFirst("policy/".count))))
        }
        if !names.contains(member), let time = Moment.read(value?.string) { return .time(time) }
        if member == "hours", let hours = Double(ReportFile.text(value)) {
            return .text(.data(String(format: "%.0f", hours)))
        }
        return .text(shown(value, isName: names.contains(member)))
    }

    private static func shown(_ value: JSONValue?, isName: Bool = false) -> Phrase {
        switch value {
        case .bool(let flag): flag ? "yes" : "no"
        case .string(let text): isName ? .data(text) : SettingTexts.words(text)
        case .array(let list): .list(list.map { shown($0) })
        default: .data(ReportFile.text(value))
        }
    }

    /// Whether a row has a word.
    private static func has(_ word: String, _ row: JSONValue, of report: Report) -> Bool {
        word.isEmpty || report.columns.contains { ReportFile.text(row[$0.member]).lowercased().contains(word) }
    }

    /// The first rows of a report that have a word.
    private static func rows(
        of report: Report, containing search: String, _ most: Int, _ visit: ConsoleVisit
    ) async throws -> [JSONValue] {
        let word = search.lowercased()
        let rows = try await visit.api.get(report.path + (report.isCut ? "?top=\(most)" : "")).array ?? []
        return rows.filter { has(word, $0, of: report) }
    }

    /// All rows of a report that have a word as a file, however many there are. It is written a row at a time; what the route answers at
    /// once is there whole meanwhile.
    private static func file(
        of report: Report, isCSV: Bool, containing search: String, _ visit: ConsoleVisit
    ) async throws -> Response {
        // Asked before the answer begins, so that a refusal is still an answer of its own.
        let first = try await visit.api.file(report.path)
        let word = search.lowercased()
        let titles = CSV.line(report.columns.map { $0.title.text(in: visit.language) })
        return ReportFile.made(
            isCSV ? "text/csv; charset=utf-8" : "application/json", named: report.name + (isCSV ? ".csv" : ".json"),
            visit.api.parts.logger
        ) { write in
            try await write(isCSV ? titles : "[")
            var (answer, separator) = (first, "")
            while true {
                let reader = EntryReader { row in
                    guard has(word, row, of: report) else { return }
                    let cells = report.columns.map { ReportFile.text(row[$0.member]) }
                    try await write(isCSV ? CSV.line(cells) : separator + row.text())
                    separator = ","
                }
                try await answer.body.write(reader)
                guard let next = ConsoleAPI.next(after: answer) else { break }
                answer = try await visit.api.file(report.path + "?after=" + ConsolePath.part(next["after"]))
            }
            if !isCSV { try await write("]") }
        }
    }

    @Sendable private func show(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let report = try Self.report(visit)
        let search = visit.query["search"]
        switch visit.query["format"] {
        case "json", "csv":
            let isCSV = visit.query["format"] == "csv"
            return .response(try await Self.file(of: report, isCSV: isCSV, containing: search, visit))
        default:
            if visit.mayEverywhere("read") { visit.begin() }
            return .page(try await Self.page(report, search, visit))
        }
    }

    private static func page(_ report: Report, _ search: String, _ visit: ConsoleVisit) async throws -> Page {
        let most = search.isEmpty ? mostShown + 1 : mostSearched
        let all = try await Self.rows(of: report, containing: search, most, visit)
        let shown = all.prefix(mostShown)
        let people = try await PeopleStatus(
            of: shown.flatMap { row in Self.people.compactMap { row[$0]?.string } }, visit)
        let rows = shown.map { row in report.columns.map { cell(row, $0.member, people) } }
        let path = path(report.name)
        let kept = try await filters(of: report, search, visit)
        return Page(
            report.title, .reports,
            lead: all.count > mostShown
                ? "\(report.lead) The first 50 are shown; the files have all." : report.lead,
            above: Link("Reports", "/console/reports"),
            [
                .form(
                    Form(
                        path, submit: "Show", asks: true,
                        [
                            Field(
                                .text, "search", "Contains", help: "A word that one of the first 200 rows contains.",
                                value: search)
                        ]))
            ] + kept + [
                .links([
                    Link(.data("CSV"), path + "?format=csv&search=" + ConsolePath.part(search)),
                    Link(.data("JSON"), path + "?format=json&search=" + ConsolePath.part(search)),
                ]),
                .table(
                    Table(report.title, report.columns.map(\.title), rows, empty: "There is nothing to report.")),
            ])
    }
}
