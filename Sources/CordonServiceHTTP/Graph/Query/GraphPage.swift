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
        value = page.map { Self.select($0, query.select) }
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
        value = page.map { Self.select($0, query.select) }
        total = entities.count
        let end = start + page.count
        next = end < entities.count ? page.last.map { GraphPlace($0, end: end, query.order).text } : nil
    }

    static func select(_ entity: JSONValue, _ members: Set<String>?) -> JSONValue {
        guard let members, case .object(let all) = entity else { return entity }
        let isAlways = { (name: String) in name == "id" || name.hasPrefix("@odata.") }
        return .object(all.filter { members.contains($0.key.lowercased()) || isAlways($0.key) })
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
