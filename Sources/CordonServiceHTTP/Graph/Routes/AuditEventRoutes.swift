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
                .collection(try await events(exchange), of: path)
            },
            GraphRoute(.get, path + "/$count", .readApps) { exchange throws(GraphRefusal) in
                .count(try await events(exchange))
            },
            GraphRoute(.get, path + "/*", .readApps) { exchange throws(GraphRefusal) in
                guard let number = Int64(exchange.keys[0]), number > 0 else { throw .notFound }
                let page = try await records(AuditQuery(after: number - 1, limit: 1), exchange)
                guard let record = page.first, record.sequence == number else { throw .notFound }
                return .entity(try await names(exchange).json(record), of: path)
            },
        ]
    }

    private func events(_ exchange: GraphExchange) async throws(GraphRefusal) -> [JSONValue] {
        var events: [JSONValue] = []
        var query = AuditQuery(limit: AuditQuery.largestPage)
        let names = try await names(exchange)
        while true {
            let page = try await records(query, exchange)
            events += page.map(names.json)
            guard page.count == query.limit, let last = page.last else { return events }
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
