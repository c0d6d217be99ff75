import CordonService
import HTTPTypes
import Hummingbird

/// Reports that Graph has no words for (SRV-TG-29, 38, 39, 42).
struct ReportRoutes: Sendable {
    let routing: AdministrationRouting
    let administration: Administration

    func add(to router: some RouterMethods<BasicRequestContext>) {
        routing.on(router, .get, "/admin/v1/reports/drift", .readApps) { _, administrator throws(CheckInRefusal) in
            let apps = try await CheckInRefusal.asking { () throws(ServiceError) in
                try await administration.drift(as: administrator)
            }
            return try CheckInRefusal.answering(.ok, apps)
        }
        routing.on(router, .get, "/admin/v1/reports/summary", .readApps) { _, administrator throws(CheckInRefusal) in
            let summary = try await CheckInRefusal.asking { () throws(ServiceError) in
                try await administration.protectionSummary(as: administrator)
            }
            return try CheckInRefusal.answering(.ok, summary)
        }
        routing.on(router, .get, "/admin/v1/reports/flagged", .readApps) { _, administrator throws(CheckInRefusal) in
            let apps = try await CheckInRefusal.asking { () throws(ServiceError) in
                try await administration.flaggedApps(as: administrator)
            }
            return try CheckInRefusal.answering(.ok, apps)
        }
        routing.on(router, .get, "/admin/v1/reports/alerts", .readApps) { _, administrator throws(CheckInRefusal) in
            let alerts = try await CheckInRefusal.asking { () throws(ServiceError) in
                try await administration.alerts(as: administrator)
            }
            return try CheckInRefusal.answering(.ok, alerts)
        }
    }
}
