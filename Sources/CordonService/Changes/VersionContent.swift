public import CordonPolicy
public import Foundation

/// One version with what it said.
public struct VersionContent: Sendable, Codable, Equatable {
    /// Who made it, when and why.
    public let version: EntityVersion
    /// What it said, secret values as digests; nil where it was removed.
    public let document: JSONValue?
    /// What differs from the version before; empty where that is not kept any more.
    public let changes: [MemberChange]
}

/// One version among the others of its entity, without what it said.
public struct VersionPlace: Sendable, Codable, Equatable {
    /// Who made it, when and why.
    public let version: EntityVersion
    /// The version that is in force now, nil where the entity was removed.
    public let inForce: String?
}

/// Two versions side by side.
public struct VersionComparison: Sendable, Codable, Equatable {
    /// The version that is compared from.
    public let from: String
    /// The version that is compared with it.
    public let to: String
    /// Every member that differs.
    public let changes: [MemberChange]
    /// What people may do now and could not, and the other way about; empty where the entity is not a protection.
    public let effects: [PolicyDiff.Effect]
    /// On which devices and days data is removed under the second and was not under the first.
    public let wipes: [PolicyDiff.Effect]

    init(_ from: VersionContent, _ to: VersionContent) {
        self.from = from.version.version
        self.to = to.version.version
        changes = MemberChange.between(from.document, to.document)
        let old = from.document.flatMap { try? AppProtectionPolicy(graphJSON: $0) } ?? AppProtectionPolicy()
        let kind = to.document?["@odata.type"]?.string.flatMap(PolicyKind.init(odataType:))
        guard kind?.isEvaluated ?? false, let document = to.document,
            let new = try? AppProtectionPolicy(graphJSON: document)
        else {
            (effects, wipes) = ([], [])
            return
        }
        effects = PolicyDiff(from: old, to: new).effects
        wipes = PolicyDiff.addedWipes(from: old, to: new)
    }
}

/// The rules of one registration at one moment, by what was delivered to it.
public struct RulesAtTime: Sendable, Codable, Equatable {
    /// A set of rules.
    public struct Rules: Sendable, Codable, Equatable {
        /// The version of the first envelope with it.
        public let version: String
        /// When it was delivered.
        public let delivered: Date
        /// When the app first said that it has it in force, nil where it never did.
        public let applied: Date?
        /// The object ids of the accounts that could be used, nil for no restriction.
        public let allowedAccounts: [String]?
        /// The policies and configurations that the caller may read, as they were then.
        public let policies: [Policy]
        /// How many more there are, nil for none.
        public let hidden: Int?
        /// What the protections amounted to together, nil where there was none, or one of them is hidden or not kept any more.
        public let settings: JSONValue?
    }

    /// A policy as it was.
    public struct Policy: Sendable, Codable, Equatable {
        /// The policy's id.
        public let id: String
        /// Its version.
        public let version: String
        /// Who made that version, when and why; nil where it is not kept any more.
        public let made: EntityVersion?
        /// What it said.
        public let document: JSONValue?
    }

    /// The registration.
    public let registrationID: String
    /// The moment.
    public let at: Date
    /// What the app had said by then that it has in force, nil for nothing.
    public let inForce: Rules?
    /// What had been delivered by then and was not known to be in force, nil for nothing.
    public let underWay: Rules?
}

extension PolicyKind {
    /// Whether apps evaluate policies of the kind.
    var isEvaluated: Bool { self == .iosManagedAppProtection || self == .defaultManagedAppProtection }
}
