import CordonBase
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import CordonServiceSQLite
import Foundation
import Logging

/// What the service costs while registrations grow: a store on disk made by a generator, every registration of the same app.
struct Growth {
    /// The people whom the policy of the few reaches.
    static let targeted = 100
    /// The members of the large group, which a policy is assigned to.
    static let crowd = 50_000

    private let registrations: Int
    private let storage: SQLiteStorage
    private let service: ManagementService
    private let key: SoftwareSigningKey
    private let owner = Administrator(tenant: ServiceProcess.tenant, id: "owner", name: "Owner", roles: [.owner])
    private var tenant: TenantID { ServiceProcess.tenant }

    /// Measures each size in a folder, made where it is not there yet, and prints the table of every size measured in it.
    ///
    /// - Returns: What misses its bound.
    static func measure(_ sizes: [Int], in folder: URL) async throws -> [String] {
        var table = try GrowthTable(of: folder)
        for size in sizes {
            let store = GrowthStore(registrations: size, in: folder)
            try await store.fill()
            try await store.forgetAnnouncements()
            var times: [Double] = []
            for _ in 0..<3 {
                let began = ContinuousClock.now
                let growth = try await Growth(over: store)
                times.append(began.duration(to: .now) / .milliseconds(1))
                try growth.storage.close()
            }
            table.begin(size)
            try table.add(GrowthTable.Row(name: "start", time: times.sorted()[1], bound: .start), of: size)
            let growth = try await Growth(over: store)
            // Kept one by one, so that a run that is ended leaves what it has measured.
            try await growth.measure { row in try table.add(row, of: size) }
            try growth.storage.close()
        }
        table.print()
        return table.misses
    }

    /// Opens the service over a store.
    private init(over store: GrowthStore) async throws {
        registrations = store.registrations
        key = try store.deviceKey()
        storage = try SQLiteStorage(file: store.file)
        var configuration = ServiceConfiguration()
        configuration.registrationLifetime = .seconds(4_000 * 86_400)
        service = ManagementService(
            storage: storage, keyStore: try FileServiceKeyStore(folder: store.folder.appending(path: "keys")),
            configuration: configuration,
            logger: Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() })
        try await service.open(tenant)
    }

    /// Something that administration does.
    private struct Work: Sendable {
        var name: String
        var runs = 9
        /// How its time may grow.
        var bound = GrowthTable.Bound.growth
        /// How much longer the slowest check-ins beside it may take than those alone.
        var boundBeside = GrowthTable.Bound.beside
        /// What is asked for while check-ins are measured.
        var body: @Sendable (_ run: Int) async throws -> Void
        /// What is waited for before the next run.
        var between: @Sendable () async throws -> Void = {}
    }

    /// Everything, one after the other.
    private func measure(_ add: (GrowthTable.Row) throws -> Void) async throws {
        let few = try await policy("few", to: .group("few"))
        let everybody = try await policy("everybody", to: .allLicensedUsers)
        say("the look through the file")
        await storage.finishCheck()
        try await service.performMaintenance(of: tenant)
        // The copied rows are counted as one; a check puts that right, as it would a store of a version before.
        say("counting")
        _ = try await service.checkCounts(of: tenant)
        try await service.finishAnnouncing(of: tenant)
        say("check-ins")
        _ = try await checkIns(200)
        let alone = try await checkIns(1_000)
        try add(GrowthTable.Row(name: "check-in, p50", time: alone[alone.count / 2], bound: .growth))
        try add(GrowthTable.Row(name: "check-in, p99", time: Self.slow(alone), bound: .none))
        for work in works(few) {
            say(work.name)
            try add(GrowthTable.Row(name: work.name, time: try await median(work), bound: work.bound))
            try await addBeside(work, add)
        }
        say("a change for all")
        let change = Work(name: "publish to all, the change", runs: 3) { try await publish(everybody, $0) }
        try add(GrowthTable.Row(name: change.name, time: try await median(change), bound: .growth))
        let beside = try await checkIns(1_000)
        try add(
            GrowthTable.Row(
                name: "check-in p99 beside: telling all apps", time: Self.slow(beside), bound: .beside,
                alone: Self.slow(alone)))
    }

    /// Check-ins beside some work, and alone in turn with them, so that what else the machine does meets both.
    private func addBeside(_ work: Work, _ add: (GrowthTable.Row) throws -> Void) async throws {
        var (alone, beside): ([Double], [Double]) = ([], [])
        for _ in 0..<3 {
            alone += try await checkIns(200)
            beside += try await checkIns(200, beside: work)
            try await service.finishAnnouncing(of: tenant)
        }
        try add(
            GrowthTable.Row(
                name: "check-in p99 beside: \(work.name)", time: Self.slow(beside), bound: work.boundBeside,
                alone: Self.slow(alone)))
    }

    /// The time that one in a hundred takes, or more.
    private static func slow(_ times: [Double]) -> Double {
        let times = times.sorted()
        return times[times.count * 99 / 100]
    }

    /// What administration does, with a policy that reaches few.
    private func works(_ few: ManagedAppPolicy) -> [Work] {
        let (service, tenant, owner, registrations) = (service, tenant, owner, registrations)
        return [
            Work(name: "publish to \(Self.targeted), the change") { run in
                try await publish(few, run)
            } between: {
                try await service.finishAnnouncing(of: tenant)
            },
            Work(name: "publish to \(Self.targeted), all told", runs: 5) { run in
                try await publish(few, run)
                try await service.finishAnnouncing(of: tenant)
            },
            Work(name: "one member into or out of a group of \(Self.crowd)", runs: 10) { run in
                // A person with a registration and outside the group; of each pair of runs the second takes them out again, so that
                // a later run finds the same store.
                let person = DirectoryGroup.Member.user(GrowthStore.person(run / 2 % (registrations / 2)))
                let joins = run.isMultiple(of: 2)
                try await service.provisioning.changeMembers(
                    ofGroup: "crowd", adding: joins ? [person] : [], removing: joins ? [] : [person], as: owner)
            },
            Work(name: "an empty group") { run in
                try await service.provisioning.saveGroup(
                    DirectoryGroup(id: "empty-\(run)-\(UUID().uuidString)", displayName: "E"), as: owner)
            },
            Work(name: "page of 100 registrations in the middle") { _ in
                _ = try await service.administration.registrations(
                    .init(), after: GrowthStore.id(registrations / 2), limit: 100, as: owner)
            },
            Work(name: "page of 100 people in the middle") { _ in
                _ = try await service.administration.users(
                    after: GrowthStore.person(registrations / 2), limit: 100, as: owner)
            },
            Work(name: "page of 100 people by display name in the middle") { _ in
                _ = try await service.administration.users(
                    shownAfter: ("Person", GrowthStore.person(registrations / 2)), limit: 100, as: owner)
            },
            Work(name: "page of 100 wipes in the middle") { _ in
                _ = try await service.administration.operations(
                    ofUser: nil, after: GrowthStore.wipe(registrations / 20), limit: 100, as: owner)
            },
            Work(name: "settings for all") { run in
                var settings = try await service.administration.serviceSettings(as: owner)
                settings.keySetMaxAgeSeconds = 120 + run % 400
                try await service.administration.setServiceSettings(settings, as: owner)
            },
            Work(name: "a person's sign-out") { run in
                _ = try await service.administration.revokeSessions(
                    ofUser: GrowthStore.person(run % registrations), as: owner)
            },
            Work(name: "maintenance, nothing due", runs: 5) { _ in try await service.performMaintenance(of: tenant) },
            Work(name: "late apps (drift report)", runs: 3) { _ in
                _ = try await service.administration.drift(as: owner)
            },
            Work(name: "control: a processor kept busy, no store", bound: .none, boundBeside: .none) { _ in
                await Self.compute()
            },
            Work(name: "summary") { _ in _ = try await service.administration.protectionSummary(as: owner) },
            Work(name: "what needs looking at") { _ in _ = try await service.administration.attention(as: owner) },
        ]
    }

    /// About what a report of 1,000 late apps takes.
    private static let computing = Duration.milliseconds(30)

    /// Keeps one processor busy on a thread of its own, as a report does, and touches nothing that check-ins need: what it adds to
    /// their times is what they wait for a processor.
    private static func compute() async {
        await withCheckedContinuation { continuation in
            DispatchQueue(label: "cordon.benchmark.control").async {
                let end = ContinuousClock.now.advanced(by: computing)
                while ContinuousClock.now < end {}
                continuation.resume()
            }
        }
    }

    private func publish(_ policy: ManagedAppPolicy, _ run: Int) async throws {
        _ = try await service.administration.updatePolicy(
            policy.id, changes: ["minimumPinLength": .integer(Int64(4 + run % 8))], ifVersion: nil, as: owner)
    }

    /// Times of check-ins, each of another app, that take new rules or are told that theirs are the newest; fewer where they
    /// take long.
    ///
    /// - Parameter work: What is asked for meanwhile again and again, with a twentieth of a second between.
    private func checkIns(_ count: Int, beside work: Work? = nil) async throws -> [Double] {
        let offset = Self.asked.withLock { asked in
            defer { asked += count }
            return asked
        }
        // Asked to end by a flag: a task that is cancelled gives up the call that it is in.
        let isOver = Locked(false)
        let asking = work.map { work in
            Task {
                var run = 1_000
                while !isOver.withLock({ $0 }) {
                    try await work.body(run)
                    run += 1
                    try await Task.sleep(for: .milliseconds(50))
                }
                // What comes in pairs ends as it began.
                if !run.isMultiple(of: 2) { try await work.body(run) }
            }
        }
        var times: [Double] = []
        let start = ContinuousClock.now
        for run in 0..<count where start.duration(to: .now) < .seconds(30) {
            // Spread over all of the store, as devices are.
            let number = (offset + run) * 7_919 % registrations
            let began = ContinuousClock.now
            try await checkIn(number, applied: nil)
            times.append(began.duration(to: .now) / .milliseconds(1))
        }
        isOver.withLock { $0 = true }
        try await asking?.value
        return times.sorted()
    }

    /// How many check-ins there were until now.
    private static let asked = Locked(0)

    /// One check-in of an app that has an envelope in force, or none.
    private func checkIn(_ number: Int, applied: Registration.IssuedEnvelope?) async throws {
        _ = try await service.devices.checkIn(
            CheckInRequest(
                appliedSequence: applied?.sequence ?? 0, appliedVersion: applied?.version,
                appliedDigest: applied?.digest, application: GrowthStore.application,
                device: GrowthStore.device(number), health: [], clientTime: Date(), nonce: "n"),
            registration: GrowthStore.id(number),
            by: DeviceCaller(account: GrowthStore.account(number), key: key.publicKey))
    }

    /// Makes the policies and one of each kind of row, with the number in their ids.
    static func makePattern(_ number: Int, in store: GrowthStore) async throws {
        let growth = try await Growth(over: store)
        let (account, key) = (GrowthStore.account(number), growth.key.publicKey)
        try await growth.storage.write(growth.tenant) { transaction in
            try transaction.save(GroupEntry(id: "crowd", displayName: "Crowd"))
            try transaction.save(GroupEntry(id: "few", displayName: "Few"))
            try transaction.save(
                DirectoryUser(
                    id: account.id.rawValue, userPrincipalName: account.userPrincipalName, displayName: "Person"))
            try transaction.save(
                Registration(
                    id: GrowthStore.id(number), account: account, key: key, source: .loginAndEnroll, created: Date(),
                    application: GrowthStore.application, device: GrowthStore.device(number)))
            try transaction.save(
                WipeOperation(
                    id: GrowthStore.wipe(number), registrationID: GrowthStore.id(number), account: account.id,
                    bundleID: ServiceProcess.bundleID, reason: .device, requestedBy: "owner", requested: Date(),
                    notAfter: Date().addingTimeInterval(86_400), version: "v", state: .succeeded))
        }
        _ = try await growth.policy("few", to: .group("few"))
        _ = try await growth.policy("crowd", to: .group("crowd"))
        _ = try await growth.policy("everybody", to: .allLicensedUsers)
        try await growth.service.finishAnnouncing(of: growth.tenant)
        try await growth.checkIn(number, applied: nil)
        let registered = try await growth.service.administration.registration(
            GrowthStore.id(number), as: growth.owner)
        try await growth.checkIn(number, applied: registered.lastEnvelope)
        try await growth.storage.write(growth.tenant) { transaction in
            try transaction.save(GroupMembership(.user(account.id.rawValue), inGroup: "few"))
            try transaction.save(GroupMembership(.user(account.id.rawValue), inGroup: "crowd"))
        }
        try growth.storage.close()
    }

    /// The middle of some runs; fewer where they take long.
    private func median(_ work: Work) async throws -> Double {
        var times: [Double] = []
        let start = ContinuousClock.now
        for run in 0..<work.runs {
            let began = ContinuousClock.now
            try await work.body(run)
            times.append(began.duration(to: .now) / .milliseconds(1))
            try await work.between()
            guard start.duration(to: .now) < .seconds(20) else { break }
        }
        return times.sorted()[times.count / 2]
    }

    private func policy(_ name: String, to target: PolicyAssignment.Target) async throws -> ManagedAppPolicy {
        let known = try await service.administration.policies(of: [.iosManagedAppProtection], as: owner)
        if let policy = known.first(where: { $0.document["displayName"]?.string == name }) { return policy }
        let policy = try await service.administration.createPolicy(
            .iosManagedAppProtection, document: ["displayName": .string(name)], as: owner)
        _ = try await service.administration.targetApps(
            [.init(.ios, ServiceProcess.bundleID)], group: nil, ofPolicy: policy.id, as: owner)
        return try await service.administration.assignPolicy(policy.id, to: [.init(target)], as: owner)
    }

    private func say(_ what: String) {
        FileHandle.standardError.write(Data("growth \(registrations): \(what)\n".utf8))
    }
}
