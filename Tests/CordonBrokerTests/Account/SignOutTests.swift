import CordonBase
import CordonIdentity
import CordonProtocol
import CordonSignIn
import CordonTestSupport
import CordonTesting
import Foundation
import Testing

@testable import CordonBroker

/// One sign-out for the whole device, which nothing brings back (SI-048 to SI-057, SI-207).
@Suite struct SignOutTests {
    @Test func `after a sign-out no app gets a token, and the next person does`() async throws {
        let stand = try BrokerStand()
        let broker = try await stand.joinedBroker()
        let notes = try await BrokerApp("notes", at: broker)
        let board = try await BrokerApp("board", at: broker)
        let token = try await notes.signIn(.worker, at: stand.provider)
        #expect(await board.silent(.worker).token != nil, "the second app goes silent at once")
        let report = try #require(await board.ask(.accountSignOut).signOut)
        #expect(report.hadAccount && report.keyDestroyed)
        #expect(report.apps.map(\.outcome) == [.notRunning, .notRunning])
        for app in [notes, board] {
            let refused = await app.silent(.worker)
            #expect(refused.error?.code == SignInError.Code.interactionRequired.rawValue)
            _ = await app.report(.done, of: token.session)
        }
        try await board.signIn(.otherWorker, at: stand.provider)
        #expect(await notes.silent(.otherWorker).token != nil)
        #expect(await notes.silent(.worker).error != nil)
        #expect(await notes.silent(.otherWorker, session: token.session).error?.fault == "sessionChanged")
    }

    @Test func `without a network the device is free at once and the provider hears later`() async throws {
        let stand = try BrokerStand()
        let broker = try await stand.joinedBroker()
        await broker.deliver()
        let notes = try await BrokerApp("notes", at: broker)
        let token = try await notes.signIn(.worker, at: stand.provider)
        #expect(await stand.provider.liveRefreshTokens == 1)
        await stand.provider.setFaults([.unreachable])
        #expect(await notes.ask(.accountSignOut).signOut?.keyDestroyed == true)
        _ = await notes.report(.done, of: token.session)
        await broker.tick()
        #expect(await stand.provider.liveRefreshTokens == 1)
        await stand.provider.setFaults([])
        try await notes.signIn(.otherWorker, at: stand.provider)
        stand.time.advance(.seconds(61))
        await broker.tick()
        #expect(await stand.provider.liveRefreshTokens == 1, "the first worker's token is gone, the second's is there")
        #expect(await notes.silent(.otherWorker, forcing: true).token != nil)
    }

    @Test func `a token answer that was held back until after the sign-out changes nothing`() async throws {
        let stand = try BrokerStand()
        let held = HeldTransport(stand.provider.transport, path: "/token")
        let broker = try await stand.joinedBroker(transport: held)
        let notes = try await BrokerApp("notes", at: broker)
        let token = try await notes.signIn(.worker, at: stand.provider)
        await held.hold()
        let late = Task { await notes.silent(.worker, forcing: true) }
        await held.waitForHeldAnswer()
        _ = await notes.ask(.accountSignOut)
        await held.release()
        #expect(await late.value.token == nil)
        #expect(try await notes.current().current == nil)
        #expect(await notes.silent(.worker).token == nil)
        _ = await notes.report(.done, of: token.session)
        let again = try await stand.broker()
        #expect(try await BrokerApp("notes", at: again).current().current == nil)
    }

    @Test func `a sign-in that finishes after another one does not replace it`() async throws {
        let stand = try BrokerStand()
        let held = HeldTransport(stand.provider.transport, path: "/token")
        let broker = try await stand.joinedBroker(transport: held)
        let notes = try await BrokerApp("notes", at: broker)
        await held.hold()
        let late = Task { await notes.attended(.tokenInteractive, as: .worker, at: stand.provider) }
        await held.waitForHeldAnswer()
        let administrator = try await BrokerApp("joiner", at: broker, user: BrokerStand.user)
        // The registration changes meanwhile: whatever began before it is void.
        await broker.bumpSession()
        await held.release()
        #expect(await late.value.error?.fault == "signedOut")
        #expect(try await notes.current().current == nil)
        #expect(await stand.provider.count(of: "/token") >= 1)
        await administrator.leave()
    }

    @Test func `apps that listen are waited for, and reported one by one`() async throws {
        let stand = try BrokerStand { $0.cleanUpTime = .seconds(10) }
        let broker = try await stand.joinedBroker()
        let notes = try await BrokerApp("notes", at: broker)
        let board = try await BrokerApp("board", at: broker)
        let third = try await BrokerApp("third", at: broker)
        let token = try await notes.signIn(.worker, at: stand.provider)
        for app in [board, third] { _ = try await app.current() }
        for app in [notes, board] { _ = await app.ask(.eventsSubscribe) }
        let out = Task { await notes.ask(.accountSignOut) }
        try await until { board.events.last?.type == .globalSignOut }
        // Tokens last a little longer, for unregistering, and the key signs for them.
        #expect(await notes.silent(.worker, session: token.session).token?.text == token.text)
        #expect(await board.silent(.worker, session: token.session).token == nil, "board never had one")
        _ = await notes.report(.done, of: token.session)
        _ = await board.report(.workStopped, of: token.session)
        try await until { !stand.time.sleeping.isEmpty }
        stand.time.advance(.seconds(11))
        let report = try #require(await out.value.signOut)
        #expect(report.apps.map(\.name) == ["board", "notes", "third"])
        #expect(report.apps.map(\.outcome) == [.late, .done, .notRunning])
        #expect(report.apps.map(\.stage) == [.workStopped, .done, nil])
        #expect(await notes.silent(.worker, session: token.session).token == nil)
    }

    @Test func `the data key is one per app and session, and gone with the session`() async throws {
        let stand = try BrokerStand()
        var broker = try await stand.joinedBroker()
        var notes = try await BrokerApp("notes", at: broker)
        let board = try await BrokerApp("board", at: broker)
        let token = try await notes.signIn(.worker, at: stand.provider)
        let first = try #require(await notes.ask(.accountKey).key)
        #expect(await board.ask(.accountKey).key != first)
        broker = try await stand.broker()
        notes = try await BrokerApp("notes", at: broker)
        #expect(await notes.ask(.accountKey).key == first, "a restart of the broker ends no session")
        _ = await notes.ask(.accountSignOut)
        #expect(await notes.ask(.accountKey).key == nil)
        _ = await notes.report(.done, of: token.session)
        try await notes.signIn(.worker, at: stand.provider)
        #expect(await notes.ask(.accountKey).key != first)
    }

    @Test func `what a sign-out could not destroy is named, and destroyed as soon as that can be`() async throws {
        let stand = try BrokerStand()
        let secrets = ClingingSecrets()
        let broker = try await stand.joinedBroker(secrets: secrets)
        let notes = try await BrokerApp("notes", at: broker)
        let before = Set(secrets.names)
        let first = try await notes.signIn(.worker, at: stand.provider)
        let seed = "broker-seed-\(first.session)"
        let token = try #require(Set(secrets.names).subtracting(before).first { $0.hasSuffix("-key") })

        secrets.clings.withLock { $0 = (seed, true) }
        let report = await notes.ask(.accountSignOut).signOut
        #expect(report?.hadAccount == true && report?.keyDestroyed == false)
        #expect(try await notes.current().current == nil)
        #expect(secrets.names.contains(seed), "the control")
        secrets.clings.withLock { $0 = nil }
        await broker.tick()
        #expect(!secrets.names.contains(seed) && !secrets.names.contains(token))
        _ = await notes.report(.done, of: first.session)

        let second = try await notes.signIn(.worker, at: stand.provider)
        let other = try #require(Set(secrets.names).subtracting(before).first { $0.hasSuffix("-key") })
        secrets.clings.withLock { $0 = (other, false) }
        let kept = await notes.ask(.accountSignOut).signOut
        #expect(kept?.keyDestroyed == false)
        #expect(kept?.revocation == RevocationOutcome.queued.rawValue, "it was kept before the tokens clung")
        _ = await notes.report(.done, of: second.session)
        let refused = await notes.attended(.tokenInteractive, as: .otherWorker, at: stand.provider).error
        #expect(refused?.reason == "the key of the session's tokens could not be destroyed")
        secrets.clings.withLock { $0 = nil }
        await broker.tick()
        #expect(!secrets.names.contains(other))
        let third = try await notes.signIn(.otherWorker, at: stand.provider)

        // A store that is silent about it: what is read back counts.
        secrets.clings.withLock { $0 = ("broker-seed-\(third.session)", false) }
        #expect(await notes.ask(.accountSignOut).signOut?.keyDestroyed == false)
    }

    @Test
    func `where the disk takes nothing, apps are signed out, and no start on such a disk lets the person back in`()
        async throws
    {
        let stand = try BrokerStand()
        let secrets = ClingingSecrets()
        let broker = try await stand.joinedBroker(secrets: secrets)
        let notes = try await BrokerApp("notes", at: broker)
        let session = try await notes.signIn(.worker, at: stand.provider).session
        let listener = try await BrokerApp("board", at: broker)
        _ = await listener.ask(.eventsSubscribe)
        secrets.clings.withLock { $0 = ("", true) }
        // Where the next state is to be written lies a folder.
        let obstacle = stand.folder.appending(path: ".broker.state.new")
        try FileManager.default.createDirectory(at: obstacle, withIntermediateDirectories: false)
        let report = await notes.ask(.accountSignOut).signOut
        #expect(report?.hadAccount == true && report?.keyDestroyed == false)
        #expect(listener.events.map(\.type) == [.globalSignOut])
        #expect(try await notes.current().current == nil)
        #expect(await notes.ask(.accountKey).key == nil)
        #expect(try await broker.store.hasSeed(session: session), "the control: everything is still there")
        secrets.clings.withLock { $0 = nil }
        let refusal = await #expect(throws: ProgramError.self) { _ = try await stand.broker(secrets: secrets) }
        #expect(refusal?.code == .fileUnusable)

        try FileManager.default.removeItem(at: obstacle)
        await broker.tick()
        #expect(try await !broker.store.hasSeed(session: session))
        let again = try await stand.broker(secrets: secrets)
        let restarted = try await BrokerApp("notes", at: again)
        #expect(try await restarted.current().current == nil)
        #expect(try await restarted.current().owed.map(\.session) == [session])
        #expect(try await again.client.storedAccounts().isEmpty)
    }

    @Test func `a second sign-out is refused, and does no harm`() async throws {
        let stand = try BrokerStand()
        let broker = try await stand.joinedBroker()
        let notes = try await BrokerApp("notes", at: broker)
        try await notes.signIn(.worker, at: stand.provider)
        async let one = notes.ask(.accountSignOut)
        async let two = notes.ask(.accountSignOut)
        let answers = await [one, two]
        #expect(answers.contains { $0.signOut?.hadAccount == true })
        #expect(try await notes.current().owed.count == 1)
        // Once no one is signed in, there is no one to sign out (SI-048).
        let again = await notes.ask(.accountSignOut)
        #expect(again.error?.code == "configuration" && again.error?.fault == "invalidParameter")
    }

    @Test func `of two sign-outs at once neither says that a key is gone which is there, or a page was shown`()
        async throws
    {
        let stand = try BrokerStand()
        let secrets = ClingingSecrets()
        let broker = try await stand.joinedBroker(secrets: secrets)
        let notes = try await BrokerApp("notes", at: broker)
        let board = try await BrokerApp("board", at: broker)
        // Which of the two comes first is not fixed.
        for _ in 0..<20 {
            let session = try await notes.signIn(.worker, at: stand.provider).session
            secrets.clings.withLock { $0 = ("broker-seed-\(session)", false) }
            async let one = notes.ask(.accountSignOut)
            async let other = board.attended(.accountSignOut, as: .worker, at: stand.provider) {
                $0.endsBrowserSession = true
            }
            let reports = await [one, other].compactMap(\.signOut)
            #expect(reports.contains { $0.hadAccount })
            for report in reports {
                #expect(!report.keyDestroyed)
                #expect(report.hadAccount || report.browserSessionMayRemain)
            }
            _ = await notes.report(.done, of: session)
            _ = await board.report(.done, of: session)
        }
    }

    @Test func `a person on a device without its registration can be signed out`() async throws {
        let stand = try BrokerStand()
        let broker = try await stand.joinedBroker()
        let notes = try await BrokerApp("notes", at: broker)
        try await notes.signIn(.worker, at: stand.provider)
        await broker.loseRegistration()
        let administrator = try await BrokerApp("x", at: broker, user: 0)
        #expect(await administrator.ask(.accountSignOut).signOut?.hadAccount == true)
        #expect(await administrator.ask(.accountSignOut).error?.code == "deviceNotShared")
    }

    @Test func `a session ends by idleness and at the end of the shift, with a warning`() async throws {
        let stand = try BrokerStand {
            $0.maximumIdle = .seconds(600)
            $0.maximumSession = .seconds(3_600)
            $0.warning = .seconds(60)
        }
        let broker = try await stand.joinedBroker()
        let notes = try await BrokerApp("notes", at: broker)
        try await notes.signIn(.worker, at: stand.provider)
        let listener = try await BrokerApp("board", at: broker)
        _ = await listener.ask(.eventsSubscribe)
        for _ in 0..<6 {
            stand.time.advance(.seconds(500))
            _ = await notes.ask(.accountActivity)
            await broker.tick()
        }
        #expect(listener.events.isEmpty)
        stand.time.advance(.seconds(550))
        await broker.tick()
        await broker.tick()
        #expect(listener.events.map(\.type) == [.signOutSoon])
        stand.time.advance(.seconds(60))
        await stand.provider.setFaults([.unreachable])
        await broker.tick()
        #expect(listener.events.map(\.type) == [.signOutSoon, .globalSignOut])
        #expect(try await notes.current().current == nil)
    }

    @Test func `a broker that was killed between destroying the key and writing its state finishes the sign-out`()
        async throws
    {
        let stand = try BrokerStand()
        let broker = try await stand.joinedBroker()
        let notes = try await BrokerApp("notes", at: broker)
        let token = try await notes.signIn(.worker, at: stand.provider)
        let secrets = try FileSecretStore(directory: stand.folder.appending(path: "secrets"))
        try secrets.destroy(named: "broker-seed-\(token.session)")
        let again = try await stand.broker()
        let restarted = try await BrokerApp("notes", at: again)
        let now = try await restarted.current()
        #expect(now.current == nil)
        #expect(now.owed.map(\.session) == [token.session])
        #expect(await restarted.silent(.worker).token == nil)
    }

    @Test func `an old copy of the broker's folder brings no account back`() async throws {
        let stand = try BrokerStand()
        let broker = try await stand.joinedBroker()
        let notes = try await BrokerApp("notes", at: broker)
        try await notes.signIn(.worker, at: stand.provider)
        let file = stand.folder.appending(path: "broker.state")
        let old = try Data(contentsOf: file)
        _ = await notes.ask(.accountSignOut)
        try old.write(to: file)
        let again = try await stand.broker()
        let app = try await BrokerApp("notes", at: again)
        #expect(await app.silent(.worker).token == nil)
        #expect(await app.ask(.deviceInfo).device?.missing == [.registration])
    }

    @Test(arguments: ["removed", "damaged", "old"])
    func `the secret of a person's data does not outlive the state that says whose session was in force`(
        loss: String
    ) async throws {
        let stand = try BrokerStand()
        let broker = try await stand.joinedBroker()
        let file = stand.folder.appending(path: "broker.state")
        let old = try Data(contentsOf: file)
        let notes = try await BrokerApp("notes", at: broker)
        let session = try await notes.signIn(.worker, at: stand.provider).session
        #expect(try await broker.store.hasSeed(session: session))
        switch loss {
        case "removed": try FileManager.default.removeItem(at: file)
        case "damaged": try Data(repeating: 7, count: 200).write(to: file)
        default: try old.write(to: file)
        }
        let again = try await stand.broker()
        #expect(await again.state.account == nil)
        let secrets = try FileManager.default.contentsOfDirectory(atPath: stand.folder.appending(path: "secrets").path)
        #expect(!secrets.contains { $0.contains("broker-seed") })
        #expect(try await again.client.storedAccounts().isEmpty)
    }

    @Test(arguments: [60, -1, -86_400])
    func `a broker whose state was removed gives no session's number out again, whatever the clock says`(
        seconds: TimeInterval
    ) async throws {
        let stand = try BrokerStand()
        let broker = try await stand.joinedBroker()
        let notes = try await BrokerApp("notes", at: broker)
        let former = try await notes.signIn(.worker, at: stand.provider).session
        _ = await notes.ask(.accountSignOut)
        let last = await broker.state.session
        try FileManager.default.removeItem(at: stand.folder.appending(path: "broker.state"))
        stand.time.advance(by: seconds)
        let again = try await stand.joinedBroker()
        #expect(await again.state.session >= last)
        let board = try await BrokerApp("board", at: again)
        #expect(try await board.signIn(.worker, at: stand.provider).session > former)
    }

    @Test func `a broker on a new folder gives no number of an earlier folder's sessions out again`() async throws {
        let stand = try BrokerStand()
        let broker = try await stand.joinedBroker()
        let notes = try await BrokerApp("notes", at: broker)
        try await notes.signIn(.worker, at: stand.provider)
        _ = await notes.ask(.accountSignOut)
        let last = await broker.state.session
        stand.time.advance(.seconds(60))
        let folder = TemporaryFolder.newPath()
        defer { TemporaryFolder.remove(folder) }
        let first = try await stand.broker(folder: folder).state.session
        #expect(first > last)
        stand.time.advance(.seconds(60))
        #expect(try await stand.broker(folder: folder).state.session == first, "a restart uses up no number")
    }

    @Test(arguments: [["secrets"], ["tokens"], ["secrets", "tokens"], [""]], [true, false])
    func `a session ends by sign-out and by idleness also where folders were removed under the broker`(
        gone: [String], byIdleness: Bool
    ) async throws {
        let stand = try BrokerStand { $0.maximumIdle = .seconds(600) }
        let broker = try await stand.joinedBroker()
        let notes = try await BrokerApp("notes", at: broker)
        try await notes.signIn(.worker, at: stand.provider)
        let aside = TemporaryFolder.newPath()
        defer { TemporaryFolder.remove(aside) }
        try FileManager.default.createDirectory(at: aside, withIntermediateDirectories: true)
        for name in gone {
            // At once, whatever is still written there.
            let folder = name.isEmpty ? stand.folder : stand.folder.appending(path: name)
            try FileManager.default.moveItem(at: folder, to: aside.appending(path: "gone-\(name)"))
        }
        if byIdleness {
            stand.time.advance(.seconds(601))
            await broker.tick()
        } else {
            let answer = await notes.ask(.accountSignOut)
            #expect(answer.signOut?.keyDestroyed == true, "\(String(describing: answer.error))")
        }
        #expect(try await notes.current().current == nil)
        let again = try await stand.broker()
        #expect(await again.state.account == nil)
        #expect(try await again.client.storedAccounts().isEmpty)
    }

    @Test func `a session whose file is elsewhere at the sign-out, or at the start, does not open when it is put back`()
        async throws
    {
        for atStart in [false, true] {
            let stand = try BrokerStand()
            let broker = try await stand.joinedBroker()
            let notes = try await BrokerApp("notes", at: broker)
            try await notes.signIn(.worker, at: stand.provider)
            let tokens = stand.folder.appending(path: "tokens")
            let file = try #require(
                try FileManager.default.contentsOfDirectory(at: tokens, includingPropertiesForKeys: nil)
                    .first { $0.pathExtension == "session" })
            let kept = try Data(contentsOf: file)
            try FileManager.default.removeItem(at: file)
            if atStart {
                #expect(try await stand.broker().state.account == nil)
            } else {
                #expect(await notes.ask(.accountSignOut).signOut?.keyDestroyed == true)
            }
            try kept.write(to: file)
            #expect(try await broker.client.storedAccounts().isEmpty, "\(atStart)")
            let again = try await stand.broker()
            #expect(try await BrokerApp("notes", at: again).current().current == nil)
            #expect(!FileManager.default.fileExists(atPath: file.path), "\(atStart)")
        }
    }

    @Test func `nothing that the broker stores shows a token or a name`() async throws {
        let stand = try BrokerStand()
        let broker = try await stand.joinedBroker()
        let notes = try await BrokerApp("notes", at: broker)
        let token = try await notes.signIn(.worker, at: stand.provider)
        let refresh = try #require(await stand.provider.anyLiveRefreshToken)
        let names = FileManager.default.enumerator(atPath: stand.folder.path)
        var read = 0
        while let name = names?.nextObject() as? String {
            guard let bytes = FileManager.default.contents(atPath: stand.folder.appending(path: name).path) else {
                continue
            }
            read += 1
            for secret in [token.text, refresh, "worker-a", "oid-worker-a"] {
                #expect(bytes.range(of: Data(secret.utf8)) == nil, "\(name)")
            }
        }
        #expect(read > 3)
    }
}

extension Broker {
    /// Changes the session number as any change of account does.
    func bumpSession() {
        var changed = state
        changed.session += 1
        keeper.changeLazily(changed)
    }

    /// Takes the registration away, as a broker of before could do under the person who was signed in.
    func loseRegistration() {
        var changed = state
        changed.registration = nil
        keeper.changeLazily(changed)
    }
}
