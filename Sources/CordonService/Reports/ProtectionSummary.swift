internal import CordonIdentity
internal import CordonProtocol

/// The figures of an organisation (SRV-TG-38); people are counted, not devices.
public struct ProtectionSummary: Sendable, Codable, Equatable {
    /// How many apps the lists of the most used ones name.
    public static let mostApps = 10

    /// People whom the assignment of a protection names.
    public struct Assigned: Sendable, Codable, Equatable {
        /// All of them.
        public var total = 0
        /// Those with a protection in force in some app.
        public var protected = 0
        /// Those with none.
        public var unprotected = 0
        /// Those whom app protection serves.
        public var licensed = 0
        /// Those whom it does not, for want of a licence or because their account is disabled.
        public var unlicensed = 0
    }

    /// The same people by how they stand; each is counted once, with what weighs most.
    public struct Statuses: Sendable, Codable, Equatable {
        /// Blocked by an administrator.
        public var blocked = 0
        /// With a flagged device.
        public var flagged = 0
        /// With an app that has checked in.
        public var checkedIn = 0
        /// Without.
        public var notCheckedIn = 0
    }

    /// How many people have something in force in an app.
    public struct AppCount: Sendable, Codable, Equatable {
        /// The app.
        public var bundleID: String
        /// The people.
        public var users: Int
    }

    /// People whom the assignment of a protection names.
    public private(set) var assignedUsers = Assigned()
    /// People whom app protection serves, and whom no assignment of a protection names.
    public private(set) var unassignedUsers = 0
    /// People with a flagged app or device, assigned or not.
    public let flaggedUsers: Int
    /// Assigned people by how they stand.
    public private(set) var usersByStatus = Statuses()
    /// The apps in which most people have a protection in force.
    public let topProtectedApps: [AppCount]
    /// The apps in which most people have a configuration in force.
    public let topConfiguredApps: [AppCount]

    /// - Parameters:
    ///   - assigned: The people whom an assignment names.
    ///   - unassigned: How many others app protection serves.
    ///   - statuses: Every active registration.
    ///   - blocked: The folded ids of blocked people.
    init(assigned: [DirectoryUser], unassigned: Int, statuses: [ProtectionStatus], blocked: Set<String>) {
        unassignedUsers = unassigned
        let byUser = Dictionary(grouping: statuses) { folded($0.registration.account.id.rawValue) }
        flaggedUsers = byUser.values.count { $0.contains { !$0.flags.isEmpty } }
        topProtectedApps = Self.top(statuses.filter(\.isProtected))
        topConfiguredApps = Self.top(
            statuses.filter { $0.applied.contains { $0.kind == .targetedManagedAppConfiguration } })
        for user in assigned {
            let own = byUser[user.storageID] ?? []
            assignedUsers.total += 1
            if own.contains(where: \.isProtected) {
                assignedUsers.protected += 1
            } else {
                assignedUsers.unprotected += 1
            }
            if user.isEntitled { assignedUsers.licensed += 1 } else { assignedUsers.unlicensed += 1 }
            if blocked.contains(user.storageID) {
                usersByStatus.blocked += 1
            } else if own.contains(where: { !$0.flags.isEmpty }) {
                usersByStatus.flagged += 1
            } else if own.isEmpty {
                usersByStatus.notCheckedIn += 1
            } else {
                usersByStatus.checkedIn += 1
            }
        }
    }

    /// The same figures from counts of people who are alike.
    ///
    /// - Parameters:
    ///   - assigns: Whether an assignment names people of a kind.
    ///   - policies: The policies that count, by id.
    init(
        of counts: [StatusCount], policies: [String: ManagedAppPolicy],
        assigns: (StatusCount.Kind) -> Bool
    ) {
        func has(_ applied: [String], _ matches: (PolicyKind) -> Bool) -> Bool {
            applied.contains { policies[$0].map { matches($0.kind) } ?? false }
        }
        func isProtected(_ applied: [String]) -> Bool { has(applied) { $0 != .targetedManagedAppConfiguration } }
        var (flagged, others) = (0, 0)
        var assigned: [(kind: StatusCount.Kind, people: Int)] = []
        var (protecting, configuring): ([String: Int], [String: Int]) = ([:], [:])
        for count in counts {
            switch count.place {
            case .app(let app, let applied):
                if isProtected(applied) { protecting[app, default: 0] += count.people }
                if has(applied, { $0 == .targetedManagedAppConfiguration }) {
                    configuring[app, default: 0] += count.people
                }
            case .person(let kind):
                if kind.isFlagged { flagged += count.people }
                guard kind.isInDirectory else { continue }
                if assigns(kind) {
                    assigned.append((kind, count.people))
                } else if kind.isEntitled {
                    others += count.people
                }
            case .installed: continue
            }
        }
        unassignedUsers = others
        flaggedUsers = flagged
        topProtectedApps = Self.top(protecting)
        topConfiguredApps = Self.top(configuring)
        for (kind, people) in assigned { add(people, of: kind, isProtected: isProtected(kind.applied)) }
    }

    private mutating func add(_ people: Int, of kind: StatusCount.Kind, isProtected: Bool) {
        assignedUsers.total += people
        if isProtected { assignedUsers.protected += people } else { assignedUsers.unprotected += people }
        if kind.isEntitled { assignedUsers.licensed += people } else { assignedUsers.unlicensed += people }
        if kind.isBlocked {
            usersByStatus.blocked += people
        } else if kind.isFlagged {
            usersByStatus.flagged += people
        } else if kind.hasApps {
            usersByStatus.checkedIn += people
        } else {
            usersByStatus.notCheckedIn += people
        }
    }

    private static func top(_ people: [String: Int]) -> [AppCount] {
        people.map { AppCount(bundleID: $0.key, users: $0.value) }
            .sorted { ($1.users, $0.bundleID) < ($0.users, $1.bundleID) }
            .prefix(mostApps).map(\.self)
    }

    private static func top(_ statuses: [ProtectionStatus]) -> [AppCount] {
        let byApp = Dictionary(grouping: statuses) { folded($0.registration.application.bundleID) }
        return top(
            byApp.mapValues { statuses in Set(statuses.map { folded($0.registration.account.id.rawValue) }).count })
    }
}
