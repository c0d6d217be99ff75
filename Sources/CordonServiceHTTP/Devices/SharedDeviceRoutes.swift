import CordonIdentity
import CordonProtocol
import CordonService
import Foundation
import HTTPTypes
import Hummingbird

/// Shared devices: joined by somebody with the role Cloud Device Administrator, seen and released by administrators, and
/// heard about who is on them.
struct SharedDeviceRoutes: Sendable {
    let routing: AdministrationRouting
    let administration: Administration
    let devices: DeviceService
    let tenant: TenantID
    let limits: RequestLimiter
    let now: @Sendable () -> Date

    /// The largest body: a signed statement, with the device's apps, and a name.
    private static let largestBody = 64 << 10

    /// The body of `POST /cordon/v1/devices`.
    private struct Joining: Decodable {
        /// The signed registration statement, compact JWS.
        var request: String
        var name: String?
    }

    /// The body of `POST /cordon/v1/devices/{id}/session`.
    private struct Session: Decodable {
        /// The signed session statement, compact JWS.
        var statement: String
    }

    /// The answer where the person may not stay: the device ends the session that it reported (SI-182).
    private struct Ending: Encodable {
        var ends = true
    }

    /// A device as administrators see it.
    private struct Device: Encodable {
        var id: String
        var name: String?
        var keyThumbprint: String
        var registered: Date
        var registeredBy: String
        var account: AccountID?
        var accountSince: Date?
        var lastSeen: Date?
        var apps: [SharedDeviceApp]?

        init(_ device: SharedDevice) {
            id = device.id
            name = device.name
            keyThumbprint = device.key.thumbprint
            registered = device.registered
            registeredBy = device.registeredBy
            account = device.account
            accountSince = device.accountSince
            lastSeen = device.lastSeen
            apps = device.apps
        }
    }

    func add(to router: some RouterMethods<BasicRequestContext>) {
        routing.on(router, .post, "/cordon/v1/devices", .joinDevices) {
            exchange, administrator throws(CheckInRefusal) in
            let joining = try await CheckInRefusal.reading(
                Joining.self, of: exchange.request, atMost: Self.largestBody)
            let device = try await CheckInRefusal.asking { () throws(ServiceError) in
                try await administration.registerDevice(joining.request, name: joining.name, as: administrator)
            }
            return try CheckInRefusal.answering(.created, Device(device))
        }
        routing.on(router, .get, "/admin/v1/devices", .readApps) { _, administrator throws(CheckInRefusal) in
            let devices = try await CheckInRefusal.asking { () throws(ServiceError) in
                try await administration.sharedDevices(as: administrator)
            }
            return try CheckInRefusal.answering(.ok, devices.map(Device.init))
        }
        routing.on(router, .delete, "/admin/v1/devices/:id", .joinDevices) {
            exchange, administrator throws(CheckInRefusal) in
            let id = exchange.parameters.get("id") ?? ""
            try await CheckInRefusal.asking { () throws(ServiceError) in
                try await administration.releaseDevice(id, as: administrator)
            }
            return Response(status: .noContent)
        }
        addSession(to: router)
    }

    /// Needs no token: nobody may be signed in, and the device's key signed what is said.
    private func addSession(to router: some RouterMethods<BasicRequestContext>) {
        let path = "/cordon/v1/devices/:id/session"
        router.on(RouterPath(path), method: .post) { request, context in
            let exchange = Exchange(request, context, logger: routing.logger)
            var response: Response
            do throws(CheckInRefusal) {
                let id = exchange.parameters.get("id") ?? ""
                // No device has a longer one; what is remembered of strangers stays small.
                guard id.utf8.count <= 128 else {
                    throw CheckInRefusal("not-found", "No shared device has this id.", status: 404)
                }
                let session = try await CheckInRefusal.reading(Session.self, of: request, atMost: Self.largestBody)
                let verdict = try await CheckInRefusal.asking { () throws(ServiceError) in
                    try await devices.verdict(on: session.statement, ofDevice: id, tenant: tenant)
                }
                // Counted once the device's key has signed: a device's id is known to many.
                try limits.admitStatement(ofDevice: id, at: now())
                try await CheckInRefusal.asking { () throws(ServiceError) in
                    try await devices.noteSession(session.statement, ofDevice: id, tenant: tenant)
                }
                response =
                    switch verdict {
                    case .stays: Response(status: .noContent)
                    case .ends: try CheckInRefusal.answering(.ok, Ending())
                    }
                exchange.log(route: path, status: response.status.code)
            } catch {
                response = error.response(in: exchange)
                exchange.log(route: path, status: error.problem.status, failure: error.problem.type)
            }
            response.headers[.requestID] = exchange.id
            return response
        }
    }
}
