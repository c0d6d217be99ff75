import CordonIdentity
import CordonPolicy
import CordonService
import CordonServiceHTTP
import Foundation
import HTTPTypes

/// People, groups and the organisation (§2.6).
struct DirectoryRoutes: Sendable {
    let administration: Administration
    let provisioning: Provisioning
    let tenant: TenantID

    var routes: [GraphRoute] { people + groups + organization }

    private var people: [GraphRoute] {
        [
            GraphRoute(.get, "me", .readSelf) { exchange in
                .entity(DirectoryEntity.json(try await me(exchange)), of: "users")
            },
            GraphRoute(.get, "users", .readDirectory) { exchange in
                .page(try await users(exchange), of: "users")
            },
            GraphRoute(.get, "users/$count", .readDirectory) { exchange in
                guard exchange.query.asksForWhole else { return .number(try await count(exchange).people) }
                return .number(try await users(exchange, counts: true).total)
            },
            GraphRoute(.get, "users/*", .readDirectory) { exchange in
                .entity(DirectoryEntity.json(try await exchange.user(administration)), of: "users")
            },
            GraphRoute(.get, "users/*/memberOf", .readDirectory) { exchange in
                let user = try await exchange.user(administration)
                let direct = try await groups(of: user, transitively: false, exchange)
                return .collection(direct.map(DirectoryEntity.json), of: "directoryObjects")
            },
            GraphRoute(.get, "users/*/transitiveMemberOf", .readDirectory) { exchange in
                let all = try await groups(of: try await exchange.user(administration), transitively: true, exchange)
                return .collection(all.map(DirectoryEntity.json), of: "directoryObjects")
            },
        ]
    }

    private var groups: [GraphRoute] {
        [
            GraphRoute(.get, "groups", .readDirectory) { exchange in
                .page(try await allGroups(exchange), of: "groups")
            },
            GraphRoute(.get, "groups/$count", .readDirectory) { exchange in
                guard exchange.query.asksForWhole else { return .number(try await count(exchange).groups) }
                return .number(try await allGroups(exchange, counts: true).total)
            },
            GraphRoute(.post, "groups", .writeGroups) { exchange in
                try await createGroup(exchange)
            },
            GraphRoute(.get, "groups/*", .readDirectory) { exchange in
                .entity(DirectoryEntity.json(try await group(exchange)), of: "groups")
            },
            GraphRoute(.get, "groups/*/members", .readDirectory) { exchange in
                .page(try await directMembers(exchange), of: "groups('\(exchange.keys[0])')/members")
            },
            GraphRoute(.get, "groups/*/members/$count", .readDirectory) { exchange in
                .number(
                    try exchange.page(try await members(exchange, isTransitive: false), id: \.rank, json: \.json).total)
            },
            GraphRoute(.get, "groups/*/transitiveMembers", .readDirectory) { exchange in
                .page(
                    try exchange.page(try await members(exchange, isTransitive: true), id: \.rank, json: \.json),
                    of: "groups('\(exchange.keys[0])')/transitiveMembers")
            },
        ]
    }

    private var organization: [GraphRoute] {
        [
            GraphRoute(.get, "organization", .readOrganization) { [tenant] _ in
                .collection(
                    [
                        [
                            "@odata.type": "#microsoft.graph.organization", "id": .string(tenant.rawValue),
                            "displayName": .string(tenant.rawValue), "verifiedDomains": [],
                        ]
                    ], of: "organization")
            }
        ]
    }

    /// The person who is signed in, who may read this with any role or none (SRV-OP-074).
    private func me(_ exchange: GraphExchange) async throws -> DirectoryUser {
        guard !exchange.token.isApplication else {
            throw Refusal.badRequest("A program is not a person, and /me needs one.")
        }
        var reader = exchange.administrator
        reader.roles = [.reader]
        return try await exchange.directory {
            try await administration.user(reader.id, as: reader)
        }
    }

    /// - Parameter counts: Whether the people on other pages are counted too.
    private func users(_ exchange: GraphExchange, counts: Bool = false) async throws -> GraphPage {
        _ = try GraphFilterTerms(
            of: exchange.query,
            on: DirectoryEntity.json(DirectoryUser(id: "", userPrincipalName: "", displayName: "")))
        let page = try await exchange.directory { () async throws -> GraphPage? in
            guard !counts else { return nil }
            return try await exchange.pageOfStore(
                id: \.id, total: { try await count(exchange).people }
            ) { after, limit in
                try await administration.users(after: after, limit: limit, as: exchange.administrator)
            } json: { user in
                DirectoryEntity.json(user)
            }
        }
        if let page { return page }
        if !counts {
            let byName = try await pageByName(exchange, id: \.id, name: \.displayName, json: DirectoryEntity.json) {
                try await count(exchange).people
            } read: { place, limit in
                try await administration.users(shownAfter: place, limit: limit, as: exchange.administrator)
            }
            if let byName { return byName }
        }
        // Those whose names begin so, where they are few; the filter itself decides among them.
        let few = try await candidates(exchange, among: ["userprincipalname", "displayname"]) { member, text, limit in
            member == "displayname"
                ? try await administration.users(shownFrom: text, limit: limit, as: exchange.administrator)
                : try await administration.users(namedFrom: text, limit: limit, as: exchange.administrator)
        }
        if let few { return try exchange.page(few, id: \.id, json: DirectoryEntity.json) }
        return try await exchange.directory {
            try await exchange.scan(counts: counts, id: \.id, json: DirectoryEntity.json) { after, limit in
                try await administration.users(after: after, limit: limit, as: exchange.administrator)
            }
        }
    }

    /// A page of a list by display name, where nothing but that order is asked for.
    private func pageByName<One>(
        _ exchange: GraphExchange, id: (One) -> String, name: (One) -> String, json: (One) -> JSONValue,
        total: () async throws -> Int,
        read: (_ after: (name: String, id: String)?, _ limit: Int) async throws -> [One]
    ) async throws -> GraphPage? {
        let query = exchange.query
        guard query.order?.onlyAscending == "displayname", query.cast == nil, query.filter == nil, query.search == nil,
            query.skip == 0
        else { return nil }
        let place = try query.skipToken.map { try GraphPlace($0) }
        // A token of a page in another order says no name.
        guard place == nil || place?.name != nil else { return nil }
        let limit = query.top ?? GraphQuery.usualPage
        return try await exchange.directory {
            let found = try await read(place.flatMap { place in place.name.map { ($0, place.id) } }, limit + 1)
            let page = found.prefix(limit)
            let next = page.last.map { GraphPlace(id: id($0), end: 0, values: [.string(name($0))]).text }
            return GraphPage(
                page.map(json), next: found.count > limit ? next : nil, query: query,
                total: query.count ? try await total() : nil)
        }
    }

    /// Those entries that the filter may let through, by how their names begin; nil where they are many or the filter asks for
    /// something else.
    private func candidates<One: StoredRecord>(
        _ exchange: GraphExchange, among members: Set<String>,
        read: (_ member: String, _ beginning: String, _ limit: Int) async throws -> [One]?
    ) async throws -> [One]? {
        guard let beginnings = exchange.query.filter?.beginnings(among: members), beginnings.count <= 16
        else { return nil }
        var found: [String: One] = [:]
        for (member, text) in beginnings {
            let few = try await exchange.directory { try await read(member, text, GraphQuery.largestPage) }
            guard let few else { return nil }
            for one in few { found[one.storageID] = one }
        }
        return found.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.map(\.value)
    }

    private func count(_ exchange: GraphExchange) async throws -> (people: Int, groups: Int) {
        try await exchange.directory {
            try await administration.directoryCount(as: exchange.administrator)
        }
    }

    private func groups(
        of user: DirectoryUser, transitively isTransitive: Bool, _ exchange: GraphExchange
    ) async throws -> [GroupEntry] {
        try await exchange.directory {
            try await administration.groups(
                ofUser: user.id, transitively: isTransitive, as: exchange.administrator)
        }
    }

    /// - Parameter counts: Whether the groups on other pages are counted too.
    private func allGroups(_ exchange: GraphExchange, counts: Bool = false) async throws -> GraphPage {
        _ = try GraphFilterTerms(
            of: exchange.query, on: DirectoryEntity.json(GroupEntry(id: "", displayName: "")))
        let page = try await exchange.directory { () async throws -> GraphPage? in
            guard !counts else { return nil }
            return try await exchange.pageOfStore(
                id: \.id, total: { try await count(exchange).groups }
            ) { after, limit in
                try await administration.groupEntries(after: after, limit: limit, as: exchange.administrator)
            } json: { group in
                DirectoryEntity.json(group)
            }
        }
        if let page { return page }
        if !counts {
            let byName = try await pageByName(exchange, id: \.id, name: \.displayName, json: DirectoryEntity.json) {
                try await count(exchange).groups
            } read: { place, limit in
                try await administration.groupEntries(shownAfter: place, limit: limit, as: exchange.administrator)
            }
            if let byName { return byName }
        }
        if let few = try await namedGroups(exchange) {
            return try exchange.page(few, id: \.id, json: DirectoryEntity.json)
        }
        return try await exchange.directory {
            try await exchange.scan(counts: counts, id: \.id, json: DirectoryEntity.json) { after, limit in
                try await administration.groupEntries(after: after, limit: limit, as: exchange.administrator)
            }
        }
    }

    /// The groups that the filter may let through: those whose ids it says, or whose names begin so.
    private func namedGroups(_ exchange: GraphExchange) async throws -> [GroupEntry]? {
        if let ids = exchange.query.filter?.ids, ids.count <= GraphQuery.largestPage {
            return try await exchange.directory {
                try await administration.groupEntries(ids: ids, as: exchange.administrator)
            }
        }
        return try await candidates(exchange, among: ["displayname"]) { _, text, limit in
            try await administration.groupEntries(shownFrom: text, limit: limit, as: exchange.administrator)
        }
    }

    private func group(_ exchange: GraphExchange) async throws -> GroupEntry {
        try await exchange.directory {
            try await administration.groupEntry(exchange.keys[0], as: exchange.administrator)
        }
    }

    private func createGroup(_ exchange: GraphExchange) async throws -> GraphAnswer {
        let body = try await exchange.object()
        try exchange.checkSpelling(
            of: body, among: ["displayName", "description", "mailNickname", "groupTypes", "membershipRule"])
        guard let name = body["displayName"]?.string, (1...256).contains(name.count) else {
            throw PolicyInput.refusal("displayName", "a name of 1 to 256 characters is missing")
        }
        // Kept without its members or their rule, the group would be empty and a policy for it would reach no one.
        for member in ["members@odata.bind", "members"] {
            guard let members = body[member], members != .null, members != [] else { continue }
            throw PolicyInput.refusal(member, "a group is made without members here; let the directory fill it")
        }
        for (member, isRule) in [
            ("groupTypes", body["groupTypes"]?.array?.contains { $0.string?.lowercased() == "dynamicmembership" }),
            ("membershipRule", body["membershipRule"]?.string.map { !$0.isEmpty }),
        ] where isRule == true {
            throw PolicyInput.refusal(
                member, "groups with a rule of membership are not kept here; let the directory fill one")
        }
        let group = DirectoryGroup(
            id: UUID().uuidString.lowercased(), displayName: name,
            description: try GraphExchange.text("description", in: body),
            mailNickname: try Self.nickname(in: body))
        try await exchange.directory {
            try await provisioning.saveGroup(group, as: exchange.administrator)
        }
        return exchange.applyingPreference(.created(DirectoryEntity.json(group.entry), of: "groups"))
    }

    /// The nickname that a new group is given, in the characters that a mail address may have.
    private static func nickname(in body: [String: JSONValue]) throws -> String? {
        guard let name = try GraphExchange.text("mailNickname", in: body) else { return nil }
        let isUsable =
            (1...64).contains(name.utf8.count)
            && name.utf8.allSatisfy { (0x21...0x7E).contains($0) && !"@()[]\\;:<>,\"".utf8.contains($0) }
        guard isUsable else {
            throw PolicyInput.refusal(
                "mailNickname", "needs 1 to 64 ASCII characters without spaces and without @ ( ) [ ] \\ ; : < > , \"")
        }
        return name
    }

    /// A page of the direct members, people first.
    private func directMembers(_ exchange: GraphExchange) async throws -> GraphPage {
        let user = "microsoft.graph.user"
        let page = try await exchange.directory { () async throws -> GraphPage? in
            try await exchange.pageOfStore(ofType: user, id: \.place, total: nil) { after, limit in
                try Self.check(after, beginsWith: ["u/", "g/"])
                let (people, groups) = try await administration.members(
                    ofGroup: exchange.keys[0], after: after, limit: limit, as: exchange.administrator)
                return people.map(Member.person) + (exchange.query.cast == user ? [] : groups.map(Member.group))
            } json: { member in
                member.json
            }
        }
        if let page { return page }
        return try exchange.page(try await members(exchange, isTransitive: false), id: \.rank, json: \.json)
    }

    /// Refuses a place of another list, behind which there would be nobody.
    private static func check(_ place: String?, beginsWith beginnings: [String]) throws {
        guard let place, !beginnings.contains(where: place.hasPrefix) else { return }
        throw GraphPlace.foreign
    }

    /// The members, people first, each with its names where it exists.
    private func members(
        _ exchange: GraphExchange, isTransitive: Bool
    ) async throws -> [Member] {
        try Self.check(try exchange.query.skipToken.map { try GraphPlace($0).id }, beginsWith: ["1/", "2/"])
        let (people, groups) = try await exchange.directory {
            try await administration.members(
                ofGroup: exchange.keys[0], transitively: isTransitive, as: exchange.administrator)
        }
        return people.map(Member.person) + groups.map(Member.group)
    }

    /// Who or what is in a group.
    private enum Member {
        case person(DirectoryUser)
        case group(GroupEntry)

        /// Where the member stands among those of the group.
        var place: String {
            switch self {
            case .person(let user): DirectoryGroup.Member.user(user.id).place
            case .group(let group): DirectoryGroup.Member.group(group.id).place
            }
        }

        /// The same in the order of a list of people and groups, so that the page after one who is gone begins where they were.
        var rank: String {
            switch self {
            case .person(let user): "1/" + user.id
            case .group(let group): "2/" + group.id
            }
        }

        var json: JSONValue {
            switch self {
            case .person(let user): DirectoryEntity.json(user)
            case .group(let group): DirectoryEntity.json(group)
            }
        }
    }
}
