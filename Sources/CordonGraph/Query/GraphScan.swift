import CordonPolicy
import CordonServiceHTTP

/// Looks through a long list for one page of it, some records at a time, and keeps no more than the page in memory.
///
/// Each look is a short read of its own, so that a list that changes meanwhile is looked at as it is at each moment.
struct GraphScan<Record> {
    /// How many records are read at a time.
    static var step: Int { 512 }
    /// The most that are left out in an order, since they are kept until it is known what comes behind them.
    static var mostSkipped: Int { 10_000 }

    /// The records of the page.
    private(set) var records: [Record] = []
    /// How many there are on all pages, where they were counted.
    private(set) var total = 0
    /// The `$skiptoken` of the next page, nil for the last one.
    private(set) var next: String?

    private struct Row {
        let record: Record
        let id: String
        let values: [JSONValue]
    }

    /// Looks through a list.
    ///
    /// - Parameters:
    ///   - counts: Whether every record has to be counted, also those on other pages.
    ///   - id: What tells a record from the others; lists are in the order of folded ids.
    ///   - entity: The members of a record that the query may name.
    ///   - read: Reads as many records as are asked for, after an id.
    init(
        _ query: GraphQuery, counts: Bool, id: (Record) -> String, entity: (Record) -> JSONValue,
        read: (_ after: String?, _ limit: Int) async throws -> [Record]
    ) async throws {
        let place = try query.skipToken.map { try GraphPlace($0) }
        let skip = place == nil ? query.skip : 0
        let size = query.top ?? GraphQuery.usualPage
        // In an order the records that are left out have to be known; otherwise they are passed by.
        let first = query.order == nil ? 0 : skip
        var passed = query.order == nil ? skip : 0
        guard first <= Self.mostSkipped else {
            throw Refusal.badRequest(
                "$skip: at most \(Self.mostSkipped) with $orderby; follow @odata.nextLink, or narrow the list with $filter."
            )
        }
        let most = first + size + 1
        var rows: [Row] = []
        var terms = GraphFilterTerms(of: query)
        // Without an order a page begins where the one before ended; only counting needs what comes before it.
        var last = query.order == nil && !counts ? place?.id : nil
        while true {
            try AdministrationDeadline.check()
            let page = try await read(last, Self.step)
            for record in page {
                let entity = entity(record)
                guard try terms.admits(entity, by: query) else { continue }
                total += 1
                let row = Row(record: record, id: id(record), values: query.order?.values(of: entity) ?? [])
                guard place.map({ $0.precedes(row.id, row.values, query.order) }) ?? true else { continue }
                guard passed == 0 else {
                    passed -= 1
                    continue
                }
                rows.append(row)
            }
            if let order = query.order, rows.count > 2 * most { rows = Self.first(most, of: rows, by: order) }
            guard page.count == Self.step, let end = page.last else { break }
            // A misspelt member is looked for to the end.
            if query.order == nil, rows.count >= most {
                if !counts, terms.areNamesKnown { break }
                rows.removeLast(rows.count - most)
            }
            last = id(end)
        }
        try terms.finish()
        if let order = query.order { rows = Self.first(most, of: rows, by: order) }
        let page = rows.dropFirst(first).prefix(size)
        records = page.map(\.record)
        next =
            rows.count > first + page.count
            ? page.last.map { GraphPlace(id: $0.id, end: skip + page.count, values: $0.values).text } : nil
    }

    /// The first rows in an order; those that are equal stay as they were.
    private static func first(_ most: Int, of rows: [Row], by order: GraphOrder) -> [Row] {
        order.sorted(rows.map(\.values)).prefix(most).map { rows[$0] }
    }
}

extension GraphPage {
    /// The page that a scan has found, as it is shown.
    init<Record>(_ page: [JSONValue], of scan: GraphScan<Record>, query: GraphQuery) {
        self.init(page, next: scan.next, query: query, total: scan.total)
    }
}

extension GraphExchange {
    /// One page of a long list whose records have to be looked at.
    func scan<Record>(
        counts: Bool = false, id: (Record) -> String, json: (Record) -> JSONValue,
        read: (_ after: String?, _ limit: Int) async throws -> [Record]
    ) async throws -> GraphPage {
        let scan = try await GraphScan(query, counts: counts || query.count, id: id, entity: json, read: read)
        return GraphPage(scan.records.map(json), of: scan, query: query)
    }
}

extension GraphFilter {
    /// What every entity that is let through has in a member, by the member's path in lower case: the terms that all have to hold and
    /// compare a member with a text.
    var equalities: [String: String] {
        switch self {
        case .and(let left, let right): left.equalities.merging(right.equalities) { first, _ in first }
        case .compare(.path(let path), .eq, .literal(.string(let text))),
            .compare(.literal(.string(let text)), .eq, .path(let path)):
            [path.map { $0.lowercased() }.joined(separator: "/"): text]
        default: [:]
        }
    }

    /// The ids of every entity that is let through, nil where the filter does not say them.
    var ids: [String]? {
        switch self {
        case .and(let left, let right): left.ids ?? right.ids
        case .member(.path(let path), let list) where path.count == 1 && path[0].lowercased() == "id":
            list.reduce([]) { found, operand in
                guard let found, case .literal(.string(let id)) = operand else { return nil }
                return found + [id]
            }
        default: equalities["id"].map { [$0] }
        }
    }

    /// Look-ups among some members that together find every entity that is let through, by how the text in a member begins; nil where
    /// there are none.
    ///
    /// - Parameter members: The members, in lower case, that can be looked up.
    func beginnings(among members: Set<String>) -> [(member: String, text: String)]? {
        switch self {
        case .and(let left, let right): left.beginnings(among: members) ?? right.beginnings(among: members)
        case .or(let left, let right):
            left.beginnings(among: members).flatMap { left in right.beginnings(among: members).map { left + $0 } }
        case .compare(.path(let path), .eq, .literal(.string(let text))),
            .compare(.literal(.string(let text)), .eq, .path(let path)),
            .match(.startswith, .path(let path), .literal(.string(let text))):
            path.count == 1 && members.contains(path[0].lowercased()) && !text.isEmpty
                ? [(path[0].lowercased(), text)] : nil
        default: nil
        }
    }
}
