import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import CordonServiceSQLite
import Foundation
import Logging

/// What the service costs while registrations grow: a store on disk made by a generator, every registration of the same app.
struct Growth {
    /// What one thing costs at one size, in milliseconds.
    struct Row {
        var name: String
        var time: Double
        /// Whether it goes by whom it concerns rather than by how many there are.
        var isBounded = true
    }

    /// The people whom the policy of the few reaches.
    static let targeted = 100
    /// The members of the large group, as many as there are at the most.
    static let crowd = 50_000

    let registrations: Int
    private let storage: SQLiteStorage
    private let service: ManagementService
    private let tenant = ServiceProcess.tenant
    private let owner = Administrator(tenant: ServiceProcess.tenant, id: "owner", name: "Owner", roles: [.owner])
    private let key: SoftwareSigningKey

    /// Opens the service over a store with so many registrations, made where it is not there yet.
    init(registrations: Int, in folder: URL) async throws {
        self.registrations = registrations
        let folder = folder.appending(path: "growth-\(registrations)")
        let file = folder.appending(path: "service.sqlite")
        let isNew = !FileManager.default.fileExists(atPath: file.path)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // Kept with the store, so that a later run is the same devices.
        let keyFile = folder.appending(path: "device.key")
        if isNew { try SoftwareSigningKey().rawRepresentation.write(to: keyFile) }
        key = try SoftwareSigningKey(rawRepresentation: Data(contentsOf: keyFile))
        storage = try SQLiteStorage(file: file)
        var configuration = ServiceConfiguration()
        configuration.registrationLifetime = .seconds(400 * 86_400)
        service = ManagementService(
            storage: storage, keyStore: try FileServiceKeyStore(folder: folder.appending(path: "keys")),
            configuration: configuration,
            logger: Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() })
        try await service.open(tenant)
        if isNew { try await fill() }
    }

    /// Everything, one after the other.
    func measure() async throws -> [Row] {
        let few = try await policy("few", to: .group("few"))
        let everybody = try await policy("everybody", to: .allLicensedUsers)
        try await service.finishAnnouncing(of: tenant)
        var rows: [Row] = []
        rows.append(
            Row(
                name: "publish to 100, the change",
                time: try await median(9) { run in
                    try await publish(few, run)
                } between: {
                    try await service.finishAnnouncing(of: tenant)
                }))
        rows.append(
            Row(
                name: "publish to 100, all told",
                time: try await median(5) { run in
                    try await publish(few, run)
                    try await service.finishAnnouncing(of: tenant)
                }))
        rows.append(
            Row(
                name: "one member into a group of \(min(Self.crowd, registrations))",
                time: try await median(9) { run in
                    try await service.provisioning.changeMembers(
                        ofGroup: "crowd", adding: [.user("new-\(run)")], removing: [], as: owner)
                }))
        rows.append(
            Row(
                name: "an empty group",
                time: try await median(9) { run in
                    try await service.provisioning.saveGroup(
                        DirectoryGroup(id: "empty-\(run)-\(UUID().uuidString)", displayName: "E"), as: owner)
                }))
        rows.append(
            Row(
                name: "page of 100 registrations in the middle",
                time: try await median(9) { _ in
                    _ = try await service.administration.registrations(
                        .init(), after: Self.id(registrations / 2), limit: 100, as: owner)
                }))
        rows.append(
            Row(
                name: "page of 100 people in the middle",
                time: try await median(9) { _ in
                    _ = try await service.administration.users(
                        after: Self.person(registrations / 2), limit: 100, as: owner)
                }))
        rows.append(
            Row(
                name: "settings for everybody",
                time: try await median(9) { run in
                    var settings = try await service.administration.serviceSettings(as: owner)
                    settings.keySetMaxAgeSeconds = 120 + run
                    try await service.administration.setServiceSettings(settings, as: owner)
                }))
        rows.append(
            Row(
                name: "a person's sign-out",
                time: try await median(9) { run in
                    _ = try await service.administration.revokeSessions(ofUser: Self.person(run), as: owner)
                }))
        rows.append(
            Row(name: "maintenance, nothing due", time: try await median(5) { _ in try await maintain() }))
        rows.append(
            Row(
                name: "late apps (drift report)",
                time: try await median(3) { _ in _ = try await service.administration.drift(as: owner) },
                isBounded: false))
        rows.append(
            Row(
                name: "summary",
                time: try await median(3) { _ in _ = try await service.administration.protectionSummary(as: owner) },
                isBounded: false))
        rows += try await besides(everybody)
        return rows
    }

    /// Check-ins alone, and while everybody is being told of a change.
    private func besides(_ everybody: ManagedAppPolicy) async throws -> [Row] {
        let alone = try await checkIns(400)
        try await publish(everybody, 1)
        let beside = try await checkIns(400)
        let change = try await median(3) { run in try await publish(everybody, run) }
        return [
            Row(name: "check-in alone, p50", time: alone[alone.count / 2]),
            Row(name: "check-in alone, p99", time: alone[alone.count * 99 / 100]),
            Row(name: "check-in beside a change for everybody, p99", time: beside[beside.count * 99 / 100]),
            Row(name: "change for everybody, the change", time: change),
        ]
    }

    private func maintain() async throws { try await service.performMaintenance(of: tenant) }

    private func publish(_ policy: ManagedAppPolicy, _ run: Int) async throws {
        _ = try await service.administration.updatePolicy(
            policy.id, changes: ["minimumPinLength": .integer(Int64(4 + run % 8))], ifVersion: nil, as: owner)
    }

    /// Times of check-ins, each of another app, that take new rules or are told that theirs are the newest; sorted.
    private func checkIns(_ count: Int) async throws -> [Double] {
        var times: [Double] = []
        for run in 0..<count {
            let number = run * 7 % registrations
            let began = ContinuousClock.now
            _ = try await service.devices.checkIn(
                CheckInRequest(
                    appliedSequence: 0, appliedVersion: nil, appliedDigest: nil, application: Self.application,
                    device: Self.device(number), health: [], clientTime: Date(), nonce: "n"),
                registration: Self.id(number),
                by: DeviceCaller(account: Self.account(number, of: tenant), key: key.publicKey))
            times.append(began.duration(to: .now) / .milliseconds(1))
        }
        return times.sorted()
    }

    private func median(
        _ runs: Int, _ body: (Int) async throws -> Void, between: () async throws -> Void = {}
    ) async throws -> Double {
        var times: [Double] = []
        for run in 0..<runs {
            let began = ContinuousClock.now
            try await body(run)
            times.append(began.duration(to: .now) / .milliseconds(1))
            try await between()
        }
        return times.sorted()[runs / 2]
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

    /// Writes people, registrations and groups, some thousands in each transaction.
    private func fill() async throws {
        let key = key.publicKey
        let tenant = tenant
        let now = Date()
        for start in stride(from: 0, to: registrations, by: 5_000) {
            let end = min(start + 5_000, registrations)
            try await storage.write(tenant) { transaction in
                for number in start..<end {
                    let account = Self.account(number, of: tenant)
                    try transaction.save(
                        DirectoryUser(
                            id: account.id.rawValue, userPrincipalName: account.userPrincipalName, displayName: "Person"
                        ))
                    try transaction.save(
                        Registration(
                            id: Self.id(number), account: account, key: key, source: .loginAndEnroll, created: now,
                            application: Self.application, device: Self.device(number)))
                    if number < Self.crowd {
                        try transaction.save(GroupMembership(.user(account.id.rawValue), inGroup: "crowd"))
                    }
                    if number < Self.targeted {
                        try transaction.save(GroupMembership(.user(account.id.rawValue), inGroup: "few"))
                    }
                }
            }
        }
        try await storage.write(tenant) { transaction in
            try transaction.save(GroupEntry(id: "crowd", displayName: "Crowd"))
            try transaction.save(GroupEntry(id: "few", displayName: "Few"))
        }
    }

    private static let application = ApplicationFacts(
        bundleID: ServiceProcess.bundleID, version: "1", sdkVersion: "1")

    private static func device(_ number: Int) -> DeviceDescription {
        DeviceDescription(tag: "t-\(number)", osVersion: "18", model: "m")
    }

    private static func account(_ number: Int, of tenant: TenantID) -> ManagedAccount {
        ManagedAccount(
            id: AccountID(person(number)), tenant: tenant, userPrincipalName: "\(person(number))@contoso.example")
    }

    private static func person(_ number: Int) -> String { String(format: "p-%08d", number) }

    private static func id(_ number: Int) -> String { String(format: "r-%08d", number) }

    /// Prints every size beside the one before it.
    static func measure(upTo most: Int, in folder: URL) async throws {
        var tables: [(registrations: Int, rows: [Row])] = []
        for count in [1_000, 10_000, 100_000, 1_000_000] where count <= most {
            let growth = try await Growth(registrations: count, in: folder)
            tables.append((count, try await growth.measure()))
            try growth.storage.close()
        }
        print("\ngrowth, milliseconds (SQLite, durable; every registration of one app)")
        let sizes = tables.map { String(format: "%11d", $0.registrations) }.joined()
        print(String(repeating: " ", count: 46) + sizes + "     growth")
        for index in tables.first?.rows.indices ?? 0..<0 {
            let times = tables.map { $0.rows[index].time }
            let row = tables[0].rows[index]
            let last = times.count < 2 ? 1 : times[times.count - 1] / max(times[max(0, times.count - 3)], 0.001)
            print(
                row.name.padding(toLength: 46, withPad: " ", startingAt: 0)
                    + times.map { String(format: "%11.2f", $0) }.joined() + String(format: "%11.2f", last)
                    + (row.isBounded ? "" : "  goes by those concerned"))
        }
    }
}
