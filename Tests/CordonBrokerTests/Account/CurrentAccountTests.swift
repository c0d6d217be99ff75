import CordonIdentity
import CordonSignIn
import CordonTestSupport
import CordonTesting
import Foundation
import Testing

@testable import CordonBroker

/// Who is here, told once to each app, and what is owed until it is done (SI-032 to SI-040).
@Suite struct CurrentAccountTests {
    /// What happens before an app asks, and the pair it sees.
    @Test func `the five pairs of current and previous account`() async throws {
        let stand = try BrokerStand()
        let broker = try await stand.joinedBroker()
        let notes = try await BrokerApp("notes", at: broker)
        let board = try await BrokerApp("board", at: broker)
        #expect(try await notes.current().change == .nobody)
        try await board.signIn(.worker, at: stand.provider)
        #expect(try await notes.current().change == .firstSeen)
        #expect(try await notes.current().change == .unchanged)
        _ = await board.ask(.accountSignOut)
        #expect(try await notes.current().change == .signedOut)
        try await clean(notes)
        try await clean(board)
        try await board.signIn(.worker, at: stand.provider)
        #expect(try await notes.current().change == .firstSeen)
        _ = await board.ask(.accountSignOut)
        try await clean(board)
        try await board.signIn(.otherWorker, at: stand.provider)
        let switched = try await notes.current()
        #expect(switched.change == .switched)
        #expect(switched.current?.id == FakePerson.otherWorker.account)
        #expect(switched.previous == FakePerson.worker.account)
        #expect(switched.owed.count == 1)
    }

    @Test func `a change is reported once, and each app has a previous account of its own`() async throws {
        let stand = try BrokerStand()
        let broker = try await stand.joinedBroker()
        let notes = try await BrokerApp("notes", at: broker)
        let board = try await BrokerApp("board", at: broker)
        try await notes.signIn(.worker, at: stand.provider)
        _ = try await notes.current()
        #expect(try await board.current().previous == nil)
        #expect(try await notes.current().previous == FakePerson.worker.account)
        #expect(try await board.current().previous == FakePerson.worker.account)
    }

    @Test func `what an app owes is repeated until it is done, over restarts of app and broker`() async throws {
        let stand = try BrokerStand()
        var broker = try await stand.joinedBroker()
        var notes = try await BrokerApp("notes", at: broker)
        let token = try await notes.signIn(.worker, at: stand.provider)
        _ = await notes.ask(.accountSignOut)
        let mark = CurrentAccount.OwedCleanUp(
            account: FakePerson.worker.account, session: token.session, reason: .signedOut,
            deadline: stand.time.now + 10)
        #expect(try await notes.current().owed == [mark])
        #expect(try await notes.current().owed == [mark], "reading does not take the mark away")
        broker = try await stand.broker()
        notes = try await BrokerApp("notes", at: broker)
        #expect(try await notes.current().owed == [mark])
        // Another person cannot sign in here before that, and gets no token.
        let refused = await notes.ask(.tokenInteractive)
        #expect(refused.error?.fault == SignInFault.cleanUpOwed.rawValue)
        for stage in CleanUpStage.allCases { #expect(await notes.report(stage, of: token.session).error == nil) }
        #expect(try await notes.current().owed.isEmpty)
        // Within a second it is on disk as well.
        await broker.tick()
        broker = try await stand.broker()
        notes = try await BrokerApp("notes", at: broker)
        #expect(try await notes.current().owed.isEmpty)
        try await notes.signIn(.otherWorker, at: stand.provider)
    }

    @Test func `a crash right after a clean-up asks for it once more, and forgets none that is owed`() async throws {
        let stand = try BrokerStand()
        var broker = try await stand.joinedBroker()
        var notes = try await BrokerApp("notes", at: broker)
        let listener = try await BrokerApp("board", at: broker)
        _ = await listener.ask(.eventsSubscribe)
        let token = try await notes.signIn(.worker, at: stand.provider)
        // The one who listens was noted with the sign-in itself: killed before it looked, it owes all the same.
        broker = try await stand.broker()
        notes = try await BrokerApp("notes", at: broker)
        _ = await notes.ask(.accountSignOut)
        _ = await notes.report(.done, of: token.session)
        broker = try await stand.broker()
        for name in ["notes", "board"] {
            let app = try await BrokerApp(name, at: broker)
            #expect(try await app.current().owed.map(\.session) == [token.session], "\(name)")
            #expect(await app.report(.done, of: token.session).error == nil)
            #expect(try await app.current().owed.isEmpty)
        }
    }

    @Test func `one app's clean-up does not answer for another's`() async throws {
        let stand = try BrokerStand()
        let broker = try await stand.joinedBroker()
        let notes = try await BrokerApp("notes", at: broker)
        let board = try await BrokerApp("board", at: broker)
        let token = try await notes.signIn(.worker, at: stand.provider)
        _ = try await board.current()
        _ = await notes.ask(.accountSignOut)
        _ = await notes.report(.done, of: token.session)
        #expect(try await board.current().owed.map(\.session) == [token.session])
    }

    @Test func `an app that owes a clean-up owes it under all of its client ids`() async throws {
        let stand = try BrokerStand { $0.apps[0].clientIDs = ["notes", "notes-beta"] }
        let broker = try await stand.joinedBroker()
        let notes = try await BrokerApp("notes", at: broker)
        let token = try await notes.signIn(.worker, at: stand.provider)
        _ = await notes.ask(.accountSignOut)
        let board = try await BrokerApp("board", at: broker)
        try await board.signIn(.otherWorker, at: stand.provider)
        let other = try await BrokerApp("notes", at: broker, clientID: "notes-beta")
        #expect(await other.silent(.otherWorker).error?.code == SharedDeviceMode.owed.code.rawValue)
        #expect(try await other.current().owed.map(\.session) == [token.session])
        #expect(await other.report(.done, of: token.session).error == nil)
        #expect(await other.silent(.otherWorker).token != nil)
        #expect(try await notes.current().owed.isEmpty)
    }

    @Test func `an app that only took a token owes a clean-up too`() async throws {
        let stand = try BrokerStand()
        let broker = try await stand.joinedBroker()
        let notes = try await BrokerApp("notes", at: broker)
        let third = try await BrokerApp("third", at: broker)
        try await notes.signIn(.worker, at: stand.provider)
        #expect(await third.silent(.worker).token != nil)
        _ = await notes.ask(.accountSignOut)
        #expect(try await third.current().owed.count == 1)
    }

    @Test func `events come after the new state can be read, one for each change, and name no person`() async throws {
        let stand = try BrokerStand()
        let broker = try await stand.joinedBroker()
        let notes = try await BrokerApp("notes", at: broker)
        let listener = try await BrokerApp("board", at: broker)
        _ = await listener.ask(.eventsSubscribe)
        for round in 0..<20 {
            let person: FakePerson = round.isMultiple(of: 2) ? .worker : .otherWorker
            let token = try await notes.signIn(person, at: stand.provider)
            #expect(try await listener.current().current?.id == person.account)
            #expect(listener.events.last == LooseAnswer.Event(.accountChanged, session: token.session))
            _ = await notes.silent(person, forcing: true)
            let out = Task { await notes.ask(.accountSignOut) }
            try await until { listener.events.last?.type == .globalSignOut }
            #expect(try await listener.current().current == nil)
            _ = await listener.report(.done, of: token.session)
            _ = await out.value
            _ = await notes.report(.done, of: token.session)
        }
        #expect(listener.events.count == 40, "none for a renewal")
        #expect(listener.events.map(\.session) == listener.events.map(\.session).sorted())
    }

    private func clean(_ app: BrokerApp) async throws {
        for owed in try await app.current().owed { _ = await app.report(.done, of: owed.session) }
    }
}

extension BrokerApp {
    func report(_ stage: CleanUpStage, of session: UInt64) async -> LooseAnswer {
        await ask(.cleanUpReport) {
            $0.stage = stage
            $0.session = session
        }
    }

    func silent(_ person: FakePerson, session: UInt64? = nil, forcing: Bool = false) async -> LooseAnswer {
        await ask(.tokenSilent) {
            $0.account = person.account
            $0.session = session
            $0.resource = BrokerStand.resource
            $0.scopes = BrokerStand.scopes
            $0.forcesRenewal = forcing
        }
    }
}
