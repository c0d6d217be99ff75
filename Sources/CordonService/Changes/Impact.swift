public import CordonPolicy
public import Foundation

/// What an administrator thinks of doing.
public enum ImpactQuestion: Sendable {
    /// Changing a policy.
    case policy(PolicyChange)
    /// Putting a version of a policy back.
    case putBack(String, version: String)
    /// Writing an assignment filter.
    case filter(AssignmentFilter)
    /// Putting an app of the catalogue into other named sets; into none, where it is to be removed.
    case app(CatalogueApp)
    /// Putting people, or other groups, into a group and taking others out of it.
    case group(String, adding: Set<DirectoryGroup.Member>, removing: Set<DirectoryGroup.Member>)
    /// Wiping a person's apps, on one device where its tag is given.
    case wipe(String, deviceTag: String?)
}

/// What a change would do if it were made now.
public struct Impact: Sendable, Codable, Equatable {
    /// The policy that decides a setting for some people when the change is made.
    public struct Winner: Sendable, Codable, Equatable {
        /// The setting's JSON property.
        public let setting: String
        /// The value that is in force then.
        public let value: JSONValue
        /// The value that is in force now; nil where no policy is, or none sets it.
        public let present: JSONValue?
        /// The id of the policy that it comes from.
        public let policy: String
        /// The ids of the policies that say something else.
        public let others: [String]

        init(_ conflict: PolicyConflict, of merged: EffectivePolicy?, now present: AppProtectionPolicy?) {
            setting = conflict.setting
            value = conflict.chosen
            self.present = present.map { $0.value(ofSetting: conflict.setting) }.flatMap { $0 == .null ? nil : $0 }
            let winner = merged?.origin(of: conflict.setting).id ?? ""
            policy = winner
            others = conflict.candidates.map(\.policyId).filter { $0 != winner }.sorted()
        }
    }

    /// Members that change.
    public let changes: [MemberChange]
    /// What people may do and could not, and the other way about, in words.
    public let effects: [PolicyDiff.Effect]
    /// On which devices and days data would be removed and is kept now.
    public let wipes: [PolicyDiff.Effect]
    /// Whose rules change at all.
    public let reach: Reach
    /// Whom the policy's assignments reach; nil where the change is not of a policy that is assigned.
    public let audience: Audience?
    /// Who would lose data, at once or once a condition is met.
    public let losing: Reach
    /// Where several policies meet, which one decides.
    public let winners: [Winner]
    /// What to send as ``CallFacts/impactToken`` with the change; nil where nothing can be lost.
    public let token: String?
    /// Until when the token is good.
    public let tokenExpires: Date?
    /// Whether it takes the permission to wipe and a fresh sign-in.
    public let needsWipePermission: Bool
    /// Whether a second person has to release it.
    public let needsApproval: Bool
}
