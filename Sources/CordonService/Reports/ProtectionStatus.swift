internal import CordonIdentity
internal import CordonPolicy
internal import CordonProtocol
internal import Foundation

/// One app of one person on one device, as reports show it (SRV-TG-34, 35).
public struct ProtectionStatus: Sendable {
    /// The registration.
    public let registration: Registration
    /// The person, nil once they have left the directory.
    public let user: DirectoryUser?
    /// What the app said it had in force at its last check-in, those that still exist.
    public let applied: [ManagedAppPolicy]

    /// Whether a protection was in force at the last check-in.
    public var isProtected: Bool { applied.contains { $0.kind != .targetedManagedAppConfiguration } }
    /// What the device found wrong with itself, and `appEvidence` where it can no longer show that its app is the organisation's; empty for a clean one.
    public var flags: [String] { registration.flags }

    /// Joins registrations with people and policies, ordered by registration.
    ///
    /// - Parameter registrations: Those to report; usually the active ones.
    public static func rows(
        _ registrations: [Registration], users: [DirectoryUser], policies: [ManagedAppPolicy]
    ) -> [ProtectionStatus] {
        let people = Dictionary(users.map { ($0.storageID, $0) }, uniquingKeysWith: { first, _ in first })
        let known = Dictionary(policies.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        return registrations.map { registration in
            ProtectionStatus(
                registration: registration, user: people[folded(registration.account.id.rawValue)],
                applied: registration.applied.compactMap { known[$0.id] })
        }
    }
}

/// How far one policy has come (SRV-RS-135, SRV-TG-41).
public struct DeploymentSummary: Sendable, Equatable {
    /// How many people have the policy in force in some app.
    public let userCount: Int
    /// How many people have it in force in each of its apps, by the app's entity id.
    public let userCountPerApp: [(app: MobileAppIdentifier, count: Int)]

    /// Counts people, not devices.
    ///
    /// - Parameter registrations: The active ones.
    public init(of policy: ManagedAppPolicy, among registrations: [Registration]) {
        let applied = registrations.filter { registration in registration.applied.contains { $0.id == policy.id } }
        userCount = Set(applied.map { folded($0.account.id.rawValue) }).count
        let listed = policy.apps
        let seen = applied.map { MobileAppIdentifier(.ios, $0.application.bundleID) }
        var apps: [MobileAppIdentifier] = []
        for app in listed + seen where !apps.contains(app) { apps.append(app) }
        userCountPerApp = apps.map { app in
            let people = applied.filter { MobileAppIdentifier(.ios, $0.application.bundleID) == app }
                .map { folded($0.account.id.rawValue) }
            return (app, Set(people).count)
        }
    }

    /// Takes the counts of people who are alike.
    init(of policy: ManagedAppPolicy, from counts: [StatusCount]) {
        var total = 0
        var people: [MobileAppIdentifier: Int] = [:]
        for count in counts {
            switch count.place {
            case .person(let kind) where kind.applied.contains(policy.id): total += count.people
            case .app(let app, let applied) where applied.contains(policy.id):
                people[MobileAppIdentifier(.ios, app), default: 0] += count.people
            case .person, .app, .installed: continue
            }
        }
        userCount = total
        let seen = people.keys.sorted { $0.value < $1.value }
        var apps: [MobileAppIdentifier] = []
        for app in policy.apps + seen where !apps.contains(app) { apps.append(app) }
        userCountPerApp = apps.map { ($0, people[$0] ?? 0) }
    }

    /// Whether all counts are the same.
    public static func == (left: Self, right: Self) -> Bool {
        left.userCount == right.userCount && left.userCountPerApp.map(\.app) == right.userCountPerApp.map(\.app)
            && left.userCountPerApp.map(\.count) == right.userCountPerApp.map(\.count)
    }
}
