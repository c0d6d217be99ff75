import CordonIdentity
import CordonService
import Foundation
import HTTPTypes
import Hummingbird

/// What a person who is signed in may do here, for consoles and scripts to know before they ask.
struct SelfRoutes: Sendable {
    let gate: AdministrationGate

    /// The answer of `GET /admin/v1/me`.
    private struct Me: Encodable {
        var id: String
        var name: String
        var kind: Kind
        var tenant: String
        /// The built-in roles, and those of the organisation's own.
        var roles: [String]
        var customRoles: [Role]
        /// What the roles allow for policies with any tags, and what some role allows at least for those with its tags.
        var permissions: [Permission]
        var limitedPermissions: [Permission]
        /// The scopes of the token, which bound what a person may ask by it.
        var scopes: [String]
        var signedIn: Date?
        /// How old a sign-in may be for what cannot be taken back; null where that does not matter.
        var stepUpSeconds: Int?
        /// Whether this one is young enough.
        var isFresh: Bool
    }

    private enum Kind: String, Encodable {
        case person, program
    }

    private struct Role: Encodable {
        var id: String
        var displayName: String
        var permissions: [Permission]
        var scopeTags: [String]?
        var people: [String]?
    }

    func add(to routing: AdministrationRouting) {
        routing.allowing(.readSelf).on("/admin/v1/me", method: .get) { _, context in
            try Response(.ok, me(context.administrator, context.token))
        }
    }

    private func me(_ caller: Administrator, _ token: AccessToken) -> Me {
        let custom = caller.customRoles.map { role in
            Role(
                id: role.id, displayName: role.displayName, permissions: Self.ordered(role.permissions),
                scopeTags: role.scopeTags?.sorted(), people: role.people?.sorted())
        }
        let everywhere = Set(Permission.allCases.filter(caller.mayEverywhere))
        let somewhere = Set(Permission.allCases.filter(caller.may)).subtracting(everywhere)
        return Me(
            id: caller.id, name: caller.name, kind: token.isApplication ? .program : .person,
            tenant: caller.tenant.rawValue, roles: caller.roles.map(\.rawValue).sorted(), customRoles: custom,
            permissions: Self.ordered(everywhere), limitedPermissions: Self.ordered(somewhere),
            scopes: token.scopes.sorted(), signedIn: token.authenticated, stepUpSeconds: gate.stepUpAge,
            isFresh: gate.isFresh(token))
    }

    private static func ordered(_ permissions: Set<Permission>) -> [Permission] {
        permissions.sorted { $0.rawValue < $1.rawValue }
    }
}
