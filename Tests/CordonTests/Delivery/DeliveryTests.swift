import Cordon
import CordonBase
import CordonIdentity
import CordonPolicy
import CordonProtocol
import Foundation
import Testing

/// What envelopes bring besides rules: configuration, the allow list, working time, pins.
@Suite(.timeLimit(.minutes(10))) struct DeliveryTests {
    private let time = TestTime()

    private func enrolled(
        _ rules: [String: JSONValue] = ["printBlocked": .bool(true)],
        _ change: @escaping @Sendable (inout PolicyEnvelope) -> Void
    ) async throws -> (Device, AppProtection, EventCatch) {
        let device = try Device(time: time)
        await device.service.set { $0.change = change }
        await device.setServiceClock()
        try await device.publish(rules)
        let protection = try await device.start()
        let events = EventCatch(protection)
        await protection.enroll(device.account)
        return (device, protection, events)
    }

    @Test func `configuration is read by type, targeted before default, and survives a restart`() async throws {
        let (device, protection, events) = try await enrolled { envelope in
            envelope.configurations = [
                .object(["server": .string("a"), "limit": .integer(3), "flag": .bool(true)]),
                .object(["server": .string("b"), "limit": .integer(5)]),
                .object(["__IsDefault": .bool(true), "server": .string("z"), "colour": .string("blue")]),
            ]
        }
        let account = device.account.id
        #expect(await events.has(.configurationChanged(account: account)))
        for app in [protection, try await device.start()] {
            let configuration = app.rules.appConfiguration(of: account)
            #expect(configuration.string(for: "server", .max) == "b")
            #expect(configuration.hasConflict("server"))
            #expect(configuration.number(for: "limit", .min) == 3)
            #expect(configuration.bool(for: "flag") == true)
            #expect(configuration.string(for: "colour") == "blue")
            #expect(!configuration.hasConflict("colour"))
            #expect(configuration.fullData.count { $0["__IsDefault"] == true } == 1)
        }
        #expect(protection.rules.appConfiguration(of: "oid-b") == .empty)
        #expect(protection.rules.appConfiguration(of: [account, "oid-b"]).keys.count == 4)
        await device.service.set { $0.change = { $0.configurations = [] } }
        await protection.checkIn(account)
        #expect(protection.rules.appConfiguration(of: account) == .empty)
        #expect(await events.count { $0 == .configurationChanged(account: account) } == 2)
        try await protection.wipe(account)
        #expect(protection.rules.appConfiguration(of: account) == .empty)
    }

    @Test func `what device management gives is the configuration of the account that it names alone`() async throws {
        let device = try Device()
        await device.service.set { $0.change = { $0.configurations = [.object(["server": .string("a")])] } }
        for (named, isGiven): (AccountID?, Bool) in [("oid-a", true), (nil, false)] {
            let app = try await device.start {
                $0.managedConfiguration = ["server": "b", "site": "north"]
                $0.expectedAccounts.deviceEnrollment = named
            }
            #expect(app.rules.appConfiguration(of: "oid-a").keys.isEmpty == (named != nil), "before it is enrolled")
            await app.enroll(device.account)
            let configuration = app.rules.appConfiguration(of: "oid-a")
            #expect(configuration.allStrings(for: "server") == (isGiven ? ["a", "b"] : ["a"]))
            #expect((configuration.string(for: "site") == "north") == isGiven)
            #expect(configuration.hasConflict("server") == isGiven)
        }
    }

    @Test
    func `a configuration that goes to another account with the device is told, and one that comes with enrolment`()
        async throws
    {
        let (device, said) = (try Device(), Locked<AccountID?>(nil))
        try await device.publish([:])
        let app = try await device.start { configuration in
            configuration.managedConfiguration = ["site": "north"]
            configuration.askDeviceAccount = { said.withLock { $0 } }
        }
        let account = device.account.id
        #expect(await app.enroll(device.account) == .newPolicies)
        let events = EventCatch(app)
        for (named, changes): (AccountID?, Int) in [
            (account, 1), (nil, 2), ("oid-x", 2), ("worker-a@contoso.example", 3),
        ] {
            said.withLock { $0 = named }
            await app.enrollments.deviceAccount()
            let isGiven = app.rules.appConfiguration(of: account).string(for: "site") == "north"
            #expect(isGiven == (changes % 2 == 1), "\(String(describing: named))")
            #expect(await events.count { $0 == .configurationChanged(account: account) } == changes)
        }
        await app.unenroll(account)
        #expect(await app.enroll(device.account) == .newPolicies)
        #expect(await events.count { $0 == .configurationChanged(account: account) } == 4)
    }

    @Test func `what device management gives decides nothing`() async throws {
        let device = try Device()
        try await device.publish(["managedBrowserToOpenLinksRequired": .bool(true)])
        let pin = Base64URL.encode(Data(repeating: 7, count: 32))
        let app = try await device.start {
            $0.expectedAccounts.deviceEnrollment = "oid-a"
            $0.managedConfiguration = [
                AppConfiguration.managedBrowserKey: "otherweb",
                "com.microsoft.intune.mam.screencapturecontrol": "Disabled",
                "CordonCertificatePins": .string(#"{"mail.example": ["\#(pin)"]}"#),
            ]
        }
        #expect(await app.enroll(device.account) == .newPolicies)
        let owner = Identity.managed(device.account.id)
        #expect(app.rules.appConfiguration(of: "oid-a").keys.count == 3, "the app has it")
        #expect(!app.pinning.hasCertificatePins("oid-a"))
        let link = try #require(URL(string: "https://example.com"))
        do {
            _ = try app.outlets.linkPermit(for: link, of: owner)
            Issue.record("the link goes to an app that no service has named")
        } catch { #expect(error.denial?.reasons.map(\.setting) == ["managedBrowserToOpenLinksRequired"]) }
        try await device.publish(["allowedOutboundDataTransferDestinations": .string("managedApps")])
        await app.checkIn(device.account.id)
        #expect(!app.rules.isScreenCaptureAllowed(for: owner))
    }

    @Test func `several accounts that are asked about together keep their own values`() async throws {
        let device = try Device()
        let accounts = TwoAccounts(device)
        for (service, server) in [(accounts.first, "a"), (accounts.second, "b")] {
            await service.set { service in
                service.change = { $0.configurations = [.object(["server": .string(server), "limit": .integer(3)])] }
            }
        }
        let protection = try await accounts.enrolled(
            on: device, ["printBlocked": .bool(true)], ["printBlocked": .bool(false)])
        let both = protection.rules.appConfiguration(of: [accounts.first.account.id, accounts.second.account.id])
        #expect(both.allStrings(for: "server") == ["a", "b"])
        #expect(both.hasConflict("server") && !both.hasConflict("limit"))
        #expect(protection.rules.appConfiguration(of: accounts.second.account.id).allStrings(for: "server") == ["b"])
    }

    @Test func `a configuration that lifts the screen capture block lifts it in the app`() async throws {
        let (device, protection, _) = try await enrolled { _ in }
        try await device.publish(["allowedOutboundDataTransferDestinations": .string("managedApps")])
        await protection.checkIn(device.account.id)
        #expect(!protection.rules.isScreenCaptureAllowed(for: .managed(device.account.id)))
        await device.service.set {
            $0.change = {
                $0.configurations = [
                    .object(["com.microsoft.intune.mam.screencapturecontrol": .string("Disabled")])
                ]
            }
        }
        await protection.checkIn(device.account.id)
        for app in [protection, try await device.start()] {
            #expect(app.rules.isScreenCaptureAllowed(for: .managed(device.account.id)))
        }
    }

    @Test func `an account that is not on the list is named, refused, and gone from the list after a change`()
        async throws
    {
        let entry = PolicyEnvelope.AllowedAccount(id: "OID-A", userPrincipalName: "Worker-A@contoso.example")
        let (device, protection, events) = try await enrolled { $0.allowedAccounts = [entry] }
        #expect(await events.has(.allowedAccountsChanged(["OID-A", "Worker-A@contoso.example"])))
        #expect(protection.enrollments.admits(device.account))
        #expect(protection.enrollments.allowedAccounts.objectIDs == ["OID-A"], "SDK-AA-02: without the sign-in name")
        let other = ManagedAccount(
            id: "oid-b", tenant: device.account.tenant, userPrincipalName: "worker-b@contoso.example")
        #expect(await protection.enroll(other) == .enrollmentRefused)
        #expect(await events.has(.accountNotAllowed("oid-b")))
        await device.service.set { $0.change = { $0.allowedAccounts = [] } }
        await protection.checkIn(device.account.id)
        #expect(await events.has(.accountNotAllowed(device.account.id)))
        await device.service.set { $0.change = { $0.allowedAccounts = nil } }
        await protection.checkIn(device.account.id)
        #expect(await events.has(.allowedAccountsChanged(nil)))
        #expect(protection.enrollments.allowedAccounts.list == nil)
        #expect(protection.enrollments.allowedAccounts.objectIDs == nil)
        let changes = await events.count { if case .allowedAccountsChanged = $0 { true } else { false } }
        await protection.checkIn(device.account.id)
        #expect(await changes == events.count { if case .allowedAccountsChanged = $0 { true } else { false } })
    }

    @Test func `a start posts nothing of what did not change, and a wipe says that the restriction is over`()
        async throws
    {
        let entry = PolicyEnvelope.AllowedAccount(id: "OID-A", userPrincipalName: "")
        let (device, protection, _) = try await enrolled {
            $0.allowedAccounts = [entry]
            $0.configurations = [.object(["key": .string("value")])]
        }
        // A name that is missing names no account.
        let nameless = ManagedAccount(id: "oid-b", tenant: device.account.tenant, userPrincipalName: "")
        #expect(protection.enrollments.admits(device.account) && !protection.enrollments.admits(nameless))
        let restarted = try await device.start()
        let events = EventCatch(restarted)
        await restarted.checkIn(device.account.id)
        _ = await events.first { if case .status = $0 { true } else { false } }
        #expect(await events.count { if case .allowedAccountsChanged = $0 { true } else { false } } == 0)
        #expect(await events.count { if case .configurationChanged = $0 { true } else { false } } == 0)
        #expect(restarted.enrollments.allowedAccounts.list == ["OID-A"])
        await restarted.unenroll(device.account.id)
        #expect(await events.has(.allowedAccountsChanged(nil)))
    }

    /// What the rules on working time say at the gate; nil where they are content.
    private func clockReason(_ protection: AppProtection, _ account: AccountID) -> PolicyReason? {
        protection.decision(for: Question(.launch, owner: .managed(account))).reasons.first {
            $0.rule == "launch.clock"
        }
    }

    @Test func `working time turns stale, and rules follow it`() async throws {
        let start = Int64(time.now.timeIntervalSince1970)
        let (device, protection, events) = try await enrolled(["appActionIfAccountIsClockedOut": .string("block")]) {
            $0.workingTime = WorkingTime(status: .clockedIn, asOf: start, validUntil: start + 3600)
        }
        let account = device.account.id
        #expect(await events.has(.workingTimeChanged(account: account, .clockedIn)))
        #expect(protection.rules.workingTime(of: account) == .clockedIn)
        #expect(clockReason(protection, account) == nil)
        time.advance(by: 3601)
        #expect(protection.rules.workingTime(of: account) == .clockedInStale)
        #expect(clockReason(protection, account)?.verdict == .block)
        #expect(protection.rules.workingTime(of: "oid-b") == .notConfigured)
        time.advance(by: -3000)
        #expect(protection.rules.workingTime(of: account) == .unknown, "a clock that was turned back says nothing")
    }

    @Test func `a clocked-out person is blocked after the grace time, and not while at work`() async throws {
        let start = Int64(time.now.timeIntervalSince1970)
        let device = try Device(time: time)
        let protection = try await device.enrolled([
            "appActionIfAccountIsClockedOut": .string("block"),
            "gracePeriodToBlockAppsDuringOffClockHours": .string("PT10M"),
        ])
        let account = device.account.id
        for (status, verdict): (ClockStatus, Verdict?) in [(.clockedIn, nil), (.clockedOut, .warn)] {
            let told = WorkingTime(status: status, asOf: start, validUntil: start + 86_400)
            await device.service.set { $0.change = { $0.workingTime = told } }
            await protection.checkIn(account)
            #expect(clockReason(protection, account)?.verdict == verdict)
        }
        time.advance(by: 601)
        #expect(clockReason(protection, account)?.verdict == .block)
    }

    @Test func `working time that turns stale, and is fresh again, is told though the service says the same`()
        async throws
    {
        let start = Int64(time.now.timeIntervalSince1970)
        let (device, protection, events) = try await enrolled {
            $0.workingTime = WorkingTime(status: .clockedIn, asOf: start, validUntil: start + 3600)
        }
        let account = device.account.id
        await device.service.set { $0.isUnreachable = true }
        time.advance(by: 3601)
        for _ in 0..<2 { await protection.performDueWork() }
        let changed = { @Sendable (status: ClockStatus) in ProtectionEvent.workingTimeChanged(account: account, status)
        }
        #expect(await events.count { $0 == changed(.clockedInStale) } == 1)

        await device.service.set { service in
            service.isUnreachable = false
            service.change = {
                $0.workingTime = WorkingTime(status: .clockedIn, asOf: start, validUntil: start + 7200)
            }
        }
        await protection.checkIn(account)
        #expect(await events.count { $0 == changed(.clockedIn) } == 2)

        // What was so at a start is no change.
        let restarted = try await device.start()
        let later = EventCatch(restarted)
        await restarted.performDueWork()
        #expect(await later.count { if case .workingTimeChanged = $0 { true } else { false } } == 0)
    }

    @Test func `pins hold for their host alone, and every failure has its number`() async throws {
        let key = Data("a public key".utf8)
        let pin = Base64URL.encode(sha256(key))
        let (device, protection, _) = try await enrolled { $0.certificatePins = ["Mail.example": [pin]] }
        let account = device.account.id
        #expect(protection.pinning.hasCertificatePins(account) && !protection.pinning.hasCertificatePins("oid-b"))
        try protection.pinning.checkPins(of: [Data("leaf".utf8), key], for: "mail.EXAMPLE", account: account)
        try protection.pinning.checkPins(of: [Data("leaf".utf8)], for: "other.example", account: account)
        // Without an account it is the identity that the work at hand is for (SDK-NA-13).
        let leaf = [Data("leaf".utf8)]
        try IdentityContext.with(.personal) { () throws(ProtectionError) in
            try protection.pinning.checkPins(of: leaf, for: "mail.example")
        }
        for name in [account, "worker-a@contoso.example"] {
            #expect(throws: ProtectionError(.matchNotFound)) {
                try IdentityContext.with(.managed(name)) { () throws(ProtectionError) in
                    try protection.pinning.checkPins(of: leaf, for: "mail.example")
                }
            }
            #expect(throws: ProtectionError(.matchNotFound)) {
                try protection.pinning.checkPins(of: leaf, for: "mail.example", account: name)
            }
        }
        #expect(throws: ProtectionError(.matchNotFound)) {
            try protection.pinning.checkPins(of: [Data("leaf".utf8)], for: "mail.example", account: account)
        }
        #expect(throws: ProtectionError(.nilHost)) {
            try protection.pinning.checkPins(of: [key], for: nil, account: account)
        }
        #expect(throws: ProtectionError(.invalidCertificateChain)) {
            try protection.pinning.checkPins(of: [], for: "mail.example", account: account)
        }
        #expect(PinningFailure.allCases.map(\.rawValue) == Array(100...107))
    }

    /// In a process of its own, because a process identity that another test sets would be found.
    @Test func `work whose identity was lost keeps to the pins of every account`() async {
        await #expect(processExitsWith: .success) {
            let pin = Base64URL.encode(Data(repeating: 7, count: 32))
            let device = try Device()
            await device.service.set { $0.change = { $0.certificatePins = ["mail.example": [pin]] } }
            let protection = try await device.enrolled()
            func refusal(_ host: String) -> PinningFailure? {
                do throws(ProtectionError) {
                    try protection.pinning.checkPins(of: [Data("leaf".utf8)], for: host)
                    return nil
                } catch { return error.pinning }
            }
            await IdentityContext.with(.managed("oid-a")) {
                await Task.detached {
                    #expect(refusal("mail.example") == .matchNotFound)
                    #expect(refusal("other.example") == nil)
                }.value
            }
        }
    }

    /// SHA-256, computed by the envelope's own digest.
    private func sha256(_ bytes: Data) -> Data {
        Base64URL.decode(SignedEnvelope(String(decoding: bytes, as: UTF8.self)).digest) ?? Data()
    }
}
