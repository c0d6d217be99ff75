import CordonIdentity
import CordonService
import Foundation
import Hummingbird

/// What watchers of the process ask: whether it lives, and whether it can do its work.
struct HealthRoutes: Sendable {
    let devices: DeviceService
    let tenant: TenantID

    func add<Context: RequestContext>(to router: some RouterMethods<Context>) {
        router.get("/healthz") { _, _ in Self.answer(.ok, "ok") }
        router.get("/readyz") { _, _ in
            do {
                _ = try await devices.readiness(of: tenant)
                return Self.answer(.ok, "ready")
            } catch {
                let code = (error as? ServiceError)?.code ?? .internalError
                return Self.answer(.serviceUnavailable, "not ready: \(code.rawValue)")
            }
        }
    }

    private static func answer(_ status: HTTPResponse.Status, _ text: String) -> Response {
        Response(status, "text/plain; charset=utf-8", Data((text + "\n").utf8), headers: [.cacheControl: "no-store"])
    }
}
