import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import CordonServiceSQLite
import CordonTestSupport
import Foundation
import Logging
import Testing

/// What was acknowledged is there after SIGKILL, at any moment (reliability R7).
@Suite(.tags(.machineAlone)) struct DurabilityTests {
    private static let tenant = TenantID("contoso.example")
    private static let victimVariable = "CORDON_STORAGE_VICTIM"

    /// Runs only as the child process of the test below: counts up and says so after each acknowledged write.
    @Test(.enabled(if: ProcessInfo.processInfo.environment[victimVariable] != nil, "runs only as a child process"))
    func `the victim writes until it is killed`() async throws {
        let folder = URL(fileURLWithPath: ProcessInfo.processInfo.environment[Self.victimVariable] ?? "")
        let storage = try SQLiteStorage(file: folder.appending(path: "service.sqlite"))
        let log = open(folder.appending(path: "acknowledged").path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        while true {
            let number = try await storage.write(Self.tenant) { transaction in
                var settings = try transaction.settings()
                settings.targetingRevision += 1
                try transaction.save(settings)
                try transaction.save(
                    DirectoryUser(
                        id: "oid-\(settings.targetingRevision)",
                        userPrincipalName: "\(settings.targetingRevision)@contoso.example", displayName: "x"))
                try transaction.append(
                    AuditRecord(
                        after: try transaction.lastAuditRecord(), tenant: Self.tenant, time: 1,
                        actor: .init(.service, id: "victim"), action: "count", target: "count"))
                return settings.targetingRevision
            }
            let line = Array("\(number)\n".utf8)
            guard write(log, line, line.count) == line.count else { return }
        }
    }

    @Test(.enabled(if: Program.canRunTests, "needs /proc"))
    func `a store killed in the middle of writing has everything it acknowledged, and all of it or none`()
        async throws
    {
        let rounds = ProcessInfo.processInfo.environment["CORDON_DEEP"] == "1" ? 200 : 5
        try await withStoreFile { file in
            let folder = file.deletingLastPathComponent()
            let acknowledged = folder.appending(path: "acknowledged")
            for round in 1...rounds {
                let before = lastLine(of: acknowledged)
                let victim = try Program.startTest(
                    "the victim writes", environment: [Self.victimVariable: folder.path])
                let deadline = ContinuousClock.now + .seconds(120)
                // A different number of writes each round, so that kills fall on different steps.
                while lastLine(of: acknowledged) < before + Int64(3 + round * 7 % 11), .now < deadline {
                    try await Task.sleep(for: .milliseconds(1))
                }
                kill(victim.processIdentifier, SIGKILL)
                victim.waitUntilExit()
                let told = lastLine(of: acknowledged)
                #expect(told > before, "the victim wrote nothing in round \(round)")
                let storage = try SQLiteStorage(file: file)
                let (revision, users, records) = try await storage.read(Self.tenant) { records in
                    (
                        try records.settings().targetingRevision, try records.records(DirectoryUser.self).count,
                        try records.auditRecords(AuditQuery(limit: .max))
                    )
                }
                #expect(revision == told || revision == told + 1, "acknowledged \(told), found \(revision)")
                #expect(Int64(users) == revision && Int64(records.count) == revision)
                var last: AuditRecord?
                for record in records {
                    #expect(record.follows(last))
                    last = record
                }
                try storage.close()
            }
        }
    }

    private func lastLine(of file: URL) -> Int64 {
        guard let bytes = FileManager.default.contents(atPath: file.path) else { return 0 }
        // The last line may be cut by the kill; what comes before the last line feed is whole.
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        return lines.dropLast().last.flatMap { Int64($0) } ?? 0
    }

    @Test func `a service goes on after a restart where it was`() async throws {
        // SRV-CI-085
        try await withStoreFile { file in
            let keys = try FileServiceKeyStore(folder: file.deletingLastPathComponent().appending(path: "keys"))
            let owner = Administrator(tenant: Self.tenant, id: "owner-1", name: "Owner", roles: [.owner])
            let account = ManagedAccount(
                id: "oid-ada", tenant: Self.tenant, userPrincipalName: "ada@contoso.example")
            let caller = DeviceCaller(account: account, key: SoftwareSigningKey().publicKey)
            var id = ""
            var sequences: [Int64] = []
            for start in 0..<3 {
                let storage = try SQLiteStorage(file: file)
                let service = ManagementService(
                    storage: storage, keyStore: keys,
                    logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
                try await service.open(Self.tenant)
                let application = ApplicationFacts(bundleID: "com.example.notes", version: "1", sdkVersion: "1")
                let device = DeviceDescription(tag: "tag", osVersion: "18", model: "m")
                let envelope: String
                if start == 0 {
                    try await service.provisioning.saveUser(
                        DirectoryUser(
                            id: "oid-ada", userPrincipalName: "ada@contoso.example", displayName: "Ada"), as: owner)
                    let policy = try await service.administration.createPolicy(
                        .iosManagedAppProtection, document: ["displayName": "P"], as: owner)
                    _ = try await service.administration.targetApps([], group: .allApps, ofPolicy: policy.id, as: owner)
                    _ = try await service.administration.assignPolicy(
                        policy.id, to: [.init(.allLicensedUsers)], as: owner)
                    let outcome = try await service.devices.register(
                        RegistrationRequest(
                            application: application, device: device, source: .appRegistered, nonce: "n"), by: caller)
                    id = outcome.result.registrationID
                    envelope = outcome.result.envelope
                } else {
                    let outcome = try await service.devices.checkIn(
                        CheckInRequest(
                            appliedSequence: 0, appliedVersion: nil, appliedDigest: nil, application: application,
                            device: device, health: [], clientTime: Date(), nonce: "n"), registration: id, by: caller)
                    envelope = try #require(outcome.response.envelope)
                }
                let set = try await service.devices.keySet(of: Self.tenant)
                sequences.append(
                    try SignedEnvelope(envelope).verified(
                        by: JSONWebKeySet(set.keys),
                        for: .init(
                            tenant: Self.tenant, registrationID: id, account: "oid-ada", bundleID: "com.example.notes")
                    ).sequence)
                try storage.close()
            }
            #expect(sequences == [1, 2, 3])
        }
    }
}
