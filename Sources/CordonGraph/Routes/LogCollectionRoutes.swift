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
                return .collection(
                    try await requests(exchange) { $0.userID.lowercased() == user.id.lowercased() },
                    of: Self.place(user))
            },
            GraphRoute(.get, path + "/*", .readApps) { exchange in
                let user = try await exchange.user(administration)
                let found = try await requests(exchange) {
                    $0.id == exchange.keys[1] && $0.userID.lowercased() == user.id.lowercased()
                }
                guard let request = found.first else { throw Refusal.notFound }
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
                return .created(try await entity(exchange).json(logs), of: Self.place(user))
            },
        ]
    }

    /// Every request, newest first, by the id of its registration.
    func byRegistration(_ exchange: GraphExchange) async throws -> [String: [JSONValue]] {
        let logs = try await logs(exchange)
        guard !logs.isEmpty else { return [:] }
        let entity = try await entity(exchange)
        return Dictionary(grouping: logs, by: \.registrationID).mapValues { $0.map(entity.json) }
    }

    /// The requests that a condition lets through, newest first.
    private func requests(
        _ exchange: GraphExchange, where isWanted: (LogCollection) -> Bool
    ) async throws -> [JSONValue] {
        let logs = try await logs(exchange).filter(isWanted)
        return logs.isEmpty ? [] : logs.map(try await entity(exchange).json)
    }

    private func logs(_ exchange: GraphExchange) async throws -> [LogCollection] {
        try await administration.logCollections(as: exchange.administrator)
    }

    private func entity(_ exchange: GraphExchange) async throws -> LogCollectionEntity {
        LogCollectionEntity(users: try await exchange.users(administration), at: now())
    }

    private static func place(_ user: DirectoryUser) -> String { "users('\(user.id)')/managedAppLogCollectionRequests" }
}
