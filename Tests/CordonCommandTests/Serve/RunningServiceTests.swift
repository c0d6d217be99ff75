import ArgumentParser
import CordonBase
import CordonDevelopmentProvider
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import CordonServiceHTTP
import Foundation
import Logging
import Testing

@testable import CordonCommand

@Suite struct RunningServiceTests {
    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private func plan(_ folder: URL, _ arguments: [String] = []) throws -> ServePlan {
        try ServeOptions.parse(
            ["--development", "--listen", "127.0.0.1:0", "--data-directory", folder.path] + arguments
        ).plan()
    }

    @Test func `the first start makes people, passwords and keys, and the second finds them`() async throws {
        try await withServeFolder { folder in
            let first = try await RunningService.open(try plan(folder), logger: Self.logger)
            let passwords = folder.appending(path: DevelopmentPeople.passwordsFile)
            let text = try String(contentsOf: passwords, encoding: .utf8)
            let lines = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
            #expect(
                lines.map { $0.split(separator: " ").first } == [
                    "ada@contoso.example", "worker-a@contoso.example", "worker-b@contoso.example",
                ])
            #expect(Set(lines.map { $0.split(separator: " ").last }).count == 3)
            for name in [DevelopmentPeople.passwordsFile, DevelopmentPeople.directoryFile, "identity-provider.pem"] {
                let attributes = try FileManager.default.attributesOfItem(atPath: folder.appending(path: name).path)
                #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600, "\(name)")
            }
            let address = try await answer(of: first)
            await first.close(logger: Self.logger)
            let second = try await RunningService.open(try plan(folder), logger: Self.logger)
            let again = try await answer(of: second)
            await second.close(logger: Self.logger)
            #expect(again.rootKey == address.rootKey)
            #expect(again.tenant == address.tenant)
            #expect(try String(contentsOf: passwords, encoding: .utf8) == text)
        }
    }

    @Test func `the people of the file are in the service's directory, and a restart writes nothing`() async throws {
        try await withServeFolder { folder in
            let running = try await RunningService.open(
                try plan(folder, ["--database", "memory:"]), logger: Self.logger)
            let directory = try DevelopmentDirectory.load(
                from: folder.appending(path: DevelopmentPeople.directoryFile))
            let reader = Administrator(
                tenant: TenantID(directory.tenantID), id: "test", name: "test", roles: [.owner])
            #expect(try await running.service.administration.users(as: reader).count == 3)
            #expect(
                try await running.service.administration.groups(as: reader).map(\.displayName).sorted() == [
                    "Administrators", "Field workers",
                ])
            let before = try await running.service.administration.auditRecords(.init(limit: 1000), as: reader).count
            try await DevelopmentPeople.copy(directory, to: running.service)
            #expect(
                try await running.service.administration.auditRecords(.init(limit: 1000), as: reader).count == before)
        }
    }

    @Test func `a given password is every person's, and each guess at it costs the usual`() async throws {
        try await withServeFolder { folder in
            _ = try await RunningService.open(
                try plan(folder, ["--database", "memory:", "--development-password", "correct horse"]),
                logger: Self.logger)
            let directory = try DevelopmentDirectory.load(
                from: folder.appending(path: DevelopmentPeople.directoryFile))
            #expect(directory.people.allSatisfy { $0.password.matches("correct horse") })
            #expect(directory.people.allSatisfy { $0.password.parameters == .init() })
        }
    }

    @Test func `what cannot be started says why with the documented status`() async throws {
        try await withServeFolder { folder in
            try Data().write(to: folder.appending(path: "file"))
            let cases: [([String], CordonCommand.ExitStatus)] = [
                (["--development", "--listen", "0.0.0.0:0", "--data-directory", folder.path], .refused),
                (["--development", "--data-directory", folder.appending(path: "file/below").path], .writeFailed),
                (["--development", "--data-directory", folder.appending(path: "file").path], .writeFailed),
                (["--data-directory", folder.path], .badInput),
                (
                    [
                        "--listen", "0.0.0.0:0", "--issuer", "https://login.example.test", "--tenant", "contoso",
                        "--data-directory", folder.appending(path: "clear").path,
                    ], .badInput
                ),
            ]
            for (arguments, status) in cases {
                let plan = try ServeOptions.parse(arguments).plan()
                await #expect {
                    _ = try await RunningService.open(plan, logger: Self.logger)
                } throws: {
                    ($0 as? CommandFailure)?.status == status && ($0 as? CommandFailure)?.hint != nil
                }
            }
        }
    }

    @Test func `a look at the audit log that the service's own end cuts off is told as no error`() async throws {
        try await withServeFolder { folder in
            let written = Locked<[String]>([])
            let logger = Logger(label: "test") { label in
                TextLogHandler(label: label) { line in written.withLock { $0.append(line) } }
            }
            let running = try await RunningService.open(try plan(folder), logger: Self.logger)
            await Task {
                withUnsafeCurrentTask { $0?.cancel() }
                await running.keepAuditMark(logger: logger)
            }.value
            #expect(written.withLock(\.self) == [])
            // The control: what keeps the mark from being written is told, in words.
            try FileManager.default.createDirectory(
                at: folder.appending(path: AuditMark.name), withIntermediateDirectories: false)
            await running.keepAuditMark(logger: logger)
            #expect(written.withLock(\.self).count == 1 && written.withLock { $0[0].contains("cannot be written") })
            await running.close(logger: Self.logger)
        }
    }

    @Test func `one service runs on a folder and on a store at a time`() async throws {
        try await withServeFolder { folder in
            let running = try await RunningService.open(try plan(folder), logger: Self.logger)
            let other = folder.appending(path: "other")
            let store = folder.appending(path: "service.sqlite").path
            let second = try await RunningService.open(
                try plan(other, ["--database", "sqlite:\(other.appending(path: "service.sqlite").path)"]),
                logger: Self.logger)
            await second.close(logger: Self.logger)
            for plan in [try plan(folder), try plan(folder, ["--database", "memory:"])] {
                await #expect {
                    _ = try await RunningService.open(plan, logger: Self.logger)
                } throws: { ($0 as? CommandFailure)?.status == .refused }
            }
            // By another folder, and by a link to the store.
            let copy = folder.appending(path: "copy")
            _ = try PrivateFolder(copy)
            let link = copy.appending(path: "service.sqlite")
            try FileManager.default.createSymbolicLink(
                at: link, withDestinationURL: folder.appending(path: "service.sqlite"))
            for file in [URL(fileURLWithPath: store), link] {
                #expect {
                    _ = try ServiceClaim.take(copy, database: .sqlite(file))
                } throws: { ($0 as? CommandFailure)?.status == .refused }
            }
            // The lock of the store holds where the one of the folder was removed.
            try FileManager.default.removeItem(at: folder.appending(path: ServiceClaim.name))
            #expect(throws: CommandFailure.self) {
                _ = try ServiceClaim.take(folder, database: .sqlite(URL(fileURLWithPath: store)))
            }
            await running.close(logger: Self.logger)
            // The second service on a store outside its folder.
            let third = folder.appending(path: "third")
            let shared = try plan(third, ["--database", "sqlite:\(store)", "--tenant", "x"])
            let fourth = folder.appending(path: "fourth")
            for folder in [third, fourth] { _ = try PrivateFolder(folder) }
            let claim = try ServiceClaim.take(third, database: shared.database)
            #expect(throws: CommandFailure.self) {
                _ = try ServiceClaim.take(fourth, database: shared.database)
            }
            claim.end()
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a service whose locks were removed ends by itself`() async throws {
        try await withServeFolder { folder in
            let running = try await RunningService.open(try plan(folder), logger: Self.logger)
            for name in [ServiceClaim.name, "service.sqlite.lock"] {
                try FileManager.default.removeItem(at: folder.appending(path: name))
            }
            await running.keepUp(logger: Self.logger)
            #expect(!running.claim.isCurrent)
            await running.close(logger: Self.logger)
        }
    }

    @Test func `a service starts while its directory file waits for a person, and follows it once that is released`()
        async throws
    {
        try await withServeFolder { folder in
            let file = folder.appending(path: "people.json")
            func write(_ people: [String]) throws {
                let entries = people.map { #"{"id": "\#($0)", "userPrincipalName": "\#($0)@example.test"}"# }
                try Data(#"{"people": [\#(entries.joined(separator: ","))]}"#.utf8).write(to: file)
            }
            func open() async throws -> RunningService {
                let plan = try ServeOptions.parse([
                    "--issuer", "https://login.example.test", "--tenant", "contoso", "--data-directory", folder.path,
                    "--directory", file.path,
                ]).plan(environment: ["CORDON_WIPE_BUDGET": "0"])
                return try await RunningService.open(plan, logger: Self.logger)
            }
            let tenant = TenantID("contoso")
            let owner = Administrator(tenant: tenant, id: "o", name: "o", roles: [.owner])
            try write(["a", "b", "c"])
            let first = try await open()
            let administration = first.service.administration
            let policy = try await administration.createPolicy(
                .iosManagedAppProtection, document: ["displayName": "Notes"], as: owner)
            _ = try await administration.targetApps(
                [MobileAppIdentifier(.ios, "org.example.notes")], group: nil, ofPolicy: policy.id, as: owner)
            _ = try await administration.assignPolicy(policy.id, to: [PolicyAssignment(.allLicensedUsers)], as: owner)
            for id in ["a", "b"] {
                let account = ManagedAccount(id: AccountID(id), tenant: tenant, userPrincipalName: "\(id)@example.test")
                _ = try await first.service.devices.register(
                    RegistrationRequest(
                        application: ApplicationFacts(bundleID: "org.example.notes", version: "1"),
                        device: DeviceDescription(tag: "t-\(id)", osVersion: "18", model: "iPhone15,2"),
                        source: .appRegistered, nonce: "n"),
                    by: DeviceCaller(account: account, key: SoftwareSigningKey().publicKey, authenticated: nil))
            }
            await first.close(logger: Self.logger)
            try write(["c"])
            let second = try await open()
            #expect(second.directoryProblem.withLock { $0 }?.contains("cordon serve approve") == true)
            #expect(try await second.service.administration.users(as: owner).map(\.id) == ["a", "b", "c"])
            let waiting = try await second.service.administration.approvals.changes(as: owner)
            try ApprovalFolder.approve(try #require(waiting.first?.id), in: folder)
            await second.releaseApproved(logger: Self.logger)
            try await second.followDirectory(logger: Self.logger)
            #expect(second.directoryProblem.withLock { $0 } == nil)
            #expect(try await second.service.administration.users(as: owner).map(\.id) == ["c"])
            await second.close(logger: Self.logger)
        }
    }

    @Test(arguments: [
        #"{"people": []}"#, #"{"people": ["#,
        #"{"people": [{"id": "a", "userPrincipalName": "a@example.test"}], "groups": [{"id": "g", "displayName": "G\u200B"}]}"#,
    ])
    func `a service with people starts beside an unusable directory file, and a new one does not`(text: String)
        async throws
    {
        try await withServeFolder { folder in
            let file = folder.appending(path: "people.json")
            func open(_ name: String) async throws -> RunningService {
                let plan = try ServeOptions.parse([
                    "--issuer", "https://login.example.test", "--tenant", "contoso", "--directory", file.path,
                    "--data-directory", folder.appending(path: name).path,
                ]).plan()
                return try await RunningService.open(plan, logger: Self.logger)
            }
            let usable = Data(#"{"people": [{"id": "a", "userPrincipalName": "a@example.test"}]}"#.utf8)
            try usable.write(to: file)
            let first = try await open("known")
            await first.close(logger: Self.logger)
            try Data(text.utf8).write(to: file)
            let second = try await open("known")
            #expect(second.directoryProblem.withLock { $0 } != nil)
            let owner = Administrator(tenant: TenantID("contoso"), id: "o", name: "o", roles: [.owner])
            #expect(try await second.service.administration.users(as: owner).map(\.id) == ["a"])
            try usable.write(to: file)
            try await second.followDirectory(logger: Self.logger)
            #expect(second.directoryProblem.withLock { $0 } == nil)
            await second.close(logger: Self.logger)
            // On a new one, the file names nobody without anybody being gone.
            guard text != #"{"people": []}"# else { return }
            try Data(text.utf8).write(to: file)
            await #expect { _ = try await open("new") } throws: { ($0 as? CommandFailure)?.status == .badInput }
        }
    }

    @Test func `a tenant that the store does not know is refused, and no key is made`() async throws {
        try await withServeFolder { folder in
            func plan(_ tenant: String) throws -> ServePlan {
                try ServeOptions.parse([
                    "--issuer", "https://login.example.test", "--tenant", tenant, "--data-directory", folder.path,
                ]).plan()
            }
            let running = try await RunningService.open(try plan("contoso"), logger: Self.logger)
            await running.close(logger: Self.logger)
            let keys = try FileManager.default.subpathsOfDirectory(atPath: folder.appending(path: "keys").path).sorted()
            await #expect {
                _ = try await RunningService.open(try plan("contos0"), logger: Self.logger)
            } throws: { error in
                let failure = error as? CommandFailure
                return failure?.status == .refused && failure?.message.contains("contoso") == true
            }
            #expect(
                try FileManager.default.subpathsOfDirectory(atPath: folder.appending(path: "keys").path).sorted()
                    == keys)
            let again = try await RunningService.open(try plan("contoso"), logger: Self.logger)
            await again.close(logger: Self.logger)
        }
    }

    @Test func `a stopped service is in one file, and a store without its newest records is noticed`() async throws {
        try await withServeFolder { folder in
            let store = folder.appending(path: "service.sqlite")
            let first = try await RunningService.open(try plan(folder), logger: Self.logger)
            await first.close(logger: Self.logger)
            let log = folder.appending(path: "service.sqlite-wal")
            let size = (try? FileManager.default.attributesOfItem(atPath: log.path))?[.size] as? Int ?? 0
            #expect(size == 0, "\(size) bytes are not in the store")
            let older = try Data(contentsOf: store)
            let second = try await RunningService.open(try plan(folder), logger: Self.logger)
            let directory = try DevelopmentDirectory.load(
                from: folder.appending(path: DevelopmentPeople.directoryFile))
            let owner = Administrator(tenant: TenantID(directory.tenantID), id: "o", name: "o", roles: [.owner])
            try await second.service.provisioning.saveUser(
                DirectoryUser(id: "new", userPrincipalName: "new@contoso.example", displayName: "New"), as: owner)
            await second.close(logger: Self.logger)
            let newest = try Data(contentsOf: store)
            for lost in [older, Data()] {
                try lost.write(to: store)
                await #expect {
                    _ = try await RunningService.open(try plan(folder), logger: Self.logger)
                } throws: { ($0 as? CommandFailure)?.message.contains("audit log") == true }
            }
            try newest.write(to: store)
            let third = try await RunningService.open(try plan(folder), logger: Self.logger)
            #expect(try await third.service.administration.user("new", as: owner).displayName == "New")
            await third.close(logger: Self.logger)
            // An administrator who accepts the loss says so.
            try older.write(to: store)
            try FileManager.default.removeItem(at: folder.appending(path: AuditMark.name))
            let fourth = try await RunningService.open(try plan(folder), logger: Self.logger)
            await fourth.close(logger: Self.logger)
        }
    }

    @Test func `a damaged directory file is an input error and stays as it is`() async throws {
        try await withServeFolder { folder in
            let file = folder.appending(path: DevelopmentPeople.directoryFile)
            try Data("{".utf8).write(to: file)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
            let plan = try plan(folder)
            await #expect {
                _ = try await RunningService.open(plan, logger: Self.logger)
            } throws: {
                ($0 as? CommandFailure)?.status == .badInput
            }
            #expect(try Data(contentsOf: file) == Data("{".utf8))
        }
    }

    /// What the service reports when it answers; it is stopped then.
    private func answer(of running: RunningService) async throws -> ServeReport {
        let (reports, source) = AsyncStream.makeStream(of: ServeReport.self)
        try await running.server.run { address in
            source.yield(running.report(at: address))
            source.finish()
            await running.server.shutDown()
        }
        var found: ServeReport?
        for await report in reports { found = report }
        return try #require(found)
    }
}
