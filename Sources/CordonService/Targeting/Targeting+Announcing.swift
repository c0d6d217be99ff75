internal import CordonIdentity
internal import CordonPolicy
internal import CordonProtocol
internal import Foundation

extension Targeting {
    /// As many people as are told within the change itself; of more, it is worked out behind it.
    private static let mostAtOnce = 8
    /// As many apps as are told in one change behind it, however many other changes wait.
    private static let fewestAtOnce = 2

    /// Makes a change to policies, and leaves it to be worked out behind the change whom that concerns: the change itself reads no
    /// registration.
    func announceChange(
        about policies: [ManagedAppPolicy], in change: inout Change,
        _ edit: (inout Change) throws -> Void
    ) throws {
        try edit(&change)
        try raiseTargetingRevision(in: change)
        let reach = PolicyReach(of: policies)
        guard !reach.isEmpty else { return }
        try change.leave(
            Announcement(id: newID(at: change.now), made: change.now, apps: reach.apps, groups: reach.groups))
    }

    /// Makes a change to groups or people and tells those apps of these people that should have other rules by it.
    ///
    /// - Parameter groups: The folded ids of groups that other groups lose or get: their people are concerned as well.
    func announceChange(
        toUsers userIDs: Set<String>, nesting groups: Set<String> = [], in change: inout Change,
        _ edit: (inout Change) throws -> Void
    ) throws {
        try edit(&change)
        if !groups.isEmpty {
            try raiseTargetingRevision(in: change)
            try change.leave(
                Announcement(id: newID(at: change.now), made: change.now, apps: nil, groups: groups.sorted()))
        }
        let people = userIDs.map(folded).sorted()
        guard people.count > Self.mostAtOnce || !groups.isEmpty else {
            var registrations: [Registration] = []
            for person in people { registrations += try change.records(Registration.self, where: (.user, person)) }
            return try tell(registrations, in: &change)
        }
        for start in stride(from: 0, to: people.count, by: Announcement.mostPeople) {
            let some = people[start..<min(start + Announcement.mostPeople, people.count)]
            try change.leave(Announcement(id: newID(at: change.now), made: change.now, people: Array(some)))
        }
    }

    /// Tells those apps that should have other rules than they were told of last, and remembers since when they differ.
    func tell(_ registrations: [Registration], in change: inout Change) throws {
        guard !registrations.isEmpty else { return }
        let snapshot = try snapshot(of: change.tenant, in: change)
        for registration in registrations { try tell(registration, snapshot, in: &change) }
    }

    /// Tells the same to some registrations one after the other, and ends early where others wait for the change: a check-in then
    /// waits for one or two apps that are told, and not for all of them.
    ///
    /// - Returns: How many were looked at; at least one where there is any, so that the work goes on however busy the store is.
    func tell(firstOf ids: [String], in change: inout Change) throws -> Int {
        guard !ids.isEmpty else { return 0 }
        let snapshot = try snapshot(of: change.tenant, in: change)
        for (done, id) in ids.enumerated() {
            guard done < Self.fewestAtOnce || !change.isWaitedFor else { return done }
            if let registration = try change.record(Registration.self, id) {
                try tell(registration, snapshot, in: &change)
            }
        }
        return ids.count
    }

    private func tell(_ registration: Registration, _ snapshot: TargetingSnapshot, in change: inout Change) throws {
        guard let rules = try news(for: registration, snapshot: snapshot, tenant: change.tenant, in: change) else {
            return
        }
        var registration = registration
        try change.note(.policyChanged, for: registration.id)
        registration.announced = rules.digest
        // Whom no rules are meant for any more is not late with them.
        if !rules.digest.isEmpty { registration.noteDrift(from: rules.references, at: change.now) }
        try change.save(registration)
    }

    /// What an active registration should have now, where that is something else than it was told of last; nil otherwise.
    func news(
        for registration: Registration, snapshot: TargetingSnapshot, tenant: TenantID, in records: some StorageReader
    ) throws(ServiceError) -> IntendedRules? {
        guard registration.state == .active else { return nil }
        let id = folded(registration.account.id.rawValue)
        var rules = IntendedRules.none
        if let user = try records.record(DirectoryUser.self, id), user.isEntitled {
            rules = try EnvelopeContent(
                for: user, in: records.directGroups(ofPerson: user.id), bundleID: registration.application.bundleID,
                facts: registration.filterFacts, tenant: tenant, snapshot: snapshot, settings: TenantSettings()
            ).rules
        }
        return registration.knows(of: rules) ? nil : rules
    }

    private func newID(at now: Date) -> String {
        let digits = String(Int64(now.timeIntervalSince1970))
        return String(repeating: "0", count: max(0, 12 - digits.count)) + digits + "-" + RandomID.system.identifier()
    }

    private func raiseTargetingRevision(in change: Change) throws(ServiceError) {
        var settings = try change.settings()
        settings.targetingRevision += 1
        try change.save(settings)
    }

    /// How many apps have been late with their rules for too long: exactly those of the report while they are few, all that may be late
    /// where they are many.
    func overdueApps(
        of tenant: TenantID, in records: some StorageReader, at now: Date, where counts: (PolicyReference) -> Bool
    ) throws(ServiceError) -> Int {
        let moment = now.addingTimeInterval(-DriftedApp.alertHours * 3_600)
        let late = try records.count(
            Registration.self, where: .drift, in: ""..<StorageTime.text(moment), atMost: .max)
        guard late <= AttentionReport.mostLookedAt else { return late }
        return try driftedApps(of: tenant, in: records, at: now, since: moment, where: counts).count
    }

    /// The apps whose rules differ from what they should be, among policies that count; a person whom app protection
    /// serves no longer gets no rules, so that nothing of theirs is under way.
    ///
    /// - Parameters:
    ///   - person: Whose apps alone are looked at, nil for everyone's.
    ///   - moment: Before which they have to differ already.
    func driftedApps(
        of tenant: TenantID, person: String? = nil, in records: some StorageReader, at now: Date,
        since moment: Date = .distantFuture, limit: Int = .max, where counts: (PolicyReference) -> Bool
    ) throws(ServiceError) -> [DriftedApp] {
        // Only one that was told of other rules than it had can have others than it should.
        let late =
            if let person {
                try records.page(Registration.self, of: .found(by: .user, folded(person)), after: nil, limit: .max)
                    .filter { $0.driftSince != nil && $0.state == .active }.prefix(limit)
            } else {
                try records.records(
                    Registration.self, where: .drift, in: ""..<StorageTime.text(moment), limit: limit)[...]
            }
        return try drifted(late, of: tenant, in: records, at: now, where: counts)
    }

    /// A page of those apps, of anybody's; where few that may be late are, it has fewer than its limit.
    ///
    /// - Parameter place: Where the page before ended, nil for the first.
    /// - Returns: The apps, and where the page ends; nil at the end.
    func driftedApps(
        of tenant: TenantID, in records: some StorageReader, at now: Date, after place: String?, limit: Int,
        where counts: (PolicyReference) -> Bool
    ) throws(ServiceError) -> (page: [DriftedApp], next: String?) {
        let (late, next) = try records.page(
            Registration.self, by: .drift, in: ""..<StorageTime.text(.distantFuture), after: place, limit: limit)
        return (try drifted(late[...], of: tenant, in: records, at: now, where: counts), next)
    }

    /// Those of some registrations that are late.
    private func drifted(
        _ late: ArraySlice<Registration>, of tenant: TenantID, in records: some StorageReader, at now: Date,
        where counts: (PolicyReference) -> Bool
    ) throws(ServiceError) -> [DriftedApp] {
        let snapshot = try snapshot(of: tenant, in: records)
        var drifted: [DriftedApp] = []
        for registration in late {
            let id = folded(registration.account.id.rawValue)
            guard let user = try records.record(DirectoryUser.self, id), user.isEntitled else { continue }
            let intended = snapshot.intended(
                for: user, in: try records.directGroups(ofPerson: user.id), bundleID: registration.application.bundleID,
                facts: registration.filterFacts
            ).all.map(\.reference).filter(counts)
            // A policy that was deleted counts as long as it is in force.
            let applied = registration.applied.filter { counts($0) || !snapshot.has($0.id) }
                .sorted { $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) }
            guard intended != applied else { continue }
            drifted.append(DriftedApp(registration, intended: intended, applied: applied, at: now))
        }
        return drifted
    }
}

/// What an app should have: the policies and configurations in force, without what else an envelope says.
struct IntendedRules: Sendable, Equatable {
    /// Changes with anything that reaches the app, empty for nothing at all.
    var digest: String
    /// The policies and configurations.
    var references: [PolicyReference]

    /// What a person has whom app protection does not serve.
    static let none = IntendedRules(digest: "", references: [])
}

extension Registration {
    /// Whether the app was told of these rules last, by an event or in an envelope.
    func knows(of rules: IntendedRules) -> Bool {
        if let told = announced ?? lastEnvelope?.rules { return told == rules.digest }
        // An envelope of a version before remembers its policies alone.
        return (lastEnvelope?.policies ?? []) == rules.references
    }

    /// Takes down since when other rules may be in force than should be (SRV-TG-42).
    mutating func noteDrift(from intended: [PolicyReference], at now: Date) {
        driftSince = applied == intended ? nil : driftSince ?? now
    }
}

/// Where to look for those whom a change of some policies concerns: no others can be.
struct PolicyReach: Equatable {
    /// The folded bundle ids of the apps, nil for any.
    private(set) var apps: [String]?
    /// The folded ids of the groups, nil for all people.
    private(set) var groups: [String]?

    /// Whether no person can be concerned.
    var isEmpty: Bool { apps?.isEmpty == true || groups?.isEmpty == true }

    /// - Parameter policies: The policies as they were and as they are.
    init(of policies: [ManagedAppPolicy]) {
        var apps: Set<String>? = []
        var groups: Set<String>? = []
        for policy in policies where policy.kind != .androidManagedAppProtection {
            var own: Set<String>? = []
            for assignment in policy.assignments {
                switch assignment.target {
                case .group(let id): own?.insert(folded(id))
                case .allLicensedUsers, .allDevices: own = nil
                // Whom it excludes, an inclusion reaches as well.
                case .exclusionGroup: break
                }
            }
            if !policy.kind.isAssignable { own = nil }
            guard own?.isEmpty != true else { continue }
            groups = own.flatMap { own in groups?.union(own) }
            let concernsEveryApp =
                policy.appGroup != .selectedPublicApps
                || (policy.kind == .defaultManagedAppProtection && policy.apps.isEmpty)
            let listed = policy.apps.filter { $0.platform == .ios }.map { folded($0.value) }
            apps = concernsEveryApp ? nil : apps?.union(listed)
        }
        self.apps = apps?.sorted()
        self.groups = groups?.sorted()
    }
}
