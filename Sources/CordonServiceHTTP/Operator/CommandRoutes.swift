import CordonProtocol
import CordonService
import Foundation
import HTTPTypes
import Hummingbird

/// What an administrator tells one app to do beside wiping, and whether the organisation is being moved (SRV-CI-006,
/// SRV-CI-055).
struct CommandRoutes: Sendable {
    let administration: Administration

    /// The body of `POST /admin/v1/registrations/{id}/commands`.
    private struct Body: Decodable {
        var kind: Command.Kind
    }

    /// The body of `/admin/v1/moving`.
    private struct Moving: Codable {
        var moving: Bool
    }

    /// The largest body.
    private static let largestBody = 4 << 10

    func add(to routing: AdministrationRouting) {
        let ofRegistration: RouterPath = "/admin/v1/registrations/:id/commands"
        routing.allowing(.writeApps).on(ofRegistration, method: .post) { request, context in
            let kind = try await RequestBodyReader.message(
                Body.self, of: request, atMost: Self.largestBody, isStrict: true
            ).kind
            let id = context.key("id")
            let command = try await administration.requestCommand(kind, ofRegistration: id, as: context.administrator)
            return try Response(.accepted, command)
        }
        routing.allowing(.readApps).on(ofRegistration, method: .get) { _, context in
            let commands = try await administration.commands(
                ofRegistration: context.key("id"), as: context.administrator)
            return try Response(.ok, commands)
        }
        routing.allowing(.readApps).on("/admin/v1/commands", method: .get) { request, context in
            try await Response.page(of: "/admin/v1/commands", request) { after, limit in
                try await administration.commands(
                    after: after, limit: limit ?? Administration.largestPage, as: context.administrator)
            }
        }
        routing.allowing(.writeApps).on("/admin/v1/commands/:id", method: .delete) { request, context in
            let id = context.key("id")
            let command = try await administration.cancelCommand(id, as: context.administrator)
            return try Response(.ok, command)
        }
        addMoving(to: routing)
        addRestoration(to: routing)
    }

    /// The answer of `GET /admin/v1/restoration`.
    private struct Restoration: Encodable {
        var isWaiting: Bool
        var restoration: StoreRestoration?
    }

    private func addRestoration(to routing: AdministrationRouting) {
        let path: RouterPath = "/admin/v1/restoration"
        routing.allowing(.readApps).on(path, method: .get) { _, context in
            let restoration = try await administration.restoration(as: context.administrator)
            return try Response(.ok, Restoration(isWaiting: restoration != nil, restoration: restoration))
        }
        routing.allowing(.writeApps, stepsUp: true).on(path, method: .delete) { _, context in
            try await administration.confirmRestoration(as: context.administrator)
            return Response(status: .noContent)
        }
    }

    private func addMoving(to routing: AdministrationRouting) {
        let path: RouterPath = "/admin/v1/moving"
        routing.allowing(.readApps).on(path, method: .get) { _, context in
            let isMoving = try await administration.isMoving(as: context.administrator)
            return try Response(.ok, Moving(moving: isMoving))
        }
        routing.allowing(.writeApps, stepsUp: true).on(path, method: .put) { request, context in
            let message = try await RequestBodyReader.message(
                Moving.self, of: request, atMost: Self.largestBody, isStrict: true)
            try await administration.setMoving(message.moving, as: context.administrator)
            return Response(status: .noContent)
        }
    }
}
