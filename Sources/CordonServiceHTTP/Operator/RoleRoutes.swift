import CordonProtocol
import CordonService
import Foundation
import HTTPTypes
import Hummingbird

/// Roles: the built-in ones, and those that an organisation made (SRV-OP-020).
struct RoleRoutes: Sendable {
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
        var people: [String]?
        /// For `If-Match`; a built-in role has none.
        var version: String?

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
            people = role.people?.sorted()
            version = role.entityVersion
        }
    }

    /// The body of `PUT /admin/v1/roles/{id}`.
    private struct Content: Decodable {
        var displayName: String
        var description: String?
        var permissions: Set<Permission>
        var members: Set<String>
        var scopeTags: Set<String>?
        var people: Set<String>?
    }

    func add(to routing: AdministrationRouting) {
        routing.allowing(.readRoles).on("/admin/v1/roles", method: .get) { _, context in
            let custom = try await administration.resources(CustomRole.self, as: context.administrator)
            return try Response(.ok, AdministratorRole.allCases.map(Role.init) + custom.map(Role.init))
        }
        routing.allowing(.writeApps, stepsUp: true).on("/admin/v1/roles/:id", method: .put) { request, context in
            let content = try await RequestBodyReader.message(
                Content.self, of: request, atMost: AdministrationRouting.largestBody, isStrict: true)
            let role = CustomRole(
                id: context.decodedKey("id"), displayName: content.displayName, description: content.description,
                permissions: content.permissions, members: content.members, scopeTags: content.scopeTags,
                people: content.people)
            try await administration.saveResource(
                role, isNew: false, ifVersion: EntityTag.expected(by: request), as: context.administrator)
            return try Response(.ok, Role(role))
        }
        routing.allowing(.writeApps, stepsUp: true).on("/admin/v1/roles/:id", method: .delete) { request, context in
            let id = context.decodedKey("id")
            try await administration.removeResource(
                CustomRole.self, id, ifVersion: EntityTag.expected(by: request), as: context.administrator)
            return Response(status: .noContent)
        }
    }

}
