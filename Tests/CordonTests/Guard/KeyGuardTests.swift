import CordonBase
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonTestSupport
import CordonTesting
import CordonVault
import Crypto
import Foundation
import Testing

@testable import Cordon

/// The PIN guards a share of the account's key (decision 61).
@Suite(.timeLimit(.minutes(10))) struct KeyGuardTests {
    private func isGuarded(_ stand: GuardStand, _ protection: AppProtection) async throws -> Bool {
        try await protection.context.vault.isGuarded(stand.account)
    }

    private func isInMemory(_ stand: GuardStand, _ protection: AppProtection) async -> Bool {
        await protection.context.vault.isUnlocked(stand.account)
    }

    @Test func `rules that the state counter does not count close the gate, and once it does, the PIN opens the key`()
        async throws
    {
        let stand = try await GuardStand()
        let counter = try StuckCounter(directory: stand.house.device.folder.appending(path: "counters"))
        let protection = try await stand.guarded { $0.stateCounter = counter }
        let events = EventCatch(protection)
        try await stand.house.device.publish(GuardStand.patience, asksForPIN: true)
        await stand.house.person.forgetAsked()
        counter.isStuck.withLock { $0 = true }
        #expect(await protection.checkIn(stand.account) == .internalError)
        #expect(!protection.gate.isOpen(for: stand.account))
        #expect(await events.has(.gate(account: stand.account, .closed([GateState.notPassed]))))
        counter.isStuck.withLock { $0 = false }
        await protection.performDueWork()
        // The first one may join the attempt that the closing began, which has found everything denied.
        var isOpen = await protection.resume(stand.account).isOpen
        if !isOpen { isOpen = await protection.resume(stand.account).isOpen }
        #expect(isOpen)
        #expect(await stand.house.person.pinPrompts.count == 1)
        #expect(try await protection.files.read("note", of: stand.account) == GuardStand.text)
    }

    @Test func `where the rules ask for a PIN, no start opens the files without it`() async throws {
        let stand = try await GuardStand()
        let first = try await stand.guarded()
        #expect(try await first.files.read("note", of: stand.account) == GuardStand.text)

        // At once, so that the rules alone would trust the person still.
        let second = try await stand.house.start()
        #expect(await !isInMemory(stand, second))
        await #expect(throws: ProtectionError(.gateClosed, "")) {
            _ = try await second.files.read("note", of: stand.account)
        }
        await stand.house.person.forgetAsked()
        let outcome = await second.launch(stand.account)
        #expect(outcome.isOpen && outcome.steps == [LaunchStep(.pin, .done)])
        #expect(try await second.files.read("note", of: stand.account) == GuardStand.text)
    }

    @Test func `who has folder and key store reads nothing without the PIN`() async throws {
        let stand = try await GuardStand()
        _ = try await stand.guarded()
        let keys = FileKeyStore(directory: stand.house.device.folder.appending(path: "keys"))
        let vault = try Vault(
            directory: stand.house.device.folder.appending(path: "data/vault"), keyStore: keys,
            name: "example.notes")
        await #expect(throws: VaultError(.locked, "")) { try await vault.unlock(stand.account) }
    }

    @Test func `the share of a key lies in the clear neither on the device nor with the service`() async throws {
        let stand = try await GuardStand()
        let protection = try await stand.guarded()
        await protection.suspend()
        let kept = try #require(stand.service.share.withLock { $0 }).sealed
        let sealed = try #require(Base64URL.decode(kept))
        let recoveryKey = try protection.context.seal.key("cordon-guard-recovery-1")
        let share = try #require(KeyGuardRecord.open(sealed, recoveryKey, stand.account))
        let bytes = share.withUnsafeBytes { Data($0) }
        let forms = [bytes, Data(Base64URL.encode(bytes).utf8), Data(bytes.base64EncodedString().utf8)]
        var looked = 0
        for name in try FileManager.default.subpathsOfDirectory(atPath: stand.house.device.folder.path) {
            guard let text = try? Data(contentsOf: stand.house.device.folder.appending(path: name)) else { continue }
            looked += 1
            #expect(forms.allSatisfy { text.range(of: $0) == nil }, "\(name)")
        }
        #expect(looked > 15)
        let sent = Data(kept.utf8) + sealed
        #expect(forms.allSatisfy { sent.range(of: $0) == nil })
        // The control: that share is what the key hangs on.
        try await protection.context.vault.unlock(stand.account, with: share)
        #expect(await isInMemory(stand, protection))
    }

    @Test func `nothing hangs on a share that the service does not keep`() async throws {
        let stand = try await GuardStand()
        await stand.service.set { $0.keepsShares = false }
        let protection = try await stand.opened()
        #expect(try await !isGuarded(stand, protection))
        // The next right PIN tries again.
        await stand.service.set { $0.keepsShares = true }
        let next = try await stand.house.start()
        stand.house.clock.advance(.seconds(3600))
        #expect(await stand.reads(next))
        #expect(try await isGuarded(stand, next) && stand.service.share.withLock { $0 } != nil)
    }

    @Test func `rules that ask for no PIN, and an app whose gate guards no files, leave the key to the device`()
        async throws
    {
        let stand = try await GuardStand()
        let unguarded = try await stand.opened { $0.gateGuardsFiles = false }
        #expect(try await !isGuarded(stand, unguarded))
        let other = try await GuardStand()
        try await other.house.device.publish(["printBlocked": .bool(true)])
        let free = try await other.house.start()
        _ = await free.enroll(other.house.device.account)
        #expect(await free.launch(other.account).isOpen)
        #expect(try await !isGuarded(other, free))
    }

    @Test func `a person who has forgotten the PIN gets at the files after a sign-in, and the new PIN opens them`()
        async throws
    {
        let stand = try await GuardStand()
        _ = try await stand.guarded()
        let next = try await stand.house.start()
        await stand.house.person.set { person in
            person.pins = [.forgotten]
            person.newPINs = [.chosen("8642")]
        }
        #expect(await stand.reads(next))
        #expect(await stand.service.releases == 1)
        await stand.house.person.set { $0.pins = [.entered("8642"), .cancelled] }
        await stand.house.goOffline()
        let last = try await stand.house.start()
        #expect(await stand.reads(last))
    }

    @Test func `who has to sign in gets at the files by that, and is not asked for the PIN as well`() async throws {
        let stand = try await GuardStand()
        _ = try await stand.guarded()
        // What launches remember is in doubt.
        try FileManager.default.removeItem(at: stand.house.device.folder.appending(path: "data/launch"))
        let next = try await stand.house.start()
        #expect(await next.launch(stand.account).steps == [LaunchStep(.signIn, .done)])
        #expect(try await next.files.read("note", of: stand.account) == GuardStand.text)
    }

    @Test func `used-up guesses end what the PIN opens, also in a copy from before`() async throws {
        let stand = try await GuardStand()
        _ = try await stand.guarded(["maximumPinRetries": .integer(2)])
        let copy = stand.house.device.folder.appending(path: "before")
        let data = stand.house.device.folder.appending(path: "data")
        try TemporaryFolder.copy(data, to: copy)
        let next = try await stand.house.start()
        await stand.house.person.set { person in
            person.pins = [.entered("1111")]
            person.signIns = [.unavailable("There is no network.")]
        }
        #expect(await !stand.reads(next))
        // The folder is put back; the key store is where no copy reaches.
        try TemporaryFolder.putBack(copy, at: data)
        await stand.house.person.set { $0.pins = [.entered("2580"), .cancelled] }
        let restored = try await stand.house.start()
        #expect(await !stand.reads(restored))
        await stand.house.person.set { person in
            person.pins = [.entered("2580")]
            person.signIns = [.signedIn("oid-a")]
        }
        #expect(await stand.reads(restored), "after a sign-in")
    }

    @Test func `without the service's share a sign-in opens nothing, and says so`() async throws {
        let stand = try await GuardStand()
        _ = try await stand.guarded()
        await stand.service.set {
            $0.shareProblem = ProblemDetails(title: "too old", status: 401, code: .authenticationRequired)
        }
        let next = try await stand.house.start()
        await stand.house.person.set { $0.pins = [.forgotten] }
        let outcome = await next.launch(stand.account)
        #expect(outcome.result == .blocked && outcome.steps.last?.kind == .block)
        #expect(await !isInMemory(stand, next))
    }

    @Test func `a finger opens the key in place of the PIN, until the fingers change`() async throws {
        let stand = try await GuardStand()
        let items = FingerItems()
        _ = try await stand.opened { $0.biometryItems = items }
        await stand.house.person.set { person in
            person.recognises = .finger
            person.pins = [.recognised(.finger)]
        }
        await stand.house.goOffline()
        let next = try await stand.house.start { $0.biometryItems = items }
        #expect(await next.launch(stand.account).steps == [LaunchStep(.pin, .done)])
        #expect(try await next.files.read("note", of: stand.account) == GuardStand.text)

        for status in BiometryItemStatus.allCases where status != .done {
            items.status.withLock { $0 = status }
            await stand.house.person.set { $0.pins = [.recognised(.finger), .entered("2580")] }
            await stand.house.person.forgetAsked()
            let later = try await stand.house.start { $0.biometryItems = items }
            let outcome = await later.launch(stand.account)
            #expect(outcome.steps == [LaunchStep(.pin, .refused), LaunchStep(.pin, .done)], "\(status)")
            #expect(await stand.house.person.pinPrompts.map(\.biometry) == [.finger, nil], "\(status)")
            await later.gate.keys.finishChanges(stand.account)
        }
        // The gate is passed again at once, as the app is in front.
        await stand.house.person.set { $0.signIns = [.unavailable("There is no network.")] }
        #expect(await next.gate.resetPIN(of: stand.account, evenIfFilesAreLost: false))
        #expect(items.keys.withLock { $0.isEmpty }, "with the PIN goes what a finger opens")
    }

    @Test func `a share of another device opens nothing`() async throws {
        let (stand, other) = (try await GuardStand(), try await GuardStand())
        _ = try await stand.guarded()
        _ = try await other.guarded()
        let foreign = other.service.share.withLock { $0 }
        stand.service.share.withLock { $0 = foreign }
        let next = try await stand.house.start()
        await stand.house.person.set { $0.pins = [.forgotten] }
        #expect(await next.launch(stand.account).result == .blocked)
    }

    @Test func `the key is in memory while the rules would open the gate without the person, and no longer`()
        async throws
    {
        let stand = try await GuardStand()
        let protection = try await stand.guarded(["periodOnlineBeforeAccessCheck": .string("PT30M")])
        await protection.suspend()
        #expect(await isInMemory(stand, protection))
        #expect(await protection.resume(stand.account).steps.isEmpty, "within the time the person is not asked")
        await protection.suspend()
        await stand.house.clock.waitForSleeper(of: .seconds(1801))
        stand.house.clock.advance(.seconds(1802))
        try await until { await !isInMemory(stand, protection) }
        #expect(await protection.resume(stand.account).steps == [LaunchStep(.pin, .done)])
        #expect(await isInMemory(stand, protection))
    }

    @Test func `a condition that closes the gate takes the key from memory at once`() async throws {
        let stand = try await GuardStand()
        let protection = try await stand.guarded()
        stand.house.facts.withLock { $0.rooted = true }
        #expect(await protection.launch(stand.account).result == .blocked)
        #expect(await !isInMemory(stand, protection))
    }

    @Test(arguments: [NotificationLevel.allow, .blockOrganizationalData])
    func `what notifications may show is said to the extensions behind a closed gate, without the key`(
        _ level: NotificationLevel
    ) async throws {
        let stand = try await GuardStand()
        _ = try await stand.guarded(["notificationRestriction": .string(level.rawValue)])
        let folder = stand.house.device.folder
        let group = SharingGroup(directory: folder.appending(path: "group"), keyStore: InMemoryKeyStore())
        let next = try await stand.house.start { $0.sharingGroup = group }
        let levels = try NotificationLevels(group, dataDirectory: folder.appending(path: "extension"))
        try await next.outlets.publishNotificationLevels()
        #expect(await levels.level(for: stand.account) == level)
        #expect(await !isInMemory(stand, next))
        await #expect(throws: ProtectionError(.gateClosed, "")) {
            _ = try await next.files.read("note", of: stand.account)
        }
    }

    @Test func `rules that cannot be put in force leave the key on its share`() async throws {
        let stand = try await GuardStand()
        let protection = try await stand.guarded()
        let folder = protection.context.folder(of: stand.account)
        let aside = folder.appendingPathExtension("aside")
        try FileManager.default.moveItem(at: folder, to: aside)
        try Data("no folder".utf8).write(to: folder)
        try await stand.house.device.publish(
            GuardStand.patience.merging(["printBlocked": .bool(true)]) { $1 }, asksForPIN: true)
        #expect(await !protection.checkIn(stand.account).didSucceed)
        await protection.gate.keys.finishChanges(stand.account)
        #expect(try await isGuarded(stand, protection))
        #expect(stand.service.share.withLock { $0 } != nil, "the service still keeps the share")
        try FileManager.default.removeItem(at: folder)
        try FileManager.default.moveItem(at: aside, to: folder)
        #expect(await protection.checkIn(stand.account).didSucceed)
        #expect(await stand.reads(try await stand.house.start()))
    }

    @Test func `check-in and wipe need no key, and nothing of the guard is left`() async throws {
        let stand = try await GuardStand()
        _ = try await stand.guarded()
        let next = try await stand.house.start()
        #expect(await next.checkIn(stand.account).didSucceed)
        #expect(await !isInMemory(stand, next))
        try await next.wipe(stand.account)
        #expect(next.enrolledAccounts.isEmpty)
        #expect(try await stand.house.device.receipts().map(\.succeeded) == [true])
        let left = try FileManager.default.contentsOfDirectory(
            atPath: stand.house.device.folder.appending(path: "data/guards").path)
        #expect(left.isEmpty)
        let secrets = try FileManager.default.contentsOfDirectory(
            atPath: stand.house.device.folder.appending(path: "keys/secrets").path)
        #expect(secrets.isEmpty)
    }

    @Test(arguments: [true, false])
    func `a PIN that another process has replaced since guards nothing, and the present one goes on opening the files`(
        isGuarded: Bool
    ) async throws {
        let stand = try await GuardStand()
        await stand.service.set { $0.keepsShares = isGuarded }
        let protection = try await stand.opened()
        await stand.service.set { $0.keepsShares = true }
        let former = try PINVerifier.make(
            "1357", cost: PINCost(logRounds: 1), key: SymmetricKey(size: .bits256))
        protection.gate.keys.applyRules(
            to: stand.account, with: GivenPIN(key: SymmetricKey(size: .bits256), verifier: former.verifier))
        await protection.gate.keys.finishChanges(stand.account)
        #expect(try await protection.context.vault.isGuarded(stand.account) == isGuarded)
        stand.keepCopy(at: "then")
        let copy = try #require(stand.kept.first)
        #expect(try await stand.opens(copy, withPIN: "2580"))
    }

    @Test func `a share that is under way to the service is not noted over what another process has noted meanwhile`()
        async throws
    {
        let stand = try await GuardStand()
        let other = try KeyGuardRecord(
            SymmetricKey(size: .bits256), under: SymmetricKey(size: .bits256), of: stand.account,
            registrationID: "another's", left: nil, inboxKey: Data())
        let store = Locked<GuardStore?>(nil)
        let protection = try await stand.house.enrolled(GuardStand.patience) { [account = stand.account] in
            $0.guardObserver = { step in
                guard step == "kept", let store = store.withLock({ $0 }) else { return }
                do { try store.write(other, of: account, over: nil) } catch { Issue.record(error) }
            }
        }
        store.withLock { $0 = protection.context.guards }
        #expect(await protection.launch(stand.account).isOpen)
        await protection.gate.keys.finishChanges(stand.account)
        #expect(protection.context.guards.registration(of: stand.account) == "another's")
        #expect(
            try await !protection.context.vault.isGuarded(stand.account), "nothing hangs on a share that is not noted")
    }

    #if os(Linux)
        @Test func `a share that was given out is not noted where another process has the key hang on another one`()
            async throws
        {
            let stand = try await GuardStand()
            let first = try await stand.guarded()
            let given = try #require(stand.service.share.withLock { $0 })
            let second = try await stand.house.start()
            let guards = KeyGuards(second.context, rules: second.rules)
            let opening = Locked<Task<Bool, any Error>?>(nil)
            let pinKey = SymmetricKey(size: .bits256)
            let store = first.context.guards
            try await store.locked(stand.account) { () async throws(ProtectionError) in
                opening.withLock {
                    $0 = Task { [account = stand.account] in
                        try await guards.open(
                            account, with: given, andThen: GivenPIN(key: pinKey, verifier: nil))
                    }
                }
                do {
                    // Until it waits, or has opened the key already.
                    let lock = store.folder.lock(for: FolderName.of(stand.account))
                    try await until {
                        if GuardStand.openings(of: lock) > 1 { return true }
                        return await second.context.vault.isUnlocked(stand.account)
                    }
                    try await first.context.vault.hang(stand.account, on: SymmetricKey(size: .bits256)) { _ in }
                } catch { Issue.record(error) }
            }
            #expect(try await opening.withLock { $0 }?.value == false)
            guard case .value(let record) = try store.contents(of: stand.account) else {
                Issue.record("no record")
                return
            }
            #expect(record.share(under: pinKey, of: stand.account) == nil)
        }
    #endif
}
