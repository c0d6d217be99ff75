import CordonBase
import CordonProtocol
import CordonSignIn
import CordonTesting
import Foundation
import Testing

@testable import CordonBroker

/// The person who is signed in signs in once more: the session goes on, with other tokens and another key (SI-036,
/// SI-067, SI-177).
@Suite struct SameAccountTests {
    private static let otherResource = "https://mail.contoso.example"

    @Test func `an app that signs in the person who is there already owes a clean-up too`() async throws {
        let stand = try BrokerStand()
        let broker = try await stand.joinedBroker()
        let notes = try await BrokerApp("notes", at: broker)
        let board = try await BrokerApp("board", at: broker)
        let token = try await notes.signIn(.worker, at: stand.provider)
        #expect(try await board.signIn(.worker, at: stand.provider).session == token.session)
        _ = await notes.ask(.accountSignOut)
        #expect(try await board.current().owed.map(\.session) == [token.session])
        _ = await notes.report(.done, of: token.session)
        try await notes.signIn(.otherWorker, at: stand.provider)
        #expect(await board.silent(.otherWorker).error?.fault == SignInFault.cleanUpOwed.rawValue)
    }

    @Test func `after a second sign-in every token is bound to the key that signs, and none from before is given out`()
        async throws
    {
        let stand = try BrokerStand()
        let broker = try await stand.joinedBroker()
        let notes = try await BrokerApp("notes", at: broker)
        func mail() async throws -> String {
            let answer = await notes.ask(.tokenSilent) {
                $0.account = FakePerson.worker.account
                $0.resource = Self.otherResource
            }
            return try #require(answer.token).text
        }
        try await notes.signIn(.worker, at: stand.provider)
        let first = try await mail()
        #expect(try await mail() == first, "the control: without a second sign-in it is the same one")
        try await notes.signIn(.worker, at: stand.provider)
        let second = try await mail()
        let key = try #require(await notes.ask(.tokenKey).publicKey).thumbprint
        #expect(second != first)
        #expect(try Self.boundKey(of: second) == key)
    }

    @Test func `a second sign-in that is no longer waited for ends no session at the next start`() async throws {
        let stand = try BrokerStand()
        let held = HeldTransport(stand.provider.transport, path: "/token")
        let broker = try await stand.joinedBroker(transport: held)
        let notes = try await BrokerApp("notes", at: broker)
        let board = try await BrokerApp("board", at: broker)
        let token = try await notes.signIn(.worker, at: stand.provider)
        let key = try #require(await notes.ask(.accountKey).key)
        await held.hold()
        let late = Task { await board.attended(.tokenInteractive, as: .worker, at: stand.provider) }
        await held.waitForHeldAnswer()
        await board.leave()
        await held.release()
        #expect(await late.value.token == nil)
        #expect(await notes.silent(.worker).token != nil)
        let again = try await BrokerApp("notes", at: stand.broker())
        let now = try await again.current()
        #expect(now.current?.id == FakePerson.worker.account && now.session == token.session)
        #expect(await again.ask(.accountKey).key == key)
        #expect(await again.silent(.worker, forcing: true).token != nil)
    }

    @Test func `a broker that was killed right after a second sign-in goes on with the session`() async throws {
        let stand = try BrokerStand()
        let broker = try await stand.joinedBroker()
        let notes = try await BrokerApp("notes", at: broker)
        try await notes.signIn(.worker, at: stand.provider)
        let key = try #require(await notes.ask(.accountKey).key)
        // What a kill leaves: the new tokens are stored, the broker's state knows the old ones.
        _ = try await broker.client.signIn(
            SignInRequest(scopes: BrokerStand.scopes, resource: BrokerStand.resource),
            browser: stand.provider.browser(signingInAs: .worker))
        let again = try await BrokerApp("notes", at: stand.broker())
        #expect(await again.ask(.accountKey).key == key)
        #expect(await again.silent(.worker).token != nil)
    }

    private struct Claims: Decodable {
        var cnf: [String: String]
    }

    private static func boundKey(of token: String) throws -> String? {
        let body = try #require(Base64URL.decode(token.split(separator: ".")[1]))
        return try JSONDecoder().decode(Claims.self, from: body).cnf["jkt"]
    }
}
