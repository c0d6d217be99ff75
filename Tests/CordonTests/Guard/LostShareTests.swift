import CordonBase
import CordonIdentity
import CordonProtocol
import CordonTesting
import CordonVault
import Crypto
import Foundation
import Testing

@testable import Cordon

/// What opens a guarded key is lost in one of its places: the service's share, the PIN, the secret in the key store.
@Suite(.timeLimit(.minutes(10))) struct LostShareTests {
    /// A guarded account whose service says in its answers whether it keeps the share.
    private func guarded() async throws -> (GuardStand, AppProtection) {
        let stand = try await GuardStand()
        return (stand, try await stand.guarded())
    }

    private func forget(_ stand: GuardStand) async {
        await stand.house.person.set { person in
            person.pins = [.forgotten]
            person.newPINs = [.chosen("8642")]
        }
    }

    @Test(arguments: [false, true])
    func `a check-in finds that a restored service has lost the share, and the next right PIN leaves it anew`(
        hasOlderShare: Bool
    ) async throws {
        let (stand, first) = try await guarded()
        #expect(await first.checkIn(stand.account).didSucceed)
        let before = try #require(stand.service.share.withLock { $0 })
        let left = await stand.service.checkIns.last?.recoveryShareDigest
        #expect(left == before.digest)
        stand.service.share.withLock { $0 = hasOlderShare ? RecoveryShare(sealed: "AAAA") : nil }
        #expect(await first.checkIn(stand.account).didSucceed)
        let second = try await stand.house.start()
        #expect(await stand.reads(second))
        let after = try #require(stand.service.share.withLock { $0 })
        #expect(after != before && after.sealed != "AAAA")
        #expect(await second.checkIn(stand.account).didSucceed)
        #expect(await stand.service.checkIns.last?.recoveryShareDigest == after.digest)
        await forget(stand)
        #expect(await stand.reads(try await stand.house.start()), "who has forgotten the PIN has lost nothing")
    }

    @Test func `a share that the service has lost is left anew after a finger as after the PIN`() async throws {
        let stand = try await GuardStand()
        let items = FingerItems()
        let first = try await stand.opened { $0.biometryItems = items }
        #expect(await first.checkIn(stand.account).didSucceed)
        let before = try #require(stand.service.share.withLock { $0 })
        stand.service.share.withLock { $0 = nil }
        #expect(await first.checkIn(stand.account).didSucceed)
        await stand.house.person.set { person in
            person.recognises = .finger
            person.pins = [.recognised(.finger)]
        }
        await stand.house.person.forgetAsked()
        #expect(await stand.reads(try await stand.house.start { $0.biometryItems = items }))
        #expect(await stand.house.person.pinPrompts.map(\.biometry) == [.finger], "no PIN was typed")
        let after = try #require(stand.service.share.withLock { $0 })
        #expect(after != before)
        await stand.house.person.set { $0.recognises = nil }
        await forget(stand)
        #expect(await stand.reads(try await stand.house.start()), "who has forgotten the PIN has lost nothing")
    }

    @Test func `who signs in with a new key, because the session was lost, gets at the files by that one sign-in`()
        async throws
    {
        let (stand, first) = try await guarded()
        let left = await stand.service.registered.count
        await stand.house.device.sessions.set { $0.key = SoftwareSigningKey() }
        await forget(stand)
        await stand.house.person.forgetAsked()
        let next = try await stand.house.start()
        #expect(await stand.reads(next))
        let signIns = await stand.house.person.asked.count { if case .signIn = $0 { true } else { false } }
        #expect(signIns == 1)
        #expect(await stand.service.registered.count == left + 1, "the registration was made anew")
        withExtendedLifetime(first) {}
    }

    @Test func `a service that does not say whether it keeps a share is believed to`() async throws {
        let (stand, first) = try await guarded()
        let before = stand.service.share.withLock { $0 }
        await stand.service.set { $0.signsContact = false }
        #expect(await first.checkIn(stand.account).didSucceed)
        #expect(await stand.reads(try await stand.house.start()))
        #expect(stand.service.share.withLock { $0 } == before)
    }

    @Test func `after an unenrolment without a wipe a person who has forgotten the PIN gets at the files`() async throws
    {
        let (stand, first) = try await guarded()
        #expect(await first.unenroll(stand.account, wiping: false) == .unenrolled)
        await stand.service.set { $0.registration = "registration-2" }
        let second = try await stand.house.start()
        #expect(await second.enroll(stand.house.device.account) == .newPolicies)
        #expect(await stand.service.registered.map(\.formerRegistrationID) == [nil, "registration-1"])
        await forget(stand)
        #expect(await stand.reads(second))
    }

    @Test func `a PIN that was forgotten opens the files still where the service has nothing to open them with`()
        async throws
    {
        let (stand, _) = try await guarded()
        let share = stand.service.share.withLock { $0 }
        stand.service.share.withLock { $0 = nil }
        await forget(stand)
        let second = try await stand.house.start()
        #expect(await second.launch(stand.account).result == .blocked)
        let asked = await stand.house.person.asked
        #expect(
            !asked.contains { if case .newPIN = $0 { true } else { false } }, "no PIN takes the place of the former")
        // The person remembers it after all.
        await stand.house.person.set { $0.pins = [.entered("2580"), .cancelled] }
        #expect(await stand.reads(try await stand.house.start()))
        stand.service.share.withLock { $0 = share }
        await forget(stand)
        #expect(await stand.reads(try await stand.house.start()))
    }

    @Test func `a PIN that is too old is replaced by who knows it alone, also after a sign-in`() async throws {
        let stand = try await GuardStand()
        let first = try await stand.guarded(["periodBeforePinReset": .string("P10D")])
        await loseShare(stand, first)
        // What launches remember is in doubt, so that the person signs in first.
        try FileManager.default.removeItem(at: stand.house.device.folder.appending(path: "data/launch"))
        stand.house.clock.advance(.seconds(11 * 86_400))
        await stand.house.person.set { $0.newPINs = [.chosen("9731")] }
        await stand.house.person.forgetAsked()
        #expect(await stand.reads(try await stand.house.start()))
        #expect(await stand.signInMessages().count == 1)
        #expect(await stand.house.person.pinPrompts.count == 1)
        await stand.house.person.set { $0.pins = [.entered("9731"), .cancelled] }
        #expect(await stand.reads(try await stand.house.start()))
    }

    @Test(arguments: [false, true])
    func `the PIN that the app had before it came to share one opens the files where the service has lost the share`(
        hasOtherAppsPIN: Bool
    ) async throws {
        let (stand, first) = try await lost()
        let pins = stand.house.device.folder.appending(path: "common")
        if hasOtherAppsPIN {
            let keeper = PINKeeper(
                folder: try StateFolder(pins), seal: first.context.seal, clock: stand.house.clock.clock,
                cost: PINCost(logRounds: 1), observer: { _ in }, isShared: true)
            let requirements = PINRequirements(AccessRequirements())
            #expect(
                try await keeper.make("9731", of: stand.account, requirements: requirements, inPlace: .any).problems
                    .isEmpty)
        }
        await stand.house.person.set { person in
            person.pins =
                (hasOtherAppsPIN ? [.entered("9731")] : []) + [.entered("1111"), .entered("2580"), .cancelled]
            person.newPINs = [.chosen("9731")]
        }
        await stand.house.person.forgetAsked()
        stand.house.clock.advance(.seconds(3600))
        #expect(await stand.reads(try await stand.house.start { $0.pinDirectory = pins }))
        #expect(await stand.house.person.pinPrompts.filter(\.isFormer).map(\.lastWasWrong) == [false, true])
        #expect(await !stand.signInMessages().contains { $0.contains("Neither a PIN nor the service") })

        await stand.house.person.set { $0.pins = [.entered("9731"), .cancelled] }
        await stand.house.goOffline()
        stand.house.clock.advance(.seconds(3600))
        #expect(await stand.reads(try await stand.house.start { $0.pinDirectory = pins }), "the shared one does now")
    }

    @Test func `who has forgotten the PIN that the app had before it came to share one goes on without the files`()
        async throws
    {
        let (stand, _) = try await lost()
        await stand.house.person.set { person in
            person.pins = [.forgotten]
            person.newPINs = [.chosen("9731")]
        }
        await stand.house.person.forgetAsked()
        stand.house.clock.advance(.seconds(3600))
        let pins = stand.house.device.folder.appending(path: "common")
        let next = try await stand.house.start { $0.pinDirectory = pins }
        #expect(await next.launch(stand.account).isOpen)
        #expect(await stand.house.person.pinPrompts.map(\.isFormer) == [true])
        #expect(await stand.signInMessages().last?.contains("Neither a PIN nor the service") == true)
        #expect(try stand.records(".lost").count == 1)
    }

    @Test func `who is asked for that PIN while the account is wiped is not asked to sign in to it`() async throws {
        let (stand, _) = try await lost()
        await stand.house.person.forgetAsked()
        stand.house.clock.advance(.seconds(3600))
        let pins = stand.house.device.folder.appending(path: "common")
        let next = try await stand.house.start { $0.pinDirectory = pins }
        await stand.house.person.set { [account = stand.account] person in
            person.pins = [.forgotten]
            person.beforePIN = {
                do throws(ProtectionError) { try await next.wipe(account) } catch { Issue.record(error) }
            }
        }
        #expect(await next.launch(stand.account).result == .wiped)
        #expect(await stand.house.person.pinPrompts.map(\.isFormer) == [true])
        #expect(await !stand.signInMessages().contains { $0.contains("Neither a PIN nor the service") })
    }

    private func resetsPIN(_ stand: GuardStand) async {
        let command = Command(
            id: "c1", kind: .resetPIN, account: stand.account, reason: .device, issuedAt: 0, notAfter: 9_000_000_000)
        await stand.service.set { $0.commands = [command] }
        await stand.house.person.set { $0.newPINs = [.chosen("9731")] }
    }

    /// A guarded account, and the service says that it has lost the share.
    private func lost() async throws -> (GuardStand, AppProtection) {
        let (stand, first) = try await guarded()
        await loseShare(stand, first)
        return (stand, first)
    }

    private func loseShare(_ stand: GuardStand, _ first: AppProtection) async {
        #expect(await first.checkIn(stand.account).didSucceed)
        stand.service.share.withLock { $0 = nil }
        #expect(await first.checkIn(stand.account).didSucceed)
    }

    @Test func `a PIN is reset once the service has another share in place of the one that it has lost`() async throws {
        let (stand, first) = try await lost()
        await resetsPIN(stand)
        #expect(await first.checkIn(stand.account).didSucceed)
        try await until { first.gate.isOpen(for: stand.account) }
        #expect(try await first.files.read("note", of: stand.account) == GuardStand.text)
        await first.gate.keys.finishChanges(stand.account)
        #expect(await stand.service.acknowledgements.map(\.phase) == [.succeeded])
        await stand.house.person.set { $0.pins = [.entered("9731"), .cancelled] }
        #expect(await stand.reads(try await stand.house.start()))
        await forget(stand)
        #expect(await stand.reads(try await stand.house.start()), "who has forgotten the PIN has lost nothing")
    }

    @Test func `a PIN is reset without a loss also where the service has forgotten the registration with its share`()
        async throws
    {
        let (stand, first) = try await guarded()
        stand.service.share.withLock { $0 = nil }
        await stand.service.set { $0.registration = "registration-2" }
        _ = await first.checkIn(stand.account)
        _ = await first.enroll(stand.house.device.account)
        #expect(await stand.service.registered.count == 2)
        await resetsPIN(stand)
        #expect(await first.checkIn(stand.account).didSucceed)
        try await until { first.gate.isOpen(for: stand.account) }
        await first.gate.keys.finishChanges(stand.account)
        await stand.house.person.set { $0.pins = [.entered("9731"), .cancelled] }
        #expect(await stand.reads(try await stand.house.start()))
        await forget(stand)
        #expect(await stand.reads(try await stand.house.start()))
    }

    @Test func `a PIN that alone opens the files is reset after it was entered once more, and not before`()
        async throws
    {
        let (stand, _) = try await lost()
        let second = try await stand.house.start()
        await resetsPIN(stand)
        #expect(await second.checkIn(stand.account).didSucceed)
        #expect(await stand.service.acknowledgements.isEmpty, "it is not done")
        #expect(await stand.reads(second))
        #expect(stand.service.share.withLock { $0 } != nil)
        #expect(await second.checkIn(stand.account).didSucceed)
        #expect(await stand.service.acknowledgements.map(\.phase) == [.succeeded])
        await stand.house.person.set { $0.pins = [.entered("9731"), .cancelled] }
        #expect(await stand.reads(second))
        #expect(await stand.reads(try await stand.house.start()))
    }

    /// A guarded account whose share the service has lost, and the app's counter, which can fall silent of a record.
    private func lostBesideCounter() async throws -> (GuardStand, StuckCounter, StateSeal) {
        let stand = try await GuardStand()
        let counter = try StuckCounter(directory: stand.house.device.folder.appending(path: "numbers"))
        let first = try await stand.guarded { $0.stateCounter = counter }
        await loseShare(stand, first)
        return (stand, counter, first.context.seal)
    }

    private func silence(_ counter: StuckCounter, of purpose: String, _ stand: GuardStand, _ seal: StateSeal) throws {
        let name = try seal.counterName(purpose, FolderName.of(stand.account) + ".json", isShared: false)
        counter.silent.withLock { $0 = [name] }
    }

    @Test func `a PIN that alone opens the files is not reset while it cannot be told what it opens`() async throws {
        let (stand, counter, seal) = try await lostBesideCounter()
        let second = try await stand.house.start { $0.stateCounter = counter }
        await resetsPIN(stand)
        try silence(counter, of: "guard", stand, seal)
        #expect(await second.checkIn(stand.account).didSucceed)
        #expect(await stand.service.acknowledgements.isEmpty, "it is not done")
        counter.silent.withLock { $0 = [] }
        #expect(await stand.reads(second))
    }

    @Test(arguments: ["pin", "guard"])
    func `nobody is told that files are lost while it cannot be told what the PIN opens`(purpose: String) async throws {
        let (stand, counter, seal) = try await lostBesideCounter()
        try silence(counter, of: purpose, stand, seal)
        await stand.house.person.forgetAsked()
        #expect(await !stand.reads(try await stand.house.start { $0.stateCounter = counter }))
        #expect(await !stand.signInMessages().isEmpty)
        #expect(await !stand.signInMessages().contains { $0.contains("Neither a PIN nor the service") })
        counter.silent.withLock { $0 = [] }
        #expect(await stand.reads(try await stand.house.start { $0.stateCounter = counter }))
    }

    @Test func `nobody is told that files are lost while a newer version of the app has noted what the PIN opens`()
        async throws
    {
        let (stand, _) = try await lost()
        let name = try #require(stand.house.device.files(in: "guards").first { $0.hasSuffix(".json") })
        let file = stand.house.device.folder.appending(path: "data/guards").appending(path: name)
        let noted = try Data(contentsOf: file)
        try Data(#"{"version":99}"#.utf8).write(to: file)
        await stand.house.person.forgetAsked()
        #expect(await !stand.reads(try await stand.house.start()))
        #expect(await !stand.signInMessages().isEmpty)
        #expect(await !stand.signInMessages().contains { $0.contains("Neither a PIN nor the service") })
        try noted.write(to: file)
        #expect(await stand.reads(try await stand.house.start()))
    }

    @Test(arguments: [false, true])
    func `who has forgotten the PIN of files that are open has lost nothing, whatever the service has`(
        hasOlderShare: Bool
    ) async throws {
        let (stand, first) = try await guarded()
        stand.service.share.withLock { $0 = hasOlderShare ? RecoveryShare(sealed: "AAAA") : nil }
        await forget(stand)
        #expect(await first.gate.changePIN(of: stand.account) == .changed)
        await first.gate.keys.finishChanges(stand.account)
        await stand.house.person.set { $0.pins = [.entered("8642"), .cancelled] }
        await stand.house.goOffline()
        #expect(await stand.reads(try await stand.house.start()), "the new PIN opens them without a network")
        await stand.house.goOnline()
        await forget(stand)
        #expect(await stand.reads(try await stand.house.start()), "and so does a sign-in")
    }

    @Test func `where the service takes no share, a forgotten PIN of files that are open stays`() async throws {
        let (stand, first) = try await guarded()
        stand.service.share.withLock { $0 = nil }
        await stand.service.set { $0.keepsShares = false }
        await forget(stand)
        #expect(await first.gate.changePIN(of: stand.account) != .changed)
        await stand.house.person.set { $0.pins = [.entered("2580"), .cancelled] }
        #expect(await stand.reads(try await stand.house.start()))
    }

    // MARK: The share, in both places

    @Test func `where the share that was left does not open the key either, a sign-in goes on without the files`()
        async throws
    {
        let (stand, first) = try await guarded()
        try await first.context.vault.hang(stand.account, on: SymmetricKey(size: .bits256)) { _ in }
        await stand.house.person.forgetAsked()
        #expect(await (try stand.house.start()).launch(stand.account).isOpen)
        #expect(await stand.signInMessages().last?.contains("Neither a PIN nor the service") == true)
        #expect(try stand.records(".lost").count == 1)
    }

    @Test(arguments: ["registration-1", "registration-2"])
    func `no refusal that nobody signed has a person go on without files that the service's share opens`(
        registration: String
    ) async throws {
        let (stand, _) = try await guarded()
        try FileManager.default.removeItem(at: stand.house.device.folder.appending(path: "data/pins"))
        let record = try stand.records(".key")
        await stand.service.set { service in
            service.registration = registration
            service.shareProblem = ProblemDetails(title: "not found", status: 404)
        }
        await stand.house.person.set { $0.newPINs = [.chosen("8642")] }
        await stand.house.person.forgetAsked()
        // The first start may have made the registration anew, and the second one asks with that.
        for _ in 0..<2 { #expect(await !stand.reads(try await stand.house.start())) }
        #expect(await !stand.signInMessages().isEmpty)
        #expect(await !stand.signInMessages().contains { $0.contains("Neither a PIN nor the service") })
        #expect(try stand.records(".key") == record && stand.records(".lost").isEmpty)
        await stand.service.set { $0.shareProblem = nil }
        #expect(await stand.reads(try await stand.house.start()))
    }

    @Test(arguments: [false, true])
    func `where neither a PIN nor the service has the share any more, a sign-in goes on without the files`(
        isForeign: Bool
    ) async throws {
        let (stand, _) = try await guarded()
        // As after the app's folder was put back from before a wipe: its PIN does not count, and the registration is another one.
        try FileManager.default.removeItem(at: stand.house.device.folder.appending(path: "data/pins"))
        stand.service.share.withLock { $0 = isForeign ? RecoveryShare(sealed: "AAAA") : nil }
        let record = try stand.records(".key")

        // Who turns away keeps everything as it is.
        await stand.house.person.set { person in
            person.signIns = [.signedIn("oid-a"), .cancelled]
            person.newPINs = [.chosen("8642")]
        }
        await stand.house.person.forgetAsked()
        #expect(await !stand.reads(try await stand.house.start()))
        #expect(await stand.signInMessages().last?.contains("Neither a PIN nor the service") == true)
        #expect(try stand.records(".key") == record && stand.records(".lost").isEmpty)

        await stand.house.person.set { $0.signIns = [.signedIn("oid-a")] }
        let next = try await stand.house.start()
        #expect(await next.launch(stand.account).isOpen)
        #expect(try stand.records(".lost").count == 1)
        #expect(try await next.files.names(of: stand.account).isEmpty)
        await next.gate.keys.finishChanges(stand.account)
        try await next.files.write(GuardStand.text, as: "note", of: stand.account)
        stand.house.clock.advance(.seconds(3600))
        await stand.house.person.set { $0.pins = [.entered("8642"), .cancelled] }
        #expect(await stand.reads(try await stand.house.start()), "and the account goes on")
    }
}
