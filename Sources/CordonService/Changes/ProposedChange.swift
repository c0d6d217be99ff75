internal import CordonBase
internal import CordonPolicy
internal import Crypto
internal import Foundation

/// What a change of policies or filters would do to what people's apps are told, before it is made.
struct ProposedChange: Sendable {
    /// The policy before, nil for a new one.
    var before: ManagedAppPolicy?
    /// The policy after, nil for one that is removed. Its version is not the one that it will get.
    var after: ManagedAppPolicy?
    /// The filter after, where a filter changes instead.
    var filter: AssignmentFilter?
    /// The app of the catalogue after, where that changes instead.
    var app: CatalogueApp?
    /// What the filter or app says before and after, where one changes.
    var contents: (before: JSONValue?, after: JSONValue?)?
    /// What the audit log calls it.
    let action: String
    /// What it is of.
    let entity: String
    /// The version that the change is made to, nil for something new and for an app of the catalogue.
    let base: String?
    /// How secret values become digests.
    let secrets: SecretValues
    /// Policies that a change of people's groups or of a filter is about.
    var concerned: [ManagedAppPolicy] = []

    /// Which members it changes, secret values as digests: this is shown, kept and sent to others.
    var changes: [MemberChange] {
        let (old, new) = contents ?? (before?.versionDocument, after?.versionDocument)
        return MemberChange.between(old.map(secrets.redacted), new.map(secrets.redacted))
    }

    /// What another person is shown who has to release it: of an app its sets alone, since the release is good for these whatever else
    /// is said of the app then.
    var releasedChanges: [MemberChange] { app == nil ? changes : changes.filter { $0.member == "groups" } }

    /// The SHA-256 of what is asked, lower-case hex: the same for the same call on the same version. Others see it, so that no secret
    /// value is in it that could be guessed. Of a filter only its rule counts and of an app only its sets: the rest moves no policy.
    var digest: String {
        var members: [String: JSONValue] = [
            "entity": .string(entity), "base": base.map(JSONValue.string) ?? .null,
        ]
        members["after"] = after.map { secrets.redacted($0.digestedDocument) }
        members["filter"] = filter.map { .string($0.rule) }
        members["app"] = app.map { .array($0.groups.map(\.rawValue).sorted().map(JSONValue.string)) }
        return Self.digest(of: .object(members))
    }

    static func digest(of value: JSONValue) -> String {
        SHA256.hash(data: Data(value.text().utf8)).hex
    }

    /// On which devices and days the change may remove data where it was not removed before; empty where it cannot.
    ///
    /// A policy that reaches no one removes nothing. One that reaches others than before is compared with the documented
    /// defaults, and one that leaves people behind with the default protections that reach them then.
    ///
    /// - Parameter all: Every policy there is.
    func wipes(among all: [ManagedAppPolicy], _ conflict: NumericConflict) -> [PolicyDiff.Effect] {
        var found: [PolicyDiff.Effect] = []
        func add(_ effects: [PolicyDiff.Effect]) {
            for effect in effects where !found.contains(effect) { found.append(effect) }
        }
        for policy in concerned where policy.reachesAnybody {
            add(PolicyDiff.addedWipes(from: AppProtectionPolicy(), to: policy.protection))
            add(wipesTogether(with: policy, insteadOf: nil, among: all, conflict))
        }
        if let after, after.reachesAnybody {
            let known = before.flatMap { $0.reachesAnybody ? $0.protection : nil }
            add(PolicyDiff.addedWipes(from: known ?? AppProtectionPolicy(), to: after.protection))
            add(wipesTogether(with: after, insteadOf: known, among: all, conflict))
            if let before, !before.hasSameAudience(as: after) {
                add(PolicyDiff.addedWipes(from: AppProtectionPolicy(), to: after.protection))
                add(wipesTogether(with: after, insteadOf: nil, among: all, conflict))
            }
        }
        for left in [before].compactMap(\.self) + concerned where left.reachesAnybody {
            guard after.map({ !$0.hasSameAudience(as: left) }) ?? true else { continue }
            for other in all where other.kind == .defaultManagedAppProtection && other.id != left.id {
                guard other.sharesApps(with: left) else { continue }
                add(PolicyDiff.addedWipes(from: left.protection, to: other.protection))
            }
        }
        return found
    }

    /// What a policy adds to the wipes of another one that reaches the same apps: the condition of one may meet the action of the
    /// other when they are merged.
    private func wipesTogether(
        with after: ManagedAppPolicy, insteadOf known: AppProtectionPolicy?, among all: [ManagedAppPolicy],
        _ conflict: NumericConflict
    ) -> [PolicyDiff.Effect] {
        func merged(_ policies: [AppProtectionPolicy]) -> AppProtectionPolicy {
            EffectivePolicy.merging(policies, numericConflict: conflict)?.policy ?? AppProtectionPolicy()
        }
        return all.flatMap { other -> [PolicyDiff.Effect] in
            guard other.id != after.id, other.kind == after.kind, other.reachesAnybody, other.sharesApps(with: after)
            else { return [] }
            let alone = other.protection
            return PolicyDiff.addedWipes(
                from: known.map { merged([alone, $0]) } ?? alone, to: merged([alone, after.protection]))
        }
    }

    /// The policies whose apps have to be looked at.
    var touched: [ManagedAppPolicy] { [before, after].compactMap(\.self) + concerned }
}

extension ManagedAppPolicy {
    /// Whether it is evaluated by apps and reaches a person.
    fileprivate var reachesAnybody: Bool { kind.isEvaluated && (isAssigned || !kind.isAssignable) }

    /// Whether it reaches the same people in the same apps as another version of it.
    fileprivate func hasSameAudience(as other: ManagedAppPolicy) -> Bool {
        Set(apps) == Set(other.apps) && appGroup == other.appGroup && managementLevels == other.managementLevels
            && Set(plainAssignments) == Set(other.plainAssignments)
    }

    /// The assignments without ids that every call makes afresh.
    private var plainAssignments: [JSONValue] {
        assignments.map {
            GraphAssignments.json(PolicyAssignment($0.target, filterID: $0.filterID, filterMode: $0.filterMode))
        }
    }

    /// The settings; the documented defaults where they cannot be read, which no stored policy's are.
    fileprivate var protection: AppProtectionPolicy {
        (try? AppProtectionPolicy(graphJSON: document)) ?? AppProtectionPolicy()
    }

    /// What a version keeps, without ids that every call makes afresh.
    fileprivate var digestedDocument: JSONValue {
        guard case .object(var members) = versionDocument else { return .null }
        members["assignments"] = .array(plainAssignments.sorted { $0.text() < $1.text() })
        return .object(members)
    }
}
