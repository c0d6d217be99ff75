import CordonPolicy
import CordonService
import CordonServiceHTTP
import Foundation
import HTTPTypes

/// The apps and assignments of one policy, one by one (SRV-OP-037, 038).
struct TargetingRoutes: Sendable {
    let administration: Administration
    let collection: PolicyCollection

    /// One list of a policy: its entries as they are shown, and the member of the policy that holds them.
    private struct List: Sendable {
        let member: String
        let entries: @Sendable (ManagedAppPolicy, GraphPath.Version) -> [JSONValue]
        /// The entries as a change of the policy writes them.
        let stored: @Sendable (ManagedAppPolicy) -> [JSONValue]
        /// Whether the policy has an entry already.
        let has: @Sendable (ManagedAppPolicy, JSONValue) -> Bool
    }

    var routes: [GraphRoute] {
        let apps = List(
            member: "apps", entries: { PolicyEntity(policy: $0, version: $1).apps },
            stored: { $0.graphApps.array ?? [] },
            has: { policy, entry in
                GraphApps.identifier(entry["mobileAppIdentifier"]).map(policy.apps.contains) ?? false
            })
        let assignments = List(
            member: "assignments", entries: { PolicyEntity(policy: $0, version: $1).assignments },
            stored: { $0.graphAssignments.array ?? [] },
            has: { policy, entry in
                let target = (try? GraphAssignments.assignments(in: [entry]))?.first?.target
                return policy.assignments.contains { $0.target.folded == target?.folded }
            })
        return routes(of: apps) + routes(of: assignments)
    }

    private func routes(of list: List) -> [GraphRoute] {
        let path = "\(collection.path)/*/\(list.member)"
        return [
            GraphRoute(.get, path, .readApps) { exchange in
                let policy = try await policy(exchange, list)
                return .collection(list.entries(policy, exchange.version), of: place(policy, list))
            },
            GraphRoute(.get, path + "/$count", .readApps) { exchange in
                .count(list.entries(try await policy(exchange, list), exchange.version))
            },
            GraphRoute(.post, path, .writeApps) { exchange in
                var body = try await exchange.object()
                body["id"] = nil
                let entry = body
                try exchange.checkSpelling(ofAssignments: [.object(entry)])
                let before = try await policy(exchange, list)
                // A caller who may not write is refused below, whatever the policy has.
                if Self.mayWrite(before, exchange), list.has(before, .object(entry)) { throw Self.taken }
                let after = try await change(before, list, exchange) { entries in
                    entries + [.object(entry)]
                }
                let known = Set(list.entries(before, exchange.version).compactMap { $0["id"]?.string })
                let all = list.entries(after, exchange.version)
                guard let new = all.first(where: { !known.contains($0["id"]?.string ?? "") }) else {
                    throw Self.taken
                }
                return exchange.applyingPreference(.created(new, of: place(after, list)))
            },
            GraphRoute(.get, path + "/*", .readApps) { exchange in
                let policy = try await policy(exchange, list)
                let entries = list.entries(policy, exchange.version)
                return .entity(entries[try index(of: exchange.keys[1], in: entries)], of: place(policy, list))
            },
            GraphRoute(.patch, path + "/*", .writeApps) { exchange in
                let body = try await exchange.object()
                try exchange.checkSpelling(ofAssignments: [.object(body)])
                let before = try await policy(exchange, list)
                _ = try await change(before, list, exchange) { entries in
                    let index = try index(of: exchange.keys[1], in: entries)
                    var entries = entries
                    var merged = (entries[index].object ?? [:]).merging(body) { _, new in new }
                    merged["id"] = entries[index]["id"]
                    entries[index] = PolicyEntity(policy: before, version: exchange.version)
                        .keepingFilter(of: entries[index], in: .object(merged))
                    return entries
                }
                return exchange.applyingPreference(.done)
            },
            GraphRoute(.delete, path + "/*", .writeApps) { exchange in
                _ = try await change(try await policy(exchange, list), list, exchange) {
                    entries in
                    var entries = entries
                    entries.remove(at: try index(of: exchange.keys[1], in: entries))
                    return entries
                }
                return .done
            },
        ]
    }

    private static let taken = Refusal(.conflict, "Conflict", "The policy has this entry already.")

    private static func mayWrite(_ policy: ManagedAppPolicy, _ exchange: GraphExchange) -> Bool {
        [.writePolicies, .assignPolicies].allSatisfy { exchange.administrator.may($0, with: policy) }
    }

    private func place(_ policy: ManagedAppPolicy, _ list: List) -> String {
        "\(collection.path)('\(policy.id)')/\(list.member)"
    }

    private func policy(_ exchange: GraphExchange, _ list: List) async throws -> ManagedAppPolicy {
        let policy = try await collection.policy(exchange, administration)
        // A default protection reaches every person and has no assignments (SRV-OP-045).
        guard list.member == "apps" || policy.kind.isAssignable else { throw Refusal.notFound }
        return policy
    }

    /// Writes the list anew, on the version that was read; another one that the client expects, or another writer in between, makes it a
    /// conflict (412).
    private func change(
        _ policy: ManagedAppPolicy, _ list: List, _ exchange: GraphExchange,
        _ edit: @Sendable ([JSONValue]) throws -> [JSONValue]
    ) async throws -> ManagedAppPolicy {
        if let expected = exchange.expectedVersion, expected != policy.version {
            throw ServiceError(.preconditionFailed, "the policy has another version", place: policy.id)
        }
        let entries = try edit(list.stored(policy))
        return try await administration.updatePolicy(
            policy.id, changes: .object([list.member: .array(entries)]), ifVersion: policy.version,
            as: exchange.administrator)
    }

    private func index(of id: String, in entries: [JSONValue]) throws -> Int {
        guard let index = entries.firstIndex(where: { $0["id"]?.string?.lowercased() == id.lowercased() }) else {
            throw Refusal.notFound
        }
        return index
    }
}
