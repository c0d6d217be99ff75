import CordonProtocol
import CordonService
import Foundation
import HTTPTypes
import Hummingbird

/// Roles: the built-in ones, and those that an organisation made (SRV-OP-020).
struct RoleRoutes: Sendable {
    let routing: AdministrationRouting
    let administration: Administration

    /// A role as operators see it.
    private struct Role: Encodable {
        var id: String
        var displayName: String
        var description: String?
        var isBuiltIn: Bool
        var permissions: [Permission]
        var members: [String]?
        var scopeTags: [String]?

        init(_ role: AdministratorRole) {
            id = role.rawValue
            displayName = role.rawValue
            isBuiltIn = true
            permissions = role.permissions.sorted { $0.rawValue < $1.rawValue }
        }

        init(_ role: CustomRole) {
            id = role.id
            displayName = role.displayName
            description = role.description
            isBuiltIn = false
            permissions = role.permissions.sorted { $0.rawValue < $1.rawValue }
            members = role.members.sorted()
            scopeTags = role.scopeTags?.sorted()
        }
    }

    /// The body of `PUT /admin/v1/roles/{id}`.
    private struct Content: Decodable {
        var displayName: String
        var description: String?
        var permissions: Set<Permission>
        var members: Set<String>
        var scopeTags: Set<String>?
    }

    func add(to router: some RouterMethods<BasicRequestContext>) {
        routing.on(router, .get, "/admin/v1/roles", .readRoles) { _, administrator throws(CheckInRefusal) in
            let custom = try await CheckInRefusal.asking { () throws(ServiceError) in
                try await administration.resources(CustomRole.self, as: administrator)
            }
            return try CheckInRefusal.answering(.ok, AdministratorRole.allCases.map(Role.init) + custom.map(Role.init))
        }
        routing.on(router, .put, "/admin/v1/roles/:id", .writeApps) { exchange, administrator throws(CheckInRefusal) in
            let content = try await CheckInRefusal.reading(
                Content.self, of: exchange.request, atMost: AdministrationRouting.largestBody)
            let role = CustomRole(
                id: Self.id(exchange), displayName: content.displayName, description: content.description,
                permissions: content.permissions, members: content.members, scopeTags: content.scopeTags)
            try await CheckInRefusal.asking { () throws(ServiceError) in
                try await administration.saveResource(role, isNew: false, as: administrator)
            }
            return try CheckInRefusal.answering(.ok, Role(role))
        }
        routing.on(router, .delete, "/admin/v1/roles/:id", .writeApps) {
            exchange, administrator throws(CheckInRefusal) in
            let id = Self.id(exchange)
            try await CheckInRefusal.asking { () throws(ServiceError) in
                try await administration.removeResource(CustomRole.self, id, as: administrator)
            }
            return Response(status: .noContent)
        }
    }

    private static func id(_ exchange: Exchange) -> String {
        let text = exchange.parameters.get("id") ?? ""
        return text.removingPercentEncoding ?? text
    }
}
