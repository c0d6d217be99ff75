import Cordon
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonSignIn
import CordonVault
import Foundation
import HTTPTypes
import Testing

/// A service that answers badly: every answer is bounded, has a typed status, and changes nothing.
@Suite(.timeLimit(.minutes(10))) struct BadAnswerTests {
    @Test(arguments: [
        (200, "", EnrollmentStatus.parsingFailure), (200, "<html>welcome</html>", .parsingFailure),
        (200, "{}", .parsingFailure), (200, #"{"statusCode":999}"#, .parsingFailure), (302, "", .internalError),
        (204, "", .parsingFailure), (400, "nonsense", .internalError), (401, "", .authenticationRequired),
        (403, #"{"title":"no","status":403,"type":"about:blank","code":200}"#, .notLicensed),
        (404, "", .internalError), (408, "", .timedOut), (410, "", .registrationGone), (429, "", .internalError),
        (500, "<b>oops</b>", .internalError),
        (503, #"{"title":"x","status":200,"type":"","code":222}"#, .tenantMigration),
        (503, "{\"title\":", .internalError), (504, "", .timedOut), (423, "", .parsingFailure),
    ])
    func `an answer that is none leaves the rules, and is tried again`(
        code: Int, body: String, status: EnrollmentStatus
    ) async throws {
        let time = TestTime()
        let device = try Device(time: time)
        let protection = try await device.enrolled()
        await device.service.set { $0.garbage = (.init(code: code), body) }
        time.advance(by: 1800)
        #expect(await protection.checkIn(device.account.id) == status)
        #expect(!device.mayPrint(protection))
        #expect(await protection.performDueWork() > time.now)
        await device.service.set { $0.garbage = nil }
        time.advance(by: 86_400)
        await protection.performDueWork()
        #expect(protection.diagnostics.report().accounts.first?.failures == 0)
        let stranger = try Device(time: time)
        await stranger.service.set { $0.garbage = (.init(code: code), body) }
        #expect(await !(try stranger.start()).enroll(stranger.account).didSucceed)
    }

    @Test(arguments: [
        (TransportError.Code.timedOut, EnrollmentStatus.timedOut), (.answerTooLarge, .checkInNetworkFailure),
        (.unreachable, .checkInNetworkFailure),
    ])
    func `slow, huge and broken answers have a status`(code: TransportError.Code, status: EnrollmentStatus) async throws
    {
        let device = try Device()
        let protection = try await device.enrolled()
        await device.service.set { $0.failure = TransportError(code, reason: "as the test wants") }
        #expect(await protection.checkIn(device.account.id) == status)
        #expect(!device.mayPrint(protection))
    }

    @Test func `a blocked person's answer is locked, and the wipe in it is carried out`() async throws {
        let device = try Device()
        let protection = try await device.enrolled()
        let account = device.account.id
        await device.service.set {
            $0.okStatus = .init(code: 423)
            $0.commands = [
                Command(id: "c1", kind: .wipe, account: account, reason: .user, issuedAt: 0, notAfter: 9_000_000_000)
            ]
        }
        #expect(await protection.checkIn(account) == .wipeReceived)
        #expect(protection.enrolledAccounts.isEmpty)
    }

    @Test func `locked is a refusal wherever the service does not answer so`() async throws {
        let device = try Device()
        let protection = try await device.enrolled()
        await device.service.set { $0.garbage = (.init(code: 423), "locked") }
        #expect(await !protection.unenroll(device.account.id, wiping: false).didSucceed)
        #expect(protection.diagnostics.report().waitingUnenrollments == 1)
    }

    @Test func `a token source that never answers is a time-out`() async throws {
        let device = try Device()
        _ = try await device.enrolled()
        let protection = try await device.start {
            $0.clock = ProtectionClock(now: { Date() }, sleep: { _ in })
            $0.sessions = NoSessions()
        }
        #expect(await protection.checkIn(device.account.id) == .timedOut)
    }

    @Test func `a store that gives the key once and then never answers again ends a check-in all the same`()
        async throws
    {
        let device = try Device()
        _ = try await device.enrolled()
        let latch = Latch()
        let protection = try await device.start {
            // Time passes once the key is asked for again.
            $0.clock = ProtectionClock(now: { Date() }, sleep: { _ in await latch.pass() })
            $0.sessions = KeyOnce(latch: latch)
        }
        #expect(await protection.checkIn(device.account.id) == .authenticationRequired)
    }

    @Test func `a refused envelope is reported at the next check-in, once`() async throws {
        let device = try Device()
        let protection = try await device.enrolled()
        // Of what it answers the envelope alone is another's.
        await device.service.set {
            $0.forger = SoftwareSigningKey()
            $0.signsContact = false
        }
        #expect(await protection.checkIn(device.account.id) == .parsingFailure)
        await device.service.set {
            $0.forger = nil
            $0.signsContact = true
        }
        let restarted = try await device.start()
        await restarted.checkIn(device.account.id)
        await restarted.checkIn(device.account.id)
        let reports = await device.service.checkIns.map { $0.refusedEnvelopes?.map(\.code) ?? [] }
        #expect(reports == [[], ["unknownKey"], []])
    }
}

/// Sessions that have ended, of an app that hangs when it is asked for the key a second time.
private actor KeyOnce: AccountSessions {
    private let latch: Latch
    private var isAskedAgain = false

    init(latch: Latch) { self.latch = latch }

    func accessToken(
        for account: AccountID, resource: String, scopes: [String]
    ) async throws(SignInError) -> AccessToken {
        throw SignInError(.interactionRequired, .invalidGrant, "the session has ended")
    }

    func signer(for account: AccountID) async throws(SignInError) -> any MessageSigner {
        if isAskedAgain {
            await latch.open()
            try? await Task.sleep(for: .seconds(86_400))
        }
        isAskedAgain = true
        return SoftwareSigningKey()
    }

    func end(_ account: AccountID) async throws(SignInError) {}
}

/// Sessions of an app that has hung.
private struct NoSessions: AccountSessions {
    func accessToken(
        for account: AccountID, resource: String, scopes: [String]
    ) async throws(SignInError) -> AccessToken { throw await never() }

    func signer(for account: AccountID) async throws(SignInError) -> any MessageSigner { throw await never() }

    func end(_ account: AccountID) async throws(SignInError) {}

    private func never() async -> SignInError {
        try? await Task.sleep(for: .seconds(86_400))
        return SignInError(.cancelled, .unhandledError, "cancelled")
    }
}
