import CordonBase
import CordonPolicy
import CordonService
import CordonServiceHTTP
import Foundation

/// Registrations with what `$expand` adds to them.
struct RegistrationExpansion: Sendable {
    let administration: Administration
    let now: @Sendable () -> Date

    /// What several registrations of one answer need, read once, and only where it was asked for.
    struct Shared {
        private var policies: [String: ManagedAppPolicy] = [:]
        /// Policies as they are shown, since many registrations have the same.
        private let shown = Locked<[PolicyReference: JSONValue]>([:])
        /// The requests for logs and the operations of the registrations that are looked at now, where the query looks at them.
        private var logs: [String: [JSONValue]] = [:]
        private var operations: [String: [JSONValue]] = [:]
        /// What `$expand` adds that the query looks at.
        private let queried: Set<String>

        init(_ administration: Administration, _ exchange: GraphExchange) async throws {
            let expand = exchange.query.expand
            queried = expand.intersection(exchange.query.members)
            guard !queried.contains("intendedpolicies") else {
                throw Refusal.badRequest("intendedPolicies are told for each page; the query cannot look at them.")
            }
            if expand.contains("appliedpolicies") {
                policies = Self.byID(try await exchange.policies(administration))
            }
        }

        /// What is needed to show policies alone.
        init(_ policies: [ManagedAppPolicy]) {
            self.policies = Self.byID(policies)
            queried = []
        }

        private static func byID(_ policies: [ManagedAppPolicy]) -> [String: ManagedAppPolicy] {
            Dictionary(policies.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        }

        /// Takes up what the query looks at of some registrations, in place of what was taken up of those before: a list is as long as
        /// there are wipes and requests for logs, and nothing of it is kept.
        mutating func take(
            _ registrations: [Registration], _ expansion: RegistrationExpansion, _ exchange: GraphExchange
        ) async throws {
            let ids = registrations.map(\.id)
            if queried.contains("operations") {
                let found = try await expansion.administration.operations(
                    ofRegistrations: ids, as: exchange.administrator)
                operations = Dictionary(grouping: found, by: \.registrationID).mapValues {
                    $0.map(OperationEntity.json)
                }
            }
            if queried.contains("managedapplogcollectionrequests") {
                logs = try await expansion.logRequests.byRegistration(ids, exchange)
            }
        }

        /// A registration with the members that the query looks at.
        func entity(_ registration: Registration, _ exchange: GraphExchange) -> JSONValue {
            let entity = RegistrationEntity.json(registration, version: exchange.version)
            guard !queried.isEmpty, case .object(var members) = entity else { return entity }
            if queried.contains("operations") { members["operations"] = .array(operations[registration.id] ?? []) }
            if queried.contains("appliedpolicies") {
                members["appliedPolicies"] = .array(applied(registration, exchange))
            }
            if queried.contains("managedapplogcollectionrequests") {
                members["managedAppLogCollectionRequests"] = .array(logs[registration.id] ?? [])
            }
            return .object(members)
        }

        /// What was in force at the last check-in, each with the version that the app confirmed (SRV-RS-129).
        func applied(_ registration: Registration, _ exchange: GraphExchange) -> [JSONValue] {
            registration.applied.compactMap { reference in
                if let known = shown.withLock({ $0[reference] }) { return known }
                guard var confirmed = policies[reference.id] else { return nil }
                confirmed.version = reference.version
                var entity = exchange.json(confirmed)
                // Cut once for all registrations, unless the query looks at what would be cut.
                if let names = exchange.query.expandedSelect["appliedpolicies"], !queried.contains("appliedpolicies") {
                    entity = entity.keeping(names)
                }
                shown.withLock { [entity] in $0[reference] = entity }
                return entity
            }
        }
    }

    private var logRequests: LogCollectionRoutes { LogCollectionRoutes(administration: administration, now: now) }

    /// A registration as it is shown, with everything that `$expand` names.
    func json(
        _ registration: Registration, _ shared: Shared, _ exchange: GraphExchange
    ) async throws -> JSONValue {
        let expand = exchange.query.expand
        var members = RegistrationEntity.json(registration, version: exchange.version).object ?? [:]
        if expand.contains("operations") {
            members["operations"] = .array(try await operations(of: registration, exchange))
        }
        if expand.contains("appliedpolicies") {
            members["appliedPolicies"] = .array(shared.applied(registration, exchange))
        }
        if expand.contains("intendedpolicies") {
            members["intendedPolicies"] = .array(try await intended(registration, exchange))
        }
        if expand.contains("managedapplogcollectionrequests") {
            let logs = try await logRequests.byRegistration([registration.id], exchange)
            members["managedAppLogCollectionRequests"] = .array(logs[registration.id] ?? [])
        }
        return .object(members)
    }

    func operations(
        of registration: Registration, _ exchange: GraphExchange
    ) async throws -> [JSONValue] {
        try await administration.operations(ofRegistration: registration.id, as: exchange.administrator).map(
            OperationEntity.json)
    }

    @Sendable func intended(
        _ registration: Registration, _ exchange: GraphExchange
    ) async throws -> [JSONValue] {
        try await administration.intendedPolicies(ofRegistration: registration.id, as: exchange.administrator).map {
            exchange.json($0)
        }
    }

    @Sendable func applied(_ registration: Registration, _ exchange: GraphExchange) async throws -> [JSONValue] {
        Shared(try await exchange.policies(administration)).applied(registration, exchange)
    }
}
