import Cordon
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonSignIn
import Foundation
import Testing

/// SRV-CI-091, SRV-TG-32, SRV-RS-068: an account counts as disabled when the service says so, and for no lesser cause.
@Suite(.timeLimit(.minutes(10))) struct DisabledAccountTests {
    private static let disabled = ProblemDetails(
        type: ProblemDetails.accountDisabled, title: "no", status: 403, code: .notLicensed)
    private static let signedOut = SignInError(
        .interactionRequired, .invalidGrant, "the session has ended")

    private func opened(_ action: String) async throws -> (Gatehouse, AppProtection) {
        let house = try await Gatehouse()
        let protection = try await house.opened([
            "pinRequired": .bool(false), "appActionIfUnableToAuthenticateUser": .string(action),
        ])
        return (house, protection)
    }

    @Test func `a check-in that is refused as disabled closes the gate, and one that succeeds lets it open`()
        async throws
    {
        let (house, protection) = try await opened("block")
        await house.device.service.set { $0.problem = Self.disabled }
        #expect(await protection.checkIn(house.account) == .notLicensed)
        #expect(!protection.gate.isOpen(for: house.account))
        let refused = await protection.launch(house.account)
        #expect(refused.result == .blocked)
        #expect(refused.reasons.map(\.rule) == [Rule.launchAccount.rawValue])
        // What was said outlives the app.
        let restarted = try await house.start()
        #expect(await restarted.launch(house.account).result == .blocked)

        await house.device.service.set { $0.problem = nil }
        #expect(await restarted.checkIn(house.account).didSucceed)
        #expect(await restarted.launch(house.account).isOpen)
    }

    @Test func `a service that refuses an account as disabled is asked again when it says`() async throws {
        let (house, protection) = try await opened("block")
        var problem = Self.disabled
        problem.retryAfter = 86_400
        await house.device.service.set { [problem] in $0.problem = problem }
        let now = house.clock.clock.now()
        #expect(await protection.checkIn(house.account) == .notLicensed)
        let next = try #require(protection.diagnostics.report().accounts.first?.next)
        #expect(next >= now + 86_400)
    }

    @Test func `a missing licence and a bare refusal close nothing`() async throws {
        let (house, protection) = try await opened("wipe")
        for problem in [
            ProblemDetails(title: "no", status: 403, code: .notLicensed), ProblemDetails(title: "no", status: 403),
            ProblemDetails(title: "no", status: 500, code: .internalError),
        ] {
            await house.device.service.set { $0.problem = problem }
            _ = await protection.checkIn(house.account)
            #expect(protection.gate.isOpen(for: house.account))
            #expect(await protection.resume(house.account).isOpen)
        }
    }

    @Test func `the data is removed where the rules want that, after the service was asked once more`() async throws {
        let (house, protection) = try await opened("wipe")
        await protection.suspend()
        await house.device.service.set { $0.problem = Self.disabled }
        #expect(await protection.checkIn(house.account) == .notLicensed)
        let asked = await house.device.service.asked.count
        let outcome = await protection.launch(house.account)
        #expect(outcome.result == .wiped)
        #expect(await house.device.service.asked.count > asked)
        #expect(protection.enrolledAccounts.isEmpty)
    }

    @Test(arguments: ["unsigned", "of another key", "on another request", "of another thing"])
    func `a word that the service did not sign on this very request closes the account and removes nothing`(
        word: String
    ) async throws {
        let (house, protection) = try await opened("wipe")
        await house.device.service.set { service in
            service.problem = Self.disabled
            switch word {
            case "unsigned": service.signsRefusals = false
            case "of another key": service.forger = SoftwareSigningKey()
            case "on another request": service.changeContact = { $0.nonce = "recorded" }
            default: service.changeContact = { $0.isAccountDisabled = nil }
            }
        }
        #expect(await protection.checkIn(house.account) == .notLicensed)
        #expect(!protection.gate.isOpen(for: house.account))
        #expect(await protection.launch(house.account).result == .blocked)
        #expect(await (try house.start()).launch(house.account).result == .blocked, "also after a restart")
        #expect(protection.enrolledAccounts.count == 1)
        // The control: the service's own word removes it.
        await house.device.service.set { service in
            (service.signsRefusals, service.forger, service.changeContact) = (true, nil, { _ in })
        }
        #expect(await protection.checkIn(house.account) == .notLicensed)
        #expect(await protection.launch(house.account).result == .wiped)
    }

    @Test(arguments: [false, true])
    func `what the service has signed of a disabled account stands, whatever is refused afterwards`(
        byTheProvider: Bool
    ) async throws {
        let (house, protection) = try await opened("wipe")
        await protection.suspend()
        await house.device.service.set { $0.problem = Self.disabled }
        #expect(await protection.checkIn(house.account) == .notLicensed)
        let unsigned = ProblemDetails(title: "no", status: 401, code: .authenticationRequired)
        await house.device.service.set { ($0.problem, $0.signsRefusals) = (unsigned, false) }
        if byTheProvider { await house.device.sessions.set { $0.tokenFailure = Self.signedOut } }
        #expect(await protection.launch(house.account).result == .wiped)
    }

    @Test func `a refusal is no contact, although the service signed it`() async throws {
        let (house, protection) = try await opened("wipe")
        await house.device.service.set { $0.changeContact = { $0.isAccountDisabled = true } }
        #expect(await protection.checkIn(house.account) == .parsingFailure)
    }

    @Test(arguments: [true, false])
    func `an account that was enabled meanwhile keeps its data`(hasToken: Bool) async throws {
        let (house, protection) = try await opened("wipe")
        await protection.suspend()
        await house.device.service.set { $0.problem = Self.disabled }
        _ = await protection.checkIn(house.account)
        await house.device.service.set { $0.problem = nil }
        if !hasToken { await house.device.sessions.set { $0.tokenFailure = Self.signedOut } }
        #expect(await protection.launch(house.account).result == (hasToken ? .opened : .blocked))
        #expect(protection.enrolledAccounts.count == 1)
        await house.device.sessions.set { $0.tokenFailure = nil }
        #expect(await protection.checkIn(house.account).didSucceed)
        #expect(await protection.launch(house.account).isOpen)
    }

    @Test func `the word that an account is not disabled is no contact`() async throws {
        let (house, protection) = try await opened("wipe")
        await house.device.service.set { $0.changeContact = { $0.isAccountDisabled = false } }
        #expect(await protection.checkIn(house.account) == .parsingFailure)
    }

    @Test func `without a token the key asks, and only the word that the account is disabled counts`() async throws {
        let (house, protection) = try await opened("wipe")
        await house.device.sessions.set { $0.tokenFailure = Self.signedOut }
        #expect(await protection.checkIn(house.account) == .authenticationRequired)
        // Not confirmed: closed, and nothing is removed.
        let refused = await protection.launch(house.account)
        #expect(refused.result == .blocked)
        #expect(refused.reasons.contains { $0.message.contains("device.accountDisabled") })
        #expect(protection.enrolledAccounts.count == 1)

        await house.device.service.set { $0.problem = Self.disabled }
        #expect(await protection.checkIn(house.account) == .notLicensed)
        #expect(await protection.launch(house.account).result == .wiped)
    }

    @Test func `a wipe reaches an account that has no tokens any more`() async throws {
        let (house, protection) = try await opened("block")
        await house.device.sessions.set { $0.tokenFailure = Self.signedOut }
        let command = Command(
            id: "wipe-1", kind: .wipe, account: house.account, reason: .user, issuedAt: 0, notAfter: 9_000_000_000)
        await house.device.service.set {
            $0.takesKeyAlone = true
            $0.commands = [command]
        }
        #expect(await protection.checkIn(house.account) == .wipeReceived)
    }
}
