import CordonPolicy
import CordonServiceHTTP
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

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
        /// How many rows the route answers at once, where others come after the last one's id.
        var page: Int?
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
            name: "wipes", title: "Wipes", lead: "The newest wipes.", path: "/admin/v1/wipes", isCut: true, page: 500,
            columns: [
                ("Person", "userId"), ("App", "bundleId"), ("State", "state"), ("Requested", "requested"),
                ("By", "requestedBy"), ("Changed", "modified"), ("Failure", "failureReason"),
            ]),
        Report(
            name: "alerts", title: "Alerts", lead: "What operators were told.", path: "/admin/v1/reports/alerts",
            isCut: true,
            columns: [
                ("Kind", "kind"), ("Time", "time"), ("Person", "userID"), ("App", "bundleID"), ("Attempts", "attempts"),
            ]),
    ]

    func add(to table: ConsoleTable) {
        table.get("/console/reports", lists: "read", overview)
        table.get("/console/reports/:name", show)
    }

    @Sendable private func overview(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let summary = try await visit.api.get("/admin/v1/reports/summary")
        let days = try await visit.api.get("/admin/v1/telemetry").array ?? []
        var blocks: [Block] = [.links(Self.reports.map { Link($0.title, "/console/reports/" + $0.name) })]
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

    /// The most rows of a page, and among how many of them a word is looked for.
    private static let (mostShown, mostSearched) = (50, 200)
    private static let people: Set = ["userID", "userId", "requestedBy"]
    private static let names: Set = ["bundleID", "bundleId", "deviceName", "deviceTag", "version"]

    /// A value of a row: people by their names, times, and names of the service in the person's language.
    private static func cell(_ row: JSONValue, _ member: String, _ people: PeopleStatus) -> Cell {
        let value = row[member]
        if Self.people.contains(member), let id = value?.string {
            // Where the device decided by itself, the registration is named.
            guard people.knows(id) else { return .text(.data(id)) }
            return .link(.data(people.name(of: id)), PeoplePages.path(id))
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

    /// The first rows of a report, or all of them.
    private static func rows(of report: Report, _ most: Int?, _ visit: ConsoleVisit) async throws -> [JSONValue] {
        if let most, report.isCut { return try await visit.api.get(report.path + "?top=\(most)").array ?? [] }
        var all = try await visit.api.get(report.path).array ?? []
        guard let page = report.page, most == nil else { return all }
        var count = all.count
        while count == page, let last = all.last {
            let next = try await visit.api.get(report.path + "?after=" + ConsolePath.part(last.text("id"))).array ?? []
            count = next.count
            all += next
        }
        return all
    }

    @Sendable private func show(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        guard let report = Self.reports.first(where: { $0.name == visit.keys[0] }) else {
            throw Refusal(.notFound, "not-found", "There is no such report.")
        }
        let (search, format) = (visit.query["search"], visit.query["format"])
        let isFile = ["json", "csv"].contains(format)
        if !isFile, visit.mayEverywhere("read") { visit.begin() }
        let most = search.isEmpty ? Self.mostShown + 1 : Self.mostSearched
        let word = search.lowercased()
        let all = try await Self.rows(of: report, isFile ? nil : most, visit).filter { row in
            word.isEmpty || report.columns.contains { ReportFile.text(row[$0.member]).lowercased().contains(word) }
        }
        switch format {
        case "json": return .response(ReportFile.json(.array(all), named: "\(report.name).json"))
        case "csv":
            let lines =
                [report.columns.map { $0.title.text(in: visit.language) }]
                + all.map { row in report.columns.map { ReportFile.text(row[$0.member]) } }
            return .response(ReportFile.csv(lines, named: "\(report.name).csv"))
        default: break
        }
        let page = all.prefix(Self.mostShown)
        let people = try await PeopleStatus(
            of: page.flatMap { row in Self.people.compactMap { row[$0]?.string } }, visit)
        let rows = page.map { row in report.columns.map { Self.cell(row, $0.member, people) } }
        let path = "/console/reports/" + report.name
        return .page(
            Page(
                report.title, .reports,
                lead: all.count > Self.mostShown
                    ? "\(report.lead) The first 50 are shown; the files have all." : report.lead,
                above: Link("Reports", "/console/reports"),
                [
                    .form(
                        Form(
                            path, submit: "Show", asks: true,
                            [
                                Field(
                                    .text, "search", "Contains",
                                    help:
                                        "A word that stands in one of the first 200 rows. The address of the page keeps it: save it as a bookmark.",
                                    value: search)
                            ])),
                    .links([
                        Link(.data("CSV"), path + "?format=csv&search=" + ConsolePath.part(search)),
                        Link(.data("JSON"), path + "?format=json&search=" + ConsolePath.part(search)),
                    ]),
                    .table(
                        Table(report.title, report.columns.map(\.title), rows, empty: "There is nothing to report.")),
                ]))
    }
}

/// Files to take along.
enum ReportFile {
    static func text(_ value: JSONValue?) -> String {
        switch value {
        case nil, .null: ""
        case .string(let text): text
        case .array(let list): list.map { $0.string ?? $0.text() }.joined(separator: "; ")
        case .some(let other): other.text()
        }
    }

    /// A file that spreadsheets open; what begins like a formula is not one (CSV injection).
    static func csv(_ lines: [[String]], named name: String) -> Response {
        let text = lines.map { $0.map(field).joined(separator: ",") + "\r\n" }.joined()
        return file(Data(text.utf8), "text/csv; charset=utf-8", name)
    }

    static func json(_ value: JSONValue, named name: String) -> Response {
        json(Data(value.text().utf8), named: name)
    }

    static func json(_ bytes: Data, named name: String) -> Response { file(bytes, "application/json", name) }

    private static func field(_ text: String) -> String {
        let starts = text.unicodeScalars.first.map { "=+-@\t\r".unicodeScalars.contains($0) } ?? false
        return "\"" + ((starts ? "'" : "") + text).replacing("\"", with: "\"\"") + "\""
    }

    private static func file(_ bytes: Data, _ mediaType: String, _ name: String) -> Response {
        Response(
            status: .ok,
            headers: [
                .contentType: mediaType, .contentDisposition: "attachment; filename=\"\(name)\"",
                .cacheControl: "no-store",
            ], body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}
