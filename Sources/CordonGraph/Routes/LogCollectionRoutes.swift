import CordonPolicy
import CordonProtocol
import CordonService
import CordonServiceHTTP
import Foundation
import HTTPTypes

/// Logs that apps of a person are asked for (SRV-OP-067); what they sent is read at `/admin/v1/logs`.
struct LogCollectionRoutes: Sendable {
    let administration: Administration
    let now: @Sendable () -> Date

    var routes: [GraphRoute] {
        let path = "users/*/managedAppLogCollectionRequests"
        return [
            GraphRoute(.get, path, .readApps) { exchange in
                let user = try await exchange.user(administration)
                let logs = try await administration.logCollections(ofUser: user.id, as: exchange.administrator)
                return .collection(try await json(logs, exchange), of: Self.place(user))
            },
            GraphRoute(.get, path + "/*", .readApps) { exchange in
                let user = try await exchange.user(administration)
                let logs = try await administration.logCollections(ofUser: user.id, as: exchange.administrator)
                let found = logs.filter { $0.id == exchange.keys[1] }
                guard let request = try await json(found, exchange).first else { throw Refusal.notFound }
                return .entity(request, of: Self.place(user))
            },
            GraphRoute(.post, path, .writeApps) { exchange in
                let user = try await exchange.user(administration)
                let body = try await exchange.object()
                let id = try GraphExchange.text("managedAppRegistrationId", in: body) ?? ""
                guard
                    try await exchange.registrations(administration, RegistrationFilter(userID: user.id))
                        .contains(where: { $0.id == id })
                else {
                    throw PolicyInput.refusal("managedAppRegistrationId", "the person has no such registration")
                }
                let logs = try await administration.requestLogs(ofRegistration: id, as: exchange.administrator)
                return .created(try await entity(of: [logs], exchange).json(logs), of: Self.place(user))
            },
        ]
    }

    /// The requests of some registrations, newest first, by the id of the registration.
    func byRegistration(_ ids: [String], _ exchange: GraphExchange) async throws -> [String: [JSONValue]] {
        let logs = try await administration.logCollections(ofRegistrations: ids, as: exchange.administrator)
        let entity = try await entity(of: logs, exchange)
        return Dictionary(grouping: logs, by: \.registrationID).mapValues { $0.map(entity.json) }
    }

    private func json(_ logs: [LogCollection], _ exchange: GraphExchange) async throws -> [JSONValue] {
        logs.map(try await entity(of: logs, exchange).json)
    }

    /// What shows requests, with the names of those who made them.
    private func entity(of logs: [LogCollection], _ exchange: GraphExchange) async throws -> LogCollectionEntity {
        let askers = Set(logs.map { $0.requestedBy.lowercased() })
        return LogCollectionEntity(users: try await exchange.users(askers, administration), at: now())
    }

    private static func place(_ user: DirectoryUser) -> String { "users('\(user.id)')/managedAppLogCollectionRequests" }
}
