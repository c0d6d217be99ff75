import Cordon
import CordonBase
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonSignIn
import CordonTesting
import Foundation
import HTTPTypes
import Testing

/// SDK-EN-01…30: registering, trying again, and ending.
@Suite(.timeLimit(.minutes(10))) struct EnrollmentLifeTests {
    private let time = TestTime()

    private func device() async throws -> Device { try await Self.device(time) }

    private static func device(_ time: TestTime) async throws -> Device {
        let device = try Device(time: time)
        await device.setServiceClock()
        try await device.publish(["printBlocked": .bool(true)])
        return device
    }

    @Test func `an enrolment that failed is tried again a day later, and across a restart`() async throws {
        let device = try await device()
        await device.service.set { $0.problem = ProblemDetails(title: "no", status: 500, code: .internalError) }
        let protection = try await device.start()
        #expect(await protection.enroll(device.account) == .internalError)
        #expect(await protection.enrollments.registeredAccounts == [device.account])
        await device.service.set { $0.problem = nil }

        let restarted = try await device.start()
        time.advance(by: 23 * 3600)
        await restarted.performDueWork()
        #expect(restarted.enrolledAccounts.isEmpty)
        time.advance(by: 3600)
        await restarted.performDueWork()
        #expect(restarted.enrolledAccounts == [device.account])
    }

    @Test
    func `a sign-in begins with the name that was given, else with the account that the device's management names`()
        async throws
    {
        let device = try await device()
        let names = Locked([String?]())
        let account = device.account
        func signIn(_ name: String?, _ expected: ExpectedAccounts) async throws {
            let protection = try await device.start { configuration in
                configuration.expectedAccounts = expected
                configuration.signIn = { name throws(SignInError) in
                    names.withLock { $0.append(name) }
                    return account
                }
            }
            await protection.signInAndEnroll(name)
        }
        try await signIn(nil, ExpectedAccounts(deviceEnrollment: account.id))
        try await signIn(nil, ExpectedAccounts(management: account.id))
        try await signIn("typed@contoso.example", ExpectedAccounts(deviceEnrollment: account.id))
        try await signIn(nil, ExpectedAccounts())
        #expect(names.withLock { $0 } == ["oid-a", "oid-a", "typed@contoso.example", nil])
    }

    @Test(arguments: EnrollmentStatus.allCases.filter { $0.didSucceed || $0.mustRemoveAccount })
    func `a refusal means neither success nor that the account is to go, whatever code it has`(code: EnrollmentStatus)
        async throws
    {
        let device = try await device()
        let protection = try await device.start()
        await device.service.set { $0.problem = ProblemDetails(title: "no", status: 403, code: code) }
        #expect(await protection.enroll(device.account) == .internalError)
        #expect(protection.enrolledAccounts.isEmpty)
        await device.service.set { $0.problem = nil }
        #expect(await protection.enroll(device.account) == .newPolicies)
        await device.service.set { $0.problem = ProblemDetails(title: "no", status: 403, code: code) }
        #expect(await protection.checkIn(device.account.id) == .internalError)
    }

    @Test func `a person without a licence is tried again after half a day`() async throws {
        let device = try await device()
        await device.service.set { $0.problem = ProblemDetails(title: "no", status: 403, code: .notLicensed) }
        let protection = try await device.start()
        #expect(await protection.enroll(device.account) == .notLicensed)
        await device.service.set { $0.problem = nil }
        let next = await protection.performDueWork()
        #expect(next.timeIntervalSince(time.now) <= 12 * 3600)
        time.advance(by: 12 * 3600)
        await protection.performDueWork()
        #expect(protection.enrolledAccounts.count == 1)
    }

    @Test func `a host without a service is asked again a day later`() async throws {
        let device = try await device()
        await device.service.set { $0.outage = .notFound }
        let protection = try await device.start()
        #expect(await protection.enroll(device.account) == .discoveryFailed)
        #expect(protection.diagnostics.report().accounts.first?.next == time.now + 86_400)
    }

    @Test func `a session that can give no token fails the enrolment with 217`() async throws {
        let device = try await device()
        await device.sessions.set { $0.signerFailure = HeldSessions.refusal }
        #expect(await (try device.start()).enroll(device.account) == .signInFailed)
    }

    @Test func `the service hears why an account was unenrolled`() async throws {
        let device = try await device()
        let protection = try await device.start()
        await protection.enroll(device.account)
        await protection.unenroll(device.account.id, wiping: false)
        await protection.enroll(device.account)
        await protection.unenroll(device.account.id, because: .signedOut)
        #expect(
            await device.service.farewells == [
                UnenrollmentReport(reason: .accountRemoved, doWipe: false, succeeded: true),
                UnenrollmentReport(reason: .signedOut, doWipe: true, succeeded: false),
            ])
    }

    @Test func `the service's own wish to wait counts where it is longer`() async throws {
        let device = try await device()
        await device.service.set {
            $0.problem = ProblemDetails(title: "busy", status: 503, code: .timedOut, retryAfter: 7200)
        }
        let protection = try await device.start()
        await protection.enroll(device.account)
        #expect(await protection.performDueWork() == time.now + 7200)
    }

    @Test func `an app for one account refuses the second with 227, and its retries stop`() async throws {
        // Such an app declares the identity of its whole process, which here is a process of its own.
        await #expect(processExitsWith: .success) {
            let time = TestTime()
            let device = try await Self.device(time)
            let protection = try await device.start { $0.allowsSeveralIdentities = false }
            let first = await protection.enroll(device.account)
            let second = await protection.enroll(
                ManagedAccount(
                    id: "oid-b", tenant: device.account.tenant, userPrincipalName: "worker-b@contoso.example"))
            time.advance(by: 25 * 3600)
            await protection.performDueWork()
            let asked = await device.service.asked.count { $0 == "POST /mam/v1/registrations" }
            #expect(first == .newPolicies)
            #expect(second == .singleAccountOnly)
            #expect(asked == 1)
        }
    }

    @Test func `mistakes in the call have codes of their own, and are not tried again`() async throws {
        let device = try await device()
        let app = try await device.start()
        let nobody = ManagedAccount(id: "", tenant: device.account.tenant, userPrincipalName: "")
        #expect(await app.enroll(nobody) == .nilAccount)
        #expect(await app.unenroll("") == .nilAccount)
        #expect(await app.unenroll("oid-b") == .notEnrolled)
        #expect(await app.checkIn("oid-b") == .notEnrolled)
        #expect(await app.enroll(device.account) == .newPolicies)
        #expect(await app.checkIn("oid-b") == .notEnrolledAccount)
        #expect(await app.enrollments.registeredAccounts == [device.account])
        let inExtension = try await device.start { $0.isExtension = true }
        #expect(await inExtension.enroll(device.account) == .unsupportedCall)
        #expect(await inExtension.unenroll(device.account.id) == .unsupportedCall)
        #expect(await inExtension.signInAndEnroll() == .unsupportedCall)
        #expect(!device.mayPrint(inExtension), "an extension reads the rules of its app")
    }

    @Test(arguments: [
        (ExpectedAccounts(management: "oid-x"), EnrollmentStatus.unexpectedAccount),
        (ExpectedAccounts(deviceEnrollment: "oid-x"), .deviceManagedForAnotherAccount),
        (ExpectedAccounts(deviceOwner: "oid-x"), .notDeviceAccount),
    ])
    func `an account that the device's management contradicts must be removed`(
        expected: ExpectedAccounts, status: EnrollmentStatus
    ) async throws {
        let device = try await device()
        let protection = try await device.start { $0.expectedAccounts = expected }
        #expect(await protection.enroll(device.account) == status)
        #expect(status.mustRemoveAccount && status.nextStep == .removeAccount)
    }

    @Test func `a person who refuses, or never answers, is not enrolled`() async throws {
        let device = try await device()
        let refusing = try await device.start { $0.confirmEnrollment = { _ in false } }
        #expect(await refusing.enroll(device.account) == .enrollmentRefused)
        let silent = try await device.start {
            $0.clock = ProtectionClock(now: $0.clock.now, sleep: { _ in })
            $0.confirmEnrollment = { _ in
                try? await Task.sleep(for: .seconds(86_400))
                return true
            }
        }
        #expect(await silent.enroll(device.account) == .enrollmentRefused)
    }

    @Test func `a sign-in that is cancelled is 219, and is not tried again`() async throws {
        let device = try await device()
        let app = try await device.start {
            $0.signIn = { _ throws(SignInError) in throw SignInError(.cancelled, .unhandledError, "the person gave up")
            }
        }
        let events = EventCatch(app)
        #expect(await app.signInAndEnroll("worker-a@contoso.example") == .signInCancelled)
        let report = await events.first {
            if case .status(let report) = $0 { report.status == .signInCancelled } else { false }
        }
        let cancelled = try #require(report.flatMap { if case .status(let report) = $0 { report } else { nil } })
        #expect(cancelled.operation == .enrollment && cancelled.account == "worker-a@contoso.example")
        #expect(cancelled.detail?.isEmpty == false)
        #expect(await app.enrollments.registeredAccounts.isEmpty)
        let account = device.account
        let signed = try await device.start { $0.signIn = { _ throws(SignInError) in account } }
        #expect(await signed.signInAndEnroll("worker-a@contoso.example") == .newPolicies)
        #expect(signed.enrolledAccounts == [account])
        #expect(await device.service.registered.map(\.source) == [.loginAndEnroll])
    }

    @Test func `an account that is registered again is known as it was given the last time`() async throws {
        let device = try await device()
        let app = try await device.start()
        let wrong = ManagedAccount(
            id: device.account.id, tenant: TenantID("another"), userPrincipalName: device.account.userPrincipalName)
        #expect(await app.enroll(wrong) == .anotherOrganization)
        #expect(await app.enrollments.registeredAccounts == [wrong])
        #expect(await app.enroll(device.account) == .newPolicies)
        #expect(await app.enrollments.registeredAccounts == [device.account])
    }

    @Test func `a failed sign-in and enrolment leaves the account to the app`() async throws {
        let device = try await device()
        await device.service.set { $0.problem = ProblemDetails(title: "no", status: 403, code: .notTargeted) }
        let account = device.account
        let app = try await device.start { $0.signIn = { _ throws(SignInError) in account } }
        #expect(await app.signInAndEnroll() == .notTargeted)
        #expect(await app.enrollments.registeredAccounts.isEmpty)
    }

    @Test(arguments: [true, false])
    func `the first rules call the app back once, and an app that does nothing is told`(isCalled: Bool) async throws {
        let device = try await device()
        let calls = Locked(0)
        let protection = try await device.start {
            guard isCalled else { return }
            $0.restartApplication = { _ in
                calls.withLock { $0 += 1 }
                return false
            }
        }
        let events = EventCatch(protection)
        await protection.enroll(device.account)
        #expect(await events.has(.restartAdvised(account: device.account.id)))
        await protection.checkIn(device.account.id)
        #expect(await events.count { $0 == .restartAdvised(account: device.account.id) } == 1)
        #expect(calls.withLock { $0 } == (isCalled ? 1 : 0))
    }

    @Test func `leaving without a wipe closes the files until the account is enrolled again`() async throws {
        let device = try await device()
        let protection = try await device.start()
        await protection.enroll(device.account)
        try await protection.files.write(Data("plan".utf8), as: "plan", of: device.account.id)
        #expect(await protection.unenroll(device.account.id, wiping: false) == .unenrolled)
        #expect(await device.service.unregistered == 1)
        #expect(await protection.enrollments.registeredAccounts.isEmpty)
        await #expect(throws: ProtectionError(.notEnrolled, "")) {
            try await protection.files.read("plan", of: device.account.id)
        }
        #expect(await protection.enroll(device.account) == .newPolicies)
        #expect(try await protection.files.read("plan", of: device.account.id) == Data("plan".utf8))
    }

    @Test func `a service that could not be told of a leave is told later, also after a restart`() async throws {
        let device = try await device()
        let protection = try await device.start()
        await protection.enroll(device.account)
        await device.service.set { $0.isUnreachable = true }
        #expect(await protection.unenroll(device.account.id, wiping: false) == .checkInNetworkFailure)
        #expect(protection.enrolledAccounts.isEmpty, "it is over here at once")
        let restarted = try await device.start()
        time.advance(by: 300)
        await restarted.performDueWork()
        #expect(await device.service.unregistered == 0)
        await device.service.set { $0.isUnreachable = false }
        time.advance(by: 3600)
        await restarted.performDueWork()
        await restarted.performDueWork()
        #expect(await device.service.unregistered == 1)
        #expect(restarted.diagnostics.report().waitingUnenrollments == 0)
    }

    @Test(arguments: [false, true])
    func `a leave that is still to be told ends no registration of an account that is enrolled again`(
        withNewKey: Bool
    ) async throws {
        let device = try await device()
        let protection = try await device.start()
        await protection.enroll(device.account)
        await device.service.set { $0.isUnreachable = true }
        #expect(await protection.unenroll(device.account.id, wiping: false) == .checkInNetworkFailure)
        await device.service.set { $0.isUnreachable = false }
        if withNewKey { await device.sessions.set { $0.key = SoftwareSigningKey() } }
        #expect(await protection.enroll(device.account) == .newPolicies)
        time.advance(by: 3600)
        await protection.performDueWork()
        #expect(await device.service.unregistered == 0)
        #expect(protection.diagnostics.report().waitingUnenrollments == 0)
    }

    @Test func `the service hears of a leave with its reason, also when it is told later`() async throws {
        let device = try await device()
        let protection = try await device.start()
        await protection.enroll(device.account)
        await device.service.set { $0.isUnreachable = true }
        await protection.unenroll(device.account.id, wiping: false, because: .signedOut)
        await device.service.set { $0.isUnreachable = false }
        time.advance(by: 3600)
        await protection.performDueWork()
        let told = UnenrollmentReport(reason: .signedOut, doWipe: false, succeeded: true)
        #expect(await device.service.farewells == [told])
    }

    @Test func `a service that lets an account in no more is not asked to end its registration again`() async throws {
        let device = try await device()
        let protection = try await device.start()
        await protection.enroll(device.account)
        await device.service.set { $0.isUnreachable = true }
        await protection.unenroll(device.account.id, wiping: false)
        await device.service.set {
            $0.isUnreachable = false
            $0.problem = ProblemDetails(title: "no", status: 403, code: .notTargeted)
        }
        await device.sessions.set { $0.key = SoftwareSigningKey() }
        time.advance(by: 3600)
        await protection.performDueWork()
        #expect(protection.diagnostics.report().waitingUnenrollments == 0)
    }

    @Test func `every status has a cause and a next step`() {
        for status in EnrollmentStatus.allCases {
            #expect(!status.explanation.isEmpty && !status.nextStep.advice.isEmpty)
            #expect(status.didSucceed == (100...104).contains(status.rawValue))
            #expect((status.nextStep == .removeAccount) == status.mustRemoveAccount)
        }
    }

    @Test func `registering an account that is enrolled already is a warning in the log`() async throws {
        let device = try await device()
        let log = LogRecorder()
        let app = try await device.start { $0.logger = log.logger }
        #expect(await app.enroll(device.account) == .newPolicies)
        #expect(!log.lines.contains { $0.hasPrefix("warning") && $0.contains("registered again") })
        #expect(await app.enroll(device.account) == .alreadyEnrolled)
        #expect(log.lines.contains { $0.hasPrefix("warning an account that is enrolled was registered again") })
    }

    @Test func `a report names the account, the number, whether it succeeded, and why not`() async throws {
        let device = try await device()
        await device.service.set { $0.problem = ProblemDetails(title: "no", status: 403, code: .notLicensed) }
        let app = try await device.start()
        let events = EventCatch(app)
        await app.enroll(device.account)
        await device.service.set { $0.problem = nil }
        await app.enroll(device.account)
        for status in [EnrollmentStatus.notLicensed, .newPolicies] {
            let event = await events.first {
                if case .status(let report) = $0 { report.status == status } else { false }
            }
            let report = try #require(event.flatMap { if case .status(let report) = $0 { report } else { nil } })
            #expect(report.account == device.account.id && report.operation == .enrollment)
            #expect(report.didSucceed == (status == .newPolicies) && report.cause == status.explanation)
        }
    }

    @Test func `what an extension asks of signing in and leaving is posted as 223`() async throws {
        let device = try await device()
        let inExtension = try await device.start { $0.isExtension = true }
        let events = EventCatch(inExtension)
        await inExtension.signInAndEnroll("worker-a@contoso.example")
        await inExtension.enroll(device.account)
        await inExtension.unenroll(device.account.id)
        let account = device.account.id
        for report in [
            StatusReport(.enrollment, of: "worker-a@contoso.example", .unsupportedCall),
            StatusReport(.enrollment, of: account, .unsupportedCall),
            StatusReport(.unenrollment, of: account, .unsupportedCall),
        ] { #expect(await events.has(.status(report))) }
        #expect(await device.service.asked.isEmpty, "nothing else was done")
    }

    @Test func `an app that sees to its restart itself is told nothing more`() async throws {
        let device = try await device()
        let called = Locked([AccountID]())
        let app = try await device.start {
            $0.restartApplication = { account in
                called.withLock { $0.append(account) }
                return true
            }
        }
        let events = EventCatch(app)
        await app.enroll(device.account)
        try await until { called.withLock { !$0.isEmpty } }
        await app.checkIn(device.account.id)
        await app.performDueWork()
        #expect(called.withLock { $0 } == [device.account.id])
        #expect(await events.count { if case .restartAdvised = $0 { true } else { false } } == 0)
    }
}
