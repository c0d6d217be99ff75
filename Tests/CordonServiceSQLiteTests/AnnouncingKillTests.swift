import CordonBase
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonServiceSQLite
import CordonTestSupport
import Foundation
import Logging
import Testing

@testable import CordonService

/// A process that is killed while it tells apps of a change leaves no app untold.
@Suite(.tags(.machineAlone)) struct AnnouncingKillTests {
    private static let tenant = TenantID("contoso.example")
    private static let victimVariable = "CORDON_ANNOUNCING_VICTIM"
    private static let writesVariable = "CORDON_ANNOUNCING_WRITES"
    private static let registrations = 400
    private static let owner = Administrator(
        tenant: tenant, id: "owner", name: "Owner", roles: [.owner], call: CallFacts(hasFreshSignIn: true))

    /// A store that kills its process within a write, after so many others.
    private final class KillingStorage: ServiceStorage {
        private let storage: SQLiteStorage
        private let left: Locked<Int>

        init(_ storage: SQLiteStorage, after writes: Int) {
            self.storage = storage
            left = Locked(writes)
        }

        func read<Result: Sendable>(
            _ tenant: TenantID, _ body: @escaping @Sendable (any StorageReader) throws -> Result
        ) async throws -> Result {
            try await storage.read(tenant, body)
        }

        func write<Result: Sendable>(
            _ tenant: TenantID, _ body: @escaping @Sendable (any StorageTransaction) throws -> Result
        ) async throws -> Result {
            let isLast = left.withLock { left in
                left -= 1
                return left < 0
            }
            return try await storage.write(tenant) { transaction in
                let result = try body(transaction)
                if isLast { kill(getpid(), SIGKILL) }
                return result
            }
        }
    }

    private static func service(over storage: any ServiceStorage, in folder: URL) async throws -> ManagementService {
        var configuration = ServiceConfiguration()
        configuration.announcementsPerSecond = .max
        let service = ManagementService(
            storage: storage, keyStore: try FileServiceKeyStore(folder: folder.appending(path: "keys")),
            configuration: configuration, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        try await service.open(tenant)
        return service
    }

    /// Runs only as the child process of the test below: changes the policy and tells of it until it kills itself.
    @Test(.enabled(if: ProcessInfo.processInfo.environment[victimVariable] != nil, "runs only as a child process"))
    func `the victim announces until it is killed`() async throws {
        let environment = ProcessInfo.processInfo.environment
        let folder = URL(fileURLWithPath: environment[Self.victimVariable] ?? "")
        let storage = KillingStorage(
            try SQLiteStorage(file: folder.appending(path: "service.sqlite")),
            after: Int(environment[Self.writesVariable] ?? "") ?? 0)
        let service = try await Self.service(over: storage, in: folder)
        let policy = try #require(
            try await service.administration.policies(of: [.iosManagedAppProtection], as: Self.owner).first)
        let isBlocked = policy.document["printBlocked"] == true
        _ = try await service.administration.updatePolicy(
            policy.id, changes: ["printBlocked": .bool(!isBlocked)], ifVersion: nil, as: Self.owner)
        try await service.finishAnnouncing(of: Self.tenant)
    }

    @Test(.enabled(if: Program.canRunTests, "needs /proc"))
    func `a process killed in the middle of announcing leaves no app that was not told, however often it is killed`()
        async throws
    {
        try await withStoreFile { file in
            let folder = file.deletingLastPathComponent()
            try await fill(file, folder)
            let first = try await announced(file)
            #expect(first.count == 1 && first.values.first == Self.registrations)
            // The change itself, and then one step of sixty-four apps after the other: there may be no later write.
            let isDeep = ProcessInfo.processInfo.environment["CORDON_DEEP"] == "1"
            for writes in isDeep ? Array(1...Self.registrations / 64) : [1, 3, 5] {
                let victim = try await Program.runTest(
                    "the victim announces",
                    environment: [Self.victimVariable: folder.path, Self.writesVariable: String(writes)])
                #expect(victim.wasSignalled && victim.status == SIGKILL, "\(victim.everything)")
            }
            // The control: some were told of the last change, others were not yet.
            let between = try await announced(file)
            #expect(between.count > 1)
            let storage = try SQLiteStorage(file: file)
            let service = try await Self.service(over: storage, in: folder)
            try await service.finishAnnouncing(of: Self.tenant)
            try storage.close()
            let last = try await announced(file)
            #expect(last.count == 1 && last.values.first == Self.registrations && last.keys != first.keys)
        }
    }

    /// How many apps were told of which rules last.
    private func announced(_ file: URL) async throws -> [String: Int] {
        let storage = try SQLiteStorage(file: file)
        let told = try await storage.read(Self.tenant) { records in
            try records.records(Registration.self).reduce(into: [String: Int]()) { told, registration in
                told[registration.announced ?? "", default: 0] += 1
            }
        }
        try storage.close()
        return told
    }

    private func fill(_ file: URL, _ folder: URL) async throws {
        let storage = try SQLiteStorage(file: file)
        let service = try await Self.service(over: storage, in: folder)
        let key = SoftwareSigningKey().publicKey
        try await storage.write(Self.tenant) { transaction in
            for number in 0..<Self.registrations {
                let account = ManagedAccount(
                    id: AccountID("p-\(number)"), tenant: Self.tenant, userPrincipalName: "p\(number)@contoso.example")
                try transaction.save(
                    DirectoryUser(
                        id: account.id.rawValue, userPrincipalName: account.userPrincipalName, displayName: "P"))
                try transaction.save(
                    Registration(
                        id: "r-\(number)", account: account, key: key, source: .appRegistered, created: Date(),
                        application: .init(bundleID: "com.example.notes", version: "1", sdkVersion: "1"),
                        device: .init(tag: "t", osVersion: "18", model: "m")))
            }
        }
        let policy = try await service.administration.createPolicy(
            .iosManagedAppProtection, document: ["displayName": "All"], as: Self.owner)
        _ = try await service.administration.targetApps(
            [.init(.ios, "com.example.notes")], group: nil, ofPolicy: policy.id, as: Self.owner)
        _ = try await service.administration.assignPolicy(policy.id, to: [.init(.allLicensedUsers)], as: Self.owner)
        try await service.finishAnnouncing(of: Self.tenant)
        try storage.close()
    }
}
