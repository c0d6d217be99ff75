import CordonBase
import CordonIdentity
import CordonPolicy
import CordonProtocol
import Foundation
import Logging
import Testing

@testable import Cordon

/// SDK-AA-04, SDK-AA-06: what happens to accounts that the administrator's list leaves out.
@Suite(.timeLimit(.minutes(10))) struct AllowedAccountsTests {
    @Test func `the gate of an account that leaves the list closes, and opens again once it is back`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.opened()
        await house.device.service.set { $0.change = { $0.allowedAccounts = [] } }
        await protection.checkIn(house.account)
        let refused = await protection.resume(house.account)
        #expect(refused.result == .blocked && refused.reasons.first?.rule == Rule.launchAccount.rawValue)
        #expect(!protection.gate.isOpen(for: house.account))
        await house.device.service.set { $0.change = { $0.allowedAccounts = nil } }
        await protection.checkIn(house.account)
        #expect(await protection.resume(house.account).isOpen)
    }

    @Test func `an account that could not be enrolled yet is named too when the list leaves it out`() async throws {
        let device = try Device()
        let two = TwoAccounts(device)
        try await two.first.publish([:])
        await two.second.set { $0.problem = ProblemDetails(title: "busy", status: 503, code: .timedOut) }
        let protection = try await device.start { $0.transport = two }
        #expect(await protection.enroll(two.first.account) == .newPolicies)
        #expect(await protection.enroll(two.second.account) == .timedOut)
        let events = EventCatch(protection)
        await two.first.set {
            $0.change = { $0.allowedAccounts = [.init(id: "oid-a", userPrincipalName: "worker-a@contoso.example")] }
        }
        await protection.checkIn("oid-a")
        #expect(await events.has(.accountNotAllowed("oid-b")))
        #expect(await events.count { $0 == .accountNotAllowed("oid-a") } == 0)
    }

    @Test func `the log says which account was not on the list, by its id alone`() async throws {
        let device = try Device()
        let log = try ProtectionLog(dataDirectory: device.folder.appending(path: "data"))
        await device.service.set {
            $0.change = { $0.allowedAccounts = [.init(id: "oid-a", userPrincipalName: "worker-a@contoso.example")] }
        }
        try await device.publish([:])
        let protection = try await device.start { configuration in
            configuration.logger = Logger(label: "cordon") { log.handler($0) }
        }
        await protection.enroll(device.account)
        let other = ManagedAccount(
            id: "oid-b", tenant: device.account.tenant, userPrincipalName: "worker-b@contoso.example")
        #expect(await protection.enroll(other) == .enrollmentRefused)
        let lines = try log.files.map { try String(contentsOf: $0, encoding: .utf8) }.joined().split(separator: "\n")
        let found = lines.filter { $0.contains("not on the administrator's list") }
        #expect(found.count == 1 && found.allSatisfy { $0.contains("account=oid-b") })
        #expect(!lines.contains { $0.contains("worker-b") })
    }

    enum Loss: CaseIterable { case spoiled, older, removed }

    private func registrations(of device: Device) -> [URL] {
        device.files(in: "registrations").filter { $0.hasSuffix(".json") }.map {
            device.folder.appending(path: "data/registrations/\($0)")
        }
    }

    @Test(arguments: Loss.allCases)
    func `what the organisation said beside the rules does not get weaker by an edit, an older copy or a removal`(
        of loss: Loss
    ) async throws {
        let device = try Device()
        let pin = Base64URL.encode(Data(repeating: 7, count: 32))
        await device.service.set {
            $0.change = {
                $0.allowedAccounts = [.init(id: "oid-a", userPrincipalName: "worker-a@contoso.example")]
                $0.certificatePins = ["mail.example": [pin]]
                $0.telemetryDisabled = true
            }
        }
        let account = device.account.id
        let protection = try await device.enrolled()
        let file = try #require(registrations(of: device).first)
        let former = try Data(contentsOf: file)
        await protection.checkIn(account)
        switch loss {
        case .spoiled:
            var bytes = try Data(contentsOf: file)
            bytes[bytes.count / 2] ^= 1
            try bytes.write(to: file)
        case .older: try former.write(to: file)
        case .removed: try FileManager.default.removeItem(at: file)
        }
        await device.service.set { $0.isUnreachable = true }
        let restarted = try await device.start()
        func failure() -> PinningFailure? {
            do throws(ProtectionError) {
                try restarted.pinning.checkPins(of: [Data("leaf".utf8)], for: "mail.example", account: account)
                return nil
            } catch { return error.pinning }
        }
        let other = ManagedAccount(
            id: "oid-b", tenant: device.account.tenant, userPrincipalName: "worker-b@contoso.example")
        #expect(!restarted.enrollments.admits(other) && restarted.enrollments.admits(device.account))
        let events = EventCatch(restarted)
        #expect(await restarted.enroll(other) == .checkInNetworkFailure, "nobody has left it out")
        #expect(await events.count { if case .accountNotAllowed = $0 { true } else { false } } == 0)
        // Anybody can write a file under the name of an account that was never here.
        let forged = file.deletingLastPathComponent().appending(
            path: file.lastPathComponent.replacing(FolderName.of(account), with: FolderName.of(other.id)))
        for text in [#"{"version":99}"#, #"{"sealed":"AAAA","version":4}"#, "no record"] {
            try Data(text.utf8).write(to: forged)
            #expect(!restarted.enrollments.admits(other), "\(text)")
        }
        try FileManager.default.removeItem(at: forged)
        #expect(failure() == .algorithmNotSupported && restarted.pinning.hasCertificatePins(account))
        #expect(!restarted.telemetry.isEnabled)

        await device.service.set {
            $0.isUnreachable = false
            $0.change = { _ in }
        }
        let isEnrolled = !restarted.enrolledAccounts.isEmpty
        let status = isEnrolled ? await restarted.checkIn(account) : await restarted.enroll(device.account)
        #expect(status == .newPolicies)
        #expect(restarted.enrollments.admits(other) && restarted.telemetry.isEnabled)
        #expect(failure() == nil && !restarted.pinning.hasCertificatePins(account))
    }

    @Test func `while what is stored of an account cannot be read, none is admitted that was not here`() async throws {
        let device = try Device()
        let other = ManagedAccount(
            id: "oid-b", tenant: device.account.tenant, userPrincipalName: "worker-b@contoso.example")
        #expect(try await device.enrolled().enrollments.admits(other))
        // An app that pins another root key believes nothing that is stored.
        let restarted = try await device.start(pin: SoftwareSigningKey().publicKey.thumbprint)
        #expect(!restarted.enrollments.admits(other) && restarted.enrollments.admits(device.account))
    }

    @Test func `an account is on the lists of two organisations also where one names it by its sign-in name alone`()
        async throws
    {
        let device = try Device()
        let two = TwoAccounts(device)
        await two.first.set { service in
            service.change = {
                $0.allowedAccounts = [
                    .init(id: "oid-a", userPrincipalName: "worker-a@contoso.example"),
                    .init(id: "", userPrincipalName: "Worker-B@contoso.example"),
                    .init(id: "oid-c", userPrincipalName: "worker-c@contoso.example"),
                ]
            }
        }
        await two.second.set { service in
            service.change = {
                $0.allowedAccounts = [
                    .init(id: "oid-b", userPrincipalName: "worker-b@contoso.example"),
                    .init(id: "", userPrincipalName: "WORKER-A@contoso.example"),
                ]
            }
        }
        let protection = try await two.enrolled(on: device, [:], [:])
        for service in [two.first, two.second] { #expect(protection.enrollments.admits(service.account)) }
        let third = ManagedAccount(
            id: "oid-c", tenant: device.account.tenant, userPrincipalName: "worker-c@contoso.example")
        #expect(!protection.enrollments.admits(third))
    }

    @Test func `accounts that were here are admitted again also where the registrations of all are gone`() async throws
    {
        let device = try Device()
        let two = TwoAccounts(device)
        _ = try await two.enrolled(on: device, [:], [:])
        for file in registrations(of: device) { try FileManager.default.removeItem(at: file) }
        let restarted = try await device.start { $0.transport = two }
        #expect(restarted.enrolledAccounts.isEmpty)
        for service in [two.first, two.second] { #expect(restarted.enrollments.admits(service.account)) }
    }
}
