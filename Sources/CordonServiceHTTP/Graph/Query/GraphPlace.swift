import CordonBase
import CordonPolicy
import CordonProtocol
import Foundation

/// Where a page ended, as a `$skiptoken` says it: the last entity, by its id and by what it was ordered by.
struct GraphPlace {
    /// What tells the last entity from the others: its id, or the text itself in a list of texts; empty where it has
    /// neither.
    let id: String
    private let end: Int
    private let values: [JSONValue]

    /// The place after an entity.
    ///
    /// - Parameter end: How many entities came up to it.
    init(_ last: JSONValue, end: Int, _ order: GraphOrder?) {
        id = Self.key(of: last)
        self.end = end
        values = order?.values(of: last) ?? []
    }

    /// Reads a `$skiptoken`.
    ///
    /// - Throws: ``GraphRefusal`` with status 400.
    init(_ token: String) throws(GraphRefusal) {
        guard let bytes = Base64URL.decode(token), let parts = (try? JSONValue(parsing: bytes))?.array,
            parts.count >= 2,
            let end = parts[0].integer.flatMap(Int.init(exactly:)), end >= 0, let id = parts[1].string
        else { throw .badRequest("The $skiptoken is none of this service.") }
        self.id = id
        self.end = end
        values = Array(parts.dropFirst(2))
    }

    /// The place as a `$skiptoken`.
    var text: String {
        Base64URL.encode(Data(JSONValue.array([.integer(Int64(end)), .string(id)] + values).text().utf8))
    }

    /// Where the next page begins in a collection that may have become another since.
    func start(in entities: [JSONValue], _ order: GraphOrder?) -> Int {
        // Without a key, a place is a number and no more.
        guard !id.isEmpty else { return min(end, entities.count) }
        let ids = entities.map(Self.key)
        if let index = ids.firstIndex(of: id) { return index + 1 }
        // The entity is gone: what follows is the first that would have come after it.
        if let order, !values.isEmpty {
            return entities.firstIndex { entity in
                switch order.compare(order.values(of: entity), values) {
                case .orderedAscending: false
                case .orderedDescending: true
                case .orderedSame: Self.precedes(id, Self.key(of: entity))
                }
            } ?? entities.count
        }
        for form in [{ $0 }, { $0.lowercased() }] as [(String) -> String]
        where zip(ids, ids.dropFirst()).allSatisfy({ Self.precedes(form($0), form($1)) }) {
            return ids.firstIndex { Self.precedes(form(id), form($0)) } ?? ids.count
        }
        return min(end, entities.count)
    }

    private static func key(of entity: JSONValue) -> String { entity["id"]?.string ?? entity.string ?? "" }

    private static func precedes(_ left: String, _ right: String) -> Bool {
        left.utf8.lexicographicallyPrecedes(right.utf8)
    }
}
