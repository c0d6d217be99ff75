import CordonPolicy
import CordonService
import HTTPTypes
import Hummingbird

extension SCIMRoutes {
    func addUsers(to routing: AdministrationRouting) {
        routing.allowing(.readDirectory).get("\(Self.prefix)/Users") { request, context in
            let users = try await candidates(request, context)
            return try Self.list(users.map { SCIMUser.json($0, base: base(request)) }, request)
        }
        routing.allowing(.writeGroups).post("\(Self.prefix)/Users") { request, context in
            let user = try SCIMUser.user(try await Self.read(request), id: nil, known: nil)
            do {
                return try await save(nil, user, request, context, .created)
            } catch let error as ServiceError where error.code == .preconditionFailed {
                throw Refusal.scim(409, "a person has this externalId", kind: "uniqueness")
            }
        }
        routing.allowing(.readDirectory).get("\(Self.prefix)/Users/:id") { request, context in
            Self.answer(SCIMUser.json(try await user(context), base: base(request)))
        }
        routing.allowing(.writeGroups).put("\(Self.prefix)/Users/:id") { request, context in
            let body = try await Self.read(request)
            return try await settling {
                let known = try await user(context)
                let user = try SCIMUser.user(body, id: known.id, known: known)
                return try await save(known, user, request, context, .ok)
            }
        }
        routing.allowing(.writeGroups).patch("\(Self.prefix)/Users/:id") { request, context in
            let patch = try SCIMPatch(try await Self.read(request))
            return try await settling {
                let known = try await user(context)
                let changed = try patch.applied(to: SCIMUser.json(known, base: base(request)))
                let user = try SCIMUser.user(changed, id: known.id, known: known)
                return try await save(known, user, request, context, .ok)
            }
        }
        routing.allowing(.writeGroups).delete("\(Self.prefix)/Users/:id") { request, context in
            let id = try await user(context).id
            try await provisioning.removeUser(id, as: context.administrator)
            return Response(status: .noContent)
        }
    }

    /// Those whom the filter may let through: by an index where it asks for a name or an id, as provisioning systems do before each
    /// change; everybody otherwise.
    private func candidates(
        _ request: Request, _ context: AdministrationContext
    ) async throws -> [DirectoryUser] {
        let filter = try request.uri.queryParameters["filter"].map { try SCIMFilter(String($0)) }
        switch (filter?.attribute.lowercased(), filter?.value.string) {
        case ("username", let name?) where !name.isEmpty:
            let few = try await administration.users(
                namedFrom: name, limit: Self.largestPage, as: context.administrator)
            if let few { return few }
        case ("id", let id?), ("externalid", let id?):
            do throws(ServiceError) {
                return [try await administration.user(id, as: context.administrator)]
            } catch {
                guard error.code == .notFound else { throw error }
                return []
            }
        default: break
        }
        return try await administration.users(as: context.administrator)
    }

    private func user(
        _ context: AdministrationContext
    ) async throws -> DirectoryUser {
        let id = context.decodedKey("id")
        let user = try await administration.user(id, as: context.administrator)
        // By its id alone: a sign-in name is no id here.
        guard user.id.lowercased() == id.lowercased() else { throw Refusal.scim(404, "no person has this id") }
        return user
    }

    private func save(
        _ known: DirectoryUser?, _ user: DirectoryUser, _ request: Request, _ context: AdministrationContext,
        _ status: HTTPResponse.Status
    ) async throws -> Response {
        try await provisioning.replaceUser(known, with: user, as: context.administrator)
        return Self.answer(SCIMUser.json(user, base: base(request)), status)
    }
}
