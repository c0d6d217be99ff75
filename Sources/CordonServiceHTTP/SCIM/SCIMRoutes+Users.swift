import CordonPolicy
import CordonService
import HTTPTypes
import Hummingbird

extension SCIMRoutes {
    func addUsers(to router: some RouterMethods<BasicRequestContext>) {
        on(router, .get, "/Users") { exchange, administrator throws(SCIMRefusal) in
            let users = try await ask { () throws(ServiceError) in try await administration.users(as: administrator) }
            return try Self.list(users.map { SCIMUser.json($0, base: base(exchange)) }, exchange)
        }
        on(router, .post, "/Users") { exchange, administrator throws(SCIMRefusal) in
            let user = try SCIMUser.user(try await Self.read(exchange), id: nil, known: nil)
            do throws(SCIMRefusal) {
                return try await save(nil, user, exchange, administrator, .created)
            } catch {
                guard error.status == 412 else { throw error }
                throw SCIMRefusal(409, "a person has this externalId", kind: "uniqueness")
            }
        }
        on(router, .get, "/Users/:id") { exchange, administrator throws(SCIMRefusal) in
            Self.answer(SCIMUser.json(try await user(exchange, administrator), base: base(exchange)))
        }
        on(router, .put, "/Users/:id") { exchange, administrator throws(SCIMRefusal) in
            let body = try await Self.read(exchange)
            return try await settling { () throws(SCIMRefusal) in
                let known = try await user(exchange, administrator)
                let user = try SCIMUser.user(body, id: known.id, known: known)
                return try await save(known, user, exchange, administrator, .ok)
            }
        }
        on(router, .patch, "/Users/:id") { exchange, administrator throws(SCIMRefusal) in
            let patch = try SCIMPatch(try await Self.read(exchange))
            return try await settling { () throws(SCIMRefusal) in
                let known = try await user(exchange, administrator)
                let changed = try patch.applied(to: SCIMUser.json(known, base: base(exchange)))
                let user = try SCIMUser.user(changed, id: known.id, known: known)
                return try await save(known, user, exchange, administrator, .ok)
            }
        }
        on(router, .delete, "/Users/:id") { exchange, administrator throws(SCIMRefusal) in
            let id = try await user(exchange, administrator).id
            try await ask { () throws(ServiceError) in try await provisioning.removeUser(id, as: administrator) }
            return Response(status: .noContent)
        }
    }

    private func user(
        _ exchange: Exchange, _ administrator: Administrator
    ) async throws(SCIMRefusal) -> DirectoryUser {
        let id = Self.id(exchange)
        let user = try await ask { () throws(ServiceError) in try await administration.user(id, as: administrator) }
        // By its id alone: a sign-in name is no id here.
        guard user.id.lowercased() == id.lowercased() else { throw SCIMRefusal(404, "no person has this id") }
        return user
    }

    private func save(
        _ known: DirectoryUser?, _ user: DirectoryUser, _ exchange: Exchange, _ administrator: Administrator,
        _ status: HTTPResponse.Status
    ) async throws(SCIMRefusal) -> Response {
        try await ask { () throws(ServiceError) in
            try await provisioning.replaceUser(known, with: user, as: administrator)
        }
        return Self.answer(SCIMUser.json(user, base: base(exchange)), status)
    }
}
