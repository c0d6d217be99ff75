import CordonPolicy
import Foundation

/// One page of a collection, with the link to the next (SRV-OP-004, SRV-OP-010).
struct GraphPage {
    let value: [JSONValue]
    let total: Int
    /// The `$skiptoken` of the next page, nil for the last one.
    let next: String?

    /// A page that was cut out already.
    ///
    /// - Parameter hasMore: Whether anything follows its last entity.
    init(_ page: [JSONValue], total: Int, hasMore: Bool, query: GraphQuery) {
        value = page.map { Self.select($0, by: query) }
        self.total = total
        next =
            hasMore
            ? page.last.map {
                GraphPlace(id: GraphPlace.key(of: $0), end: page.count, values: query.order?.values(of: $0) ?? []).text
            } : nil
    }

    /// A page that was cut before all of the list was had.
    ///
    /// - Parameter total: How many entities there are on all pages, nil where they were not counted.
    init(_ page: [JSONValue], next: String?, query: GraphQuery, total: Int? = nil) {
        value = page.map { Self.select($0, by: query) }
        self.total = total ?? page.count
        self.next = next
    }

    /// The page of a cut, as it is shown.
    init<Record>(_ page: [JSONValue], of cut: GraphCut<Record>, query: GraphQuery) {
        value = page.map { Self.select($0, by: query) }
        total = cut.total
        next = cut.next
    }

    /// Cuts a page out of a collection that is there as it is shown.
    init(_ entities: [JSONValue], query: GraphQuery) throws {
        let cut = try GraphCut(entities, query: query, id: GraphPlace.key, entity: { $0 })
        self.init(cut.records, of: cut, query: query)
    }

    /// The members that `$select` leaves: those it names and those that `$expand` does, with what is said about them,
    /// and always the id and the type (SRV-OP-011).
    static func select(_ entity: JSONValue, by query: GraphQuery) -> JSONValue {
        let entity = query.select.map { entity.keeping($0.union(query.expand)) } ?? entity
        guard !query.expandedSelect.isEmpty, case .object(var members) = entity else { return entity }
        for (name, value) in members {
            guard let kept = query.expandedSelect[name.lowercased()], let values = value.array else { continue }
            members[name] = .array(values.map { $0.keeping(kept) })
        }
        return .object(members)
    }
}

extension JSONValue {
    /// An entity with these members alone, beside the id and what is said about it.
    func keeping(_ names: Set<String>) -> JSONValue {
        guard case .object(let all) = self else { return self }
        return .object(
            all.filter { name, _ in
                let name = name.prefix { $0 != "@" }.lowercased()
                return name.isEmpty || name == "id" || names.contains(name)
            })
    }
}

extension GraphQuery {
    /// The members that `$filter`, `$search` and `$orderby` look at, in lower case.
    var members: Set<String> {
        (filter?.members ?? []).union(search?.members ?? []).union(order?.members ?? [])
    }

    /// Whether all of a list has to be looked at to find a page of it.
    var asksForWhole: Bool { asksForMembers || skip != 0 }

    /// Whether the entities of a list have to be looked at.
    var asksForMembers: Bool { cast != nil || filter != nil || search != nil || order != nil }

    /// Whether an entity is of the type that the list is cast to.
    func isOfCast(_ entity: JSONValue) -> Bool {
        guard let cast else { return true }
        return entity["@odata.type"]?.string.map { EntityType.isOne($0, of: cast) } ?? false
    }

    /// Whether `$filter` and `$search` let an entity through.
    func admits(_ entity: JSONValue) -> Bool {
        (filter?.admits(entity) ?? true) && (search?.admits(entity) ?? true)
    }
}
