import CordonBase
import CordonPolicy
import CordonProtocol
import CordonServiceHTTP
import Foundation

/// Where a page ended, as a `$skiptoken` says it: the last entity, by its id and by what it was ordered by.
struct GraphPlace {
    /// What tells the last entity from the others: its id, or the text itself in a list of texts; empty where it has
    /// neither.
    let id: String
    private let end: Int
    private let values: [JSONValue]

    /// The one text that the entities are ordered by, nil where they are ordered otherwise.
    var name: String? { values.count == 1 ? values[0].string : nil }

    /// The place after an entity.
    ///
    /// - Parameters:
    ///   - end: How many entities came up to it.
    ///   - values: What it is ordered by.
    init(id: String, end: Int, values: [JSONValue]) {
        self.id = id
        self.end = end
        self.values = values
    }

    /// Reads a `$skiptoken`.
    ///
    /// - Throws: ``Refusal`` with status 400.
    init(_ token: String) throws {
        guard let bytes = Base64URL.decode(token), let parts = (try? JSONValue(parsing: bytes))?.array,
            parts.count >= 2,
            let end = parts[0].integer.flatMap(Int.init(exactly:)), end >= 0, let id = parts[1].string
        else { throw Self.foreign }
        self.id = id
        self.end = end
        values = Array(parts.dropFirst(2))
    }

    /// The refusal of a token that no page of the list has.
    static let foreign = Refusal.badRequest("The $skiptoken is not from this service.")

    /// The place as a `$skiptoken`.
    var text: String {
        Base64URL.encode(Data(JSONValue.array([.integer(Int64(end)), .string(id)] + values).text().utf8))
    }

    /// Where the next page begins in a collection that may have become another since.
    ///
    /// - Parameters:
    ///   - ids: The keys of its entities.
    ///   - orderedBy: What the entity at an index is ordered by.
    func start(in ids: [String], values orderedBy: (Int) -> [JSONValue], _ order: GraphOrder?) -> Int {
        // Without a key, a place is a number and no more.
        guard !id.isEmpty else { return min(end, ids.count) }
        let isOrdered = order != nil && !values.isEmpty
        if let index = ids.firstIndex(of: id),
            !isOrdered || order?.compare(orderedBy(index), values) == .orderedSame
        {
            return index + 1
        }
        // The entity is gone, or stands elsewhere now: what follows is the first that would have come after it.
        if let order, isOrdered {
            return ids.indices.first { index in
                switch order.compare(orderedBy(index), values) {
                case .orderedAscending: false
                case .orderedDescending: true
                case .orderedSame: Self.precedes(id.lowercased(), ids[index].lowercased())
                }
            } ?? ids.count
        }
        for form in [{ $0 }, { $0.lowercased() }] as [(String) -> String]
        where zip(ids, ids.dropFirst()).allSatisfy({ Self.precedes(form($0), form($1)) }) {
            return ids.firstIndex { Self.precedes(form(id), form($0)) } ?? ids.count
        }
        return min(end, ids.count)
    }

    /// Whether an entity comes after the place, in an order or by folded ids.
    func precedes(_ id: String, _ values: [JSONValue], _ order: GraphOrder?) -> Bool {
        if let order, !self.values.isEmpty {
            switch order.compare(self.values, values) {
            case .orderedAscending: return true
            case .orderedDescending: return false
            case .orderedSame: break
            }
        }
        return Self.precedes(self.id.lowercased(), id.lowercased())
    }

    static func key(of entity: JSONValue) -> String { entity["id"]?.string ?? entity.string ?? "" }

    private static func precedes(_ left: String, _ right: String) -> Bool {
        left.utf8.lexicographicallyPrecedes(right.utf8)
    }
}
