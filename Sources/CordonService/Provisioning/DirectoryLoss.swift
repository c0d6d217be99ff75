internal import CordonIdentity
internal import CordonPolicy
internal import CordonProtocol
internal import Foundation

/// Whose apps would remove data because of a change of the directory: a person is put into a group whose rules wipe their device, or
/// is disabled where the rules wipe then, or comes back to rules that wipe their device and that it does not hold. Where a source leaves
/// out most of its people, or they are no longer served by it, so is everyone whose apps would close, and where it empties a group,
/// everyone in there for whom a policy is not meant any more.
struct DirectoryLoss {
    /// What changes.
    enum Cause: Sendable {
        /// A person, by id or sign-in name, and what becomes of them: nil where they are removed.
        case account(String, to: DirectoryUser?)
        /// Who comes into a group and who goes.
        case members(String, adding: Set<DirectoryGroup.Member>, removing: Set<DirectoryGroup.Member>)
        /// Every member of a group.
        case group(String, Set<DirectoryGroup.Member>)
        /// What a source says otherwise than the directory.
        case source(DirectoryDifference)

        /// What the change is of.
        var entity: String {
            switch self {
            case .account(let id, _): "user/\(id)"
            case .members(let id, _, _), .group(let id, _): "group/\(id)"
            case .source(let difference): "source/\(difference.source.name)"
            }
        }

        /// Whether a person may be concerned who has an app, so that it is worth a closer look.
        func concernsApps(in records: some StorageReader) throws(ServiceError) -> Bool {
            let members: Set<DirectoryGroup.Member>
            switch self {
            case .account(let id, let new):
                let known = try records.knownUser(id)
                guard new?.accountEnabled != true || new?.comesBack(after: known) == true,
                    let person = known?.id ?? new?.id
                else { return false }
                members = [.user(person)]
            case .members(_, let added, let removed): members = added.union(removed)
            case .group(let id, let new):
                let change = MembershipChange(from: try records.members(ofGroup: id), to: new)
                members = change.added.union(change.removed)
            case .source(let difference): members = difference.affectedMembers
            }
            for member in members {
                guard case .user(let id) = member else { return true }
                if try !records.activeRegistrations(of: id).isEmpty { return true }
            }
            return false
        }

        /// Whether some people, by folded id, may be among those whom the change is about.
        func mayConcern(_ changed: Set<String>) -> Bool {
            guard !changed.isEmpty else { return false }
            let members: Set<DirectoryGroup.Member>
            switch self {
            case .account(let id, _): return changed.contains(folded(id)) || id.contains("@")
            case .members(_, let added, let removed): members = added.union(removed)
            // What it is about depends on who is in the group, and in the directory.
            case .group, .source: return true
            }
            return members.contains { member in
                if case .user(let id) = member { changed.contains(folded(id)) } else { true }
            }
        }

        /// What another person is shown who has to release it: of each list at most ``mostShown`` names, and how many there are where
        /// that is fewer.
        func changes(of loss: DirectoryLoss, in records: any StorageReader) throws(ServiceError) -> [MemberChange] {
            func listed(_ name: String, _ members: Set<DirectoryGroup.Member>) -> [MemberChange] {
                let names = members.map(\.auditName).sorted().prefix(Self.mostShown).map(JSONValue.string)
                let list = MemberChange(member: name, from: nil, to: .array(names), direction: nil)
                let count = MemberChange(
                    member: name + "Count", from: nil, to: .integer(Int64(members.count)), direction: nil)
                return names.isEmpty ? [] : names.count < members.count ? [list, count] : [list]
            }
            switch self {
            case .account(let id, let new):
                let known = try records.knownUser(id)
                var after = new ?? known
                if new == nil { after?.accountEnabled = false }
                let states: [(String, KeyPath<DirectoryUser, Bool>)] = [
                    ("accountEnabled", \.accountEnabled), ("isLicensed", \.isLicensed),
                ]
                return states.compactMap { name, state in
                    let (from, to) = (known?[keyPath: state] ?? false, after?[keyPath: state] ?? false)
                    return from == to
                        ? nil : MemberChange(member: name, from: .bool(from), to: .bool(to), direction: nil)
                }
            case .source(let difference):
                let groups = difference.memberships.filter { !$0.members.isEmpty }.map(\.group)
                let returning = loss.people.intersection(difference.returning.keys)
                return listed("losing", Set(difference.losing.map(DirectoryGroup.Member.user)))
                    + listed(
                        "unserved",
                        Set(difference.closing.subtracting(difference.losing).map(DirectoryGroup.Member.user)))
                    + listed("returning", Set(returning.map(DirectoryGroup.Member.user)))
                    + listed("groups", Set(groups.map(DirectoryGroup.Member.group)))
            case .members, .group:
                let members = try membership(in: records)
                return listed("added", members.added) + listed("removed", members.removed)
            }
        }

        /// Who comes into a group and who goes, as the group is now; nobody where the change is of no group alone.
        private func membership(in records: some StorageReader) throws(ServiceError) -> MembershipChange {
            switch self {
            case .account, .source: MembershipChange(from: [], to: [])
            case .members(let id, let added, let removed):
                try MembershipChange(adding: added, removing: removed, toGroup: id, in: records)
            case .group(let id, let new): MembershipChange(from: try records.members(ofGroup: id), to: new)
            }
        }

        private static let mostShown = 200

        /// The same for the same change, by which the same come into a group and go: the same call may put in and take out others once
        /// the group is another one, and a release is good for those who were shown. For a source the same where the same people lose
        /// the same, whatever else it says by then: exports go on while one waits for its release.
        func digest(of loss: DirectoryLoss, in records: some StorageReader) throws(ServiceError) -> String {
            let what: JSONValue
            switch self {
            case .account(_, let new): what = .bool(new?.accountEnabled != true)
            case .members, .group:
                let members = try membership(in: records)
                what = [members.added.digested, members.removed.digested]
            case .source(let difference):
                // Who goes, who comes back to rules that wipe, who stays and comes to such, who loses rules alone, and who is not served any
                // more.
                let going = loss.people.intersection(difference.losing)
                let unserved = loss.people.intersection(difference.closing).subtracting(going)
                let staying = loss.people.subtracting(going).subtracting(unserved)
                let returning = staying.intersection(difference.returning.keys)
                let wiped = staying.intersection(loss.losingData).subtracting(returning)
                let parts = [going, returning, wiped, staying.subtracting(returning).subtracting(wiped)]
                // At the end and where there are any alone: a version before, whose releases hold, did not know of them.
                what = (parts + (unserved.isEmpty ? [] : [unserved])).digested
            }
            return ProposedChange.digest(of: [.string(folded(entity)), what])
        }
    }

    private let before: TargetingSnapshot
    private let after: TargetingSnapshot
    private let now: Date
    /// Who was not served and will be, by folded id: nothing counted them meanwhile.
    private let returning: [String: DirectoryUser]
    private(set) var people: Set<String> = []
    /// Those of the people who lose data, and not rules alone.
    private var losingData: Set<String> = []
    private(set) var registrations = 0
    private var changedPeople: Set<String> = []
    private var changedRegistrations = 0
    /// What apps were given, nil for rules that nobody can read any more: all people of a policy have the same few.
    private var given: [[PolicyReference]: [ManagedAppPolicy]?] = [:]

    /// Whose rules or configurations change, whether they lose data or not.
    var changed: Reach { Reach(people: changedPeople.count, registrations: changedRegistrations) }

    /// Counts.
    init(_ cause: Cause, snapshot: TargetingSnapshot, at now: Date, in records: some StorageReader) throws(ServiceError)
    {
        (before, self.now) = (snapshot, now)
        switch cause {
        case .account(let id, let new):
            after = snapshot
            let known = try records.knownUser(id)
            if let new, new.comesBack(after: known) {
                returning = [new.storageID: new]
                try count(new.storageID, .kept, in: records) { $0 }
            } else {
                returning = [:]
                guard new?.accountEnabled != true, let known, known.accountEnabled else { return }
                try count(known.storageID, .disabled, in: records) { $0 }
            }
        case .members(let id, let added, let removed):
            let change = try MembershipChange(adding: added, removing: removed, toGroup: id, in: records)
            (after, returning) = (snapshot.proposing(change, inGroup: id), [:])
            try count([(id, change)], in: records)
        case .group(let id, let members):
            let change = MembershipChange(from: try records.members(ofGroup: id), to: members)
            (after, returning) = (snapshot.proposing(change, inGroup: id), [:])
            try count([(id, change)], in: records)
        case .source(let difference):
            after = difference.memberships.filter { !$0.members.groups.isEmpty }
                .reduce(snapshot) { $0.proposing($1.members, inGroup: $1.group) }
            returning = difference.returning
            let closing = difference.closing
            for person in closing.sorted() {
                try count(person, difference.losesMost ? .lost : .disabled, in: records) { $0 }
            }
            try count(difference.memberships, but: closing, emptied: difference.emptied, in: records)
        }
    }

    private mutating func count(
        _ changes: [(group: String, members: MembershipChange)], but others: Set<String> = [],
        emptied: Set<String> = [], in records: some StorageReader
    ) throws(ServiceError) {
        var (came, went): ([String: Set<String>], [String: Set<String>]) = ([:], [:])
        var unnested: [String] = []
        for (group, change) in changes {
            for case .group(let id) in change.removed where emptied.contains(folded(group)) {
                unnested.append(folded(id))
            }
            for case .user(let id) in change.added { came[folded(id), default: []].insert(folded(group)) }
            for case .user(let id) in change.removed { went[folded(id), default: []].insert(folded(group)) }
        }
        var people = Set(came.keys).union(went.keys).union(returning.keys)
        var dropped = Set(went.filter { !$0.value.isDisjoint(with: emptied) }.keys)
        let left = before.groups(under: unnested)
        for inner in before.groups(under: Set(changes.flatMap(\.members.groups)).sorted()) {
            for case .user(let id) in try records.members(ofGroup: inner) {
                people.insert(folded(id))
                if left.contains(inner) { dropped.insert(folded(id)) }
            }
        }
        for person in people.subtracting(others).sorted() {
            try count(person, dropped.contains(person) ? .dropped : .kept, in: records) { groups in
                groups.filter { went[person]?.contains($0) != true } + (came[person]?.sorted() ?? [])
            }
        }
    }

    /// What happens to a person's account.
    private enum Fate {
        case kept
        /// The person is out of a group that a source has emptied: counted, too, where a policy is not meant for them any more.
        case dropped
        case disabled
        /// It goes with most others: counted whether its rules wipe or not.
        case lost
    }

    private mutating func count(
        _ person: String, _ fate: Fate, in records: some StorageReader, _ change: ([String]) -> [String]
    ) throws(ServiceError) {
        let active = try records.activeRegistrations(of: person)
        var known = returning[person]
        if known == nil { known = try records.record(DirectoryUser.self, person) }
        guard !active.isEmpty, let user = known else { return }
        guard fate != .lost else {
            people.insert(person)
            registrations += active.count
            return
        }
        let isDisabled = fate == .disabled
        guard isDisabled || user.isEntitled else { return }
        let groups = try records.directGroups(ofPerson: person)
        for registration in active {
            let (app, facts) = (registration.application.bundleID, registration.filterFacts)
            let (old, new) = (
                before.intended(for: user, in: groups, bundleID: app, facts: facts),
                after.intended(for: user, in: change(groups), bundleID: app, facts: facts)
            )
            if old.references != new.references {
                changedPeople.insert(person)
                changedRegistrations += 1
            }
            let (was, will) = (old.protections, new.protections)
            var loses = false
            if returning[person] != nil {
                // What became of rules and groups meanwhile counted nobody who was not served.
                loses = try removesData(will, in: after, of: registration, isDisabled: false)
                if loses { loses = try !removesDataNow(registration, in: records) }
            } else if isDisabled {
                // What cannot be read any more may wipe.
                loses = try removesData(readable: will, of: registration, isDisabled: true) ?? true
                // The app gets no other rules than those that it holds, whatever is meant for the person by now.
                for rules in registration.rulesPerhapsInForce where !loses {
                    loses = try removesData(holding: rules, of: registration, isDisabled: true, in: records) ?? true
                }
            } else if was.map(\.reference) != will.map(\.reference) {
                loses = try removesData(will, in: after, of: registration, isDisabled: false)
                if loses { loses = try !removesData(was, in: before, of: registration, isDisabled: false) }
                // What is for everybody, such as a default one, is no substitute for what was meant for a group; and a default one ends
                // only where stricter rules come.
                let assigned = was.filter(\.kind.isAssignable)
                let losesRules = fate == .dropped && !assigned.allSatisfy { old in will.contains { $0.id == old.id } }
                if loses { losingData.insert(person) }
                loses = loses || losesRules
            }
            guard loses else { continue }
            people.insert(person)
            registrations += 1
        }
    }

    /// Whether an app removes data by whatever rules it may have in force, its person enabled.
    private mutating func removesDataNow(
        _ registration: Registration, in records: some StorageReader
    ) throws(ServiceError) -> Bool {
        for rules in registration.rulesPerhapsInForce {
            guard try removesData(holding: rules, of: registration, isDisabled: false, in: records) == true else {
                return false
            }
        }
        return true
    }

    /// Whether an app removes data by rules that it was given, as they said then: policies may have changed or gone since. Nil for rules
    /// that nobody can read any more.
    private mutating func removesData(
        holding references: [PolicyReference], of registration: Registration, isDisabled: Bool,
        in records: some StorageReader
    ) throws(ServiceError) -> Bool? {
        if given[references] == nil {
            given.updateValue(try rules(as: references, in: records), forKey: references)
        }
        guard let rules = given[references] ?? nil else { return nil }
        return try removesData(readable: rules, of: registration, isDisabled: isDisabled)
    }

    /// Whether an app removes data by rules; nil where one of their settings cannot be read any more.
    private func removesData(
        readable rules: [ManagedAppPolicy], of registration: Registration, isDisabled: Bool
    ) throws(ServiceError) -> Bool? {
        do {
            return try removesData(rules, in: after, of: registration, isDisabled: isDisabled)
        } catch {
            guard error.code == .internalError else { throw error }
            return nil
        }
    }

    private func rules(
        as references: [PolicyReference], in records: some StorageReader
    ) throws(ServiceError) -> [ManagedAppPolicy]? {
        var rules: [ManagedAppPolicy] = []
        for reference in references {
            var policy = after.policy(reference.id)
            if policy?.kind == .targetedManagedAppConfiguration { continue }
            if policy?.version != reference.version { policy = try records.keptPolicy(reference) }
            guard let policy else { return nil }
            if policy.kind.isEvaluated { rules.append(policy) }
        }
        return rules
    }

    private func removesData(
        _ rules: [ManagedAppPolicy], in snapshot: TargetingSnapshot, of registration: Registration, isDisabled: Bool
    ) throws(ServiceError) -> Bool {
        guard let policy = try snapshot.effectivePolicy(of: rules)?.policy.policy else { return false }
        return PolicyDiff.removesData(policy, of: registration.deviceFacts(at: now, isDisabled: isDisabled))
    }
}

extension [Set<String>] {
    /// The same for the same ids.
    fileprivate var digested: JSONValue { .array(map { .array($0.sorted().map(JSONValue.string)) }) }
}

extension DirectoryGroup.Member {
    /// Whether it is no group.
    var isPerson: Bool { if case .user = self { true } else { false } }
}

extension Set<DirectoryGroup.Member> {
    /// The same for the same members.
    var digested: JSONValue { .array(map(\.storageName).sorted().map(JSONValue.string)) }
}

extension DirectoryUser {
    /// Whether app protection serves the person and did not before: nil where the directory did not know them.
    func comesBack(after known: DirectoryUser?) -> Bool { isEntitled && known?.isEntitled != true }
}

extension Registration {
    /// The rules that the app may have in force: the newest that it was given, and those before until it has confirmed these.
    fileprivate var rulesPerhapsInForce: [[PolicyReference]] {
        let newest = lastEnvelope.map { [$0.policies] } ?? []
        return lastEnvelope?.isApplied == true ? newest : newest + [applied]
    }

    /// What the service knows of the device, for a launch question.
    fileprivate func deviceFacts(at now: Date, isDisabled: Bool) -> DeviceFacts {
        var facts = DeviceFacts()
        facts.osVersion = VersionNumber(device.osVersion)
        facts.appVersion = VersionNumber(application.version)
        facts.sdkVersion = VersionNumber(application.sdkVersion)
        facts.model = device.model
        facts.rooted = health.contains(.rootedDevice)
        facts.sinceCheckIn = .seconds(max(0, now.timeIntervalSince(lastSync)))
        facts.failedPINAttempts = 0
        facts.accountDisabled = isDisabled
        return facts
    }
}
