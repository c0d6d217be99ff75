import CordonBase
import CordonIdentity
import CordonProtocol
import CordonSignIn
import CordonTestSupport
import CordonTesting
import Foundation
import Testing

@testable import CordonBroker

/// What the broker says once more to a connection that asks the same again, and when it no longer does.
@Suite struct RepeatedAnswerTests {
    private static let question = Data(
        #"{"account":"oid","correlationID":"0E5A1B7C-0000-4000-8000-00000000ABCD","id":7,"nonce":"n","verb":"v"}"#.utf8)
    private static let mark = "0E5A1B7C-0000-4000-8000-00000000ABCD"

    private func changed(_ part: String, to other: String) -> Data {
        Data(String(decoding: Self.question, as: UTF8.self).replacingOccurrences(of: part, with: other).utf8)
    }

    @Test func `a text is the known one where number and UUID alone differ, and every other byte counts`() throws {
        let known = try #require(NumberedText(Self.question, number: 7, mark: Self.mark))
        #expect(known.number(in: Self.question) == 7 && known.text(numbered: 7) == Self.question)
        for number in [0, 1, 10, UInt32.max] {
            let text = changed("\"id\":7", to: "\"id\":\(number)")
            #expect(known.number(in: text) == number && known.text(numbered: number) == text)
        }
        for number in ["", "00", "07", "-1", "+1", "1.", " 7", "4294967296", "12345678901", "\"7\"", "7,\"id\":8"] {
            #expect(known.number(in: changed("\"id\":7", to: "\"id\":\(number)")) == nil, "\(number)")
        }
        #expect(known.number(in: changed(Self.mark, to: UUID().uuidString)) == 7)
        #expect(known.number(in: changed(Self.mark, to: Self.mark.lowercased())) == 7)
        for mark in [
            "", String(Self.mark.dropLast()), Self.mark + "0", "\"" + Self.mark.dropFirst(),
            "G" + Self.mark.dropFirst(),
        ] {
            #expect(known.number(in: changed(Self.mark, to: mark)) == nil, "\(mark)")
        }
        // Every other byte in turn; in a UUID another digit is another UUID.
        let uuid = try #require(Self.question.range(of: Data(Self.mark.utf8)))
        for index in Self.question.indices where !uuid.contains(index) {
            for bit in 0..<8 {
                var text = Self.question
                text[index] ^= 1 << UInt8(bit)
                guard let number = known.number(in: text) else { continue }
                #expect(text == changed("\"id\":7", to: "\"id\":\(number)"), "byte \(index), bit \(bit)")
            }
        }
        #expect(known.number(in: Data()) == nil && known.number(in: Self.question.dropLast()) == nil)
        #expect(known.number(in: Self.question.dropFirst()) == nil)
    }

    @Test func `a text whose number or UUID is not found exactly once is not known`() {
        #expect(NumberedText(Self.question, number: 8, mark: Self.mark) == nil)
        #expect(NumberedText(Self.question, number: 7, mark: UUID().uuidString) == nil)
        #expect(NumberedText(Self.question, number: 7, mark: "") == nil)
        #expect(NumberedText(Data(#"{"a":{"id":7},"id":7}"#.utf8), number: 7, mark: nil) == nil)
        #expect(NumberedText(Data(#"{"id":71}"#.utf8), number: 7, mark: nil) == nil)
        #expect(NumberedText(Data(#"{"id" : 7}"#.utf8), number: 7, mark: nil) == nil)
        // After the number as well as before it.
        let late = Data(#"{"id":7,"correlationID":"0E5A1B7C-0000-4000-8000-00000000ABCD"}"#.utf8)
        #expect(NumberedText(late, number: 7, mark: Self.mark)?.number(in: late) == 7)
    }

    private func token(_ request: inout LooseRequest) {
        request.account = FakePerson.worker.account
        request.resource = BrokerStand.resource
        request.scopes = BrokerStand.scopes
    }

    @Test func `a token is said again to the connection that had it, while it is fresh and the session lasts`()
        async throws
    {
        let stand = try BrokerStand()
        let broker = try await stand.joinedBroker()
        let notes = try await BrokerApp("notes", at: broker)
        try await notes.signIn(.worker, at: stand.provider)
        let first = try #require(await notes.ask(.tokenSilent, token).token)
        let again = try #require(
            try notes.askAgain(.tokenSilent) {
                token(&$0)
                $0.id = 4_000_000_000
            })
        #expect(again.token?.text == first.text && again.id == 4_000_000_000 && again.error == nil)
        // Another question, the same without the nonce, and the same of another program.
        #expect(try notes.askAgain(.tokenSilent) { $0.account = FakePerson.worker.account } == nil)
        #expect(
            try notes.askAgain(.tokenSilent) {
                token(&$0)
                $0.nonce = nil
            } == nil)
        let board = try await BrokerApp("board", at: broker)
        #expect(try board.askAgain(.tokenSilent, token) == nil)
        // Half of its life is left at the most.
        stand.time.advance(by: -1)
        #expect(try notes.askAgain(.tokenSilent, token) == nil)
        stand.time.advance(by: 1)
        #expect(try notes.askAgain(.tokenSilent, token) != nil)
        stand.time.advance(by: 36_000)
        #expect(try notes.askAgain(.tokenSilent, token) == nil)
        stand.time.advance(by: -36_000)
        #expect(try notes.askAgain(.tokenSilent, token) != nil)
        #expect(await board.ask(.accountSignOut).error == nil)
        #expect(try notes.askAgain(.tokenSilent, token) == nil)
        #expect(await notes.ask(.tokenSilent, token).error?.fault == "signedOut")
        #expect(try notes.askAgain(.tokenSilent, token) == nil, "a refusal is not said again")
    }

    @Test func `what a renewed token replaces is not said again`() async throws {
        let stand = try BrokerStand()
        let broker = try await stand.joinedBroker()
        let notes = try await BrokerApp("notes", at: broker)
        try await notes.signIn(.worker, at: stand.provider)
        let first = try #require(await notes.ask(.tokenSilent, token).token)
        #expect(try notes.askAgain(.tokenSilent, token) != nil)
        let second = await notes.ask(.tokenSilent) {
            token(&$0)
            $0.forcesRenewal = true
        }
        #expect(second.token != nil && second.token?.text != first.text)
        #expect(try notes.askAgain(.tokenSilent, token) == nil)
        #expect(await notes.ask(.tokenSilent, token).token?.text == second.token?.text)
    }

    @Test func `the device is described anew after everything that changes it, and to an administrator each time`()
        async throws
    {
        let stand = try BrokerStand()
        let broker = try await stand.joinedBroker()
        let notes = try await BrokerApp("notes", at: broker)
        #expect(try notes.askAgain(.deviceInfo) == nil)
        let before = try #require(await notes.ask(.deviceInfo).device)
        #expect(try notes.askAgain(.deviceInfo)?.device == before)
        await broker.note(.unheard)
        #expect(try notes.askAgain(.deviceInfo) == nil)
        #expect(await notes.ask(.deviceInfo).device?.warnings.contains(.seatUnheard) == true)
        try await notes.signIn(.worker, at: stand.provider)
        #expect(try notes.askAgain(.deviceInfo) == nil)
        #expect(await notes.ask(.deviceInfo).device?.session == before.session + 1)
        // What an app saw is written down when it asks: that is never said from memory.
        _ = try await notes.current()
        #expect(try notes.askAgain(.accountCurrent) == nil)
        let administrator = try await BrokerApp("x", at: broker, user: 0)
        #expect(await administrator.ask(.deviceInfo).device != nil)
        #expect(try administrator.askAgain(.deviceInfo) == nil)
        _ = await notes.ask(.deviceInfo)
        await notes.leave()
        #expect(try notes.askAgain(.deviceInfo) == nil, "nothing is kept for a connection that has ended")
    }

    @Test func `where no app is listed an administrator is told of the last report's fault at once`() async throws {
        let stand = try BrokerStand {
            $0.apps = []
            $0.isDevelopment = true
        }
        let broker = try await stand.joinedBroker()
        let developer = try await BrokerApp("notes", at: broker, user: BrokerStand.user)
        #expect(await developer.ask(.deviceInfo).device?.isShared == true)
        #expect(try developer.askAgain(.deviceInfo)?.device?.isShared == true)
        await broker.noteReport(fault: .timedOut)
        #expect(try developer.askAgain(.deviceInfo) == nil)
        let problems = await developer.ask(.deviceInfo).device?.problems ?? []
        #expect(problems.contains { $0.contains("timedOut") })
    }

    @Test func `a program that has become another one hears nothing again`() async throws {
        let stand = try BrokerStand()
        let broker = try await stand.joinedBroker()
        let isSame = Locked(true)
        let notes = try await BrokerApp("notes", at: broker, isUnchanged: { isSame.withLock { $0 } })
        _ = await notes.ask(.deviceInfo)
        #expect(try notes.askAgain(.deviceInfo) != nil)
        isSame.withLock { $0 = false }
        #expect(try notes.askAgain(.deviceInfo) == nil)
        #expect(await notes.ask(.deviceInfo).error?.fault == "brokerDenied")
    }
}

extension Broker {
    fileprivate func noteReport(fault: SignInFault?) { reportFault = fault }
}
