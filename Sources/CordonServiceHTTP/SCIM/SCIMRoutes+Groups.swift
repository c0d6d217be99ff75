import CordonPolicy
import CordonService
import HTTPTypes
import Hummingbird

extension SCIMRoutes {
    func addGroups(to routing: AdministrationRouting) {
        routing.allowing(.readDirectory).get("\(Self.prefix)/Groups") { request, context in
            let list = try SCIMList(request)
            let (base, administrator) = (base(request), context.administrator)
            // Members are read of the groups that are shown, one after the other.
            func whole(_ group: GroupEntry) async throws -> JSONValue {
                do throws(ServiceError) {
                    return SCIMGroup.json(try await administration.group(group.id, as: administrator), base: base)
                } catch {
                    // Removed since the page was read.
                    guard error.code == .notFound else { throw error }
                    return SCIMGroup.json(group, base: base)
                }
            }
            let isShort = Self.leavesMembersOut(request)
            let looksAtMembers = list.filter?.attribute.lowercased().hasPrefix("members") ?? false
            let source = SCIMList.Source<GroupEntry>(
                total: { try await administration.directoryCount(as: administrator).groups },
                read: { after, skipped, limit in
                    try await administration.groupEntries(
                        after: after, skipping: skipped, limit: limit, as: administrator)
                }, id: \.id,
                looked: { looksAtMembers && !isShort ? try await whole($0) : SCIMGroup.json($0, base: base) },
                shown: { isShort ? SCIMGroup.json($0, base: base) : try await whole($0) })
            return try await list.answer(source, places, .init(administrator: administrator.id, list: "Groups"))
        }
        routing.allowing(.writeGroups).post("\(Self.prefix)/Groups") { request, context in
            let body = try await Self.read(request)
            let group = try SCIMGroup.group(
                body, id: nil, known: nil, groups: try await groups(among: body, context))
            do {
                return try await save(nil, group, request, context, .created)
            } catch let error as ServiceError where error.code == .preconditionFailed {
                throw Refusal.scim(409, "a group has this externalId", kind: "uniqueness")
            }
        }
        routing.allowing(.readDirectory).get("\(Self.prefix)/Groups/:id") { request, context in
            if Self.leavesMembersOut(request) {
                let entry = try await administration.groupEntry(
                    context.decodedKey("id"), as: context.administrator)
                return Self.answer(SCIMGroup.json(entry, base: base(request)))
            }
            return Self.answer(SCIMGroup.json(try await group(context), base: base(request)))
        }
        routing.allowing(.writeGroups).put("\(Self.prefix)/Groups/:id") { request, context in
            let body = try await Self.read(request)
            return try await change(request, context) { _ in body }
        }
        routing.allowing(.writeGroups).patch("\(Self.prefix)/Groups/:id") { request, context in
            let patch = try SCIMPatch(try await Self.read(request))
            if let members = try patch.members { return try await change(members, request, context) }
            return try await change(request, context) { old in try patch.applied(to: old) }
        }
        routing.allowing(.writeGroups).delete("\(Self.prefix)/Groups/:id") { request, context in
            let id = context.decodedKey("id")
            try await provisioning.removeGroup(id, as: context.administrator)
            return Response(status: .noContent)
        }
    }

    /// The folded ids of the known groups among the members of a document that say no type.
    private func groups(among document: JSONValue, _ context: AdministrationContext) async throws -> Set<String> {
        let untyped = try (document.attribute("members")?.array ?? []).filter {
            try $0.attribute("type")?.string == nil
        }
        return try await groups(
            among: Set(try untyped.compactMap { try $0.attribute("value")?.string?.lowercased() }), context)
    }

    private func groups(among names: Set<String>, _ context: AdministrationContext) async throws -> Set<String> {
        names.isEmpty ? [] : try await administration.groups(among: names, as: context.administrator)
    }

    /// The largest group that is sent back whole after members of it were changed.
    private static let largestAnswer = 1_000

    /// Adds and removes members without reading the others; of a large group the answer is that it is done (RFC 7644 §3.5.2).
    private func change(
        _ members: SCIMPatch.MemberChange, _ request: Request, _ context: AdministrationContext
    ) async throws -> Response {
        let administrator = context.administrator
        let id = try await administration.groupEntry(context.decodedKey("id"), as: administrator).id
        let (added, removed) = members.resolved(groups: try await groups(among: members.untyped, context))
        try await provisioning.changeMembers(ofGroup: id, adding: added, removing: removed, as: administrator)
        guard try await !administration.groupHasMore(than: Self.largestAnswer, membersIn: id, as: administrator)
        else { return Response(status: .noContent) }
        return Self.answer(SCIMGroup.json(try await group(context), base: base(request)))
    }

    private func group(
        _ context: AdministrationContext
    ) async throws -> DirectoryGroup {
        let id = context.decodedKey("id")
        return try await administration.group(id, as: context.administrator)
    }

    private func change(
        _ request: Request, _ context: AdministrationContext,
        _ edit: (JSONValue) throws -> JSONValue
    ) async throws -> Response {
        try await settling {
            let known = try await group(context)
            let document = try edit(SCIMGroup.json(known, base: base(request)))
            let group = try SCIMGroup.group(
                document, id: known.id, known: known, groups: try await groups(among: document, context))
            return try await save(known, group, request, context, .ok)
        }
    }

    private func save(
        _ known: DirectoryGroup?, _ group: DirectoryGroup, _ request: Request, _ context: AdministrationContext,
        _ status: HTTPResponse.Status
    ) async throws -> Response {
        try await provisioning.replaceGroup(known, with: group, as: context.administrator)
        return Self.answer(SCIMGroup.json(group, base: base(request)), status)
    }

    private static func leavesMembersOut(_ request: Request) -> Bool {
        request.uri.queryParameters["excludedAttributes"]?.split(separator: ",")
            .contains { $0.lowercased() == "members" } ?? false
    }
}
