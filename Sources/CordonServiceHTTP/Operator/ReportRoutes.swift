import CordonService
import HTTPTypes
import Hummingbird

/// Reports that Graph has no words for (SRV-TG-29, 38, 39, 42).
struct ReportRoutes: Sendable {
    let administration: Administration

    /// The body of `POST /admin/v1/reports/filters`.
    private struct NewFilter: Decodable {
        var name: String
        var report: ReportFilter.Report
        var search: String
    }

    func add(to routing: AdministrationRouting) {
        addReports(to: routing)
        addFilters(to: routing)
    }

    /// The words by which the caller filters reports.
    private func addFilters(to routing: AdministrationRouting) {
        routing.allowing(.readApps).on("/admin/v1/reports/filters", method: .get) { _, context in
            let filters = try await administration.reportFilters.reportFilters(as: context.administrator)
            return try Response(.ok, filters)
        }
        routing.allowing(.readApps).on("/admin/v1/reports/filters", method: .post) { request, context in
            let new = try await RequestBodyReader.message(
                NewFilter.self, of: request, atMost: AdministrationRouting.largestBody, isStrict: true)
            let filter = try await administration.reportFilters.saveReportFilter(
                new.name, of: new.report, search: new.search, as: context.administrator)
            return try Response(.created, filter)
        }
        routing.allowing(.readApps).on("/admin/v1/reports/filters/:id", method: .delete) { _, context in
            try await administration.reportFilters.removeReportFilter(
                context.decodedKey("id"), as: context.administrator)
            return Response(status: .noContent)
        }
    }

    private func addReports(to routing: AdministrationRouting) {
        routing.allowing(.readApps).on("/admin/v1/reports/drift", method: .get) { request, context in
            if let user = request.uri.queryParameters["user"] {
                let apps = try await administration.drift(
                    ofUser: String(user), as: context.administrator, limit: Self.limit(request))
                return try Response(.ok, apps)
            }
            return try await Response.page(of: "/admin/v1/reports/drift", request) { after, limit in
                try await administration.drift(
                    after: after, limit: limit ?? Administration.largestPage, as: context.administrator)
            }
        }
        routing.allowing(.readApps).on("/admin/v1/reports/summary", method: .get) { _, context in
            let summary = try await administration.protectionSummary(as: context.administrator)
            return try Response(.ok, summary)
        }
        routing.allowing(.readApps).on("/admin/v1/reports/attention", method: .get) { _, context in
            let report = try await administration.attention(as: context.administrator)
            return try Response(.ok, report)
        }
        routing.allowing(.readApps).on("/admin/v1/reports/flagged", method: .get) { request, context in
            try await Response.page(of: "/admin/v1/reports/flagged", request) { after, limit in
                try await administration.flaggedApps(
                    after: after, limit: limit ?? Administration.largestPage, as: context.administrator)
            }
        }
        routing.allowing(.readApps).on("/admin/v1/reports/expiring", method: .get) { request, context in
            try await Response.page(of: "/admin/v1/reports/expiring", request) { after, limit in
                try await administration.expiringApps(
                    after: after, limit: limit ?? Administration.largestPage, as: context.administrator)
            }
        }
        routing.allowing(.readApps).on("/admin/v1/reports/versions", method: .get) { _, context in
            let versions = try await administration.installedVersions(as: context.administrator)
            return try Response(.ok, versions)
        }
        routing.allowing(.readApps).on("/admin/v1/filters/matches", method: .get) { request, context in
            let rule = request.uri.queryParameters["rule"].map(String.init) ?? ""
            let matches = try await administration.filterMatches(rule: rule, as: context.administrator)
            return try Response(.ok, matches)
        }
        routing.allowing(.readApps).on("/admin/v1/reports/alerts", method: .get) { request, context in
            let alerts = try await administration.alerts(as: context.administrator, limit: Self.limit(request))
            return try Response(.ok, alerts)
        }
    }

    /// How many a report names that does not come in pages, as `top` says.
    private static func limit(_ request: Request) -> Int {
        request.uri.queryParameters["top"].flatMap { Int($0) }.map { min(max($0, 1), 1_000_000) } ?? .max
    }
}
