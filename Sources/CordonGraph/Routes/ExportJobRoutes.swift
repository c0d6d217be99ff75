import CordonBase
import CordonPolicy
import CordonService
import CordonServiceHTTP
import Foundation
import HTTPTypes

/// Reports as files (SRV-OP-085). Files are CSV or JSON, not packed, and fetched with the token of the API.
struct ExportJobRoutes: Sendable {
    let administration: Administration
    let now: @Sendable () -> Date

    private static let path = "deviceManagement/reports/exportJobs"

    var routes: [GraphRoute] {
        let path = Self.path
        return [
            GraphRoute(.get, path, .readApps) { exchange in
                .collection(try await jobs(exchange).map { json($0, exchange) }, of: path)
            },
            GraphRoute(.post, path, .readApps) { exchange in
                .created(json(try await create(exchange), exchange), of: path)
            },
            GraphRoute(.get, path + "/*", .readApps) { exchange in
                .entity(json(try await job(exchange), exchange), of: path)
            },
            GraphRoute(.get, path + "/*/file", .readApps) { exchange in
                try await file(try await job(exchange), exchange)
            },
        ]
    }

    private func create(_ exchange: GraphExchange) async throws -> ExportJob {
        let body = try await exchange.object()
        let name = try GraphExchange.text("reportName", in: body) ?? ""
        guard let report = StatusExport(rawValue: name) else {
            let known = StatusExport.allCases.map(\.rawValue).joined(separator: ", ")
            throw PolicyInput.refusal("reportName", "the reports are \(known)")
        }
        let format = try GraphExchange.text("format", in: body)?.lowercased() ?? "csv"
        guard ["csv", "json"].contains(format) else { throw PolicyInput.refusal("format", "csv and json are made") }
        // A file with more rows than were asked for would pass for the answer.
        for member in ["filter", "search"] {
            guard try GraphExchange.text(member, in: body)?.isEmpty ?? true else {
                throw PolicyInput.refusal(member, "reports have every app here; leave it out")
            }
        }
        let columns = try GraphExchange.texts("select", in: body) ?? []
        guard Set(columns).isSubset(of: report.columns) else {
            throw PolicyInput.refusal("select", "names a column that the report does not have")
        }
        // A row would be as long as the caller likes.
        guard Set(columns).count == columns.count else {
            throw PolicyInput.refusal("select", "names a column twice")
        }
        let time = Date(timeIntervalSince1970: now().timeIntervalSince1970.rounded(.down))
        let job = ExportJob(
            id: UUID().uuidString.lowercased(), reportName: name, format: format, columns: columns, requested: time,
            requestedBy: exchange.administrator.id)
        try await administration.saveResource(job, isNew: true, as: exchange.administrator)
        return job
    }

    /// Those that can be fetched; what has ended, maintenance puts away.
    private func jobs(_ exchange: GraphExchange) async throws -> [ExportJob] {
        let time = now()
        return try await administration.resources(ExportJob.self, as: exchange.administrator).filter {
            $0.expires > time
        }
    }

    private func job(_ exchange: GraphExchange) async throws -> ExportJob {
        guard let job = try await jobs(exchange).first(where: { $0.id == exchange.keys[0].lowercased() }) else {
            throw Refusal.notFound
        }
        return job
    }

    private func file(_ job: ExportJob, _ exchange: GraphExchange) async throws -> GraphAnswer {
        guard let report = StatusExport(rawValue: job.reportName) else { throw Refusal.notFound }
        let columns = job.columns.isEmpty ? report.columns : job.columns
        // Read before the answer begins, so that a refusal is still an answer of its own.
        let first = try await administration.protectionStatuses(
            after: nil, limit: Self.rowsAtOnce, as: exchange.administrator)
        let file = StatusFile(report: report, columns: columns, isJSON: job.format == "json")
        let rest = Locked<Rest>(.first(first))
        let pieces = AsyncThrowingStream<Data, any Error> { [administration] in
            let page: (rows: [ProtectionStatus], last: String?)
            var text = ""
            switch rest.withLock({ $0 }) {
            case .ended: return nil
            case .first(let first):
                text = file.beginning
                page = first
            case .after(let id):
                page = try await administration.protectionStatuses(
                    after: id, limit: Self.rowsAtOnce, as: exchange.administrator)
            }
            text += file.lines(page.rows)
            guard let last = page.last else {
                rest.withLock { $0 = .ended }
                return Data((text + file.end).utf8)
            }
            rest.withLock { $0 = .after(last) }
            return Data(text.utf8)
        }
        return .stream(
            pieces, mediaType: file.isJSON ? "application/json" : "text/csv; charset=utf-8",
            name: "\(job.reportName).\(job.format)")
    }

    /// How many registrations are read at a time.
    private static let rowsAtOnce = 512

    /// What of a file is still to be made.
    private enum Rest: Sendable {
        case first((rows: [ProtectionStatus], last: String?))
        case after(String)
        case ended
    }

    private func json(_ job: ExportJob, _ exchange: GraphExchange) -> JSONValue {
        [
            "@odata.type": "#microsoft.graph.deviceManagementExportJob", "id": .string(job.id),
            "reportName": .string(job.reportName), "filter": .null,
            "select": .array(job.columns.map(JSONValue.string)), "format": .string(job.format), "search": .null,
            "localizationType": "replaceLocalizableValues", "status": "completed", "snapshotId": .null,
            "requestDateTime": GraphTime.value(job.requested), "expirationDateTime": GraphTime.value(job.expires),
            "url": .string("\(exchange.root)/\(Self.path)/\(job.id)/file"),
        ]
    }
}
