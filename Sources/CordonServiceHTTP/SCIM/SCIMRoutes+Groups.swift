import CordonPolicy
import CordonService
import HTTPTypes
import Hummingbird

extension SCIMRoutes {
    func addGroups(to router: some RouterMethods<BasicRequestContext>) {
        on(router, .get, "/Groups") { exchange, administrator throws(SCIMRefusal) in
            let all = try await groups(administrator)
            let isShort = Self.leavesMembersOut(exchange)
            return try Self.list(
                all.map { SCIMGroup.json($0, base: base(exchange), withMembers: !isShort) }, exchange)
        }
        on(router, .post, "/Groups") { exchange, administrator throws(SCIMRefusal) in
            let all = try await groups(administrator)
            let group = try SCIMGroup.group(
                try await Self.read(exchange), id: nil, known: nil, groups: Set(all.map { $0.id.lowercased() }))
            do throws(SCIMRefusal) {
                return try await save(nil, group, exchange, administrator, .created)
            } catch {
                guard error.status == 412 else { throw error }
                throw SCIMRefusal(409, "a group has this externalId", kind: "uniqueness")
            }
        }
        on(router, .get, "/Groups/:id") { exchange, administrator throws(SCIMRefusal) in
            let group = try await group(exchange, administrator)
            return Self.answer(
                SCIMGroup.json(group, base: base(exchange), withMembers: !Self.leavesMembersOut(exchange)))
        }
        on(router, .put, "/Groups/:id") { exchange, administrator throws(SCIMRefusal) in
            let body = try await Self.read(exchange)
            return try await change(exchange, administrator) { _ throws(SCIMRefusal) in body }
        }
        on(router, .patch, "/Groups/:id") { exchange, administrator throws(SCIMRefusal) in
            let patch = try SCIMPatch(try await Self.read(exchange))
            return try await change(exchange, administrator) { old throws(SCIMRefusal) in try patch.applied(to: old) }
        }
        on(router, .delete, "/Groups/:id") { exchange, administrator throws(SCIMRefusal) in
            let id = Self.id(exchange)
            try await ask { () throws(ServiceError) in try await provisioning.removeGroup(id, as: administrator) }
            return Response(status: .noContent)
        }
    }

    private func groups(_ administrator: Administrator) async throws(SCIMRefusal) -> [DirectoryGroup] {
        try await ask { () throws(ServiceError) in try await administration.groups(as: administrator) }
    }

    private func group(
        _ exchange: Exchange, _ administrator: Administrator
    ) async throws(SCIMRefusal) -> DirectoryGroup {
        let id = Self.id(exchange)
        return try await ask { () throws(ServiceError) in try await administration.group(id, as: administrator) }
    }

    private func change(
        _ exchange: Exchange, _ administrator: Administrator,
        _ edit: (JSONValue) throws(SCIMRefusal) -> JSONValue
    ) async throws(SCIMRefusal) -> Response {
        try await settling { () throws(SCIMRefusal) in
            let known = try await group(exchange, administrator)
            let ids = Set(try await groups(administrator).map { $0.id.lowercased() })
            let document = try edit(SCIMGroup.json(known, base: base(exchange)))
            let group = try SCIMGroup.group(document, id: known.id, known: known, groups: ids)
            return try await save(known, group, exchange, administrator, .ok)
        }
    }

    private func save(
        _ known: DirectoryGroup?, _ group: DirectoryGroup, _ exchange: Exchange, _ administrator: Administrator,
        _ status: HTTPResponse.Status
    ) async throws(SCIMRefusal) -> Response {
        try await ask { () throws(ServiceError) in
            try await provisioning.replaceGroup(known, with: group, as: administrator)
        }
        return Self.answer(SCIMGroup.json(group, base: base(exchange)), status)
    }

    private static func leavesMembersOut(_ exchange: Exchange) -> Bool {
        exchange.request.uri.queryParameters["excludedAttributes"]?.split(separator: ",")
            .contains { $0.lowercased() == "members" } ?? false
    }
}
