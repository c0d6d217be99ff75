internal import CordonIdentity
internal import CordonPolicy
internal import CordonProtocol
internal import Foundation

extension StoredManagementService {
    /// The apps that have other rules in force than they should, as ``ReportAdministration`` says.
    public func drift(as administrator: Administrator) async throws(ServiceError) -> [DriftedApp] {
        try require(.read, of: administrator)
        let now = self.now
        return try await storage.read(administrator.tenant) { [self] records throws(ServiceError) in
            let visible = Set(
                try records.records(ManagedAppPolicy.self).filter(administrator.sees).map(\.id))
            return try driftedApps(of: administrator.tenant, in: records, at: now) { visible.contains($0.id) }
                .sorted { ($0.since, $0.registrationID) < ($1.since, $1.registrationID) }
        }
    }

    /// The apps whose rules differ from what they should be, among policies that count; somebody whom app protection
    /// serves no longer gets no rules, so that nothing of theirs is under way.
    func driftedApps(
        of tenant: TenantID, in records: some StorageReader, at now: Date, where counts: (PolicyReference) -> Bool
    ) throws(ServiceError) -> [DriftedApp] {
        let snapshot = try targeting.snapshot(of: tenant, in: records)
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

    /// The figures of the whole organisation.
    public func protectionSummary(as administrator: Administrator) async throws(ServiceError) -> ProtectionSummary {
        try require(.read, of: administrator)
        return try await storage.read(administrator.tenant) { [self] records throws(ServiceError) in
            let snapshot = try targeting.snapshot(of: administrator.tenant, in: records)
            let users = try records.records(DirectoryUser.self)
            let statuses = try records.statuses(of: users, seenBy: administrator)
            return ProtectionSummary(
                assigned: users.filter { snapshot.assigns($0, where: administrator.sees) }, statuses: statuses,
                blocked: Set(try records.records(UserBlock.self).map(\.storageID)))
        }
    }

    /// The apps whose device found something wrong with itself, longest first.
    public func flaggedApps(as administrator: Administrator) async throws(ServiceError) -> [FlaggedApp] {
        try require(.read, of: administrator)
        return try await storage.read(administrator.tenant) { records throws(ServiceError) in
            try records.statuses(of: try records.records(DirectoryUser.self), seenBy: administrator)
                .filter { !$0.flags.isEmpty }.map(FlaggedApp.init)
                .sorted { ($0.since, $0.registrationID) < ($1.since, $1.registrationID) }
        }
    }

    /// How a person's apps stand.
    public func appStatuses(
        ofUser id: String, as administrator: Administrator
    ) async throws(ServiceError) -> [PersonAppStatus] {
        try require(.read, of: administrator)
        return try await storage.read(administrator.tenant) { [self] records throws(ServiceError) in
            let user = try records.user(id)
            let snapshot = try targeting.snapshot(of: administrator.tenant, in: records)
            let statuses = Dictionary(
                grouping: try records.statuses(of: [user], seenBy: administrator, where: (.user, user.storageID))
            ) { folded($0.registration.application.bundleID) }
            return Set(statuses.keys).union(snapshot.listedApps).sorted().compactMap { app in
                let assigned = snapshot.intended(for: user, bundleID: app, facts: nil).protections
                    .filter(administrator.sees)
                guard !assigned.isEmpty || statuses[app] != nil else { return nil }
                return PersonAppStatus(app, assigned: Set(assigned.map(\.id)), statuses: statuses[app] ?? [])
            }
        }
    }

    /// The wipes and commands that are under way for a person's apps.
    public func pendingWork(
        ofUser id: String, as administrator: Administrator
    ) async throws(ServiceError) -> (wipes: [WipeOperation], commands: [IssuedCommand]) {
        try require(.read, of: administrator)
        return try await storage.read(administrator.tenant) { records throws(ServiceError) in
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
}

extension StorageReader {
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
