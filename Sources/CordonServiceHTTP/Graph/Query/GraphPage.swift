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
        next = hasMore ? page.last.map { GraphPlace($0, end: page.count, query.order).text } : nil
    }

    /// Cuts a page out of a collection.
    ///
    /// The token names the last entity of the page before, so that what was added or deleted meanwhile neither repeats
    /// nor hides another, even if that entity itself is gone.
    init(_ entities: [JSONValue], query: GraphQuery) throws(GraphRefusal) {
        let entities = query.applied(to: entities)
        var start = query.skip
        if let token = query.skipToken { start = try GraphPlace(token).start(in: entities, query.order) }
        let size = query.top ?? GraphQuery.usualPage
        let page = Array(entities.dropFirst(start).prefix(size))
        value = page.map { Self.select($0, by: query) }
        total = entities.count
        let end = start + page.count
        next = end < entities.count ? page.last.map { GraphPlace($0, end: end, query.order).text } : nil
    }

    /// The members that `$select` leaves: those it names and those that `$expand` does, with what is said about them,
    /// and always the id and the type (SRV-OP-011).
    static func select(_ entity: JSONValue, by query: GraphQuery) -> JSONValue {
        guard let named = query.select, case .object(let all) = entity else { return entity }
        let kept = named.union(query.expand).union(["id"])
        return .object(
            all.filter { name, _ in
                name.hasPrefix("@odata.") || kept.contains(name.prefix { $0 != "@" }.lowercased())
            })
    }
}

extension GraphQuery {
    /// The entities that `$filter` and `$search` let through, in the order of `$orderby`.
    fileprivate func applied(to entities: [JSONValue]) -> [JSONValue] {
        let entities = entities.filter(admits)
        return order?.sorted(entities) ?? entities
    }

    /// Whether `$filter` and `$search` let an entity through.
    func admits(_ entity: JSONValue) -> Bool {
        (filter?.admits(entity) ?? true) && (search?.admits(entity) ?? true)
    }
}
