import CordonPolicy
import CordonProtocol
import CordonService
import CordonServiceHTTP
import Foundation
import HTTPTypes

/// The audit log in the form that scripts read (SRV-OP-084); the log itself is exported elsewhere.
struct AuditEventRoutes: Sendable {
    let administration: Administration

    private static let path = "deviceManagement/auditEvents"

    var routes: [GraphRoute] {
        let path = Self.path
        return [
            GraphRoute(.get, path, .readApps) { exchange in
                .page(try await page(exchange), of: path)
            },
            GraphRoute(.get, path + "/$count", .readApps) { exchange in
                .number(try await count(exchange))
            },
            GraphRoute(.get, path + "/*", .readApps) { exchange in
                guard let number = Int64(exchange.keys[0]), number > 0 else { throw Refusal.notFound }
                let page = try await records(AuditQuery(after: number - 1, limit: 1), exchange)
                guard let record = page.first, record.sequence == number else { throw Refusal.notFound }
                return .entity(try await names(of: page, exchange).json(record), of: path)
            },
        ]
    }

    /// The most events that are put into another order: more of them need a filter.
    private static let mostSorted = 20_000

    /// A page of the log, of which no more is read than the page needs; with `$count=true` all is read, and nothing kept.
    private func page(_ exchange: GraphExchange) async throws -> GraphPage {
        let query = exchange.query
        guard query.order == nil else { return try await sorted(exchange) }
        let last = try query.skipToken.map { token in Int64(try GraphPlace(token).id) ?? 0 } ?? 0
        let size = query.top ?? GraphQuery.usualPage
        var left = query.skipToken == nil ? query.skip : 0
        var (events, total, hasMore): ([AuditRecord], Int, Bool) = ([], 0, false)
        let names = try await namesToLookAt(exchange)
        let batch =
            query.count || names != nil ? AuditQuery.largestPage : min(AuditQuery.largestPage, left + size + 1)
        try await scan(exchange, names, after: query.count ? 0 : last, limit: batch) { record in
            total += 1
            guard record.sequence > last else { return true }
            if left > 0 {
                left -= 1
            } else if events.count < size {
                events.append(record)
            } else {
                hasMore = true
                return query.count
            }
            return true
        }
        let shown: AuditEventEntity
        if let names { shown = names } else { shown = try await self.names(of: events, exchange) }
        return GraphPage(events.map(shown.json), total: total, hasMore: hasMore, query: query)
    }

    private func sorted(_ exchange: GraphExchange) async throws -> GraphPage {
        var events: [AuditRecord] = []
        let names = try await allNames(exchange)
        try await scan(exchange, names, after: 0, limit: AuditQuery.largestPage) { record in
            events.append(record)
            return events.count <= Self.mostSorted
        }
        guard events.count <= Self.mostSorted else {
            throw Refusal.badRequest("$orderby: more than \(Self.mostSorted) events; narrow them with $filter.")
        }
        return try exchange.page(events, id: { String($0.sequence) }, json: names.json)
    }

    private func count(_ exchange: GraphExchange) async throws -> Int {
        var count = 0
        try await scan(exchange, try await namesToLookAt(exchange), after: 0, limit: AuditQuery.largestPage) { _ in
            count += 1
            return true
        }
        return count
    }

    /// Goes through what `$filter` and `$search` let through, oldest first, as long as the body wants more.
    ///
    /// - Parameter names: What the query looks at, nil where it has neither.
    private func scan(
        _ exchange: GraphExchange, _ names: AuditEventEntity?, after first: Int64, limit: Int,
        _ body: (AuditRecord) -> Bool
    ) async throws {
        var query = AuditQuery(after: max(0, first), limit: limit)
        while true {
            let page = try await records(query, exchange)
            for record in page {
                let isAdmitted = names.map { exchange.query.admits($0.json(record)) } ?? true
                if isAdmitted, !body(record) { return }
            }
            guard page.count == query.limit, let last = page.last else { return }
            query.after = last.sequence
        }
    }

    private func records(_ query: AuditQuery, _ exchange: GraphExchange) async throws -> [AuditRecord] {
        try await administration.auditRecords(query, as: exchange.administrator)
    }

    /// The names of all people where `$filter` or `$search` may look at them.
    private func namesToLookAt(_ exchange: GraphExchange) async throws -> AuditEventEntity? {
        let query = exchange.query
        return query.filter == nil && query.search == nil ? nil : try await allNames(exchange)
    }

    private func allNames(_ exchange: GraphExchange) async throws -> AuditEventEntity {
        AuditEventEntity(
            users: try await exchange.users(administration), policies: try await exchange.policies(administration))
    }

    /// The names of those in some records alone: a page does not read the whole directory.
    private func names(
        of records: [AuditRecord], _ exchange: GraphExchange
    ) async throws -> AuditEventEntity {
        let ids = Set(records.filter { $0.actor.kind == .administrator }.map { $0.actor.id.lowercased() })
        var users: [DirectoryUser] = []
        for id in ids {
            let user = try await exchange.directory { () async throws -> DirectoryUser? in
                do {
                    return try await administration.user(id, as: exchange.administrator)
                } catch let error as ServiceError where error.code == .notFound {
                    return nil
                }
            }
            if let user { users.append(user) }
        }
        let hasPolicies = records.contains { $0.target.hasPrefix("policy/") }
        return AuditEventEntity(users: users, policies: hasPolicies ? try await exchange.policies(administration) : [])
    }
}
