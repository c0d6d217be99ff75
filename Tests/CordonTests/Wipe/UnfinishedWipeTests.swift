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

/// Wipes that something holds up: tried again until they are done, closed until then.
@Suite(.timeLimit(.minutes(10))) struct UnfinishedWipeTests {
    private let ada: AccountID = "oid-a"

    @Test func `a wipe that failed half-way is finished by the next due work, and the account is not enrolled before`()
        async throws
    {
        let device = try Device()
        let protection = try await device.enrolled()
        await device.sessions.set { $0.endFailure = HeldSessions.refusal }
        #expect(await protection.failureOfWiping(ada) == .stateUnwritable)
        #expect(device.keys.isEmpty, "the key does not wait")
        #expect(protection.enrolledAccounts.isEmpty)
        #expect(await protection.enroll(device.account) == .removingExistingAccount)
        #expect(try await device.receipts().isEmpty)

        await device.sessions.set { $0.endFailure = nil }
        await protection.performDueWork()
        #expect(await device.sessions.ended == [ada])
        #expect(try await device.receipts().map(\.succeeded) == [true])
        #expect(device.files(in: "wipes").isEmpty)
        #expect(await protection.enroll(device.account) == .newPolicies)
    }

    @Test func `a wipe that cannot be finished keeps neither the app from starting nor other accounts closed`()
        async throws
    {
        let device = try Device()
        let two = TwoAccounts(device)
        let first = try await two.enrolled(on: device, ["printBlocked": .bool(false)], ["printBlocked": .bool(false)])
        await device.sessions.set { $0.endFailure = HeldSessions.refusal }
        #expect(await first.failureOfWiping(ada) == .stateUnwritable)
        let restarted = try await device.start { $0.transport = two }
        #expect(restarted.enrolledAccounts.map(\.id) == ["oid-b"])
        #expect(!device.mayPrint(restarted))
        #expect(restarted.decision(for: Question(.print, owner: .managed("oid-b"))).verdict.permits)
    }

    @Test func `a sign-out whose wipe cannot be finished ends the account's retries`() async throws {
        let device = try Device()
        let protection = try await device.enrolled()
        await device.sessions.set { $0.endFailure = HeldSessions.refusal }
        #expect(await protection.unenroll(ada) == .wipeIncomplete)
        #expect(await protection.enrollments.registeredAccounts.isEmpty)
        #expect(await (try device.start()).enrollments.registeredAccounts.isEmpty)
    }

    @Test func `a receipt is signed when the key can be had again`() async throws {
        let device = try Device()
        let protection = try await device.enrolled()
        await device.sessions.set { $0.signerFailure = HeldSessions.refusal }
        let failure = await #expect(throws: ProtectionError(.stateUnreadable, "")) { try await protection.wipe(ada) }
        #expect(failure?.reason.hasPrefix("the data is gone;") == true)
        await protection.performDueWork()
        #expect(await device.service.acknowledgements.isEmpty)
        await device.sessions.set { $0.signerFailure = nil }
        await protection.performDueWork()
        #expect(try await device.receipts().map(\.succeeded) == [true])
        #expect(await device.sessions.ended == [ada])
    }

    @Test func `a receipt is signed when the key signs again`() async throws {
        let device = try Device()
        let protection = try await device.enrolled()
        await device.sessions.set { $0.signingFailure = ProtocolError(.signingFailed, "the broker is starting") }
        #expect(await protection.failureOfWiping(ada) == .stateUnreadable)
        #expect(await device.sessions.ended.isEmpty, "no other key signs it")
        await device.sessions.set { $0.signingFailure = nil }
        await protection.performDueWork()
        #expect(try await device.receipts().map(\.succeeded) == [true])
        #expect(await device.sessions.ended == [ada])
    }

    @Test func `a key that does not sign for a day holds the wipe up no longer`() async throws {
        let time = TestTime()
        let device = try Device(time: time)
        let protection = try await device.enrolled()
        await device.sessions.set { $0.signingFailure = ProtocolError(.signingFailed, "the key is broken") }
        #expect(await protection.failureOfWiping(ada) == .stateUnreadable)
        time.advance(by: 86_000)
        await protection.performDueWork()
        #expect(await device.sessions.ended.isEmpty)
        time.advance(by: 400)
        await protection.performDueWork()
        #expect(await device.sessions.ended == [ada])
        #expect(device.files(in: "wipes").isEmpty)
    }

    @Test func `a clock that was ahead when a wipe began does not make it wait longer for a key that does not sign`()
        async throws
    {
        let time = TestTime()
        let device = try Device(time: time)
        let protection = try await device.enrolled()
        await device.sessions.set { $0.signingFailure = ProtocolError(.signingFailed, "the key is broken") }
        time.advance(by: 400 * 86_400)
        #expect(await protection.failureOfWiping(ada) == .stateUnreadable)
        time.advance(by: -398 * 86_400)
        await protection.performDueWork()
        #expect(await device.sessions.ended == [ada])
        #expect(device.files(in: "wipes").isEmpty)
    }

    @Test(arguments: [ProtocolError.Code.unsupported, .wrongRecipient])
    func `a key that signs no receipt of this app does not hold the wipe up`(_ code: ProtocolError.Code) async throws {
        let device = try Device()
        let protection = try await device.enrolled()
        await device.sessions.set { $0.signingFailure = ProtocolError(code, "the broker signs no such text") }
        #expect(await protection.failureOfWiping(ada) == nil)
        #expect(await device.sessions.ended == [ada])
        #expect(device.files(in: "wipes").isEmpty)
    }

    @Test func `a life record that cannot be changed keeps neither the app's part nor the receipt waiting`()
        async throws
    {
        let device = try Device()
        _ = try await device.enrolled()
        let file = device.folder.appending(path: "data/life/life.json")
        let text = try String(contentsOf: file, encoding: .utf8)
        let newer = text.replacing(#""version":4"#, with: #""version":99"#)
        #expect(newer != text)
        try newer.write(to: file, atomically: true, encoding: .utf8)
        let calls = Locked(0)
        let protection = try await device.start {
            $0.wipeHook = { _ in
                calls.withLock { $0 += 1 }
                return .removed
            }
        }
        #expect(await protection.failureOfWiping(ada) == .stateUnwritable)
        #expect(calls.withLock { $0 } == 1)
        let wipe = device.folder.appending(path: "data/wipes").appending(
            path: try #require(device.files(in: "wipes").first))
        #expect(String(decoding: try device.contents(ofState: wipe), as: UTF8.self).contains("receiptSigned"))
        try text.write(to: file, atomically: true, encoding: .utf8)
        await protection.performDueWork()
        #expect(try await device.receipts().map(\.succeeded) == [true])
        #expect(calls.withLock { $0 } == 1)
    }

    @Test(arguments: [SignInFault.storeDamaged, .signedOut])
    func `a session that is gone does not hold the wipe up`(fault: SignInFault) async throws {
        let device = try Device()
        let protection = try await device.enrolled()
        await device.sessions.set {
            $0.signerFailure = SignInError(.interactionRequired, fault, "the session is gone")
        }
        #expect(await protection.failureOfWiping(ada) == nil)
        #expect(await device.sessions.ended == [ada])
        #expect(device.files(in: "wipes").isEmpty && device.files(in: "registrations").isEmpty)
    }

    @Test func `a session store that never answers does not hold the account's lock for ever`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.enrolled()
        await house.device.sessions.set { $0.isSilent = true }
        let isOver = Locked(false)
        let wiping = Task {
            defer { isOver.withLock { $0 = true } }
            return await protection.failureOfWiping(ada)
        }
        try await until {
            house.clock.advance(.seconds(31))
            return isOver.withLock { $0 }
        }
        #expect(await wiping.value == .stateUnreadable)
        await house.device.sessions.set { $0.isSilent = false }
        await protection.performDueWork()
        #expect(try await house.device.receipts().map(\.succeeded) == [true])
    }

    @Test func `a session store that never says whom it keeps does not hold the wipe up`() async throws {
        let device = try Device()
        _ = try await device.enrolled()
        let (latch, held) = (Latch(), device.sessions)
        let protection = try await device.start {
            // Time passes once the store is asked.
            $0.clock = ProtectionClock(now: { Date() }, sleep: { _ in await latch.pass() })
            $0.sessions = SilentAboutOthers(held: held, latch: latch)
        }
        try await protection.settings.change { $0.authority = "https://provider.example" }
        #expect(await protection.failureOfWiping(ada) == nil)
        #expect(device.files(in: "registrations").isEmpty)
    }

    /// Sessions that do not say whose they are.
    private struct SilentAboutOthers: AccountSessions {
        let held: HeldSessions
        let latch: Latch

        func accessToken(
            for account: AccountID, resource: String, scopes: [String]
        ) async throws(SignInError) -> AccessToken {
            try await held.accessToken(for: account, resource: resource, scopes: scopes)
        }

        func signer(for account: AccountID) async throws(SignInError) -> any MessageSigner {
            try await held.signer(for: account)
        }

        func end(_ account: AccountID) async throws(SignInError) { try await held.end(account) }

        func keptAccounts() async throws(SignInError) -> Set<AccountID> {
            await latch.open()
            try? await Task.sleep(for: .seconds(86_400))
            return []
        }
    }

    @Test func `a receipt is not given up because something on the way to the service says no`() async throws {
        let device = try Device()
        let protection = try await device.enrolled()
        await device.service.set { $0.garbage = (.notFound, "no such site") }
        try await protection.wipe(ada)
        #expect(try await device.receipts().isEmpty)
        await device.service.set { $0.garbage = nil }
        await protection.performDueWork()
        #expect(try await device.receipts().map(\.succeeded) == [true])
        #expect(device.files(in: "wipes").isEmpty)
    }

    @Test func `a receipt is put away when the service itself says that it has forgotten the registration`()
        async throws
    {
        let device = try Device()
        let protection = try await device.enrolled()
        await device.service.set {
            $0.garbage = (
                .notFound, #"{"type":"urn:cordon:problem:not-found","title":"no such registration","status":404}"#
            )
        }
        try await protection.wipe(ada)
        #expect(device.files(in: "wipes").isEmpty)
    }

    @Test func `a receipt that a process has handed in and not put away before it was killed is handed in once more`()
        async throws
    {
        let device = try Device()
        let (data, copy) = (device.folder.appending(path: "data"), device.folder.appending(path: "copy"))
        try await device.publish([:])
        let protection = try await device.start {
            $0.wipeObserver = { if $0 == "put-away" { try? FileManager.default.copyItem(at: data, to: copy) } }
        }
        #expect(await protection.enroll(device.account) == .newPolicies)
        try await protection.wipe(ada)
        try FileManager.default.removeItem(at: data)
        try FileManager.default.moveItem(at: copy, to: data)
        await (try device.start()).deliverReceipts()
        #expect(device.files(in: "wipes").isEmpty)
        let receipts = await device.service.acknowledgements.compactMap(\.receipt)
        #expect(receipts.count > 1 && Set(receipts).count == 1)
    }

    @Test
    func `a receipt that a newer version has left waits for it, and closes nothing once the service has answered`()
        async throws
    {
        let device = try Device()
        let protection = try await device.enrolled(["printBlocked": .bool(false)])
        await device.service.set { $0.isUnreachable = true }
        try await protection.wipe(ada)
        let name = try #require(device.files(in: "wipes").first)
        let file = device.folder.appending(path: "data/wipes").appending(path: name)
        let text = try String(contentsOf: file, encoding: .utf8)
        let newer = text.replacing(#""version":4"#, with: #""version":99"#)
        #expect(newer != text)
        try newer.write(to: file, atomically: true, encoding: .utf8)
        let older = try await device.start()
        await device.service.set { $0.isUnreachable = false }
        #expect(await older.enroll(device.account) == .newPolicies)
        #expect(await older.checkIn(ada).didSucceed)
        await device.service.set { $0.isUnreachable = true }
        let next = try await device.start()
        #expect(device.mayPrint(next))
        #expect(try String(contentsOf: file, encoding: .utf8) == newer)
        await device.service.set { $0.isUnreachable = false }
        try text.write(to: file, atomically: true, encoding: .utf8)
        await (try device.start()).deliverReceipts()
        #expect(try await !device.receipts().isEmpty)
    }

    @Test func `a wipe leaves nothing behind of rules, names and what was put aside, offline too`() async throws {
        let device = try Device()
        let protection = try await device.enrolled()
        let file = try #require(device.files(in: "registrations").first)
        let place = device.folder.appending(path: "data/registrations")
        let stored = try String(contentsOf: place.appending(path: file), encoding: .utf8)
        let envelope = try #require(stored.firstMatch(of: /"sealed":"([^"]+)"/)?.output.1)
        for end in [".damaged", ".new", ".1F.new"] {
            try Data(stored.utf8).write(to: place.appending(path: file + end))
        }
        await device.service.set { $0.isUnreachable = true }
        let whole = device.folder.appending(path: "data")
        #expect(try Self.files(in: whole, containing: String(envelope)).count == 4, "the scan finds what is there")
        try await protection.wipe(ada)
        #expect(device.files(in: "wipes").count == 1, "the receipt waits")
        #expect(try Self.files(in: whole, containing: String(envelope)) == [])
        #expect(try Self.files(in: whole, containing: device.account.userPrincipalName) == [])
        #expect(device.files(in: "registrations").isEmpty)
    }

    @Test func `what an account without a registration has left is removed with the events of one wipe`() async throws {
        let time = TestTime()
        let device = try Device(time: time)
        await device.setServiceClock()
        try await device.publish([:])
        let isLocked = Locked(true)
        let protection = try await device.start {
            $0.wipeHook = { _ in isLocked.withLock { $0 } ? .failed("the app's search index is locked") : .removed }
        }
        #expect(await protection.enroll(device.account) == .newPolicies)
        #expect(await protection.unenroll(ada, wiping: false) == .unenrolled)
        let (events, ended) = (EventCatch(protection), await device.sessions.ended.count)
        #expect(await protection.unenroll(ada) == .wipeIncomplete)
        #expect(await device.sessions.ended.count == ended + 1, "no session waits for the app's own part")
        #expect(await protection.performDueWork() == time.now + 3600, "it is tried again within the hour")
        #expect(await device.sessions.ended.count == ended + 1, "a session that the person has begun since is theirs")
        #expect(await protection.unenroll(ada) == .wipeIncomplete)
        #expect(await device.sessions.ended.count == ended + 2, "who signs out is signed out")
        #expect(await events.count { if case .wipeFinished = $0 { true } else { false } } == 0)

        isLocked.withLock { $0 = false }
        #expect(await protection.performDueWork() == time.now + 8 * 3600)
        let begun = await events.first { if case .wipeStarted = $0 { true } else { false } }
        guard case .wipeStarted(ada, let id)? = begun else { Issue.record("no wipe of the account began"); return }
        #expect(await events.has(.wipeFinished(account: ada, commandID: id, succeeded: true)))
        let told = await events.count { event in
            switch event {
            case .wipeStarted, .wipeFinished: true
            default: false
            }
        }
        #expect(told == 2)
        #expect(await device.sessions.ended.count == ended + 2)
    }

    @Test func `a session that could not be ended is ended at a later try, whatever else stays`() async throws {
        let device = try Device()
        try await device.publish([:])
        let isLocked = Locked(true)
        let protection = try await device.start {
            $0.wipeHook = { _ in isLocked.withLock { $0 } ? .failed("the app's search index is locked") : .removed }
        }
        #expect(await protection.enroll(device.account) == .newPolicies)
        #expect(await protection.unenroll(ada, wiping: false) == .unenrolled)
        let ended = await device.sessions.ended.count
        await device.sessions.set { $0.endFailure = HeldSessions.refusal }
        #expect(await protection.unenroll(ada) == .wipeIncomplete)
        #expect(await device.sessions.ended.count == ended)
        await device.sessions.set { $0.endFailure = nil }
        // A kill at this point loses nothing of it.
        let next = try await device.start { $0.wipeHook = { _ in .failed("the app's search index is locked") } }
        for _ in 0..<2 {
            await next.performDueWork()
            #expect(await device.sessions.ended.count == ended + 1)
        }
        isLocked.withLock { $0 = false }
        await protection.performDueWork()
        #expect(await device.sessions.ended.count == ended + 1, "a session that the person has begun since is theirs")
    }

    @Test(arguments: [true, false])
    func
        `an account whose removal goes on is enrolled once the service can be reached, where the app asked for that since`(
            isRemovedFirst: Bool
        ) async throws
    {
        let time = TestTime()
        let device = try Device(time: time)
        await device.setServiceClock()
        try await device.publish([:])
        let isLocked = Locked(true)
        let protection = try await device.start {
            $0.wipeHook = { _ in isLocked.withLock { $0 } ? .failed("the app's search index is locked") : .removed }
        }
        #expect(await protection.enroll(device.account) == .newPolicies)
        #expect(await protection.unenroll(ada, wiping: false) == .unenrolled)
        #expect(await protection.unenroll(ada) == .wipeIncomplete)
        await device.service.set { $0.isUnreachable = true }
        #expect(await !protection.enroll(device.account).didSucceed)
        let events = EventCatch(protection)
        time.advance(by: 3600)
        if isRemovedFirst { isLocked.withLock { $0 = false } }
        await protection.performDueWork()
        let finished = await events.count { if case .wipeFinished = $0 { true } else { false } }
        #expect(finished == (isRemovedFirst ? 1 : 0))
        #expect(await protection.enrollments.registeredAccounts == [device.account])
        await device.service.set { $0.isUnreachable = false }
        time.advance(by: 2 * 86_400)
        await protection.performDueWork()
        #expect(protection.enrolledAccounts == [device.account])
    }

    @Test func `a removal that a new enrolment has overtaken takes nothing from the events of the next one`()
        async throws
    {
        let device = try Device()
        try await device.publish([:])
        let isLocked = Locked(true)
        let protection = try await device.start {
            $0.wipeHook = { _ in isLocked.withLock { $0 } ? .failed("the app's search index is locked") : .removed }
        }
        let events = EventCatch(protection)
        #expect(await protection.enroll(device.account) == .newPolicies)
        #expect(await protection.unenroll(ada, wiping: false) == .unenrolled)
        #expect(await protection.unenroll(ada) == .wipeIncomplete)
        isLocked.withLock { $0 = false }
        #expect(await protection.enroll(device.account) == .newPolicies)
        #expect(await protection.unenroll(ada, wiping: false) == .unenrolled)
        _ = await protection.unenroll(ada)
        #expect(await events.count { if case .wipeStarted = $0 { true } else { false } } == 2)
        #expect(await events.count { if case .wipeFinished = $0 { true } else { false } } == 1)
    }

    @Test func `an account that another process has enrolled meanwhile is wiped`() async throws {
        let device = try Device()
        let other = try await device.start()
        _ = try await device.enrolled()
        try await other.wipe(ada)
        #expect(device.keys.isEmpty)
    }

    @Test func `an account that was wiped is not enrolled again by itself`() async throws {
        let time = TestTime()
        let device = try Device(time: time)
        let protection = try await device.enrolled()
        try await protection.wipe(ada)
        time.advance(by: 2 * 86_400)
        await protection.performDueWork()
        #expect(await device.service.registered.count == 1)
        #expect(protection.enrolledAccounts.isEmpty)
    }

    private static func files(in folder: URL, containing text: String) throws -> [String] {
        let names = try #require(FileManager.default.enumerator(atPath: folder.path)).compactMap { $0 as? String }
        return names.filter { name in
            let bytes = FileManager.default.contents(atPath: folder.appending(path: name).path) ?? Data()
            return bytes.range(of: Data(text.utf8)) != nil
        }.sorted()
    }
}
