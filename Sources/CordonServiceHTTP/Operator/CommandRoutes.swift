import CordonProtocol
import CordonService
import Foundation
import HTTPTypes
import Hummingbird

/// What an administrator tells one app to do beside wiping, and whether the organisation is being moved (SRV-CI-006,
/// SRV-CI-055).
struct CommandRoutes: Sendable {
    let routing: AdministrationRouting
    let administration: Administration

    /// The body of `POST /admin/v1/registrations/{id}/commands`.
    private struct Request: Decodable {
        var kind: Command.Kind
    }

    /// The body of `/admin/v1/moving`.
    private struct Moving: Codable {
        var moving: Bool
    }

    /// The largest body.
    private static let largestBody = 4 << 10

    func add(to router: some RouterMethods<BasicRequestContext>) {
        let ofRegistration = "/admin/v1/registrations/:id/commands"
        routing.on(router, .post, ofRegistration, .writeApps) { exchange, administrator throws(CheckInRefusal) in
            let kind = try await CheckInRefusal.reading(
                Request.self, of: exchange.request, atMost: Self.largestBody
            ).kind
            let id = exchange.parameters.get("id") ?? ""
            let command = try await CheckInRefusal.asking { () throws(ServiceError) in
                try await administration.requestCommand(kind, ofRegistration: id, as: administrator)
            }
            return try CheckInRefusal.answering(.accepted, command)
        }
        routing.on(router, .get, ofRegistration, .readApps) { exchange, administrator throws(CheckInRefusal) in
            try await list(exchange.parameters.get("id") ?? "", administrator)
        }
        routing.on(router, .get, "/admin/v1/commands", .readApps) { _, administrator throws(CheckInRefusal) in
            try await list(nil, administrator)
        }
        routing.on(router, .delete, "/admin/v1/commands/:id", .writeApps) {
            exchange, administrator throws(CheckInRefusal) in
            let id = exchange.parameters.get("id") ?? ""
            let command = try await CheckInRefusal.asking { () throws(ServiceError) in
                try await administration.cancelCommand(id, as: administrator)
            }
            return try CheckInRefusal.answering(.ok, command)
        }
        addMoving(to: router)
    }

    private func addMoving(to router: some RouterMethods<BasicRequestContext>) {
        let path = "/admin/v1/moving"
        routing.on(router, .get, path, .readApps) { _, administrator throws(CheckInRefusal) in
            let isMoving = try await CheckInRefusal.asking { () throws(ServiceError) in
                try await administration.isMoving(as: administrator)
            }
            return try CheckInRefusal.answering(.ok, Moving(moving: isMoving))
        }
        routing.on(router, .put, path, .writeApps) { exchange, administrator throws(CheckInRefusal) in
            let message = try await CheckInRefusal.reading(
                Moving.self, of: exchange.request, atMost: Self.largestBody)
            try await CheckInRefusal.asking { () throws(ServiceError) in
                try await administration.setMoving(message.moving, as: administrator)
            }
            return Response(status: .noContent)
        }
    }

    private func list(_ registrationID: String?, _ administrator: Administrator) async throws(CheckInRefusal)
        -> Response
    {
        let commands = try await CheckInRefusal.asking { () throws(ServiceError) in
            try await administration.commands(ofRegistration: registrationID, as: administrator)
        }
        return try CheckInRefusal.answering(.ok, commands)
    }
}
