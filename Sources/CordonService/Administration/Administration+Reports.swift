internal import CordonIdentity
internal import CordonPolicy
internal import CordonProtocol
internal import Foundation
internal import Logging

extension Administration {
    /// The apps that have other rules in force than they should, longest first (SRV-TG-42).
    ///
    /// - Parameter limit: How many apps are looked at, the longest waiting first.
    public func drift(
        ofUser person: String? = nil, as administrator: Administrator, limit: Int = .max
    ) async throws(ServiceError) -> [DriftedApp] {
        try await store.require(.read, of: administrator)
        let now = store.now
        return try await store.read(for: administrator) { records in
            let visible = Set(
                try records.records(ManagedAppPolicy.self).filter(administrator.sees).map(\.id))
            return try targeting.driftedApps(
                of: administrator.tenant, person: person, in: records, at: now, limit: limit
            ) {
                visible.contains($0.id)
            }
            .sorted { ($0.since, $0.registrationID) < ($1.since, $1.registrationID) }
        }
    }

    /// A page of those apps, as ``flaggedApps(after:limit:as:)``. Where few that may be late are, it may have fewer than its limit though there are
    /// more.
    public func drift(
        after place: String?, limit: Int = largestPage, as administrator: Administrator
    ) async throws(ServiceError) -> (page: [DriftedApp], next: String?) {
        let now = store.now
        return try await store.read(.read, as: administrator) { records in
            let visible = Set(try records.records(ManagedAppPolicy.self).filter(administrator.sees).map(\.id))
            let (page, next) = try targeting.driftedApps(
                of: administrator.tenant, in: records, at: now, after: place, limit: Self.bounded(limit)
            ) { visible.contains($0.id) }
            return (page.sorted { ($0.since, $0.registrationID) < ($1.since, $1.registrationID) }, next)
        }
    }

    /// The figures of the whole organisation (SRV-TG-38).
    ///
    /// It is read from counts of people who are alike, so it costs what there are of kinds of people, not of people. A large change of
    /// groups is counted some seconds behind itself.
    public func protectionSummary(as administrator: Administrator) async throws(ServiceError) -> ProtectionSummary {
        try await store.read(.read, as: administrator) { records in
            let snapshot = try targeting.snapshot(of: administrator.tenant, in: records)
            guard try records.settings().countsPeople == true else {
                return try countedAnew(records, snapshot, as: administrator)
            }
            let policies = try records.records(ManagedAppPolicy.self).filter(administrator.sees)
            return ProtectionSummary(
                of: try records.statusCounts(StatusCount.Place.person, StatusCount.Place.app),
                policies: Dictionary(policies.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
            ) { snapshot.assigns(isEntitled: $0.isEntitled, in: $0.groups, where: administrator.sees) }
        }
    }

    /// The same figures from every person and every app: what the counts have to agree with.
    func summaryCountedAnew(as administrator: Administrator) async throws(ServiceError) -> ProtectionSummary {
        try await store.read(.read, as: administrator) { records in
            try countedAnew(
                records, targeting.snapshot(of: administrator.tenant, in: records), as: administrator)
        }
    }

    private func countedAnew(
        _ records: some StorageReader, _ snapshot: TargetingSnapshot, as administrator: Administrator
    ) throws(ServiceError) -> ProtectionSummary {
        let users = try records.records(DirectoryUser.self)
        let statuses = try records.statuses(of: users, seenBy: administrator)
        var (assigned, others): ([DirectoryUser], Int) = ([], 0)
        for user in users {
            if snapshot.assigns(user, in: try records.directGroups(ofPerson: user.id), where: administrator.sees) {
                assigned.append(user)
            } else if user.isEntitled {
                others += 1
            }
        }
        return ProtectionSummary(
            assigned: assigned, unassigned: others, statuses: statuses,
            blocked: Set(try records.records(UserBlock.self).map(\.storageID)))
    }

    /// How far policies have come, by id (SRV-TG-41); those that there are not are left out.
    public func deploymentSummaries(
        ofPolicies ids: Set<String>, as administrator: Administrator
    ) async throws(ServiceError) -> [String: DeploymentSummary] {
        try await store.read(.read, as: administrator) { records in
            let policies = try records.records(ManagedAppPolicy.self, ids: ids.sorted()).filter(administrator.sees)
            guard try records.settings().countsPeople == true else {
                let active = try records.records(Registration.self, where: (.state, "active"))
                return policies.reduce(into: [:]) { $0[$1.id] = DeploymentSummary(of: $1, among: active) }
            }
            let counts = try records.statusCounts(StatusCount.Place.person, StatusCount.Place.app)
            return policies.reduce(into: [:]) { $0[$1.id] = DeploymentSummary(of: $1, from: counts) }
        }
    }

    /// The apps whose device found something wrong with itself, longest first; one leaves the list with the next clean
    /// check, and in no other way (SRV-TG-39).
    ///
    /// - Parameter limit: The most apps to name, the longest flagged first.
    public func flaggedApps(
        as administrator: Administrator, limit: Int = .max
    ) async throws(ServiceError) -> [FlaggedApp] {
        try await store.read(.read, as: administrator) { records in
            try records.flaggedApps(
                try records.records(
                    Registration.self, where: .flagged, in: ""..<StorageTime.text(.distantFuture), limit: limit))
        }
    }

    /// A page of those apps.
    ///
    /// - Parameters:
    ///   - place: Where the page before ended, nil for the first.
    ///   - limit: The most apps of the page, ``largestPage`` at the most.
    /// - Returns: The apps, and where the page ends; nil at the end.
    /// - Throws: ``ServiceError`` with code `invalid` for a place that the list does not have.
    public func flaggedApps(
        after place: String?, limit: Int = largestPage, as administrator: Administrator
    ) async throws(ServiceError) -> (page: [FlaggedApp], next: String?) {
        try await store.read(.read, as: administrator) { records in
            let (page, next) = try records.page(
                Registration.self, by: .flagged, in: ""..<StorageTime.text(.distantFuture), after: place,
                limit: Self.bounded(limit))
            return (try records.flaggedApps(page), next)
        }
    }

    private static func bounded(_ limit: Int) -> Int { max(1, min(limit, largestPage)) }

    /// A page of the apps that will be forgotten soon, because they have not checked in for long, the next to be forgotten first; pages are as
    /// those of ``flaggedApps(after:limit:as:)``.
    public func expiringApps(
        after place: String?, limit: Int = largestPage, as administrator: Administrator
    ) async throws(ServiceError) -> (page: [ExpiringApp], next: String?) {
        let (now, configuration) = (store.now, configuration)
        return try await store.read(.read, as: administrator) { records in
            let (page, next) = try records.page(
                Registration.self, by: .due, in: ExpiringApp.range(at: now, configuration), after: place,
                limit: Self.bounded(limit))
            return (page.map { ExpiringApp($0, configuration) }, next)
        }
    }

    /// Which versions of apps, of the protection library and of systems are on devices, and on how many.
    ///
    /// It costs what there are of different installations, not of apps on devices.
    public func installedVersions(as administrator: Administrator) async throws(ServiceError) -> [InstalledVersion] {
        try await store.read(.read, as: administrator) { records in
            InstalledVersion.all(of: try records.statusCounts(StatusCount.Place.installed))
        }
    }

    /// How many apps on devices the rule of an assignment filter fits now, and of how many.
    ///
    /// - Throws: ``ServiceError`` with code `invalid` for a rule that cannot be evaluated.
    public func filterMatches(
        rule: String, as administrator: Administrator
    ) async throws(ServiceError) -> FilterMatches {
        try await store.read(.read, as: administrator) { records in
            try FilterMatches(of: rule, in: records.statusCounts(StatusCount.Place.installed))
        }
    }

    /// What needs attention, as numbers; none of them reads every app.
    public func attention(as administrator: Administrator) async throws(ServiceError) -> AttentionReport {
        try await store.require(.read, of: administrator)
        let now = store.now
        return try await store.read(for: administrator) { records in
            let visible = Set(try records.records(ManagedAppPolicy.self).filter(administrator.sees).map(\.id))
            let forever = ""..<StorageTime.text(.distantFuture)
            let start = StorageTime.newestFirst(now.addingTimeInterval(-AttentionReport.wipeWaits))
            let older = try records.records(
                WipeOperation.self, where: .newest, in: start..<"\u{10FFFF}", limit: AttentionReport.mostLookedAt / 2)
            return AttentionReport(
                flaggedApps: try records.count(Registration.self, where: .flagged, in: forever, atMost: .max),
                overdueApps: try targeting.overdueApps(of: administrator.tenant, in: records, at: now) {
                    visible.contains($0.id)
                },
                openWipes: try records.count(WipeOperation.self, of: .found(by: .state, "open"), atMost: .max),
                waitingWipes: older.count(where: \.state.isOpen),
                expiringApps: try records.count(
                    Registration.self, where: .due, in: ExpiringApp.range(at: now, configuration), atMost: .max),
                failedWipes: try records.count(WipeOperation.self, of: .found(by: .state, "failed"), atMost: .max),
                blockedPeople: try records.count(UserBlock.self, of: .all, atMost: .max),
                alerts: try administrator.seesEveryPolicy
                    ? records.count(OperatorAlert.self, of: .all, atMost: .max)
                    : records.records(OperatorAlert.self)
                        .filter { try $0.isSeen(by: administrator, in: records) }.count)
        }
    }

    /// A page of what reports show of active apps, ordered by registration.
    ///
    /// - Parameters:
    ///   - after: The registration after which the page begins, nil for the first page.
    ///   - limit: The most apps of the page.
    /// - Returns: The rows, and the registration after which the next page begins; nil at the end.
    public func protectionStatuses(
        after id: String?, limit: Int, as administrator: Administrator
    ) async throws(ServiceError) -> (rows: [ProtectionStatus], last: String?) {
        try await store.read(.read, as: administrator) { records in
            let page = try records.page(
                Registration.self, of: .found(by: .state, "active"), after: id, limit: limit)
            let people = Set(page.map { folded($0.account.id.rawValue) })
            let rows = ProtectionStatus.rows(
                page, users: try records.records(DirectoryUser.self, ids: people.sorted()),
                policies: try records.records(ManagedAppPolicy.self).filter(administrator.sees))
            return (rows, page.count < limit ? nil : page.last?.id)
        }
    }

    /// How a person's apps stand: those that a protection is assigned in, and those that are enrolled, ordered by bundle id
    /// (SRV-TG-37).
    public func appStatuses(
        ofUser id: String, as administrator: Administrator
    ) async throws(ServiceError) -> [PersonAppStatus] {
        try await store.read(.read, as: administrator) { records in
            let user = try records.user(id)
            let groups = try records.directGroups(ofPerson: user.id)
            let snapshot = try targeting.snapshot(of: administrator.tenant, in: records)
            let statuses = Dictionary(
                grouping: try records.statuses(of: [user], seenBy: administrator, where: (.user, user.storageID))
            ) { folded($0.registration.application.bundleID) }
            return Set(statuses.keys).union(snapshot.listedApps).sorted().compactMap { app in
                let assigned = snapshot.intended(for: user, in: groups, bundleID: app, facts: nil).protections
                    .filter(administrator.sees)
                guard !assigned.isEmpty || statuses[app] != nil else { return nil }
                return PersonAppStatus(app, assigned: Set(assigned.map(\.id)), statuses: statuses[app] ?? [])
            }
        }
    }

    /// The wipes and commands that are under way for a person's apps, each newest first (SRV-TG-40).
    public func pendingWork(
        ofUser id: String, as administrator: Administrator
    ) async throws(ServiceError) -> (wipes: [WipeOperation], commands: [IssuedCommand]) {
        try await store.read(.read, as: administrator) { records in
            var wipes: [WipeOperation] = []
            var commands: [IssuedCommand] = []
            let user = try records.user(id)
            for registration in try records.records(Registration.self, where: (.user, user.storageID))
            where registration.state == .active {
                wipes += try records.openOperations(of: registration.id)
                commands += try records.openCommands(of: registration.id)
            }
            return (
                wipes.sorted { ($1.requested, $0.id) < ($0.requested, $1.id) },
                commands.sorted { ($1.requested, $0.id) < ($0.requested, $1.id) }
            )
        }
    }

    /// The alerts of the last thirty days, newest first, without those about policies that the caller does not see (SRV-TG-29).
    ///
    /// - Parameter limit: The most alerts to name.
    public func alerts(
        as administrator: Administrator, limit: Int = .max
    ) async throws(ServiceError) -> [OperatorAlert] {
        let now = store.now
        return try await store.read(.read, as: administrator) { records in
            let alerts = try records.newestAlerts(administrator.seesEveryPolicy ? limit : .max, at: now)
                .filter { try $0.isSeen(by: administrator, in: records) }
                .sorted { ($1.time, $1.id) < ($0.time, $0.id) }
            return Array(alerts.prefix(max(0, limit)))
        }
    }

    /// How many events of each kind came on each day, oldest first (SRV-CI-075).
    public func telemetry(as administrator: Administrator) async throws(ServiceError) -> [TelemetryDay] {
        try await store.read(.read, as: administrator) { records in
            try records.records(TelemetryDay.self).map { TelemetryDay(day: $0.day, counts: $0.counts) }
        }
    }

    /// The most people of one list, and the most who are looked at for it.
    public static let mostPeople = 200
    private static let mostPeopleLookedAt = 1_000

    /// How some people stand, in the order of their ids; those whom neither the directory nor an app names are left out.
    ///
    /// - Parameter ids: Object ids, at most ``mostPeople``; the rest is left out.
    public func protection(
        ofUsers ids: [String], as administrator: Administrator
    ) async throws(ServiceError) -> [PersonProtection] {
        try await store.read(.read, as: administrator) { records in
            let reader = try PeopleReader(
                records, targeting.snapshot(of: administrator.tenant, in: records), administrator)
            return try Set(ids.prefix(Self.mostPeople).map(folded)).sorted()
                .compactMap { id throws(ServiceError) in try reader.person(id) }
        }
    }

    /// A page of the people in a state, ordered by id.
    ///
    /// - Parameters:
    ///   - after: The object id after which the page begins, nil for the first page.
    ///   - limit: The most people of the page.
    /// - Returns: The people, and the id after which to go on; nil at the end. Where few people are in the state, a page may have fewer
    ///   than its limit though there are more.
    public func people(
        _ state: PeopleState, after id: String?, limit: Int, as administrator: Administrator
    ) async throws(ServiceError) -> (people: [PersonProtection], next: String?) {
        let limit = max(1, min(limit, Self.mostPeople))
        return try await store.read(.read, as: administrator) { records in
            let reader = try PeopleReader(
                records, targeting.snapshot(of: administrator.tenant, in: records), administrator)
            var (found, last, looked): ([PersonProtection], String?, Int) = ([], id.map(folded), 0)
            while found.count < limit, looked < Self.mostPeopleLookedAt {
                let page: [(id: String, isMeant: Bool)]
                switch state {
                case .blocked:
                    page = try records.identifiers(UserBlock.self, of: .all, after: last, limit: limit)
                        .map { ($0, true) }
                case .unprotected:
                    page = try records.page(PersonStatus.self, of: .all, after: last, limit: limit)
                        .map { ($0.person, reader.isAssigned($0) && !reader.isProtected($0)) }
                case .unassigned:
                    page = try records.page(PersonStatus.self, of: .all, after: last, limit: limit)
                        .map { ($0.person, reader.isUnassigned($0)) }
                }
                for (id, isMeant) in page where found.count < limit {
                    (last, looked) = (id, looked + 1)
                    if isMeant, let person = try reader.person(id) { found.append(person) }
                }
                let isRead = page.last.map { $0.id == last } ?? true
                if page.count < limit, isRead { return (found, nil) }
            }
            return (found, last)
        }
    }
}

extension StorageReader {
    /// The counts whose ids begin so.
    func statusCounts(_ beginnings: String...) throws(ServiceError) -> [StatusCount] {
        var counts: [StatusCount] = []
        for beginning in beginnings {
            counts += try page(StatusCount.self, of: .beginning(with: beginning), after: nil, limit: .max)
        }
        return counts
    }

    /// The newest alerts, read without the others. The store has them from the oldest on, so the moment after which there are as many
    /// as are wanted is looked for by counting.
    fileprivate func newestAlerts(_ limit: Int, at now: Date) throws(ServiceError) -> [OperatorAlert] {
        guard try count(OperatorAlert.self, of: .all, atMost: limit) == limit else {
            return try records(OperatorAlert.self)
        }
        func place(_ seconds: Int64) -> String { "ended/" + StorageTime.text(now.addingTimeInterval(-Double(seconds))) }
        func hasEnough(since seconds: Int64) throws(ServiceError) -> Bool {
            let range = place(seconds)..<"ended/~"
            return try count(OperatorAlert.self, where: .due, in: range, atMost: limit) == limit
        }
        // How many seconds ago there were too few alerts since, and how many ago there were enough.
        var (few, enough): (Int64, Int64) = (-1, 1)
        while enough < 1 << 40 {
            if try hasEnough(since: enough) { break }
            (few, enough) = (enough, enough * 2)
        }
        while enough - few > 1 {
            let middle = (few + enough) / 2
            if try hasEnough(since: middle) { enough = middle } else { few = middle }
        }
        let newer = try records(OperatorAlert.self, where: .due, in: place(few)..<"ended/~", limit: limit)
        // The rest is of one second.
        let rest = try records(
            OperatorAlert.self, where: .due, in: place(enough)..<place(few), limit: limit - newer.count)
        return newer + rest
    }

    /// What is said of registrations that are flagged, longest first.
    fileprivate func flaggedApps(_ flagged: [Registration]) throws(ServiceError) -> [FlaggedApp] {
        let people = Set(flagged.map { folded($0.account.id.rawValue) })
        return ProtectionStatus.rows(
            flagged, users: try records(DirectoryUser.self, ids: people.sorted()), policies: []
        )
        .filter { !$0.flags.isEmpty }.map(FlaggedApp.init)
        .sorted { ($0.since, $0.registrationID) < ($1.since, $1.registrationID) }
    }

    /// The active registrations with people and the policies that an administrator sees.
    fileprivate func statuses(
        of users: [DirectoryUser], seenBy administrator: Administrator,
        where lookup: (name: StorageLookup, value: String)? = nil
    ) throws(ServiceError) -> [ProtectionStatus] {
        let policies = try records(ManagedAppPolicy.self).filter(administrator.sees)
        return ProtectionStatus.rows(
            try records(Registration.self, where: lookup).filter { $0.state == .active }, users: users,
            policies: policies)
    }
}
