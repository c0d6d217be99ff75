import CordonPolicy
import CordonService
import HTTPTypes

/// Policies and app configurations (§2.4).
struct PolicyRoutes: Sendable {
    let service: any ManagementService

    /// A collection of policies: all of one kind, or of every kind.
    private struct Collection: Sendable {
        let name: String
        let kinds: Set<PolicyKind>
        var path: String { "deviceAppManagement/\(name)" }
    }

    private static let collections =
        [Collection(name: "managedAppPolicies", kinds: Set(PolicyKind.allCases))]
        + PolicyKind.allCases.map { Collection(name: $0.collection, kinds: [$0]) }

    /// Collections that common clients read and that never hold anything here (SRV-RS-109, SRV-RS-116, SRV-OP-050).
    private static let empty = [
        "windowsInformationProtectionPolicies", "mdmWindowsInformationProtectionPolicies",
        "windowsManagedAppProtections", "mobileAppConfigurations",
    ]

    var routes: [GraphRoute] { Self.collections.flatMap(routes(of:)) + Self.empty.flatMap(emptyRoutes(of:)) }

    private func routes(of collection: Collection) -> [GraphRoute] {
        let path = collection.path
        return [
            GraphRoute(.get, path, .readApps) { exchange throws(GraphRefusal) in
                .collection(try await list(collection, exchange), of: path)
            },
            GraphRoute(.get, path + "/$count", .readApps) { exchange throws(GraphRefusal) in
                .count(try await list(collection, exchange))
            },
            GraphRoute(.post, path, .writeApps) { exchange throws(GraphRefusal) in
                try await create(collection, exchange)
            },
            GraphRoute(.get, path + "/*", .readApps) { exchange throws(GraphRefusal) in
                let policy = try await policy(collection, exchange)
                if exchange.knows(policy.version) { return .unchanged(version: policy.version) }
                return .entity(json(policy, exchange), of: path, version: policy.version)
            },
            GraphRoute(.patch, path + "/*", .writeApps) { exchange throws(GraphRefusal) in
                try await update(collection, exchange)
            },
            GraphRoute(.delete, path + "/*", .writeApps) { exchange throws(GraphRefusal) in
                let policy = try await policy(collection, exchange)
                try await exchange.ask { () throws(ServiceError) in
                    try await service.deletePolicy(
                        policy.id, ifVersion: exchange.expectedVersion, as: exchange.administrator)
                }
                return .done
            },
        ] + targeting(of: collection)
    }

    private func targeting(of collection: Collection) -> [GraphRoute] {
        let item = collection.path + "/*"
        return [
            GraphRoute(.get, item + "/apps", .readApps) { exchange throws(GraphRefusal) in
                let policy = try await policy(collection, exchange)
                return .collection(
                    PolicyEntity(policy: policy, version: exchange.version).apps,
                    of: "\(collection.path)('\(policy.id)')/apps")
            },
            GraphRoute(.get, item + "/assignments", .readApps) { exchange throws(GraphRefusal) in
                let policy = try await assignable(collection, exchange)
                return .collection(
                    PolicyEntity(policy: policy, version: exchange.version).assignments,
                    of: "\(collection.path)('\(policy.id)')/assignments")
            },
            GraphRoute(.post, item + "/assign", .writeApps) { exchange throws(GraphRefusal) in
                let policy = try await assignable(collection, exchange)
                let assignments = try await PolicyInput.assignments(exchange.object())
                _ = try await exchange.ask { () throws(ServiceError) in
                    try await service.assignPolicy(policy.id, to: assignments, as: exchange.administrator)
                }
                return .done
            },
            GraphRoute(.post, item + "/targetApps", .writeApps) { exchange throws(GraphRefusal) in
                let policy = try await policy(collection, exchange)
                let (apps, group) = try await PolicyInput.apps(exchange.object())
                _ = try await exchange.ask { () throws(ServiceError) in
                    try await service.targetApps(apps, group: group, ofPolicy: policy.id, as: exchange.administrator)
                }
                return .done
            },
        ]
    }

    private func emptyRoutes(of name: String) -> [GraphRoute] {
        let path = "deviceAppManagement/\(name)"
        return [
            GraphRoute(.get, path, .readApps) { _ in .collection([], of: path) },
            GraphRoute(.post, path, .writeApps) { _ throws(GraphRefusal) in
                throw .notImplemented("This service keeps no \(name).")
            },
        ]
    }

    private func list(_ collection: Collection, _ exchange: GraphExchange) async throws(GraphRefusal) -> [JSONValue] {
        try await exchange.ask { () throws(ServiceError) in
            try await service.policies(of: collection.kinds, as: exchange.administrator)
        }.map { json($0, exchange) }
    }

    private func policy(
        _ collection: Collection, _ exchange: GraphExchange
    ) async throws(GraphRefusal) -> ManagedAppPolicy {
        let id = exchange.keys[0]
        let policy = try await exchange.ask { () throws(ServiceError) in
            try await service.policy(id, as: exchange.administrator)
        }
        guard collection.kinds.contains(policy.kind) else { throw .notFound }
        return policy
    }

    /// A policy that has assignments at all; a default protection has none (SRV-OP-045).
    private func assignable(
        _ collection: Collection, _ exchange: GraphExchange
    ) async throws(GraphRefusal) -> ManagedAppPolicy {
        let policy = try await policy(collection, exchange)
        guard policy.kind.isAssignable else { throw .notFound }
        return policy
    }

    private func create(_ collection: Collection, _ exchange: GraphExchange) async throws(GraphRefusal) -> GraphAnswer {
        let document = try await exchange.object()
        let kind = try PolicyInput.kind(of: document, among: collection.kinds)
        let policy = try await exchange.ask { () throws(ServiceError) in
            try await service.createPolicy(kind, document: .object(document), as: exchange.administrator)
        }
        return .created(json(policy, exchange), of: collection.path, version: policy.version)
    }

    private func update(_ collection: Collection, _ exchange: GraphExchange) async throws(GraphRefusal) -> GraphAnswer {
        let before = try await policy(collection, exchange)
        let changes = try await exchange.object()
        _ = try PolicyInput.kind(of: changes, among: [before.kind])
        let policy = try await exchange.ask { () throws(ServiceError) in
            try await service.updatePolicy(
                before.id, changes: .object(changes), ifVersion: exchange.expectedVersion, as: exchange.administrator)
        }
        // Nothing but 204 counts as success for common clients, unless they ask for more (SRV-OP-007).
        guard exchange.prefersRepresentation else { return .done }
        return .changed(json(policy, exchange), of: collection.path, version: policy.version)
    }

    private func json(_ policy: ManagedAppPolicy, _ exchange: GraphExchange) -> JSONValue {
        PolicyEntity(policy: policy, version: exchange.version)
            .json(expanding: exchange.query.expand, root: exchange.root)
    }
}
