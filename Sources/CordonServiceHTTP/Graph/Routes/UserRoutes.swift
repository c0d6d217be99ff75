import CordonPolicy
import CordonService
import HTTPTypes

/// What app protection has to say of one person (SRV-OP-064…067).
struct UserRoutes: Sendable {
    let service: any ManagementService

    var routes: [GraphRoute] {
        [
            GraphRoute(.get, "users/*/getManagedAppPolicies", .readApps, expands: PolicyCollection.expands) {
                exchange throws(GraphRefusal) in
                let user = try await exchange.user(service)
                let policies = try await UserPolicies(service: service).all(of: user, exchange)
                return .collection(policies.map { exchange.json($0) }, of: "deviceAppManagement/managedAppPolicies")
            },
            GraphRoute(.get, "users/*/getManagedAppDiagnosticStatuses", .readApps) { exchange throws(GraphRefusal) in
                let user = try await exchange.user(service)
                let checks = try await UserChecks(service: service).all(of: user, exchange)
                return .collection(
                    checks.map(\.json), of: "Collection(microsoft.graph.managedAppDiagnosticStatus)")
            },
            GraphRoute(.get, "users/*/exportDeviceAndAppManagementData", .readApps) {
                exchange throws(GraphRefusal) in
                let user = try await exchange.user(service)
                return .entity(try await export(of: user, exchange), of: "users('\(user.id)')")
            },
            GraphRoute(.get, "users/*/managedAppLogCollectionRequests", .readApps) { exchange throws(GraphRefusal) in
                let user = try await exchange.user(service)
                return .collection([], of: "users('\(user.id)')/managedAppLogCollectionRequests")
            },
            GraphRoute(.post, "users/*/managedAppLogCollectionRequests", .writeApps) { _ throws(GraphRefusal) in
                throw .notImplemented("This service collects no logs of apps.")
            },
        ]
    }

    /// Everything that is kept about a person (SRV-CI-095).
    private func export(of user: DirectoryUser, _ exchange: GraphExchange) async throws(GraphRefusal) -> JSONValue {
        let registrations = try await exchange.registrations(
            service, RegistrationFilter(userID: user.id, includesClosed: true))
        let groups = try await exchange.ask(isDirectory: true) { () throws(ServiceError) in
            try await service.groups(ofUser: user.id, as: exchange.administrator)
        }
        var operations: [WipeOperation] = []
        for registration in registrations {
            operations += try await exchange.ask { () throws(ServiceError) in
                try await service.operations(ofRegistration: registration.id, as: exchange.administrator)
            }
        }
        let sections: [(String, [JSONValue])] = [
            ("User", [DirectoryEntity.json(user)]), ("Groups", groups.map(DirectoryEntity.json)),
            ("App registrations", registrations.map { RegistrationEntity.json($0, version: .beta) }),
            ("Wipes", operations.map(OperationEntity.json)),
        ]
        let options = exchange.query.custom
        let skip = options["skip"].flatMap { Int($0) } ?? 0
        let top = options["top"].flatMap { Int($0) } ?? sections.count
        let content = sections.dropFirst(max(0, skip)).prefix(max(0, top)).map { name, data -> JSONValue in
            ["displayName": .string(name), "data": .array(data)]
        }
        return ["content": .array(content)]
    }
}
