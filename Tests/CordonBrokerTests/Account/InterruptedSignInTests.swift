import CordonSignIn
import CordonTesting
import Foundation
import Testing

@testable import CordonBroker

/// A sign-in that is cut off, or begun twice at once: one session or none, and nothing is left of the other (SI-057, SI-076).
@Suite struct InterruptedSignInTests {
    /// What is kept of sessions: their tokens, the keys of those, and the secrets of apps' data.
    private func kept(in stand: BrokerStand) throws -> [String] {
        try ["tokens", "secrets"].flatMap { name in
            try FileManager.default.contentsOfDirectory(atPath: stand.folder.appending(path: name).path)
        }.filter { $0.hasSuffix(".session") || $0.hasPrefix("session-") || $0.hasPrefix("broker-seed-") }.sorted()
    }

    @Test
    func `an app that ends while its sign-in is redeemed leaves no session and no key, and the next one signs in`()
        async throws
    {
        let stand = try BrokerStand()
        let held = HeldTransport(stand.provider.transport, path: "/token")
        let broker = try await stand.joinedBroker(transport: held)
        let before = try kept(in: stand)
        let notes = try await BrokerApp("notes", at: broker)
        let board = try await BrokerApp("board", at: broker)
        await held.hold()
        let late = Task { await notes.attended(.tokenInteractive, as: .worker, at: stand.provider) }
        await held.waitForHeldAnswer()
        await notes.leave()
        await held.release()
        #expect(await late.value.token == nil)
        #expect(try await board.current().current == nil)
        #expect(try kept(in: stand) == before)
        let token = try await board.signIn(.otherWorker, at: stand.provider)
        let now = try await board.current()
        #expect(now.session == token.session && now.current?.id == FakePerson.otherWorker.account)
        let after = try kept(in: stand)
        #expect(after.count { $0.hasSuffix(".session") } == 1 && after.count { $0.hasPrefix("broker-seed-") } == 1)
    }

    @Test
    func `a broker that was killed before the session of a sign-in began keeps neither its tokens nor its secret`()
        async throws
    {
        let stand = try BrokerStand()
        let broker = try await stand.joinedBroker()
        let before = try kept(in: stand)
        // What a kill leaves: tokens and secret are stored, the broker's state knows neither.
        _ = try await broker.client.signIn(
            SignInRequest(scopes: BrokerStand.scopes, resource: BrokerStand.resource),
            browser: stand.provider.browser(signingInAs: .worker))
        try await broker.store.makeSeed(session: broker.state.session + 1, random: Data(repeating: 7, count: 32))
        let left = try kept(in: stand)
        #expect(left.count { $0.hasSuffix(".session") } == 1 && left.count { $0.hasPrefix("broker-seed-") } == 1)
        let again = try await stand.broker()
        #expect(try kept(in: stand) == before)
        let notes = try await BrokerApp("notes", at: again)
        #expect(try await notes.current().current == nil)
        try await notes.signIn(.otherWorker, at: stand.provider)
        #expect(await notes.ask(.accountKey).key != nil)
    }

    @Test func `of two sign-ins that are begun at once, by two apps or by one, one is refused and the other goes on`()
        async throws
    {
        let stand = try BrokerStand()
        let held = HeldTransport(stand.provider.transport, path: "/token")
        let broker = try await stand.joinedBroker(transport: held)
        let notes = try await BrokerApp("notes", at: broker)
        let board = try await BrokerApp("board", at: broker)
        await held.hold()
        let first = Task { await notes.attended(.tokenInteractive, as: .worker, at: stand.provider) }
        await held.waitForHeldAnswer()
        for app in [board, notes] {
            let second = await app.ask(.tokenInteractive) {
                $0.scopes = BrokerStand.scopes
                $0.resource = BrokerStand.resource
            }
            #expect(second.error?.fault == SignInFault.interactiveSessionRunning.rawValue)
            #expect(second.error?.hint.hasPrefix("Finish or cancel that one") == true)
        }
        await held.release()
        let token = try #require(await first.value.token)
        let now = try await board.current()
        #expect(now.session == token.session && now.current?.id == FakePerson.worker.account)
        #expect(try kept(in: stand).count { $0.hasPrefix("broker-seed-") } == 1)
    }

    @Test func `a page that the person who left had opened keeps nobody from signing in`() async throws {
        let stand = try BrokerStand()
        let broker = try await stand.joinedBroker()
        let notes = try await BrokerApp("notes", at: broker)
        let board = try await BrokerApp("board", at: broker)
        let token = try await notes.signIn(.worker, at: stand.provider)
        // The worker begins a sign-in for one resource more, and closes its page.
        let open = Task { await board.ask(.tokenInteractive) { $0.scopes = BrokerStand.scopes } }
        try await until { !board.pages.isEmpty }
        _ = await notes.ask(.accountSignOut)
        #expect(await open.value.error?.fault == SignInFault.signedOut.rawValue)
        _ = await notes.report(.done, of: token.session)
        #expect(try await notes.signIn(.otherWorker, at: stand.provider).session > token.session)
    }

    @Test func `a session of another client id or provider, as the broker had before, does not stay`() async throws {
        let stand = try BrokerStand()
        let broker = try await stand.joinedBroker()
        let before = try kept(in: stand)
        try await BrokerApp("notes", at: broker).signIn(.worker, at: stand.provider)
        #expect(try kept(in: stand).count { $0.hasSuffix(".session") } == 1)
        let changed = try BrokerStand { $0.signIn.clientID = "another" }
        let notes = try await BrokerApp("notes", at: changed.broker(folder: stand.folder))
        #expect(try await notes.current().current == nil)
        #expect(try kept(in: stand) == before)
    }

    @Test(arguments: [("another", nil), (nil, "https://next.contoso.example")] as [(String?, String?)])
    func `tokens of another client id or provider, as the broker had before, are revoked in its name`(
        clientID: String?, issuer: String?
    ) async throws {
        let stand = try BrokerStand()
        let broker = try await stand.joinedBroker()
        try await BrokerApp("notes", at: broker).signIn(.worker, at: stand.provider)
        #expect(await stand.provider.liveRefreshTokens > 0, "the control")
        let changed = try BrokerStand {
            $0.signIn.clientID = clientID ?? $0.signIn.clientID
            $0.signIn.issuer = issuer ?? $0.signIn.issuer
        }
        let next = try await changed.broker(transport: stand.provider.transport, folder: stand.folder)
        await next.tick()
        #expect(await stand.provider.liveRefreshTokens == 0)
    }
}
