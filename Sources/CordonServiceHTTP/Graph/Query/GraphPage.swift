import CordonPolicy
import CordonProtocol
import Foundation

/// One page of a collection, with the link to the next (SRV-OP-004, SRV-OP-010).
struct GraphPage {
    let value: [JSONValue]
    let total: Int
    /// The `$skiptoken` of the next page, nil for the last one.
    let next: String?

    /// Cuts a page out of a collection.
    ///
    /// The token names the last entity of the page before, so that what was added or deleted meanwhile neither repeats
    /// nor hides another; its place counts where that entity is gone.
    init(_ entities: [JSONValue], query: GraphQuery) throws(GraphRefusal) {
        let entities = query.applied(to: entities)
        var start = query.skip
        if let token = query.skipToken {
            guard let (id, place) = Self.read(token) else {
                throw .badRequest("The $skiptoken is none of this service.")
            }
            start = entities.firstIndex { $0["id"]?.string == id }.map { $0 + 1 } ?? place
        }
        let size = query.top ?? GraphQuery.usualPage
        let page = Array(entities.dropFirst(start).prefix(size))
        value = page.map { Self.select($0, query.select) }
        total = entities.count
        let end = start + page.count
        next = end < entities.count ? page.last.flatMap { Self.write($0["id"]?.string ?? "", end) } : nil
    }

    static func select(_ entity: JSONValue, _ members: Set<String>?) -> JSONValue {
        guard let members, case .object(let all) = entity else { return entity }
        let isAlways = { (name: String) in name == "id" || name.hasPrefix("@odata.") }
        return .object(all.filter { members.contains($0.key.lowercased()) || isAlways($0.key) })
    }

    private static func write(_ id: String, _ place: Int) -> String {
        Base64URL.encode(Data("\(place):\(id)".utf8))
    }

    private static func read(_ token: String) -> (id: String, place: Int)? {
        guard let bytes = Base64URL.decode(token), let text = String(data: bytes, encoding: .utf8) else { return nil }
        let halves = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard halves.count == 2, let place = Int(halves[0]), place >= 0 else { return nil }
        return (String(halves[1]), place)
    }
}

extension GraphQuery {
    /// The entities that `$filter` and `$search` let through, in the order of `$orderby`.
    fileprivate func applied(to entities: [JSONValue]) -> [JSONValue] {
        var entities = entities
        if let filter { entities = entities.filter(filter.admits) }
        if let search { entities = entities.filter(search.admits) }
        return order?.sorted(entities) ?? entities
    }
}
