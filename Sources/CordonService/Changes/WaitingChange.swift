public import CordonPolicy
public import Foundation

/// A change that waits for another person than the one who asked for it.
///
/// Nothing of the change itself is kept but its digest: once it is released, the same call passes.
public struct WaitingChange: Sendable, Codable, Equatable {
    /// How far it is.
    public enum State: String, Sendable, Codable, CaseIterable {
        /// An approver has to look at it.
        case waiting
        /// It may be made; the same call passes once.
        case released
        /// It was made.
        case used
        /// An administrator stopped it.
        case stopped
        /// It was not released, or not made, in time.
        case expired
    }

    /// What an administrator decides about it.
    public enum Decision: String, Sendable, Codable, CaseIterable {
        /// To release it.
        case release
        /// To stop it.
        case stop
    }

    /// The id.
    public let id: String
    /// The SHA-256 of what was asked.
    public let digest: String
    /// What was asked, as the audit log calls it.
    public let action: String
    /// Of what, such as `policy/T_…` or `user/…`.
    public let entity: String
    /// How many people and apps would lose data; the release is good for a twentieth more.
    public let reach: Reach
    /// What would change; of a role that lets people release changes, all that it says then. Empty for a block and for a person's erasure.
    public internal(set) var changes: [MemberChange]
    /// On which devices and days data would be removed.
    public let wipes: [PolicyDiff.Effect]
    /// The scope tags of each policy that it is about, as they are and as they would be; nil where it is about none, and for a change
    /// that an earlier version kept.
    public internal(set) var scopeTags: [[String]]?
    /// Who asked.
    public let requester: EntityVersion.Author
    /// Why, where that was said.
    public let reason: String?
    /// When it was asked.
    public let requested: Date
    /// When it is released by itself, because fewer than two people could release it; nil where a person has to.
    public let due: Date?
    /// When it ends if it is not released, or if it was released and not made.
    public private(set) var expires: Date
    /// How far it is.
    public internal(set) var state: State
    /// Who released or stopped it: a person's id, or `machine` for a command on the service's machine, or `time`.
    public internal(set) var decidedBy: String?
    /// When.
    public internal(set) var decided: Date?
    /// What the caller may decide about it now, where one change is asked for; nil elsewhere. A release takes a fresh sign-in besides.
    public internal(set) var decisions: [Decision]?

    /// Gives the author time to repeat the call once it is released.
    mutating func extend(to end: Date) { expires = end }

    /// When it was over, for putting it away; the distant future while it is not.
    var ended: Date {
        switch state {
        case .used, .stopped: decided ?? expires
        case .expired: expires
        case .waiting, .released: .distantFuture
        }
    }

    /// Whether a secret value stands there in clear, as versions before kept them.
    var showsSecrets: Bool {
        changes.contains { change in
            let pairs = [change.from, change.to].compactMap(\.self).flatMap { $0.array ?? [$0] }
            return change.member.hasPrefix("customSettings") && pairs.contains(where: SecretValues.isClear)
        }
    }

    /// How far it is at a moment.
    public func state(at now: Date) -> State {
        switch state {
        case .used, .stopped, .expired: state
        case .waiting, .released: now >= expires ? .expired : due.map { now >= $0 } ?? false ? .released : state
        }
    }
}

extension WaitingChange: StoredRecord {
    /// Waiting changes.
    public static var storageKind: StorageKind { .waitingChange }
    /// The id.
    public var storageID: String { id }
    /// ``StorageLookup/state`` while it may still be made.
    public var lookups: [StorageLookup: String] { state == .waiting || state == .released ? [.state: "open"] : [:] }
}

/// Who could release a change, by whom the service has seen with the permission.
struct KnownApprovers: StoredRecord {
    /// When each was last seen, by id.
    var seen: [String: Date] = [:]

    static var storageKind: StorageKind { .approvers }
    static let id = "approvers"
    var storageID: String { Self.id }

    /// Those who were seen in the last ninety days.
    func present(at now: Date) -> Set<String> {
        Set(seen.filter { now.timeIntervalSince($0.value) < 90 * 86_400 }.keys)
    }
}

/// What one administrator or program has removed in the last hour.
struct WipeBudget: StoredRecord {
    /// One wipe of a person, or a change that reached some.
    struct Entry: Codable, Sendable, Equatable {
        /// When.
        var time: Date
        /// How many people.
        var people: Int
        /// The SHA-256 of the one person whom it was about; the same again counts once.
        var person: String?
    }

    /// The administrator's id.
    let id: String
    private(set) var entries: [Entry] = []

    static var storageKind: StorageKind { .wipeBudget }
    var storageID: String { id }

    init(id: String) { self.id = id }

    /// How many people are spent at a moment.
    func spent(at now: Date) -> Int { recent(now).reduce(0) { $0 + $1.people } }

    /// Whether a person was wiped in this hour already.
    func has(_ person: String, at now: Date) -> Bool { recent(now).contains { $0.person == person } }

    mutating func spend(_ people: Int, person: String? = nil, at now: Date) {
        entries = recent(now)
        entries.append(Entry(time: now, people: people, person: person))
    }

    /// Of no later time either: an entry that was made while the clock was ahead would count until then.
    private func recent(_ now: Date) -> [Entry] { entries.filter { abs(now.timeIntervalSince($0.time)) < 3_600 } }
}
