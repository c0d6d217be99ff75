/// The one policy that several assigned ones add up to, with the origin of every setting (SRV-TG-11…16).
public struct EffectivePolicy: Sendable, Equatable, Codable {
    /// The settings in force.
    public let policy: AppProtectionPolicy
    /// The id of the policy that each setting's value comes from, by JSON property.
    public let origins: [String: String]
    /// Settings on which the policies differ.
    public let conflicts: [PolicyConflict]
    /// The policies that were merged, by id.
    public let contributors: [PolicyReference]

    /// A single policy as it stands.
    public init(_ policy: AppProtectionPolicy) {
        self.policy = policy
        origins = Dictionary(uniqueKeysWithValues: Setting.all.map { ($0.name, policy.id) })
        conflicts = []
        contributors = [PolicyReference(id: policy.id, version: policy.version)]
    }

    init(
        policy: AppProtectionPolicy, origins: [String: String], conflicts: [PolicyConflict],
        contributors: [PolicyReference]
    ) {
        self.policy = policy
        self.origins = origins
        self.conflicts = conflicts
        self.contributors = contributors
    }

    /// The policy that a setting's value comes from.
    public func origin(of setting: String) -> PolicyReference {
        let id = origins[setting] ?? policy.id
        return contributors.first { $0.id == id } ?? PolicyReference(id: policy.id, version: policy.version)
    }
}

/// Policies that set one setting differently: all contributors are shown (SRV-TG-13, 16).
public struct PolicyConflict: Sendable, Equatable, Codable {
    /// The setting's JSON property.
    public let setting: String
    /// The value in force.
    public let chosen: JSONValue
    /// Every policy's value, by policy id.
    public let candidates: [Candidate]

    /// One policy's value.
    public struct Candidate: Sendable, Equatable, Codable {
        /// The policy.
        public let policyId: String
        /// Its value.
        public let value: JSONValue
    }
}

/// What happens when policies differ in a number field.
public enum NumericConflict: String, Sendable, Hashable, Codable, CaseIterable {
    /// The most restrictive wins, as everywhere (design decision 4).
    case mostRestrictive
    /// The default of a new policy, as the documented rule has it (SRV-TG-12).
    case recommended
}
