internal import CordonIdentity
internal import CordonPolicy
internal import CordonProtocol
internal import Foundation

/// Looks at changes that may remove data before they are made: who may make them, how many people they reach, and whether a second
/// person has to release them.
struct ChangeReview: Sendable {
    let store: TenantStore
    let targeting: Targeting
    let ids: RandomID
    let configuration: ServiceConfiguration
    let tokens = ImpactTokens()

    /// What lets a change that may remove data pass: worked out outside the writer, and looked at once more inside.
    struct Clearance: Sendable {
        /// What was asked.
        let digest: String
        let entity: String
        /// How many it reaches.
        let reach: Reach
        /// On which devices and days it removes data.
        let wipes: [PolicyDiff.Effect]
        /// The revision of the directory and the policies that the number was counted at.
        let revision: Int64?
        /// The change that was released for it, nil where it stays within the budget.
        let released: String?
        /// The scope tags of each policy that it is about, nil for none.
        var scopeTags: [[String]]?
        /// The one person whom it is about, as a digest.
        var person: String?
        /// What the number was counted from, to be brought up to date in the transaction of the change; nil for what is counted
        /// there anyway.
        var tally: Tally?
        /// The number that the author was shown or that was released; nil where neither had to be.
        var ceiling: Reach?
    }

    /// What was counted outside the writer, and where the journal of people stood before that.
    struct Tally: Sendable {
        let counter: ReachCounter
        var count: ReachCounter.Count
        let mark: Int64

        /// The number with those who came, went or got an app meanwhile; nil where more did than are remembered.
        func upToDate(in change: Change) throws(ServiceError) -> Reach? {
            guard let people = change.journal.people(since: mark, of: change.tenant) else { return nil }
            var count = count
            for person in people.sorted() {
                for registration in try change.activeRegistrations(of: person) {
                    try counter.count(registration, in: change, into: &count)
                }
            }
            return count.reach
        }
    }

    /// Lets a change pass or throws; nil for one that cannot remove anything.
    ///
    /// - Throws: ``ServiceError``: `forbidden` without the permission to wipe, `staleSignIn`, `conflict` with the number where the
    ///   token of its impact is missing or too low, and `waiting` with the id of the change that another person has to release.
    func clear(
        _ proposal: ProposedChange, as administrator: Administrator, call: String
    ) async throws(ServiceError) -> Clearance? {
        guard !proposal.touched.isEmpty else { return nil }
        let wipes = try await wipes(of: proposal, as: administrator, call: call)
        guard !wipes.isEmpty else { return nil }
        let (tally, revision) = try await count(proposal, in: administrator.tenant)
        let reach = tally.count.reach
        let scopeTags = ConcernedPolicies.tags(of: proposal.touched)
        let released = try await released(proposal.digest, reach, about: scopeTags, by: administrator)
        func clearance(upTo ceiling: Reach?) -> Clearance {
            Clearance(
                digest: proposal.digest, entity: proposal.entity, reach: reach, wipes: wipes, revision: revision,
                released: released?.id, scopeTags: scopeTags, tally: tally, ceiling: ceiling)
        }
        if let released { return clearance(upTo: released.reach) }
        let shown = try shownNumber(reach, of: proposal.digest, by: administrator)
        let spent = try await store.read(for: administrator.tenant) { records in
            try records.record(WipeBudget.self, administrator.id)?.spent(at: store.now) ?? 0
        }
        guard spent + reach.people > configuration.wipeBudget else { return clearance(upTo: shown) }
        throw try await wait(
            for: proposal.digest, proposal.action, of: proposal.entity, reach,
            changes: proposal.releasedChanges, wipes: wipes, about: scopeTags, by: administrator)
    }

    /// Takes up what was found at the look at a change, in the transaction of the change itself; false where it has to be looked at again.
    ///
    /// - Parameters:
    ///   - clearance: What lets it pass; nil where it removed nothing.
    ///   - proposal: The change as it is now.
    ///   - revision: The revision of the policies before the look.
    func takesUp(
        _ clearance: Clearance?, for proposal: ProposedChange, seenAt revision: Int64, by administrator: Administrator,
        in change: Change
    ) throws(ServiceError) -> Bool {
        // What was counted is about other policies than were asked about where these changed before the count.
        if let counted = clearance?.revision, counted != revision { return false }
        if let clearance {
            return try change.use(clearance, by: administrator, budget: configuration.wipeBudget, ids: ids)
        }
        // Another policy may have come in between with which this change removes data.
        guard !proposal.touched.isEmpty, try change.settings().targetingRevision != revision else { return true }
        return try proposal.wipes(among: change.records(ManagedAppPolicy.self), configuration.numericConflict).isEmpty
    }

    /// What a change may remove, once it is known that its author may ask for that at all.
    private func wipes(
        of proposal: ProposedChange, as administrator: Administrator, call: String
    ) async throws(ServiceError) -> [PolicyDiff.Effect] {
        let conflict = configuration.numericConflict
        return try await store.read(for: administrator, call: call) { records in
            let wipes = proposal.wipes(among: try records.records(ManagedAppPolicy.self), conflict)
            guard !wipes.isEmpty else { return [] }
            for policy in proposal.touched where !administrator.mayDestroy(withTags: policy.scopeTags) {
                throw ServiceError(
                    .forbidden, "the change makes apps remove data, and \(administrator.id) may not wipe",
                    hint: "Ask an administrator who may wipe. A program needs the application permission wipe.",
                    problems: wipes.prefix(5).map { .init(member: "wipe", reason: $0.sentence) })
            }
            guard administrator.isProgram || administrator.call.hasFreshSignIn else {
                throw ServiceError(.staleSignIn, "the change makes apps remove data, which takes a fresh sign-in")
            }
            return wipes
        }
    }

    /// Whose rules would change and who would lose data that is kept now, counted outside the writer, one app after the other.
    ///
    /// - Returns: The numbers, and the revision of the policies and of groups in groups that they were counted at.
    func count(
        _ proposal: ProposedChange, in tenant: TenantID
    ) async throws(ServiceError) -> (tally: Tally, revision: Int64) {
        let mark = store.journal.mark(of: tenant)
        let (before, apps) = try await store.read(for: tenant) { records in
            (try targeting.snapshot(of: tenant, in: records), proposal.touched.concernedApps)
        }
        targeting.keep(before, of: tenant)
        let counter = ReachCounter(from: before, to: before.proposing(proposal))
        var found = ReachCounter.Count()
        for app in apps.map({ $0.map(Optional.some).sorted { $0 ?? "" < $1 ?? "" } }) ?? [nil] {
            let part: RecordPart = app.map { .found(by: .app, $0) } ?? .all
            var last: String?
            repeat {
                let (known, after) = (found, last)
                (found, last) = try await store.read(for: tenant) { records in
                    var found = known
                    let page = try records.page(Registration.self, of: part, after: after, limit: Self.page)
                    for registration in page { try counter.count(registration, in: records, into: &found) }
                    return (found, page.count < Self.page ? nil : page.last?.storageID)
                }
            } while last != nil
        }
        return (Tally(counter: counter, count: found, mark: mark), before.revision)
    }

    /// How many registrations are read at once.
    private static let page = 1_000

    /// Refuses a number above the limit that the author does not show to know.
    ///
    /// - Returns: The number that the author knows; nil where it is below the limit or the author is a program.
    private func shownNumber(
        _ reach: Reach, of digest: String, by administrator: Administrator
    ) throws(ServiceError) -> Reach? {
        guard !administrator.isProgram, reach.people > configuration.impactLimit else { return nil }
        let known = administrator.call.impactToken.flatMap {
            tokens.reach(in: $0, of: digest, for: administrator.id, at: store.now)
        }
        guard let known, !reach.exceeds(known) else {
            throw ServiceError(
                .conflict, "the change makes \(reach.people) people lose data in \(reach.registrations) apps",
                hint: "Ask for the impact of the change and send its token in Cordon-Impact.",
                problems: [
                    .init(member: "impact.people", reason: String(reach.people)),
                    .init(member: "impact.registrations", reason: String(reach.registrations)),
                ])
        }
        return known
    }
}

/// Counts the apps that would remove data under other policies and do not under the present ones.
struct ReachCounter: Sendable {
    private let before: TargetingSnapshot
    private let after: TargetingSnapshot

    /// What was found so far.
    struct Count: Sendable {
        fileprivate var people: Set<String> = []
        fileprivate var registrations: Set<String> = []
        /// Whether one set of policies in place of another removes data: the same pairs come again and again.
        fileprivate var known: [[PolicyReference]: Bool] = [:]
        fileprivate var changedPeople: Set<String> = []
        /// How many registrations get other rules or configurations.
        fileprivate var changedRegistrations = 0
        /// Which policy decides where several meet, the first ones found.
        fileprivate(set) var winners: [Impact.Winner] = []

        var changed: Reach { Reach(people: changedPeople.count, registrations: changedRegistrations) }
        var reach: Reach { Reach(people: people.count, registrations: registrations.count) }
    }

    init(from before: TargetingSnapshot, to after: TargetingSnapshot) {
        (self.before, self.after) = (before, after)
    }

    func count(
        _ registration: Registration, in records: some StorageReader, into found: inout Count
    ) throws(ServiceError) {
        guard registration.state == .active, !found.registrations.contains(registration.id),
            let user = try records.record(DirectoryUser.self, folded(registration.account.id.rawValue)), user.isEntitled
        else { return }
        let (app, facts) = (registration.application.bundleID, registration.filterFacts)
        let groups = try records.directGroups(ofPerson: user.id)
        let intended = before.intended(for: user, in: groups, bundleID: app, facts: facts)
        let proposed = after.intended(for: user, in: groups, bundleID: app, facts: facts)
        guard intended.references != proposed.references else { return }
        found.changedPeople.insert(user.storageID)
        found.changedRegistrations += 1
        let (was, will) = (intended.protections, proposed.protections)
        let pair = was.map(\.reference) + [PolicyReference(id: "", version: "")] + will.map(\.reference)
        guard was.map(\.reference) != will.map(\.reference) else { return }
        let removes: Bool
        if let known = found.known[pair] {
            removes = known
        } else {
            let old = try before.effectivePolicy(of: was)?.policy.policy
            let merged = try after.effectivePolicy(of: will)?.policy
            let new = merged?.policy ?? AppProtectionPolicy()
            for conflict in merged?.conflicts ?? [] where found.winners.count < 50 {
                let winner = Impact.Winner(conflict, of: merged, now: old)
                if !found.winners.contains(winner) { found.winners.append(winner) }
            }
            removes = !PolicyDiff.addedWipes(from: old ?? AppProtectionPolicy(), to: new).isEmpty
            found.known[pair] = removes
        }
        guard removes else { return }
        found.people.insert(user.storageID)
        found.registrations.insert(registration.id)
    }
}

extension [ManagedAppPolicy] {
    /// The folded bundle ids that the policies are about, nil for every app.
    var concernedApps: Set<String>? {
        let isOfEveryApp = contains { policy in
            policy.appGroup != .selectedPublicApps
                || (policy.kind == .defaultManagedAppProtection && policy.apps.isEmpty)
        }
        return isOfEveryApp ? nil : Set(flatMap(\.apps).filter { $0.platform == .ios }.map { folded($0.value) })
    }
}
