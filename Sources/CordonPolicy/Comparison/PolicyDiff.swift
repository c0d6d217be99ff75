internal import CordonIdentity

/// What changes between two policies: settings, what people may do, and for whom.
public struct PolicyDiff: Sendable, Equatable, Codable {
    /// Which way a setting goes.
    public enum Direction: String, Sendable, Codable {
        /// More is denied.
        case stricter
        /// Less is denied.
        case weaker
        /// Neither, or both.
        case different
    }

    /// A setting that differs.
    public struct Change: Sendable, Equatable, Codable {
        /// The JSON property.
        public let setting: String
        /// Its value before.
        public let from: JSONValue
        /// Its value after.
        public let to: JSONValue
        /// Which way it goes; nil for what no setting of this version reads.
        public let direction: Direction?
    }

    /// Settings that differ, in the order of the specification, then unread members by name.
    public let changes: [Change]
    /// Answers that differ: first for whom the app no longer opens, or opens again, then what people may do.
    public let effects: [Effect]
    /// What people notice although no answer differs, a sentence each, such as what a PIN must be like.
    public let details: [String]
    /// Assignment targets of the policy before.
    public let audienceBefore: [String]
    /// Assignment targets of the policy after.
    public let audienceAfter: [String]

    /// Targets for which the policy is new.
    public var joining: [String] { audienceAfter.filter { !audienceBefore.contains($0) } }
    /// Targets that the policy no longer reaches.
    public var leaving: [String] { audienceBefore.filter { !audienceAfter.contains($0) } }

    /// Whether nothing differs.
    public var isEmpty: Bool { changes.isEmpty && audienceBefore == audienceAfter }

    /// Compares two policies.
    public init(from old: AppProtectionPolicy, to new: AppProtectionPolicy) {
        var changes = Self.settings(from: old, to: new)
        let (before, after) = (old.unreadMembers, new.unreadMembers)
        for name in Set(before.keys).union(after.keys).sorted() where before[name] != after[name] {
            changes.append(
                Change(setting: name, from: before[name] ?? .null, to: after[name] ?? .null, direction: nil))
        }
        self.changes = changes
        effects = Self.launchEffects(from: old, to: new) + Self.uses(from: old, to: new)
        details = Self.details(from: old, to: new)
        audienceBefore = Self.audience(of: old)
        audienceAfter = Self.audience(of: new)
    }

    /// The settings alone that differ between two policies, in the order of the specification.
    public static func settings(from old: AppProtectionPolicy, to new: AppProtectionPolicy) -> [Change] {
        Setting.all.filter { !$0.same(old, new) }.map { setting in
            let stricter = setting.isAtLeastAsStrict(new, as: old)
            let weaker = setting.isAtLeastAsStrict(old, as: new)
            return Change(
                setting: setting.name, from: setting.write(old), to: setting.write(new),
                direction: stricter == weaker ? .different : stricter ? .stricter : .weaker)
        }
    }

    /// Devices and days on which data is removed under one policy and was not under another: one example for each condition.
    ///
    /// What has no policy before is compared with the documented defaults, a policy that was made of nothing.
    public static func addedWipes(from old: AppProtectionPolicy, to new: AppProtectionPolicy) -> [Effect] {
        guard old.launch != new.launch || old.access != new.access else { return [] }
        return LaunchEffects(from: old, to: new, account: QuestionGrid.account).all.filter { $0.to == .wipe }
    }

    /// Whether data would be removed under a policy on a device of which this is known; what is not known removes nothing.
    public static func removesData(_ policy: AppProtectionPolicy, of facts: DeviceFacts) -> Bool {
        let inForce = [PolicyInForce(EffectivePolicy(policy), configuration: nil)]
        return LaunchGroup.allCases.contains { $0.verdict(of: facts, under: inForce) == .wipe }
    }

    /// The targets of a policy's assignments, such as `group oid` or `all licensed users`.
    private static func audience(of policy: AppProtectionPolicy) -> [String] {
        (policy.otherProperty("assignments")?.array ?? []).compactMap { assignment in
            guard let target = assignment["target"], let type = target["@odata.type"]?.string else { return nil }
            let group = target["groupId"]?.string ?? ""
            if type.hasSuffix("exclusionGroupAssignmentTarget") { return "not group \(group)" }
            if type.hasSuffix("groupAssignmentTarget") { return "group \(group)" }
            return type.hasSuffix("allLicensedUsersAssignmentTarget") ? "all licensed users" : type
        }.sorted()
    }
}
