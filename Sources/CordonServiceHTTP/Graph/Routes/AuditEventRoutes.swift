import CordonPolicy
import CordonProtocol
import CordonService
import Foundation
import HTTPTypes

/// The audit log in the form that scripts read (SRV-OP-084); the log itself is exported elsewhere.
struct AuditEventRoutes: Sendable {
    let service: any ManagementService

    private static let path = "deviceManagement/auditEvents"

    var routes: [GraphRoute] {
        let path = Self.path
        return [
            GraphRoute(.get, path, .readApps) { exchange throws(GraphRefusal) in
                .page(try await page(exchange), of: path)
            },
            GraphRoute(.get, path + "/$count", .readApps) { exchange throws(GraphRefusal) in
                .number(try await count(exchange))
            },
            GraphRoute(.get, path + "/*", .readApps) { exchange throws(GraphRefusal) in
                guard let number = Int64(exchange.keys[0]), number > 0 else { throw .notFound }
                let page = try await records(AuditQuery(after: number - 1, limit: 1), exchange)
                guard let record = page.first, record.sequence == number else { throw .notFound }
                return .entity(try await names(exchange).json(record), of: path)
            },
        ]
    }

    /// The most events that are put into another order: more of them need a filter.
    private static let mostSorted = 20_000

    /// A page of the log, of which no more is read than the page needs; with `$count=true` all is read, and nothing kept.
    private func page(_ exchange: GraphExchange) async throws(GraphRefusal) -> GraphPage {
        let query = exchange.query
        guard query.order == nil else { return try await sorted(exchange) }
        let last = try query.skipToken.map { token throws(GraphRefusal) in Int64(try GraphPlace(token).id) ?? 0 } ?? 0
        let size = query.top ?? GraphQuery.usualPage
        var left = query.skipToken == nil ? query.skip : 0
        var (events, total, hasMore): ([JSONValue], Int, Bool) = ([], 0, false)
        let isWhole = query.count || query.filter != nil || query.search != nil
        let batch = isWhole ? AuditQuery.largestPage : min(AuditQuery.largestPage, left + size + 1)
        try await scan(exchange, after: query.count ? 0 : last, limit: batch) { number, event in
            total += 1
            guard number > last else { return true }
            if left > 0 {
                left -= 1
            } else if events.count < size {
                events.append(event)
            } else {
                hasMore = true
                return query.count
            }
            return true
        }
        return GraphPage(events, total: total, hasMore: hasMore, query: query)
    }

    private func sorted(_ exchange: GraphExchange) async throws(GraphRefusal) -> GraphPage {
        var events: [JSONValue] = []
        try await scan(exchange, after: 0, limit: AuditQuery.largestPage) { _, event in
            events.append(event)
            return events.count <= Self.mostSorted
        }
        guard events.count <= Self.mostSorted else {
            throw .badRequest("$orderby: more than \(Self.mostSorted) events; narrow them with $filter.")
        }
        return try GraphPage(events, query: exchange.query)
    }

    private func count(_ exchange: GraphExchange) async throws(GraphRefusal) -> Int {
        var count = 0
        try await scan(exchange, after: 0, limit: AuditQuery.largestPage) { _, _ in
            count += 1
            return true
        }
        return count
    }

    /// Goes through what `$filter` and `$search` let through, oldest first, as long as the body wants more.
    private func scan(
        _ exchange: GraphExchange, after first: Int64, limit: Int, _ body: (Int64, JSONValue) -> Bool
    ) async throws(GraphRefusal) {
        let names = try await names(exchange)
        var query = AuditQuery(after: max(0, first), limit: limit)
        while true {
            let page = try await records(query, exchange)
            for record in page {
                let event = names.json(record)
                if exchange.query.admits(event), !body(record.sequence, event) { return }
            }
            guard page.count == query.limit, let last = page.last else { return }
            query.after = last.sequence
        }
    }

    private func records(_ query: AuditQuery, _ exchange: GraphExchange) async throws(GraphRefusal) -> [AuditRecord] {
        try await exchange.ask { () throws(ServiceError) in
            try await service.auditRecords(query, as: exchange.administrator)
        }
    }

    private func names(_ exchange: GraphExchange) async throws(GraphRefusal) -> AuditEventEntity {
        AuditEventEntity(users: try await exchange.users(service), policies: try await exchange.policies(service))
    }
}
