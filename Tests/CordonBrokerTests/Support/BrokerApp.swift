import CordonBase
import CordonProtocol
import CordonSignIn
import CordonTesting
import Foundation
import Testing

@testable import CordonBroker

/// An app as the broker sees one: a connection with requests, answers and events, in the words of the first version.
final class BrokerApp: Sendable {
    private let peer: Int
    private let session: BrokerSession
    private let heard = Locked<[LooseAnswer]>([])
    private let last = Locked<UInt32>(0)
    private let nonce = Locked<String?>(nil)

    init(
        _ name: String, at broker: Broker, user: UInt32 = 1_000, path: String? = nil, digest: String = "",
        clientID: String? = nil, greets: Bool = true, change: (inout BrokerCaller) -> Void = { _ in },
        isUnchanged: @escaping @Sendable () -> Bool = { true }
    ) async throws {
        var known = BrokerCaller(user: user, process: 1, path: path ?? "/apps/\(name)", digest: digest)
        change(&known)
        let caller = known
        session = BrokerSession(broker: broker, identify: { caller }, isUnchanged: isUnchanged)
        let heard = heard
        peer = await session.open { frame in
            let answer = Self.answer(in: frame)
            heard.withLock { $0.append(answer) }
        }
        guard greets else { return }
        let answer = await greet(clientID ?? name)
        if let error = answer.error { throw error.signInError }
    }

    func greet(_ clientID: String, versions: [Int] = [1, 2], singleAccount: Bool = true) async -> LooseAnswer {
        var hello = LooseRequest(.hello)
        hello.versions = versions
        hello.clientID = clientID
        hello.singleAccount = singleAccount
        let answer = await ask(hello)
        if let greeting = answer.hello { nonce.withLock { $0 = greeting.nonce } }
        return answer
    }

    /// Everything that came without being the answer of a call.
    var events: [LooseAnswer.Event] { heard.withLock { $0.compactMap(\.event) } }
    var pages: [LooseAnswer.Progress] { heard.withLock { $0.compactMap(\.progress) } }

    /// The id of the request that was asked last.
    var lastAsked: UInt32 { last.withLock { $0 } }

    func ask(_ request: LooseRequest) async -> LooseAnswer {
        var request = request
        request.id = last.withLock { last in
            last += 1
            return last
        }
        return await send(request)
    }

    func ask(_ verb: BrokerVerb, _ change: (inout LooseRequest) -> Void = { _ in }) async -> LooseAnswer {
        var request = LooseRequest(verb)
        change(&request)
        return await ask(request)
    }

    func current() async throws -> CurrentAccount { try #require(await ask(.accountCurrent).current) }

    /// Asks for something that a person takes part in, and is that person.
    func attended(
        _ verb: BrokerVerb, as person: FakePerson, at provider: FakeIdentityProvider,
        _ change: (inout LooseRequest) -> Void = { _ in }
    ) async -> LooseAnswer {
        var request = LooseRequest(verb)
        request.scopes = BrokerStand.scopes
        request.resource = BrokerStand.resource
        change(&request)
        request.id = last.withLock { last in
            last += 1
            return last
        }
        let question = request
        let seen = pages.count
        let answer = Task { await send(question) }
        let person = Task {
            try await until { pages.count != seen }
            var back = LooseRequest(.tokenReturn)
            back.request = question.id
            if let page = pages.last { back.url = await provider.visit(page.page, as: person)?.absoluteString }
            _ = await ask(back)
        }
        defer { person.cancel() }
        return await answer.value
    }

    @discardableResult
    func signIn(_ person: FakePerson, at provider: FakeIdentityProvider) async throws -> LooseAnswer.Token {
        let answer = await attended(.tokenInteractive, as: person, at: provider)
        if let error = answer.error { throw error.signInError }
        return try #require(answer.token)
    }

    func leave() async { await session.close(peer) }

    /// What the event loop answers by itself; nil for what it leaves to others.
    func askAtOnce(_ verb: BrokerVerb, _ change: (inout LooseRequest) -> Void = { _ in }) async throws -> LooseAnswer? {
        var request = LooseRequest(verb)
        request.nonce = nonce.withLock { $0 }
        change(&request)
        let payload = try MessageCoding.encode(request)
        if let frame = session.repeatedAnswer(to: payload, from: peer) { return Self.answer(in: frame) }
        return await session.quickAnswer(session.request(in: payload), in: payload, from: peer)
            .map { Self.answer(in: $0.frame) }
    }

    /// What the broker says once more without looking the question up; nil for what it has to look up.
    func askAgain(_ verb: BrokerVerb, _ change: (inout LooseRequest) -> Void = { _ in }) throws -> LooseAnswer? {
        var request = LooseRequest(verb)
        request.nonce = nonce.withLock { $0 }
        change(&request)
        return session.repeatedAnswer(to: try MessageCoding.encode(request), from: peer).map { Self.answer(in: $0) }
    }

    private func send(_ request: LooseRequest) async -> LooseAnswer {
        var request = request
        request.nonce = request.nonce ?? nonce.withLock { $0 }
        guard let payload = try? MessageCoding.encode(request) else { return LooseAnswer() }
        // As the socket does it: what was just answered is answered so again, and what can be answered at once is.
        if let frame = session.repeatedAnswer(to: payload, from: peer) { return Self.answer(in: frame) }
        let asked = session.request(in: payload)
        if let answered = await session.quickAnswer(asked, in: payload, from: peer) {
            return Self.answer(in: answered.frame)
        }
        return Self.answer(in: await session.answer(asked, from: peer).frame)
    }

    /// What a frame says; an empty answer without an id for none.
    private static func answer(in frame: Data?) -> LooseAnswer {
        frame.flatMap { try? MessageCoding.decode(LooseAnswer.self, from: $0.dropFirst(4)) } ?? LooseAnswer()
    }
}
