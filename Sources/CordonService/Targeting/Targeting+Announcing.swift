internal import CordonIdentity
internal import CordonPolicy
internal import CordonProtocol
internal import Foundation

extension Targeting {
    /// Makes a change to policies and notes an event for exactly those registrations whose policies it changes.
    ///
    /// Only registrations of the apps that the policies are about are looked at.
    func announceChange(
        about policies: [ManagedAppPolicy], in change: inout Change,
        _ edit: (inout Change) throws -> Void
    ) throws {
        let concernsEveryApp = policies.contains { policy in
            policy.appGroup != .selectedPublicApps
                || (policy.kind == .defaultManagedAppProtection && policy.apps.isEmpty)
        }
        let bundleIDs = Set(policies.flatMap(\.apps).filter { $0.platform == .ios }.map { folded($0.value) })
        var registrations: [Registration] = []
        if concernsEveryApp {
            registrations = try change.records(Registration.self)
        } else {
            for bundleID in bundleIDs.sorted() {
                registrations += try change.records(Registration.self, where: (.app, bundleID))
            }
        }
        let instances = try people(of: registrations, in: change)
        let before = try snapshot(of: change.tenant, in: change)
        try edit(&change)
        try raiseTargetingRevision(in: change)
        let after = try snapshot(of: change.tenant, in: change)
        for (registration, user) in instances {
            let bundleID = registration.application.bundleID
            let facts = registration.filterFacts
            let was = before.intended(for: user, bundleID: bundleID, facts: facts).references
            let intended = after.intended(for: user, bundleID: bundleID, facts: facts)
            guard was != intended.references else { continue }
            try change.note(.policyChanged, for: registration.id)
            try noteDrift(
                of: registration, isInForce: registration.applied == intended.all.map(\.reference), in: change)
        }
    }

    /// Makes a change to groups or people and notes an event for the registrations of those people whose policies
    /// it changes.
    func announceChange(
        toUsers userIDs: Set<String>, in change: inout Change,
        _ edit: (inout Change) throws -> Void
    ) throws {
        var registrations: [Registration] = []
        for userID in userIDs.sorted() {
            registrations += try change.records(Registration.self, where: (.user, folded(userID)))
        }
        let before = try contentVersions(of: registrations, tenant: change.tenant, in: change)
        try edit(&change)
        try raiseTargetingRevision(in: change)
        let after = try contentVersions(of: registrations, tenant: change.tenant, in: change)
        for registration in registrations where before[registration.id] != after[registration.id] {
            // One that the change itself removed is told nothing, and leaves nothing behind.
            guard let left = try change.record(Registration.self, registration.id) else { continue }
            try change.note(.policyChanged, for: registration.id)
            // Whom no rules are meant for any more is not late with them.
            if after[registration.id] != nil { try noteDrift(of: left, isInForce: false, in: change) }
        }
    }

    /// Notes since when an app may have other rules in force than it should (SRV-TG-42).
    private func noteDrift(of registration: Registration, isInForce: Bool, in change: Change) throws(ServiceError) {
        guard isInForce == (registration.driftSince != nil) else { return }
        var changed = registration
        changed.driftSince = isInForce ? nil : change.now
        try change.save(changed)
    }

    private func raiseTargetingRevision(in change: Change) throws(ServiceError) {
        var settings = try change.settings()
        settings.targetingRevision += 1
        try change.save(settings)
    }

    /// The active registrations of people whom app protection serves, with what targeting asks for.
    private func people(
        of registrations: [Registration], in records: some StorageReader
    ) throws(ServiceError) -> [(registration: Registration, user: DirectoryUser)] {
        var found: [(registration: Registration, user: DirectoryUser)] = []
        for registration in registrations where registration.state == .active {
            let id = folded(registration.account.id.rawValue)
            if let user = try records.record(DirectoryUser.self, id), user.isEntitled {
                found.append((registration, user))
            }
        }
        return found
    }

    /// What each registration should have in force, by a value that also changes with what a person is called.
    private func contentVersions(
        of registrations: [Registration], tenant: TenantID, in records: some StorageReader
    ) throws(ServiceError) -> [String: String] {
        guard !registrations.isEmpty else { return [:] }
        let snapshot = try snapshot(of: tenant, in: records)
        let settings = try records.settings()
        var versions: [String: String] = [:]
        for (registration, user) in try people(of: registrations, in: records) {
            versions[registration.id] = try EnvelopeContent(
                for: user, bundleID: registration.application.bundleID, facts: registration.filterFacts, tenant: tenant,
                snapshot: snapshot, settings: settings
            ).version
        }
        return versions
    }

    /// The apps whose rules differ from what they should be, among policies that count; somebody whom app protection
    /// serves no longer gets no rules, so that nothing of theirs is under way.
    func driftedApps(
        of tenant: TenantID, in records: some StorageReader, at now: Date, where counts: (PolicyReference) -> Bool
    ) throws(ServiceError) -> [DriftedApp] {
        let snapshot = try snapshot(of: tenant, in: records)
        var drifted: [DriftedApp] = []
        for registration in try records.records(Registration.self) where registration.state == .active {
            let id = folded(registration.account.id.rawValue)
            guard let user = try records.record(DirectoryUser.self, id), user.isEntitled else { continue }
            let intended = snapshot.intended(
                for: user, bundleID: registration.application.bundleID, facts: registration.filterFacts
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
