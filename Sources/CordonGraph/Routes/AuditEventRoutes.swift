import CordonIdentity
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
                var names = AuditEventNames(administration, exchange)
                try await names.learn(from: page)
                return .entity(names.entity.json(record), of: path)
            },
        ]
    }

    /// The most events that are put into another order: more of them need a filter.
    private static let mostSorted = 20_000

    /// A page of the log, of which no more is read than the page needs; with `$count=true` all is read, and nothing kept.
    private func page(_ exchange: GraphExchange) async throws -> GraphPage {
        let query = exchange.query
        guard query.order == nil else { return try await sorted(exchange) }
        let last =
            try query.skipToken.map { token -> Int64 in
                guard let number = Int64(try GraphPlace(token).id) else { throw GraphPlace.foreign }
                return number
            } ?? 0
        let size = query.top ?? GraphQuery.usualPage
        var left = query.skipToken == nil ? query.skip : 0
        var (events, total, hasMore): ([AuditRecord], Int, Bool) = ([], 0, false)
        let batch =
            query.count || query.looksAtEvents
            ? AuditQuery.largestPage : min(AuditQuery.largestPage, left + size + 1)
        var names = AuditEventNames(administration, exchange)
        try await scan(exchange, &names, after: query.count ? 0 : last, limit: batch) { record in
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
        try await names.learn(from: events)
        return GraphPage(events.map(names.entity.json), total: total, hasMore: hasMore, query: query)
    }

    private func sorted(_ exchange: GraphExchange) async throws -> GraphPage {
        var events: [AuditRecord] = []
        var names = AuditEventNames(administration, exchange)
        try await scan(exchange, &names, after: 0, limit: AuditQuery.largestPage) { record in
            events.append(record)
            return events.count <= Self.mostSorted
        }
        guard events.count <= Self.mostSorted else {
            throw Refusal.badRequest("$orderby: more than \(Self.mostSorted) events; narrow them with $filter.")
        }
        try await names.learn(from: events)
        return try exchange.page(events, id: { String($0.sequence) }, json: names.entity.json)
    }

    private func count(_ exchange: GraphExchange) async throws -> Int {
        var count = 0
        var names = AuditEventNames(administration, exchange)
        try await scan(exchange, &names, after: 0, limit: AuditQuery.largestPage) { _ in
            count += 1
            return true
        }
        return count
    }

    /// Goes through what `$filter` and `$search` let through, oldest first, as long as the body wants more.
    private func scan(
        _ exchange: GraphExchange, _ names: inout AuditEventNames, after first: Int64, limit: Int,
        _ body: (AuditRecord) -> Bool
    ) async throws {
        var query = AuditQuery(after: max(0, first), limit: limit)
        let looks = exchange.query.looksAtEvents
        var terms = try GraphFilterTerms(of: exchange.query, on: Self.example)
        while true {
            try AdministrationDeadline.check()
            let page = try await records(query, exchange)
            if looks { try await names.learn(from: page) }
            for record in page {
                if looks {
                    let event = names.entity.json(record)
                    guard try terms.admits(event, by: exchange.query) else { continue }
                }
                if !body(record) { return }
            }
            guard page.count == query.limit, let last = page.last else { return }
            query.after = last.sequence
        }
    }

    /// An event with every member that events have.
    private static let example = AuditEventEntity().json(
        AuditRecord(
            after: nil, tenant: TenantID("example"), time: 0, actor: .init(.service, id: "example"), action: "example",
            target: "example/1", details: ["example": ""]))

    private func records(_ query: AuditQuery, _ exchange: GraphExchange) async throws -> [AuditRecord] {
        try await administration.auditRecords(query, as: exchange.administrator)
    }
}

extension GraphQuery {
    /// Whether every event has to be looked at as it is shown.
    fileprivate var looksAtEvents: Bool { cast != nil || filter != nil || search != nil }
}

/// The names in audit records, each asked for once: who acted are few, however many people the directory has.
private struct AuditEventNames {
    /// What shows records with the names that are known.
    private(set) var entity = AuditEventEntity()
    private let administration: Administration
    private let exchange: GraphExchange
    private var people: Set<String> = []
    private var knowsPolicies = false

    init(_ administration: Administration, _ exchange: GraphExchange) {
        self.administration = administration
        self.exchange = exchange
    }

    /// Asks for the names in some records.
    mutating func learn(from records: [AuditRecord]) async throws {
        let actors = Set(records.filter { $0.actor.kind == .administrator }.map { $0.actor.id.lowercased() })
        entity.add(try await exchange.users(actors.subtracting(people), administration))
        people.formUnion(actors)
        guard !knowsPolicies, records.contains(where: { $0.target.hasPrefix("policy/") }) else { return }
        knowsPolicies = true
        entity.add(try await exchange.policies(administration))
    }
}
