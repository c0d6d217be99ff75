import Cordon
import CordonBase
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonSignIn
import Foundation
import Testing

/// SDK-EN-19, SDK-EN-25, SDK-ID-36, CQ-02: who is enrolled without being asked, and who is not.
@Suite(.timeLimit(.minutes(10))) struct LaunchEnrollmentTests {
    /// A device on which enrolling failed once.
    private func waiting() async throws -> Device {
        let device = try Device()
        try await device.publish(["printBlocked": .bool(true)])
        await device.service.set { $0.isUnreachable = true }
        let first = try await device.start()
        #expect(await first.enroll(device.account) == .discoveryFailed)
        await device.service.set { $0.isUnreachable = false }
        return device
    }

    @Test func `a known account is enrolled at launch where the settings say so`() async throws {
        let device = try await waiting()
        defer { withExtendedLifetime(device) {} }
        let plain = try await device.start()
        await plain.launch()
        #expect(plain.enrolledAccounts.isEmpty)
        let keen = try await device.start { $0.settings.enrollsAtLaunch = true }
        await keen.launch()
        #expect(keen.enrolledAccounts == [device.account])
        #expect(await keen.enrollAtLaunch() == nil, "there is nothing left to do")
    }

    @Test(arguments: [false, true]) func `the person is asked to sign in only where the app needs a policy`(
        requiresPolicy: Bool
    ) async throws {
        let device = try Device()
        try await device.publish(["printBlocked": .bool(true)])
        let asked = Locked(0)
        defer { withExtendedLifetime(device) {} }
        let account = device.account
        let protection = try await device.start {
            $0.settings.enrollsAtLaunch = true
            $0.settings.requiresPolicy = requiresPolicy
            $0.signIn = { _ throws(SignInError) in
                asked.withLock { $0 += 1 }
                return account
            }
        }
        await protection.launch()
        #expect(asked.withLock { $0 } == (requiresPolicy ? 1 : 0))
        #expect(protection.enrolledAccounts.count == (requiresPolicy ? 1 : 0))
    }

    /// An app that is asked to add an account.
    private final class AddingApp: IdentityDelegate {
        let agrees: Bool
        private let offers = Locked([ManagedAccount]())
        init(agrees: Bool) { self.agrees = agrees }
        var offered: [ManagedAccount] { offers.withLock { $0 } }

        func identitySwitchRequired(_ request: IdentityRequest, answer: IdentityAnswer) { answer.fail() }
        func accountAdded(_ account: ManagedAccount, answer: IdentityAnswer) {
            offers.withLock { $0.append(account) }
            if agrees { answer.succeed() } else { answer.fail() }
        }
    }

    @Test(arguments: [true, false])
    func `an app is asked to add the account that Cordon signed in on its own (SDK-ID-35)`(
        agrees: Bool
    ) async throws {
        let device = try Device()
        try await device.publish(["printBlocked": .bool(true)])
        let app = AddingApp(agrees: agrees)
        let account = device.account
        let protection = try await device.start {
            $0.settings.enrollsAtLaunch = true
            $0.settings.requiresPolicy = true
            $0.signIn = { _ throws(SignInError) in account }
            $0.identityDelegate = app
            // Other tests' windows show the account too.
            $0.identityExit = { _ in }
        }
        await protection.launch()
        #expect(app.offered == [account])
        // After a no it is enrolled all the same: its rules hold, and no window shows it.
        #expect(protection.enrolledAccounts == [account])
        #expect(!device.mayPrint(protection))
        #expect(await protection.windows.offerAccount(account) == agrees)
    }

    @Test func `an app is not asked to add an account that it registered itself`() async throws {
        let device = try await waiting()
        let app = AddingApp(agrees: true)
        let protection = try await device.start {
            $0.settings.enrollsAtLaunch = true
            $0.identityDelegate = app
            // Other tests' windows show the account too.
            $0.identityExit = { _ in }
        }
        await protection.launch()
        #expect(protection.enrolledAccounts == [device.account])
        #expect(app.offered.isEmpty)
    }

    @Test func `an administrator's wipe deregisters, and the account is not enrolled again by itself`() async throws {
        let time = TestTime()
        let device = try Device(time: time)
        let protection = try await device.enrolled()
        await device.service.set { service in
            service.commands = [
                Command(
                    id: "c1", kind: .wipe, account: service.account.id, reason: .device, issuedAt: 0,
                    notAfter: 9_000_000_000)
            ]
        }
        let events = EventCatch(protection)
        #expect(await protection.checkIn(device.account.id) == .wipeReceived)
        #expect(await protection.enrollments.registeredAccounts.isEmpty)
        #expect(
            await events.has(.status(StatusReport(.unenrollment, of: device.account.id, .unenrolled))),
            "SDK-EN-19: the app hears of the unenrolment that it did not ask for")
        await device.service.set { $0.commands = [] }
        for _ in 0..<4 {
            time.advance(by: 13 * 3600)
            await protection.performDueWork()
            await (try device.start()).performDueWork()
        }
        #expect(await device.service.registered.count == 1)
    }

    @Test func `an account that its first envelope wipes is not enrolled again by itself`() async throws {
        let time = TestTime()
        let device = try Device(time: time)
        await device.setServiceClock()
        await device.service.set { service in
            service.commands = [
                Command(
                    id: "c1", kind: .wipe, account: service.account.id, reason: .user, issuedAt: 0,
                    notAfter: 9_000_000_000)
            ]
        }
        let protection = try await device.start()
        #expect(await protection.enroll(device.account) == .wipeReceived)
        #expect(await protection.enrollments.registeredAccounts.isEmpty)
        await device.service.set { $0.commands = [] }
        for _ in 0..<2 {
            time.advance(by: 2 * 86_400)
            await protection.performDueWork()
            await (try device.start()).performDueWork()
        }
        #expect(await device.service.registered.count == 1)
        #expect(await protection.enroll(device.account).didSucceed, "the person may")
    }

    @Test func `by default one account is managed; the setting allows several`() async throws {
        // An app of one account declares the identity of its whole process, which here is a process of its own.
        await #expect(processExitsWith: .success) {
            let device = try Device()
            try await device.publish(["printBlocked": .bool(true)])
            let protection = try await device.start { configuration in
                // As the initialiser leaves it.
                configuration.allowsSeveralIdentities =
                    ProtectionConfiguration(
                        application: configuration.application, device: configuration.device,
                        service: configuration.service, rootKey: "", dataDirectory: configuration.dataDirectory,
                        keyStore: configuration.keyStore, transport: configuration.transport,
                        sessions: configuration.sessions, logger: configuration.logger
                    ).allowsSeveralIdentities
            }
            _ = await protection.enroll(device.account)
            let other = ManagedAccount(
                id: "oid-b", tenant: device.account.tenant, userPrincipalName: "worker-b@contoso.example")
            let second = await protection.enroll(other)
            let several = try await device.start {
                $0.allowsSeveralIdentities = false
                $0.settings.holdsSeveralManagedIdentities = true
            }
            // The service of these tests knows one account only, so the second gets past the rule and no further.
            let third = await several.enroll(other)
            #expect(second == .singleAccountOnly)
            #expect(third == .notEnrolledAccount)
        }
    }

    @Test func `a clock that was ahead when an attempt was planned does not delay the next one`() async throws {
        for hours: TimeInterval in [3, 20, 27, 960] {
            let time = TestTime()
            let device = try Device(time: time)
            let protection = try await device.enrolled()
            await device.service.set { $0.isUnreachable = true }
            time.advance(by: hours * 3600)
            await protection.performDueWork()
            #expect(protection.diagnostics.report().accounts.first?.failures == 1)
            await device.service.set { $0.isUnreachable = false }
            time.advance(by: -hours * 3600 + 60)
            for _ in 0..<2 { await protection.performDueWork() }
            #expect(await device.service.checkIns.count == 1, "\(hours) hours")
        }
    }
}
