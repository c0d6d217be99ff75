import CordonIdentity
import CordonPolicy
import CordonProtocol
import Foundation
import Testing

@testable import Cordon
@testable import CordonPolicy

@Suite(.timeLimit(.minutes(10))) struct RulesInForceTests {
    /// Where the compiled verdicts lie: a set that was compiled anew has them elsewhere, while the one before is held.
    private static func place(of policies: PolicySet) throws -> UnsafeRawPointer? {
        let compiled = Mirror(reflecting: policies).descendant("parts", "compiled")
        return try #require(compiled as? [VerdictTable]).withUnsafeBytes { $0.baseAddress }
    }

    @Test func `a check-in without news moves the contact time and compiles no rules`() async throws {
        let time = TestTime()
        let device = try Device(time: time)
        let protection = try await device.enrolled()
        await device.service.set { $0.sparesEnvelopes = true }
        let account = device.account.id
        let before = protection.context.accounts.rules
        time.advance(by: 3_600)
        #expect(await protection.checkIn(account) == .policiesUnchanged)
        let after = protection.context.accounts.rules
        #expect(after[account]?.lastCheckIn == time.now)
        #expect(before[account]?.lastCheckIn != after[account]?.lastCheckIn)
        #expect(try Self.place(of: after.policies) == Self.place(of: before.policies))
    }

    @Test func `an account without rules locks no page down that shows it beside a personal one`() async throws {
        let device = try Device()
        let protection = try await device.start()
        #expect(await protection.enroll(device.account) == .noPolicyTargeted)
        let work = Identity.managed(device.account.id)
        for action in [Action.copy, .print, .captureScreen] {
            for (owner, other) in [(Identity.personal, work), (work, .personal)] {
                var question = Question(action, owner: EffectiveIdentity(owner))
                let alone = protection.decision(for: question)
                question.coVisibleIdentities = [other]
                #expect(protection.decision(for: question) == alone && alone.verdict.permits, "\(action) of \(owner)")
            }
        }
    }

    @Test func `an account that no rules target may be shown, and one of which nothing is known may not`() async throws
    {
        let device = try Device()
        let protection = try await device.start()
        let account = device.account
        #expect(await protection.enroll(account) == .noPolicyTargeted)
        for name in [account.id, AccountID(account.userPrincipalName)] { #expect(protection.rules.mayShow(name)) }
        // As while an account is being taken up: its record is there, its rules are not.
        protection.context.accounts.dropRules(of: account.id)
        #expect(protection.enrolledAccounts == [account] && !protection.rules.mayShow(account.id))
    }

    @Test func `work that lost its identity is denied while the rules of the only account cannot be read`() async throws
    {
        let device = try Device()
        let lost = Question(.print, owner: .lost)
        #expect(try await device.enrolled(["printBlocked": .bool(false)]).decision(for: lost).verdict == .block)
        // An app that pins another root key believes nothing that is stored.
        let restarted = try await device.start(pin: SoftwareSigningKey().publicKey.thumbprint)
        #expect(restarted.enrolledAccounts == [device.account])
        #expect(!restarted.decision(for: lost).verdict.permits)
    }

    @Test func `rules that can no longer be read deny to others what they denied before`() async throws {
        let device = try Device()
        let protection = try await device.enrolled([
            "allowedOutboundDataTransferDestinations": "none", "thirdPartyKeyboardsBlocked": true,
        ])
        let account = device.account.id
        var opening = Question(.openFrom, owner: .personal)
        (opening.location, opening.locationAccount) = (.sharePoint, account)
        let questions =
            [opening, Question(.print, owner: .lost)]
            + [Action.useKeyboard, .receive, .receiveItem].map { Question($0, owner: .personal) }
        for isReadable in [true, false] {
            if !isReadable {
                let record = try #require(protection.context.accounts[account])
                protection.context.accounts.denyEverything(of: record)
            }
            for question in questions {
                #expect(protection.rules.verdict(for: question) == .block, "\(question.json.text())")
                #expect(protection.decision(for: question).verdict == .block, "\(question.json.text())")
            }
        }
        #expect(protection.rules.policy(of: .managed(account)) == nil)
    }

    @Test func `new rules are compiled`() async throws {
        let device = try Device()
        let protection = try await device.enrolled()
        let before = protection.context.accounts.rules
        await device.service.set { $0.change = { $0.version = "another" } }
        #expect(await protection.checkIn(device.account.id) == .newPolicies)
        #expect(try Self.place(of: protection.context.accounts.rules.policies) != Self.place(of: before.policies))
    }
}
