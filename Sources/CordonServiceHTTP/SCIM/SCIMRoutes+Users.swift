import CordonPolicy
import CordonService
import HTTPTypes
import Hummingbird

extension SCIMRoutes {
    func addUsers(to routing: AdministrationRouting) {
        routing.allowing(.readDirectory).get("\(Self.prefix)/Users") { request, context in
            let list = try SCIMList(request)
            let base = base(request)
            if let few = try await candidates(list.filter, context) {
                return list.answer(few.map { SCIMUser.json($0, base: base) })
            }
            let administrator = context.administrator
            let source = SCIMList.Source<DirectoryUser>(
                total: { try await administration.directoryCount(as: administrator).people },
                read: { after, skipped, limit in
                    try await administration.users(
                        after: after, skipping: skipped, limit: limit, as: administrator)
                }, id: \.id, looked: { SCIMUser.json($0, base: base) }, shown: { SCIMUser.json($0, base: base) })
            return try await list.answer(source, places, .init(administrator: administrator.id, list: "Users"))
        }
        routing.allowing(.writeGroups).post("\(Self.prefix)/Users") { request, context in
            let user = try SCIMUser.user(try await Self.read(request), id: nil, known: nil)
            do {
                return try await save(nil, user, saysState: true, request, context, .created)
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
                return try await save(known, user, saysState: try SCIMUser.saysState(body), request, context, .ok)
            }
        }
        routing.allowing(.writeGroups).patch("\(Self.prefix)/Users/:id") { request, context in
            let patch = try SCIMPatch(try await Self.read(request))
            return try await settling {
                let known = try await user(context)
                // Without its state, so that what comes out has one only where the change says it.
                let changed = try patch.applied(to: SCIMUser.json(known, base: base(request), withState: false))
                let user = try SCIMUser.user(changed, id: known.id, known: known)
                return try await save(known, user, saysState: try SCIMUser.saysState(changed), request, context, .ok)
            }
        }
        routing.allowing(.writeGroups).delete("\(Self.prefix)/Users/:id") { request, context in
            let id = try await user(context).id
            try await provisioning.removeUser(id, as: context.administrator)
            return Response(status: .noContent)
        }
    }

    /// Those whom the filter may let through, where it asks for a name or an id, as provisioning systems do before each change, and they
    /// are few; nil otherwise.
    private func candidates(_ filter: SCIMFilter?, _ context: AdministrationContext) async throws -> [DirectoryUser]? {
        switch (filter?.attribute.lowercased(), filter?.value.string) {
        case ("username", let name?) where !name.isEmpty:
            return try await administration.users(
                namedFrom: name, limit: Self.largestPage, as: context.administrator)
        case ("displayname", let name?) where !name.isEmpty:
            return try await administration.users(
                shownFrom: name, limit: Self.largestPage, as: context.administrator)
        case ("id", let id?), ("externalid", let id?):
            do throws(ServiceError) {
                return [try await administration.user(id, as: context.administrator)]
            } catch {
                guard error.code == .notFound else { throw error }
                return []
            }
        default: return nil
        }
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
        _ known: DirectoryUser?, _ user: DirectoryUser, saysState: Bool, _ request: Request,
        _ context: AdministrationContext, _ status: HTTPResponse.Status
    ) async throws -> Response {
        try await provisioning.replaceUser(known, with: user, saysState: saysState, as: context.administrator)
        return Self.answer(SCIMUser.json(user, base: base(request)), status)
    }
}
