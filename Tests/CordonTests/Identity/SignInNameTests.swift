import Cordon
import CordonBase
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonVault
import Foundation
import Testing

/// Either name of an enrolled account is that account, wherever an app gives one (SDK-ID-02, CQ-03).
@Suite struct SignInNameTests {
    private static let name = AccountID("worker-a@contoso.example")
    private static let other = AccountID("Worker-B@contoso.example")
    private static let closed: [String: JSONValue] = [
        "allowedOutboundDataTransferDestinations": .string("managedApps"),
        "allowedInboundDataTransferSources": .string("none"),
        "allowedOutboundClipboardSharingLevel": .string("blocked"),
    ]

    @Test(arguments: [Location.box, .oneDriveForBusiness, .sharePoint])
    func `a place is the organisation's under either name of its account`(_ location: Location) async throws {
        let device = try Device()
        let protection = try await device.enrolled(Self.closed)
        for owner in [EffectiveIdentity.personal, .managed("oid-b")] {
            for action in [Action.openFrom, .saveTo] {
                var verdicts: [Verdict] = []
                for account in ["oid-a", Self.name] {
                    var question = Question(action, owner: owner)
                    question.location = location
                    question.locationAccount = account
                    verdicts.append(protection.decision(for: question).verdict)
                }
                #expect(verdicts == [.block, .block], "\(action) of \(owner)")
            }
        }
    }

    @Test func `a place of one account is another's under either name, and the owner's own under either`() async throws
    {
        let device = try Device()
        let protection = try await TwoAccounts(device).enrolled(
            on: device, ["printBlocked": .bool(true)], ["allowedInboundDataTransferSources": .string("none")])
        func verdict(_ owner: AccountID, _ place: AccountID) -> Verdict {
            var question = Question(.saveTo, owner: .managed(owner))
            question.location = .box
            question.locationAccount = place
            return protection.decision(for: question).verdict
        }
        for owner in ["oid-a", Self.name] {
            #expect(verdict(owner, "oid-b") == .block && verdict(owner, Self.other) == .block)
            #expect(verdict(owner, "oid-a") == .allow && verdict(owner, Self.name) == .allow)
        }
    }

    @Test func `a question by sign-in name is answered as one by object id`() async throws {
        let device = try Device()
        let protection = try await device.enrolled(
            Self.closed.merging(["printBlocked": .bool(true), "screenCaptureBlocked": .bool(true)]) { $1 })
        var questions: [(inout Question, AccountID) -> Void] = [
            { $0.owner = .managed($1) },
            { ($0.action, $0.owner) = (.syncContacts, .managed($1)) },
            { ($0.action, $0.owner, $0.peer) = (.copy, .managed($1), .unmanagedApp) },
            { ($0.action, $0.owner, $0.peer) = (.receive, .managed("oid-a"), .managed($1)) },
            { ($0.action, $0.owner, $0.peer) = (.send, .managed($1), .managed("oid-a")) },
            { ($0.action, $0.owner, $0.peer) = (.receive, .personal, .managed($1)) },
            { ($0.action, $0.owner, $0.coVisibleIdentities) = (.captureScreen, .personal, [.managed($1)]) },
        ]
        // The account itself, once more by another name, is no other account on the page.
        questions.append {
            ($0.action, $0.owner, $0.coVisibleIdentities) = (.syncContacts, .managed("oid-a"), [.managed($1)])
        }
        for (number, change) in questions.enumerated() {
            let answers = ["oid-a", Self.name].map { name in
                var question = Question(.print, owner: nil)
                change(&question, name)
                return protection.decision(for: question)
            }
            #expect(answers[0] == answers[1], "question \(number)")
        }
        #expect(protection.rules.policy(of: .managed(Self.name)) == protection.rules.policy(of: .managed("oid-a")))
        #expect(protection.rules.policy(of: .managed(Self.name)) != nil)
    }

    @Test func `an account whose sign-in name is another's object id takes nothing of that one`() async throws {
        let device = try Device()
        let two = TwoAccounts(device)
        try await two.first.publish(["printBlocked": .bool(true)])
        let protection = try await device.start { $0.transport = two }
        #expect(await protection.enroll(two.first.account) == .newPolicies)
        let second = two.second.account
        // At some providers people choose it themselves. No rules are meant for this account.
        let taker = ManagedAccount(id: second.id, tenant: second.tenant, userPrincipalName: "oid-a")
        #expect(await protection.enroll(taker) == .noPolicyTargeted)
        #expect(protection.rules.policy(of: .managed("oid-a")) != nil)
        try await protection.files.write(Data("plan".utf8), as: "plan", of: "oid-a")
        #expect(try await protection.files.names(of: second.id).isEmpty)
        #expect(try await protection.files.read("plan", of: Self.name) == Data("plan".utf8))
    }

    @Test func `files, leave and wipe know an account by either name`() async throws {
        let device = try Device()
        let protection = try await device.enrolled([:])
        try await protection.files.write(Data("plan".utf8), as: "plan", of: Self.name)
        #expect(try await protection.files.read("plan", of: "oid-a") == Data("plan".utf8))
        #expect(try await protection.files.names(of: Self.name) == ["plan"])
        #expect(await protection.checkIn(Self.name).didSucceed)
        var question = Question(.saveTo, owner: .managed(Self.name))
        question.location = .localDrive
        let permit = try protection.permit(for: question)
        let place = Shelf()
        try await protection.outlets.save(Data("x".utf8), named: "x", of: .managed("oid-a"), to: place, permit: permit)
        #expect(await place.names == ["x"])
        try await protection.wipe(Self.name)
        #expect(protection.enrolledAccounts.isEmpty)
    }

    @Test func `what was denied to an account by its sign-in name is forgotten with it`() async throws {
        let device = try Device()
        let protection = try await device.enrolled()
        _ = protection.decision(for: Question(.print, owner: .managed(Self.name)))
        #expect(protection.diagnostics.report().denials.map(\.account) == ["oid-a"])
        try await protection.wipe("oid-a")
        #expect(protection.diagnostics.report().denials.isEmpty)
    }

    @Test func `a gate is one gate under both names`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.enrolled(["pinRequired": .bool(false)])
        #expect(await protection.launch(Self.name).isOpen)
        #expect(protection.gate.isOpen(for: "oid-a") && protection.gate.isOpen(for: Self.name))
        await house.person.set { $0.notices[.blocked] = [.cancel] }
        house.facts.withLock { $0.rooted = true }
        #expect(await protection.resume(Self.name).result == .blocked)
        #expect(!protection.gate.isOpen(for: "oid-a"))
        #expect(throws: ProtectionError(denied: PolicyDecision(reasons: []))) {
            _ = try protection.permit(for: Question(.print, owner: .managed(Self.name)))
        }
    }

    @Test func `a window shows an account that was named by its sign-in name, past that account's gate`() async throws {
        let device = try Device()
        try await device.publish([:])
        let gate = ScriptedGate(["oid-a": .cancelled])
        let protection = try await device.start { configuration in
            configuration.switchGate = { account, _ in gate.pass(account) }
        }
        await protection.enroll(device.account)
        #expect(await protection.windows.switchIdentity(to: .managed(Self.name), in: "by-name").result == .cancelled)
        #expect(gate.visitors == ["oid-a"])
        #expect(protection.windows.block(of: Self.name) == .launchCancelled)
        #expect(protection.windows.blockedAccounts == ["oid-a"])
    }

    @Test func `an account is known by its sign-in name as soon as it is enrolled`() async throws {
        let device = try Device()
        let named = ManagedAccount(
            id: device.account.id, tenant: device.account.tenant, userPrincipalName: "just-enrolled@contoso.example")
        let protection = try await device.start()
        #expect(!IdentityContext.areSame("just-enrolled@contoso.example", named.id))
        #expect(await protection.enroll(named) == .noPolicyTargeted)
        #expect(IdentityContext.areSame("just-enrolled@contoso.example", named.id))
    }

    @Test func `an account that got another sign-in name elsewhere is known by the new one here`() async throws {
        let device = try Device()
        let protection = try await device.enrolled()
        let renamed = ManagedAccount(
            id: device.account.id, tenant: device.account.tenant, userPrincipalName: "renamed@contoso.example")
        let other = try await device.start()
        await other.unenroll(renamed.id, wiping: false)
        #expect(await other.enroll(renamed) == .newPolicies)
        await other.checkIn(renamed.id)
        // The name is taken away again, as if this process had never heard it.
        IdentityContext.learn(
            ManagedAccount(id: "oid-nobody", tenant: renamed.tenant, userPrincipalName: renamed.userPrincipalName))
        #expect(!IdentityContext.areSame("renamed@contoso.example", renamed.id))
        await protection.checkIn(renamed.id)
        #expect(IdentityContext.areSame("renamed@contoso.example", renamed.id))
    }
}

/// A place that keeps what is saved to it.
private actor Shelf: SavePlace {
    private(set) var names: [String] = []
    func save(_ contents: Data, named name: String) { names.append(name) }
}
