internal import CordonBase
internal import CordonPolicy
internal import CordonProtocol
internal import Crypto
internal import Foundation

/// The policies of one organisation, and which groups are in which, at one revision, ready to answer who gets what. Who is directly
/// in a group is read when it is asked, so that people come and go without another snapshot.
///
/// Immutable, so that one can be shared by every check-in until the next change.
final class TargetingSnapshot: Sendable {
    /// The ``TenantSettings/targetingRevision`` that it was made at.
    let revision: Int64
    /// What digests of secret values are made with.
    let secretSalt: String?
    private let policies: [ManagedAppPolicy]
    private let numericConflict: NumericConflict
    /// The rules of assignment filters by folded id.
    private let rules: [String: FilterRule]
    /// The apps of the named sets, by folded bundle id.
    private let catalogue: [AppGroup: Set<String>]
    /// The groups that each group is directly in, by folded id.
    private let containers: [String: [String]]
    /// The groups that are directly in each group.
    private let inner: [String: [String]]
    private let candidates = Locked<[String: [ManagedAppPolicy]]>([:])
    /// The most apps of which is remembered which policies are about them: an app says itself what it is called.
    static let mostApps = 4_096
    /// Of how many apps it is remembered.
    var rememberedApps: Int { candidates.withLock { $0.count } }
    /// What envelopes of this snapshot say.
    let contents = EnvelopeContentCache()
    private let merged = Locked<[[PolicyReference]: MergedPolicy]>([:])
    private let versions = Locked<[[PolicyReference]: String]>([:])

    init(
        revision: Int64, secretSalt: String?, policies: [ManagedAppPolicy], nesting: [GroupMembership],
        filters: [AssignmentFilter],
        catalogue: [CatalogueApp], numericConflict: NumericConflict
    ) {
        self.numericConflict = numericConflict
        (self.revision, self.secretSalt) = (revision, secretSalt)
        self.policies = policies
        var (containers, inner): ([String: [String]], [String: [String]]) = ([:], [:])
        for membership in nesting {
            guard case .group(let id) = membership.member else { continue }
            containers[CordonService.folded(id), default: []].append(membership.group)
            inner[membership.group, default: []].append(CordonService.folded(id))
        }
        self.containers = containers
        self.inner = inner
        rules = filters.reduce(into: [:]) { rules, filter in rules[filter.storageID] = try? FilterRule(filter.rule) }
        self.catalogue = catalogue.reduce(into: [:]) { sets, app in
            for group in app.groups { sets[group, default: []].insert(app.storageID) }
        }
    }

    /// The same organisation with other policies, filters, sets of apps or groups in groups.
    private init(
        like other: TargetingSnapshot, policies: [ManagedAppPolicy]? = nil, rules: [String: FilterRule]? = nil,
        catalogue: [AppGroup: Set<String>]? = nil, containers: [String: [String]]? = nil
    ) {
        (revision, secretSalt, numericConflict) = (other.revision, other.secretSalt, other.numericConflict)
        (self.containers, inner) = (containers ?? other.containers, other.inner)
        self.catalogue = catalogue ?? other.catalogue
        self.policies = policies ?? other.policies
        self.rules = rules ?? other.rules
    }

    /// The organisation as it would be with other groups directly in one.
    func proposing(_ members: MembershipChange, inGroup group: String) -> TargetingSnapshot {
        var containers = containers
        for case .group(let id) in members.removed { containers[folded(id)]?.removeAll { $0 == folded(group) } }
        for case .group(let id) in members.added { containers[folded(id), default: []].append(folded(group)) }
        return TargetingSnapshot(like: self, containers: containers)
    }

    /// The organisation as it would be after a change.
    func proposing(_ change: ProposedChange) -> TargetingSnapshot {
        var policies = policies.filter { $0.id != change.before?.id }
        if var after = change.after {
            // Another version than any that is known, so that what is merged is not mixed up.
            after.version += "-proposed"
            policies.append(after)
            policies.sort { $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) }
        }
        var rules = rules
        if let filter = change.filter {
            rules[filter.storageID] = try? FilterRule(filter.rule)
        }
        var catalogue = catalogue
        if let app = change.app {
            for group in AppGroup.allCases {
                catalogue[group]?.remove(app.storageID)
                if app.groups.contains(group) { catalogue[group, default: []].insert(app.storageID) }
            }
        }
        return TargetingSnapshot(like: self, policies: policies, rules: rules, catalogue: catalogue)
    }

    /// The groups that a person belongs to who is directly in some groups, through other groups too, by folded id (SRV-TG-04).
    func groups(over direct: [String]) -> Set<String> { Self.reach(from: direct, by: containers) }

    /// Some groups and those in them, through other groups too, by folded id.
    func groups(under groups: [String]) -> Set<String> { Self.reach(from: groups, by: inner) }

    private static func reach(from groups: [String], by edges: [String: [String]]) -> Set<String> {
        var found: Set<String> = []
        var open = groups
        while let group = open.popLast() {
            if found.insert(group).inserted { open += edges[group] ?? [] }
        }
        return found
    }

    /// What reaches a person in an app (SRV-TG-01, 02, 04, 05, 07, 08), each list ordered by id.
    ///
    /// - Parameters:
    ///   - groups: The folded ids of the groups that the person is directly in.
    ///   - facts: What filters ask about; without, filters and kinds of management are taken to let the app through.
    func intended(
        for user: DirectoryUser, in groups: [String], bundleID: String, facts: FilterFacts?
    ) -> IntendedPolicies {
        let groups = self.groups(over: groups)
        let policies = policies(about: bundleID).filter { $0.concerns(facts) }
        let targeted = policies.filter { $0.kind.isAssignable && $0.reaches(user, in: groups) { admits($0, facts) } }
        let protections = targeted.filter { $0.kind == .iosManagedAppProtection }
        let defaults = policies.filter { !$0.kind.isAssignable }
        return IntendedPolicies(
            protections: protections.isEmpty && user.isEntitled ? defaults : protections,
            configurations: targeted.filter { $0.kind == .targetedManagedAppConfiguration },
            defaults: user.isEntitled ? defaults : [])
    }

    /// Whether the assignment of a protection names a person, licensed or not, in whatever app (SRV-TG-38).
    ///
    /// - Parameter groups: The folded ids of the groups that the person is directly in.
    func assigns(
        _ user: DirectoryUser, in groups: [String], where counts: (ManagedAppPolicy) -> Bool
    ) -> Bool {
        assigns(isEntitled: user.isEntitled, in: groups, where: counts)
    }

    /// Whether the assignment of a protection names people whom app protection serves, or does not, in some groups.
    func assigns(isEntitled: Bool, in groups: [String], where counts: (ManagedAppPolicy) -> Bool) -> Bool {
        let groups = self.groups(over: groups)
        return policies.contains { policy in
            policy.kind == .iosManagedAppProtection && counts(policy)
                && policy.names(isEntitled: isEntitled, in: groups) { _ in true }
        }
    }

    /// Whether there is a policy with the id.
    func has(_ id: String) -> Bool { policies.contains { $0.id == id } }

    /// The policy or configuration with the id.
    func policy(_ id: String) -> ManagedAppPolicy? { policies.first { $0.id == id } }

    /// The folded bundle ids of the apps that some protection lists.
    var listedApps: Set<String> {
        Set(
            policies.filter { $0.kind != .targetedManagedAppConfiguration }.flatMap(\.apps)
                .filter { $0.platform == .ios }.map { CordonService.folded($0.value) })
    }

    /// The protections among some references that still exist, whatever their version, ordered by id.
    func protections(among references: [PolicyReference]) -> [ManagedAppPolicy] {
        let ids = Set(references.map(\.id))
        return policies.filter { $0.kind != .targetedManagedAppConfiguration && ids.contains($0.id) }
    }

    /// The policies that are about an app, looked for once for all people.
    private func policies(about bundleID: String) -> [ManagedAppPolicy] {
        let name = folded(bundleID)
        if let known = candidates.withLock({ $0[name] }) { return known }
        let app = MobileAppIdentifier(.ios, bundleID)
        let found = policies.filter {
            $0.kind != .androidManagedAppProtection
                && ($0.concerns(app) || catalogue[$0.appGroup]?.contains(name) ?? false)
        }
        candidates.withLock { candidates in
            if candidates.count >= Self.mostApps { candidates.removeAll() }
            candidates[name] = found
        }
        return found
    }

    /// Whether an assignment's filter lets an app through; one whose rule is not there lets nothing through, so that
    /// no person is reached by mistake.
    private func admits(_ assignment: PolicyAssignment, _ facts: FilterFacts?) -> Bool {
        guard assignment.filterMode != .none, let facts else { return true }
        guard let rule = assignment.filterID.flatMap({ rules[folded($0)] }) else { return false }
        return rule.holds(for: facts) == (assignment.filterMode == .include)
    }

    /// The version of what consists of some protections and nothing else; the same ones are coded and hashed once for all people.
    func version(of protections: [PolicyReference], make: () -> String) -> String {
        if let known = versions.withLock({ $0[protections] }) { return known }
        let version = make()
        versions.withLock { $0[protections] = version }
        return version
    }

    /// What several protections amount to, nil for none; the same ones are merged once for all people.
    func effectivePolicy(of protections: [ManagedAppPolicy]) throws(ServiceError) -> MergedPolicy? {
        guard !protections.isEmpty else { return nil }
        let references = protections.map(\.reference)
        if let known = merged.withLock({ $0[references] }) { return known }
        var policies: [AppProtectionPolicy] = []
        for protection in protections { policies.append(try protection.appProtectionPolicy()) }
        guard let effective = EffectivePolicy.merging(policies, numericConflict: numericConflict) else { return nil }
        let text = Data(effective.policy.completeGraphJSON.text().utf8)
        let result = MergedPolicy(
            policy: effective, digest: Base64URL.encode(SHA256.hash(data: text).withUnsafeBytes { Data($0) }))
        merged.withLock { $0[references] = result }
        return result
    }
}

/// A merged policy and the digest of its settings.
struct MergedPolicy: Sendable {
    /// The policy.
    let policy: EffectivePolicy
    /// The SHA-256 of every setting, base64url.
    let digest: String
}

/// What reaches one person in one app.
struct IntendedPolicies: Equatable {
    /// The protections to merge.
    var protections: [ManagedAppPolicy]
    /// The targeted configurations, one dictionary each.
    var configurations: [ManagedAppPolicy]
    /// The default protections, whose settings for apps count as default values (SRV-TG-18).
    var defaults: [ManagedAppPolicy]

    /// What changes whenever anything that reaches the person does.
    var references: [PolicyReference] { (protections + configurations + defaults).map(\.reference) }

    /// Every policy and configuration, ordered by id.
    var all: [ManagedAppPolicy] {
        (protections + configurations).sorted { $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) }
    }
}

extension DirectoryUser {
    /// Whether app protection serves the person at all: entitled and able to sign in.
    var isEntitled: Bool { isLicensed && accountEnabled }
}

extension ManagedAppPolicy {
    /// Whether it is about the app: listed, or in the named set (SRV-TG-02, SRV-TG-03).
    ///
    /// Whom the two publisher sets have as members, the catalogue says. A default protection that lists no app is about
    /// every app.
    fileprivate func concerns(_ app: MobileAppIdentifier) -> Bool {
        appGroup == .allApps || apps.contains(app) || (kind == .defaultManagedAppProtection && apps.isEmpty)
    }

    /// Whether it is about the app's kind of device management, any of iOS where that is not known (SRV-TG-06).
    fileprivate func concerns(_ facts: FilterFacts?) -> Bool {
        // Most policies are about every kind, and this is asked for each app that a change may concern.
        guard let levels = document["targetedAppManagementLevels"]?.string, !["", "unspecified"].contains(levels) else {
            return true
        }
        let own: Set<String> = facts.map { [$0.isManaged ? "mdm" : "unmanaged"] } ?? ["mdm", "unmanaged"]
        return !managementLevels.isDisjoint(with: own.union(["unspecified"]))
    }

    /// Whether it reaches a person in these groups.
    ///
    /// - Parameter admits: Whether an assignment's filter lets the app through.
    fileprivate func reaches(
        _ user: DirectoryUser, in groups: Set<String>, _ admits: (PolicyAssignment) -> Bool
    ) -> Bool {
        user.isEntitled && names(isEntitled: true, in: groups, admits)
    }

    /// Whether its assignments name a person in these groups; an exclusion wins over every inclusion (SRV-TG-04).
    func names(
        isEntitled: Bool, in groups: Set<String>, _ admits: (PolicyAssignment) -> Bool = { _ in true }
    ) -> Bool {
        var reached = false
        for assignment in assignments {
            switch assignment.target {
            case .exclusionGroup(let id): if groups.contains(folded(id)) { return false }
            case .group(let id): reached = reached || (groups.contains(folded(id)) && admits(assignment))
            case .allLicensedUsers, .allDevices: reached = reached || (isEntitled && admits(assignment))
            }
        }
        return reached
    }

    /// The settings, under this policy's own id and version.
    fileprivate func appProtectionPolicy() throws(ServiceError) -> AppProtectionPolicy {
        do {
            var policy = try AppProtectionPolicy(graphJSON: document)
            policy.id = id
            policy.version = version
            return policy
        } catch {
            throw ServiceError(.internalError, "a stored policy is not readable: \(error.reason)", place: id)
        }
    }
}
