import CordonPolicy
import CordonServiceHTTP

/// What a filter, a search and an order assume of the entities that they are asked about, held against those that there are.
///
/// A misspelt member, or a text that is compared with a number, would let everything through that `ne` or `not` is asked of, and would
/// leave a list in another order than the one that was asked for. Graph refuses such a query by its model of types. Here the entities
/// themselves say what members they have and of which kind, each until one has shown it.
struct GraphFilterTerms {
    /// What a member is compared with.
    fileprivate enum Kind: String {
        case text = "a text"
        case number = "a number"
        case truth = "true or false"
        case time = "a time"
    }

    fileprivate struct Term {
        /// The names on the way from the entity, in lower case; lists on it are looked into.
        let path: [String]
        /// What it is compared with, nil for anything.
        let kind: Kind?
        /// The query option that names it.
        var option = "$filter"
        /// Whether some entity has the member, be it null.
        var isThere = false
        /// Whether some entity has what the member would be in, and not the member.
        var isMissing = false

        var name: String { path.joined(separator: "/") }
    }

    private var open: [Term]

    init(of query: GraphQuery) {
        open = query.filter?.terms(in: [:]) ?? []
        open += query.order?.paths.map { Term(path: $0.map { $0.lowercased() }, kind: nil, option: "$orderby") } ?? []
        // What is looked for without naming a member is looked for in the name, if there is one.
        open += (query.search?.members ?? []).subtracting(["displayname"]).map {
            Term(path: [$0], kind: .text, option: "$search")
        }
    }

    /// The same for a list whose every entity has the members of one: what that one lacks is refused at once, even where an index
    /// answers the query and finds nothing to compare.
    ///
    /// - Throws: ``Refusal`` with status 400.
    init(of query: GraphQuery, on example: JSONValue) throws {
        self.init(of: query)
        try look(at: example)
        try finish()
    }

    /// Whether no member that the query names is still to be found.
    var areNamesKnown: Bool { !open.contains { $0.isMissing && !$0.isThere } }

    /// Whether a query lets an entity through, which is looked at where it is of the type that the list is cast to: others may lack what
    /// the query names.
    ///
    /// - Throws: ``Refusal`` as ``look(at:)``.
    mutating func admits(_ entity: JSONValue, by query: GraphQuery) throws -> Bool {
        guard query.isOfCast(entity) else { return false }
        try look(at: entity)
        return query.admits(entity)
    }

    /// Looks at one entity.
    ///
    /// - Throws: ``Refusal`` with status 400 for a member of another kind than what it is compared with.
    mutating func look(at entity: JSONValue) throws {
        guard !open.isEmpty else { return }
        open = try open.compactMap { term in
            var term = term
            return try term.isDecided(by: entity) ? nil : term
        }
    }

    /// Refuses a query that names what no entity has.
    ///
    /// - Throws: ``Refusal`` with status 400.
    func finish() throws {
        guard let term = open.filter({ $0.isMissing && !$0.isThere }).min(by: { $0.name < $1.name }) else { return }
        throw Refusal.badRequest("\(term.option): \(term.name.prefix(64)) is a member of nothing here.")
    }
}

extension GraphFilterTerms.Term {
    /// Notes what an entity says of the member; whether nothing is left to find out.
    fileprivate mutating func isDecided(by entity: JSONValue) throws -> Bool {
        var values = [entity]
        for name in path {
            let objects = values.flatMap { $0.array ?? [$0] }.compactMap(\.object)
            // What would hold the member is null or empty here: nothing is known of the member.
            guard !objects.isEmpty else { return false }
            let found = objects.compactMap { members in
                members[name] ?? members.first { $0.key.lowercased() == name }?.value
            }
            guard !found.isEmpty else {
                isMissing = true
                return false
            }
            values = found
        }
        isThere = true
        guard let kind else { return true }
        guard let value = values.flatMap({ $0.array ?? [$0] }).first(where: { $0 != .null }) else { return false }
        guard kind.fits(value) else {
            throw Refusal.badRequest("\(option): \(name.prefix(64)) is not to be compared with \(kind.rawValue).")
        }
        return true
    }
}

extension GraphFilterTerms.Kind {
    fileprivate init?(_ operand: GraphFilter.Operand) {
        switch operand {
        case .literal(.string): self = .text
        case .literal(.integer), .literal(.number): self = .number
        case .literal(.bool): self = .truth
        case .time: self = .time
        case .literal, .path: return nil
        case .lowered, .raised: self = .text
        }
    }

    /// Whether a member with this value may be compared so.
    fileprivate func fits(_ value: JSONValue) -> Bool {
        switch value {
        case .string(let text): self == .text || self == .time && GraphTime.date(text) != nil
        case .integer, .number: self == .number
        case .bool: self == .truth
        case .null, .array, .object: true
        }
    }
}

extension GraphFilter {
    /// The members that are looked at, each with what it is compared with.
    ///
    /// - Parameter variables: The lists that the variables of `any` and `all` stand for.
    fileprivate func terms(in variables: [String: [String]]) -> [GraphFilterTerms.Term] {
        switch self {
        case .and(let left, let right), .or(let left, let right): left.terms(in: variables) + right.terms(in: variables)
        case .not(let inner): inner.terms(in: variables)
        case .compare(let left, _, let right):
            left.terms(against: .init(right), in: variables) + right.terms(against: .init(left), in: variables)
        case .member(let operand, let list):
            list.flatMap { operand.terms(against: .init($0), in: variables) }
                + list.flatMap { $0.terms(against: nil, in: variables) }
        case .match(_, let text, let part):
            text.terms(against: .text, in: variables) + part.terms(against: .text, in: variables)
        case .isOf: []
        case .any(let path, let variable, let condition):
            Operand.path(path).terms(against: nil, in: variables)
                + (condition?.terms(in: binding(variable, to: path, in: variables)) ?? [])
        case .all(let path, let variable, let condition):
            Operand.path(path).terms(against: nil, in: variables)
                + condition.terms(in: binding(variable, to: path, in: variables))
        case .holds(let operand): operand.terms(against: .truth, in: variables)
        }
    }

    private func binding(
        _ variable: String, to path: [String], in variables: [String: [String]]
    ) -> [String: [String]] {
        var variables = variables
        variables[variable] = Operand.path(path).resolved(in: variables)
        return variables
    }
}

extension GraphFilter.Operand {
    /// The names on the way from the entity, in lower case; nil where the term names no member.
    fileprivate func resolved(in variables: [String: [String]]) -> [String]? {
        guard case .path(let path) = self else { return nil }
        guard let first = path.first, let list = variables[first] else { return path.map { $0.lowercased() } }
        return list + path.dropFirst().map { $0.lowercased() }
    }

    fileprivate func terms(
        against kind: GraphFilterTerms.Kind?, in variables: [String: [String]]
    ) -> [GraphFilterTerms.Term] {
        switch self {
        case .literal, .time: []
        case .path: resolved(in: variables).map { [.init(path: $0, kind: kind)] } ?? []
        case .lowered(let inner), .raised(let inner): inner.terms(against: .text, in: variables)
        }
    }
}
