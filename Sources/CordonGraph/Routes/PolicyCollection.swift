import CordonService
import CordonServiceHTTP

/// A collection of policies: all of one kind, or of every kind.
struct PolicyCollection: Sendable {
    let name: String
    let kinds: Set<PolicyKind>

    var path: String { "deviceAppManagement/\(name)" }

    /// The mixed collection.
    static let mixed = PolicyCollection(name: "managedAppPolicies", kinds: Set(PolicyKind.allCases))
    /// Every collection.
    static let all = [mixed] + PolicyKind.allCases.map { PolicyCollection(name: $0.collection, kinds: [$0]) }

    /// The navigation members of its policies.
    static let expands: Set<String> = ["apps", "assignments", "deploymentSummary", "settings"]

    /// Whether some policy of the collection can be assigned.
    var isAssignable: Bool { kinds.contains { $0.isAssignable } }

    /// The policy of the path's first key, which must belong here.
    func policy(
        _ exchange: GraphExchange, _ administration: Administration
    ) async throws -> ManagedAppPolicy {
        let policy = try await administration.policy(exchange.keys[0], as: exchange.administrator)
        guard kinds.contains(policy.kind) else { throw Refusal.notFound }
        return policy
    }
}
