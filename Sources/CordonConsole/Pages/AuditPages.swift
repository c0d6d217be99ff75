import CordonPolicy
import CordonProtocol
import CordonServiceHTTP
import Foundation

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

    @Sendable private func list(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let days = Int(visit.query["days"]).map { min(max($0, 1), 366) } ?? 7
        let since = visit.now.addingTimeInterval(-Double(days) * 86_400).formatted(.iso8601)
        var filter = "activityDateTime ge \(since)"
        if !visit.query["what"].isEmpty {
            filter += " and startswith(activityType,'\(visit.query["what"].replacing("'", with: "''"))')"
        }
        var path =
            "/v1.0/deviceManagement/auditEvents?$top=50&$orderby=activityDateTime%20desc&$filter="
            + ConsolePath.part(filter)
        if visit.query.has("next") { path += "&$skiptoken=" + ConsolePath.part(visit.query["next"]) }
        let page = try await visit.api.get(path)
        let rows = page.list("value").map { event -> [Cell] in
            let actor = event["actor"] ?? .null
            let resource = event.list("resources").first ?? .null
            let changes = resource.list("modifiedProperties").map { property in
                Cell.text(.data("\(property.text("displayName")): \(property.text("newValue"))"))
            }
            return [
                .time(event.date("activityDateTime")),
                .text(
                    actor["userPrincipalName"]?.string.map(Phrase.data) ?? .said(actor.text("applicationDisplayName"))),
                .code(event.text("activityType")),
                .list([.text(.data(resource.text("displayName")))] + changes),
                event.text("activityResult") == "Success" ? .badge("done", .good) : .badge("refused", .bad),
            ]
        }
        var more = ListPages.more(page, "/console/audit")
        more?.href += "&days=\(days)&what=" + ConsolePath.part(visit.query["what"])
        return .page(
            Page(
                "Audit", .audit,
                lead: "Every change and every refusal. The records form a chain, so a missing or changed record shows.",
                [
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
                                    .text, "what", "What begins with", help: "Such as policy, wipe or role.",
                                    value: visit.query["what"]),
                            ])),
                    .table(
                        Table(
                            "Events", ["Time", "Who", "What", "Concerns", "Result"], rows,
                            empty: "There is no event in this period. Choose a longer one.", more: more)),
                ]))
    }

    @Sendable private func verify(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let bytes = try await visit.api.bytes("/admin/v1/audit")
        var verifier = AuditLogVerifier()
        for line in bytes.split(separator: UInt8(ascii: "\n")) { verifier.read(String(decoding: line, as: UTF8.self)) }
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
                .data("cordon audit verify audit.jsonl --pin \(report.rootKeyThumbprint ?? "ROOT-KEY")"),
                label: "Command"),
        ]
        return .page(Page("Verification of the audit log", .audit, above: Link("Audit", "/console/audit"), blocks))
    }
}
