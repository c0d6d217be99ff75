import CordonIdentity
import CordonPolicy
import CordonService
import CordonServiceHTTP
import Foundation
import HTTPTypes

/// Registrations and their operations (§2.5).
struct RegistrationRoutes: Sendable {
    let administration: Administration
    let now: @Sendable () -> Date

    static let path = "deviceAppManagement/managedAppRegistrations"
    private static let expands: Set<String> = [
        "operations", "appliedPolicies", "intendedPolicies", "managedAppLogCollectionRequests",
    ]

    var routes: [GraphRoute] { collection + ofUser + operations + lists }

    private var collection: [GraphRoute] {
        let path = Self.path
        return [
            GraphRoute(.get, path, .readApps, expands: Self.expands) { exchange in
                .page(try await page(RegistrationFilter(), exchange), of: path)
            },
            GraphRoute(.get, path + "/$count", .readApps) { exchange in
                guard exchange.query.asksForWhole else {
                    return .number(try await administration.activeRegistrationCount(as: exchange.administrator))
                }
                return .number(try await page(RegistrationFilter(), exchange, counts: true).total)
            },
            GraphRoute(.get, path + "/getUserIdsWithFlaggedAppRegistration", .readApps) { exchange in
                let ids = try await peopleWithFlaggedApps(as: exchange.administrator)
                return .collection(ids.sorted().map(JSONValue.string), of: "Collection(Edm.String)")
            },
            GraphRoute(.get, path + "/*", .readApps, expands: Self.expands) { exchange in
                let registration = try await registration(exchange)
                return .entity(try await json(registration, exchange), of: path)
            },
            GraphRoute(.delete, path + "/*", .writeApps, stepsUp: true) { exchange in
                try await administration.forgetRegistration(exchange.keys[0], as: exchange.administrator)
                return .done
            },
        ]
    }

    /// Read a page at a time: the apps of a large organisation are not held at once.
    private func peopleWithFlaggedApps(as administrator: Administrator) async throws -> Set<String> {
        var (people, place): (Set<String>, String?) = ([], nil)
        repeat {
            let (page, next) = try await administration.flaggedApps(after: place, as: administrator)
            people.formUnion(page.map(\.userID))
            place = next
        } while place != nil
        return people
    }

    private var ofUser: [GraphRoute] {
        let path = "users/*/managedAppRegistrations"
        return [
            GraphRoute(.get, path, .readApps, expands: Self.expands) { exchange in
                let user = try await exchange.user(administration)
                return .page(
                    try await page(RegistrationFilter(userID: user.id), exchange),
                    of: "users('\(user.id)')/managedAppRegistrations")
            },
            GraphRoute(.get, path + "/$count", .readApps) { exchange in
                let user = try await exchange.user(administration)
                return .number(try await page(RegistrationFilter(userID: user.id), exchange, counts: true).total)
            },
            GraphRoute(.get, path + "/*", .readApps, expands: Self.expands) { exchange in
                let user = try await exchange.user(administration)
                let registration = try await registration(exchange, key: 1)
                guard registration.account.id.rawValue.lowercased() == user.id.lowercased() else {
                    throw Refusal.notFound
                }
                return .entity(
                    try await json(registration, exchange), of: "users('\(user.id)')/managedAppRegistrations")
            },
        ]
    }

    private var operations: [GraphRoute] {
        let path = Self.path + "/*/operations"
        return [
            GraphRoute(.get, path, .readApps) { exchange in
                let registration = try await registration(exchange)
                return .collection(
                    try await expansion.operations(of: registration, exchange),
                    of: "\(Self.path)('\(registration.id)')/operations")
            },
            GraphRoute(.get, path + "/$count", .readApps) { exchange in
                .count(try await expansion.operations(of: try await registration(exchange), exchange))
            },
            GraphRoute(.get, path + "/*", .readApps) { exchange in
                let operation = try await operation(exchange)
                return .entity(
                    OperationEntity.json(operation), of: "\(Self.path)('\(operation.registrationID)')/operations")
            },
            GraphRoute(.delete, path + "/*", .writeApps) { exchange in
                let operation = try await operation(exchange)
                _ = try await administration.cancelOperation(operation.id, as: exchange.administrator)
                return .done
            },
        ]
    }

    /// The lists of policies below a registration; their actions are those of the policy itself (SRV-OP-052).
    private var lists: [GraphRoute] {
        let lists: [(String, @Sendable (Registration, GraphExchange) async throws -> [JSONValue])] = [
            ("appliedPolicies", expansion.applied), ("intendedPolicies", expansion.intended),
        ]
        return lists.flatMap { name, read in
            let path = "\(Self.path)/*/\(name)"
            return [
                GraphRoute(.get, path, .readApps, expands: PolicyCollection.expands) { exchange in
                    let registration = try await registration(exchange)
                    return .collection(
                        try await read(registration, exchange), of: "\(Self.path)('\(registration.id)')/\(name)")
                },
                GraphRoute(.get, path + "/$count", .readApps) { exchange in
                    .count(try await read(try await registration(exchange), exchange))
                },
                GraphRoute(.get, path + "/*", .readApps, expands: PolicyCollection.expands) { exchange in
                    .entity(try await member(exchange, read), of: "\(Self.path)('\(exchange.keys[0])')/\(name)")
                },
                GraphRoute(.post, path + "/*/assign", .writeApps) { exchange in
                    let policy = try await policy(try await member(exchange, read), exchange)
                    guard policy.kind.isAssignable else { throw Refusal.notFound }
                    return try await PolicyActions(administration: administration).assign(policy, exchange)
                },
                GraphRoute(.post, path + "/*/targetApps", .writeApps) { exchange in
                    let policy = try await policy(try await member(exchange, read), exchange)
                    return try await PolicyActions(administration: administration).targetApps(policy, exchange)
                },
            ]
        }
    }

    /// A page of registrations: cut first, so that what `$expand` adds is read for the page alone.
    ///
    /// - Parameter counts: Whether the registrations on other pages are counted too.
    private func page(
        _ filter: RegistrationFilter, _ exchange: GraphExchange, counts: Bool = false
    ) async throws -> GraphPage {
        let query = exchange.query
        var shared = try await RegistrationExpansion.Shared(administration, exchange)
        let isAll = filter == RegistrationFilter()
        if !counts {
            let page = try await exchange.pageOfStore(
                id: \.id,
                total: isAll
                    ? { try await administration.activeRegistrationCount(as: exchange.administrator) } : nil
            ) { after, limit in
                try await administration.registrations(filter, after: after, limit: limit, as: exchange.administrator)
            } json: { [shared] registration in
                try await expansion.json(registration, shared, exchange)
            }
            if let page { return page }
        }
        // What the store has an index for narrows what is looked at; the filter itself decides.
        let equal = query.filter?.equalities ?? [:]
        var narrowed = filter
        narrowed.userID = filter.userID ?? equal["userid"]
        narrowed.deviceTag = filter.deviceTag ?? equal["devicetag"]
        narrowed.bundleID = filter.bundleID ?? equal["appidentifier/bundleid"]
        let scan = try await GraphScan(query, counts: counts || query.count, id: \.id) {
            shared.entity($0, exchange)
        } read: { [narrowed] after, limit in
            let found = try await administration.registrations(
                narrowed, after: after, limit: limit, as: exchange.administrator)
            try await shared.take(found, expansion, exchange)
            return found
        }
        var shown: [JSONValue] = []
        for registration in scan.records { shown.append(try await expansion.json(registration, shared, exchange)) }
        return GraphPage(shown, of: scan, query: query)
    }

    private func json(
        _ registration: Registration, _ exchange: GraphExchange
    ) async throws -> JSONValue {
        let shared = try await RegistrationExpansion.Shared(administration, exchange)
        return try await expansion.json(registration, shared, exchange)
    }

    private var expansion: RegistrationExpansion { RegistrationExpansion(administration: administration, now: now) }

    private func registration(_ exchange: GraphExchange, key: Int = 0) async throws -> Registration {
        try await administration.registration(exchange.keys[key], as: exchange.administrator)
    }

    /// The operation of the path, which must be one of the registration of the path.
    private func operation(_ exchange: GraphExchange) async throws -> WipeOperation {
        let operation = try await administration.operation(exchange.keys[1], as: exchange.administrator)
        guard operation.registrationID == exchange.keys[0] else { throw Refusal.notFound }
        return operation
    }

    /// The entry of the path's second key.
    private func member(
        _ exchange: GraphExchange, _ read: (Registration, GraphExchange) async throws -> [JSONValue]
    ) async throws -> JSONValue {
        let entries = try await read(try await registration(exchange), exchange)
        guard let entry = entries.first(where: { $0["id"]?.string == exchange.keys[1] }) else { throw Refusal.notFound }
        return entry
    }

    private func policy(_ entity: JSONValue, _ exchange: GraphExchange) async throws -> ManagedAppPolicy {
        try await administration.policy(entity["id"]?.string ?? "", as: exchange.administrator)
    }
}
