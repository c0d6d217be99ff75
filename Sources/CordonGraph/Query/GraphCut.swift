import CordonPolicy
import CordonServiceHTTP
import Foundation

/// Which records of a collection one page shows, told before any of them is expanded.
///
/// A record becomes JSON here only where `$filter`, `$search` or `$orderby` has to look at it, and is dropped again.
struct GraphCut<Record> {
    /// The records of the page.
    let records: [Record]
    /// How many there are on all pages.
    let total: Int
    /// The `$skiptoken` of the next page, nil for the last one.
    let next: String?

    private struct Row {
        let record: Record
        let id: String
        let values: [JSONValue]
    }

    /// Cuts a page out of records.
    ///
    /// The token names the last record of the page before, so that what was added, changed or deleted meanwhile neither
    /// repeats nor hides another, even if it was that record itself.
    ///
    /// - Parameters:
    ///   - id: What tells a record from the others; as the entity has it.
    ///   - entity: The members of a record that the query may name.
    init(
        _ all: [Record], query: GraphQuery, id: (Record) -> String, entity: (Record) -> JSONValue
    ) throws {
        var rows = try Self.admitted(all, query, id, entity)
        if let order = query.order {
            let sorted = order.sorted(rows.map(\.values))
            rows = sorted.map { rows[$0] }
        }
        var start = query.skip
        if let token = query.skipToken {
            start = try GraphPlace(token).start(in: rows.map(\.id), values: { rows[$0].values }, query.order)
        }
        let page = rows.dropFirst(start).prefix(query.top ?? GraphQuery.usualPage)
        let end = start + page.count
        records = page.map(\.record)
        total = rows.count
        next = end < rows.count ? page.last.map { GraphPlace(id: $0.id, end: end, values: $0.values).text } : nil
    }

    private static func admitted(
        _ all: [Record], _ query: GraphQuery, _ id: (Record) -> String, _ entity: (Record) -> JSONValue
    ) throws -> [Row] {
        guard query.asksForMembers else {
            return all.map { Row(record: $0, id: id($0), values: []) }
        }
        var terms = GraphFilterTerms(of: query)
        var count = 0
        let rows = try all.compactMap { record -> Row? in
            count += 1
            if count.isMultiple(of: 256) { try AdministrationDeadline.check() }
            let entity = entity(record)
            guard try terms.admits(entity, by: query) else { return nil }
            return Row(record: record, id: id(record), values: query.order?.values(of: entity) ?? [])
        }
        try terms.finish()
        return rows
    }
}

extension GraphExchange {
    /// One page of records that need nothing but themselves to be shown.
    func page<Record>(
        _ all: [Record], id: (Record) -> String, json: (Record) -> JSONValue
    ) throws -> GraphPage {
        let cut = try GraphCut(all, query: query, id: id, entity: json)
        return GraphPage(cut.records.map(json), of: cut, query: query)
    }

    /// One page that the store cuts, where the query asks for nothing else; nil where all of the list has to be looked at.
    ///
    /// - Parameters:
    ///   - type: What `read` gives alone where the list is cast to it.
    ///   - total: How many records there are, where the store knows; nil where all have to be looked at for that.
    ///   - read: Reads as many records as are asked for, in the order of their ids, after an id.
    ///   - json: How a record is shown.
    func pageOfStore<Record>(
        ofType type: String? = nil, id: (Record) -> String, total: (() async throws -> Int)?,
        read: (_ after: String?, _ limit: Int) async throws -> [Record],
        json: (Record) async throws -> JSONValue
    ) async throws -> GraphPage? {
        var query = query
        if query.cast == type { query.cast = nil }
        guard !query.asksForWhole, !query.count || total != nil else { return nil }
        let after = try query.skipToken.map { try GraphPlace($0).id }
        guard after?.isEmpty != true else { return nil }
        let limit = query.top ?? GraphQuery.usualPage
        let found = try await read(after, limit + 1)
        var shown: [JSONValue] = []
        for record in found.prefix(limit) { shown.append(try await json(record)) }
        let last = found.prefix(limit).last.map { GraphPlace(id: id($0), end: 0, values: []).text }
        let number = query.count ? try await total?() : nil
        return GraphPage(shown, next: found.count > limit ? last : nil, query: query, total: number)
    }
}
