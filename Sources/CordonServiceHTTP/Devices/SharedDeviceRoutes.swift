import CordonIdentity
import CordonProtocol
import CordonService
import Foundation
import HTTPTypes
import Hummingbird

/// Shared devices: joined by a person with the role Cloud Device Administrator, seen and released by administrators, and
/// heard about who is on them.
struct SharedDeviceRoutes: Sendable {
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
        /// The newest session that the device has reported, where that is a later one.
        var session: Int64?
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

    func add(to routing: AdministrationRouting) {
        routing.allowing(.joinDevices).on("/cordon/v1/devices", method: .post) { request, context in
            let joining = try await RequestBodyReader.message(
                Joining.self, of: request, atMost: Self.largestBody)
            let device = try await administration.registerDevice(
                joining.request, name: joining.name, as: context.administrator)
            return try Response(.created, Device(device))
        }
        routing.allowing(.readApps).on("/admin/v1/devices", method: .get) { request, context in
            let query = request.uri.queryParameters
            let most = query["top"].flatMap { Int($0) }.map { min(max($0, 1), 1_000_000) }
            // One more than is asked for says whether there are others.
            let found = try await administration.sharedDevices(
                after: query["after"].map(String.init), limit: most.map { $0 + 1 } ?? .max, as: context.administrator)
            let page = found.prefix(most ?? .max)
            return try Response(
                page: page.map(Device.init), of: "/admin/v1/devices",
                asked: most.map { [(key: "top", value: String($0))] } ?? [],
                next: found.count > page.count ? page.last?.id : nil)
        }
        routing.allowing(.joinDevices).on("/admin/v1/devices/:id", method: .delete) { request, context in
            let id = context.key("id")
            try await administration.releaseDevice(id, as: context.administrator)
            return Response(status: .noContent)
        }
    }

    /// Needs no token: it may be that no person is signed in, and the device's key signed what is said.
    func addSession(to routes: RouterGroup<ServiceRequestContext>) {
        routes.post("/cordon/v1/devices/:id/session") { request, context in
            let id = context.key("id")
            // No device has a longer one; what is remembered of strangers stays small.
            guard id.utf8.count <= 128 else {
                throw Refusal(.notFound, "not-found", "No shared device has this id.")
            }
            let session = try await RequestBodyReader.message(Session.self, of: request, atMost: Self.largestBody)
            let verdict = try await devices.verdict(on: session.statement, ofDevice: id, tenant: tenant)
            // Counted once the device's key has signed: a device's id is known to many.
            try limits.admitStatement(ofDevice: id, at: now())
            try await devices.noteSession(session.statement, ofDevice: id, tenant: tenant)
            return switch verdict {
            case .stays: Response(status: .noContent)
            case .ends: try Response(.ok, Ending())
            case .isOlderCopy(let newest): try Response(.ok, Ending(session: newest))
            }
        }
    }
}
