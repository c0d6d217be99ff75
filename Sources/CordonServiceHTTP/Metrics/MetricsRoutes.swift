import Foundation
import Hummingbird

/// What a Prometheus server scrapes; on an address of its own, so that the world does not see it.
struct MetricsRoutes: Sendable {
    let metrics: ServiceMetrics

    func add<Context: RequestContext>(to router: some RouterMethods<Context>) {
        router.get("/metrics") { _, _ in
            Response(
                .ok, PrometheusText.mediaType, Data(PrometheusText(metrics).text.utf8),
                headers: [.cacheControl: "no-store"])
        }
    }
}
