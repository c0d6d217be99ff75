import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import HTTPTypes

/// Registrations and their operations (§2.5).
struct RegistrationRoutes: Sendable {
    let service: any ManagementService

    private static let path = "deviceAppManagement/managedAppRegistrations"

    var routes: [GraphRoute] {
        let path = Self.path
        return [
            GraphRoute(.get, path, .readApps) { exchange throws(GraphRefusal) in
                .collection(try await list(RegistrationFilter(), exchange), of: path)
            },
            GraphRoute(.get, path + "/$count", .readApps) { exchange throws(GraphRefusal) in
                .count(try await list(RegistrationFilter(), exchange))
            },
            GraphRoute(.get, path + "/*", .readApps) { exchange throws(GraphRefusal) in
                let registration = try await registration(exchange)
                return .entity(try await json(registration, exchange), of: path)
            },
            GraphRoute(.delete, path + "/*", .writeApps) { exchange throws(GraphRefusal) in
                try await exchange.ask { () throws(ServiceError) in
                    try await service.forgetRegistration(exchange.keys[0], as: exchange.administrator)
                }
                return .done
            },
            GraphRoute(.get, path + "/*/intendedPolicies", .readApps) { exchange throws(GraphRefusal) in
                try await intended(exchange)
            },
            GraphRoute(.get, "users/*/managedAppRegistrations", .readApps) { exchange throws(GraphRefusal) in
                let user = try await user(exchange)
                return .collection(
                    try await list(RegistrationFilter(userID: user.id), exchange),
                    of: "users('\(user.id)')/managedAppRegistrations")
            },
            GraphRoute(.get, "users/*/managedAppRegistrations/$count", .readApps) { exchange throws(GraphRefusal) in
                let user = try await user(exchange)
                return .count(try await list(RegistrationFilter(userID: user.id), exchange))
            },
        ] + operations
    }

    private var operations: [GraphRoute] {
        let path = Self.path + "/*/operations"
        return [
            GraphRoute(.get, path, .readApps) { exchange throws(GraphRefusal) in
                let registration = try await registration(exchange)
                return .collection(
                    try await operations(of: registration, exchange),
                    of: "\(Self.path)('\(registration.id)')/operations")
            },
            GraphRoute(.get, path + "/$count", .readApps) { exchange throws(GraphRefusal) in
                .count(try await operations(of: try await registration(exchange), exchange))
            },
            GraphRoute(.get, path + "/*", .readApps) { exchange throws(GraphRefusal) in
                let operation = try await operation(exchange)
                return .entity(
                    OperationEntity.json(operation), of: "\(Self.path)('\(operation.registrationID)')/operations")
            },
            GraphRoute(.delete, path + "/*", .writeApps) { exchange throws(GraphRefusal) in
                let operation = try await operation(exchange)
                _ = try await exchange.ask { () throws(ServiceError) in
                    try await service.cancelOperation(operation.id, as: exchange.administrator)
                }
                return .done
            },
        ]
    }

    private func list(
        _ filter: RegistrationFilter, _ exchange: GraphExchange
    ) async throws(GraphRefusal) -> [JSONValue] {
        let registrations = try await exchange.ask { () throws(ServiceError) in
            try await service.registrations(filter, as: exchange.administrator)
        }
        var entities: [JSONValue] = []
        for registration in registrations { entities.append(try await json(registration, exchange)) }
        return entities
    }

    private func registration(_ exchange: GraphExchange) async throws(GraphRefusal) -> Registration {
        try await exchange.ask { () throws(ServiceError) in
            try await service.registration(exchange.keys[0], as: exchange.administrator)
        }
    }

    /// The operation of the path, which must be one of the registration of the path.
    private func operation(_ exchange: GraphExchange) async throws(GraphRefusal) -> WipeOperation {
        let operation = try await exchange.ask { () throws(ServiceError) in
            try await service.operation(exchange.keys[1], as: exchange.administrator)
        }
        guard operation.registrationID == exchange.keys[0] else { throw .notFound }
        return operation
    }

    private func user(_ exchange: GraphExchange) async throws(GraphRefusal) -> DirectoryUser {
        try await exchange.ask(isDirectory: true) { () throws(ServiceError) in
            try await service.user(exchange.keys[0], as: exchange.administrator)
        }
    }

    private func operations(
        of registration: Registration, _ exchange: GraphExchange
    ) async throws(GraphRefusal) -> [JSONValue] {
        try await exchange.ask { () throws(ServiceError) in
            try await service.operations(ofRegistration: registration.id, as: exchange.administrator)
        }.map(OperationEntity.json)
    }

    private func intended(_ exchange: GraphExchange) async throws(GraphRefusal) -> GraphAnswer {
        let registration = try await registration(exchange)
        let policies = try await exchange.ask { () throws(ServiceError) in
            try await service.intendedPolicies(
                forUser: registration.account.id.rawValue, bundleID: registration.application.bundleID,
                as: exchange.administrator)
        }
        let entities = policies.map {
            PolicyEntity(policy: $0, version: exchange.version)
                .json(expanding: exchange.query.expand, root: exchange.root)
        }
        return .collection(entities, of: "\(Self.path)('\(registration.id)')/intendedPolicies")
    }

    private func json(
        _ registration: Registration, _ exchange: GraphExchange
    ) async throws(GraphRefusal) -> JSONValue {
        let entity = RegistrationEntity.json(registration, version: exchange.version)
        guard exchange.query.expand.contains("operations"), var members = entity.object else { return entity }
        members["operations"] = .array(try await operations(of: registration, exchange))
        return .object(members)
    }
}
