import CordonIdentity
import CordonSignIn
import CordonTesting
import Foundation
import Testing

@testable import CordonBroker

/// What the event loop answers by itself, so that a short question costs no change of thread.
@Suite struct QuickAnswerTests {
    @Test func `a question that needs neither disk nor network is answered at once, and no other`() async throws {
        let stand = try BrokerStand()
        let broker = try await stand.joinedBroker()
        let notes = try await BrokerApp("notes", at: broker)
        try await notes.signIn(.worker, at: stand.provider)
        let board = try await BrokerApp("board", at: broker)
        #expect(try await board.askAtOnce(.deviceInfo)?.device?.isShared == true)
        #expect(try await board.askAtOnce(.accountList)?.accounts?.count == 1)
        // That an app saw the account is written down first, and a first token comes from elsewhere.
        #expect(try await board.askAtOnce(.accountCurrent) == nil)
        _ = try await board.current()
        #expect(try await board.askAtOnce(.accountCurrent)?.current?.current?.id == FakePerson.worker.account)
        let token = { (request: inout LooseRequest) in
            request.account = FakePerson.worker.account
            request.resource = BrokerStand.resource
            request.scopes = BrokerStand.scopes
        }
        #expect(try await board.askAtOnce(.tokenSilent, token) == nil)
        let first = await board.ask(.tokenSilent, token).token
        #expect(try await board.askAtOnce(.tokenSilent, token)?.token?.text == first?.text && first != nil)
        for verb in [BrokerVerb.hello, .tokenInteractive, .accountKey, .accountSignOut, .deviceJoin] {
            #expect(try await board.askAtOnce(verb) == nil, "\(verb)")
        }
        // An administrator is told what is wrong with files, which have to be looked at.
        let administrator = try await BrokerApp("x", at: broker, user: 0)
        #expect(try await administrator.askAtOnce(.deviceInfo) == nil)
    }

    @Test func `an answer that is sent again is the answer of this moment`() async throws {
        let stand = try BrokerStand()
        let broker = try await stand.joinedBroker()
        let notes = try await BrokerApp("notes", at: broker)
        let before = try #require(await notes.askAtOnce(.deviceInfo)?.device)
        #expect(try await notes.askAtOnce(.deviceInfo)?.device == before)
        let first = try await notes.signIn(.worker, at: stand.provider)
        #expect(try await notes.askAtOnce(.deviceInfo)?.device?.session == before.session + 1)
        let token = { (request: inout LooseRequest) in
            request.account = FakePerson.worker.account
            request.resource = BrokerStand.resource
            request.scopes = BrokerStand.scopes
        }
        let again = try #require(await notes.askAtOnce(.tokenSilent, token)?.token)
        #expect(again.text == first.text && again.session == first.session)
        #expect(await notes.ask(.accountSignOut).error == nil)
        #expect(try await notes.askAtOnce(.tokenSilent, token)?.error?.fault == "signedOut")
        #expect(try await notes.askAtOnce(.deviceInfo)?.device?.session == before.session + 2)
    }

    @Test func `after a sign-out a hundred apps ask and report without a change of thread`() async throws {
        let stand = try BrokerStand()
        let broker = try await stand.joinedBroker()
        let notes = try await BrokerApp("notes", at: broker)
        let session = try await notes.signIn(.worker, at: stand.provider).session
        #expect(await notes.ask(.accountSignOut).error == nil)
        #expect(try await notes.askAtOnce(.accountCurrent)?.current?.owed.map(\.session) == [session])
        let done = try await notes.askAtOnce(.cleanUpReport) {
            $0.session = session
            $0.stage = .done
        }
        #expect(done != nil && done?.error == nil)
        #expect(try await notes.askAtOnce(.accountCurrent)?.current?.owed.isEmpty == true)
    }

    @Test func `what is answered at once is refused for the same reasons as everything else`() async throws {
        let stand = try BrokerStand()
        let broker = try await stand.joinedBroker()
        let notes = try await BrokerApp("notes", at: broker)
        let forged = try await notes.askAtOnce(.deviceInfo) { $0.nonce = "x" }
        #expect(forged?.error?.fault == "brokerDenied")
        let silent = try await BrokerApp("board", at: broker, greets: false)
        #expect(try await silent.askAtOnce(.accountList)?.error?.reason == "the first request must be hello")
        #expect(try await notes.askAtOnce(.tokenSilent)?.error?.fault == "signedOut")
        let administrator = try await BrokerApp("x", at: broker, user: 0)
        #expect(try await administrator.askAtOnce(.accountCurrent)?.error?.fault == "brokerDenied")
    }
}
