import CordonBase
import CordonIdentity
import CordonService
import Foundation
import Hummingbird

/// What watchers of the process ask: whether it lives, and whether it can do its work.
struct HealthRoutes: Sendable {
    private let devices: DeviceService
    private let tenant: TenantID
    private let metrics: ServiceMetrics
    /// Whether what an operator has to look at is said as well; not to unknown clients.
    private let isInside: Bool
    /// However many ask at once, the store is asked once.
    private let look = JoinedTask<TenantID, String?>()

    init(devices: DeviceService, tenant: TenantID, metrics: ServiceMetrics, isInside: Bool = false) {
        self.devices = devices
        self.tenant = tenant
        self.metrics = metrics
        self.isInside = isInside
    }

    func add<Context: RequestContext>(to router: some RouterMethods<Context>) {
        router.get("/healthz") { _, _ in Self.answer(.ok, ["ok"]) }
        router.get("/readyz") { _, _ in
            let failure = await look.value(tenant) { [devices, tenant] in
                do {
                    _ = try await devices.readiness(of: tenant)
                    return nil
                } catch {
                    return (error as? ServiceError)?.code.rawValue ?? ServiceError.Code.internalError.rawValue
                }
            }
            let conditions = isInside ? metrics.snapshot.conditions.map(Self.line) : []
            guard let failure else { return Self.answer(.ok, ["ready"] + conditions) }
            return Self.answer(.serviceUnavailable, ["not ready: \(failure)"] + conditions)
        }
    }

    /// One condition: its name, what is the matter, and what is known of it.
    private static func line(_ condition: ServiceCondition) -> String {
        let details = condition.details.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        return "\(condition.name): \(([condition.message] + details).joined(separator: ", "))"
    }

    private static func answer(_ status: HTTPResponse.Status, _ lines: [String]) -> Response {
        let text = lines.map { $0 + "\n" }.joined()
        return Response(status, "text/plain; charset=utf-8", Data(text.utf8), headers: [.cacheControl: "no-store"])
    }
}
