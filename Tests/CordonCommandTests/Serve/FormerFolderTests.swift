import ArgumentParser
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import CordonServiceSQLite
import Foundation
import Logging
import Testing

@testable import CordonCommand

/// A data folder as the version before left it: a root key and an envelope key, no audit key, no delegation, no marks.
@Suite struct FormerFolderTests {
    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    private static let tenant = TenantID("contoso")
    private static let owner = Administrator(tenant: tenant, id: "owner", name: "Owner", roles: [.owner])
    private static let application = ApplicationFacts(bundleID: "com.example.notes", version: "1")
    private static let device = DeviceDescription(tag: "tag-1", osVersion: "18", model: "iPhone15,2")

    private func open(_ folder: URL) async throws -> RunningService {
        let plan = try ServeOptions.parse([
            "--issuer", "https://login.example.test", "--tenant", Self.tenant.rawValue, "--data-directory", folder.path,
        ]).plan(environment: [:])
        return try await RunningService.open(plan, logger: Self.logger)
    }

    /// Takes away what only this version makes.
    private func age(_ folder: URL) async throws {
        let storage = try SQLiteStorage(file: folder.appending(path: "service.sqlite"))
        let kept = try await storage.write(Self.tenant) { transaction in
            let keys = try transaction.records(ServiceSigningKey.self)
            for key in keys where key.role == .audit { try transaction.remove(ServiceSigningKey.self, key.id) }
            for state in try transaction.records(KeySetState.self) {
                try transaction.remove(KeySetState.self, state.storageID)
            }
            return Set(keys.filter { $0.role != .audit }.map { $0.id + ".key" })
        }
        try storage.close()
        let keys = folder.appending(path: "keys")
        for path in try FileManager.default.subpathsOfDirectory(atPath: keys.path) where path.contains("/") {
            guard let name = path.split(separator: "/").last, !kept.contains(String(name)) else { continue }
            try FileManager.default.removeItem(at: keys.appending(path: path))
        }
        for name in [AuditMark.name, ServiceClaim.name] {
            try? FileManager.default.removeItem(at: folder.appending(path: name))
        }
        #expect(try FileManager.default.subpathsOfDirectory(atPath: keys.path).count { $0.hasSuffix(".key") } == 2)
    }

    @Test func `it opens with its root key, people, registrations and audit log, and no app enrols again`() async throws
    {
        try await withServeFolder { folder in
            let key = SoftwareSigningKey()
            let account = ManagedAccount(
                id: "oid-ada", tenant: Self.tenant, userPrincipalName: "ada@contoso.example")
            let caller = DeviceCaller(account: account, key: key.publicKey, authenticated: nil)
            let first = try await open(folder)
            let administration = first.service.administration
            try await first.service.provisioning.saveUser(
                DirectoryUser(id: "oid-ada", userPrincipalName: "ada@contoso.example", displayName: "Ada"),
                as: Self.owner)
            let policy = try await administration.createPolicy(
                .iosManagedAppProtection, document: ["displayName": "Notes"], as: Self.owner)
            _ = try await administration.targetApps(
                [MobileAppIdentifier(.ios, Self.application.bundleID)], group: nil, ofPolicy: policy.id, as: Self.owner)
            _ = try await administration.assignPolicy(
                policy.id, to: [PolicyAssignment(.allLicensedUsers)], as: Self.owner)
            let enrolled = try await first.service.devices.register(
                RegistrationRequest(
                    application: Self.application, device: Self.device, source: .appRegistered, nonce: "n"),
                by: caller
            ).result
            let pin = try await first.service.devices.discoveryFacts(of: Self.tenant).rootKeyThumbprint
            let known = try await first.service.devices.keySet(of: Self.tenant)
            await first.close(logger: Self.logger)
            try await age(folder)

            let second = try await open(folder)
            let devices = second.service.devices
            #expect(try await devices.discoveryFacts(of: Self.tenant).rootKeyThumbprint == pin)
            #expect(try await second.service.administration.user("oid-ada", as: Self.owner).displayName == "Ada")
            let envelope = SignedEnvelope(enrolled.envelope)
            let outcome = try await devices.checkIn(
                CheckInRequest(
                    appliedSequence: 1, appliedVersion: nil, appliedDigest: envelope.digest,
                    application: Self.application, device: Self.device, health: [], clientTime: Date(), nonce: "m"),
                registration: enrolled.registrationID, by: caller)
            #expect(outcome.response.statusCode == .policiesUnchanged)
            // An app of the version before takes the set by its pin: the root key itself has signed it, for the same keys.
            let set = try await devices.keySet(of: Self.tenant)
            #expect(set.delegation == nil && set.keys == known.keys)
            #expect(try set.verified(pin: pin, at: Date()).keys == known.keys)
            var verifier = AuditLogVerifier(pin: pin)
            var export = Data()
            for try await piece in try await second.service.administration.exportAudit(as: Self.owner) {
                export += piece
            }
            for line in String(decoding: export, as: UTF8.self).split(separator: "\n") { verifier.read(String(line)) }
            #expect(verifier.report().isSound, "\(verifier.report().faults)")
            await second.close(logger: Self.logger)
        }
    }
}
