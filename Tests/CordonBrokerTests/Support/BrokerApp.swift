import CordonBase
import CordonSignIn
import CordonTesting
import Foundation
import Testing

@testable import CordonBroker

/// An app as the broker sees one: a connection with requests, answers and events.
final class BrokerApp: Sendable {
    let peer: Int
    private let broker: Broker
    private let heard = Locked<[BrokerAnswer]>([])
    private let last = Locked<UInt32>(0)

    init(
        _ name: String, at broker: Broker, user: UInt32 = 1_000, path: String? = nil, digest: String = "",
        clientID: String? = nil, greets: Bool = true
    ) async throws {
        self.broker = broker
        let heard = heard
        peer = await broker.open(
            BrokerCaller(user: user, process: 1, path: path ?? "/apps/\(name)", digest: digest)
        ) { answer in heard.withLock { $0.append(answer) } }
        guard greets else { return }
        let answer = await greet(clientID ?? name)
        if let error = answer.error { throw error.signInError }
    }

    func greet(_ clientID: String, versions: [Int] = [1], singleAccount: Bool = true) async -> BrokerAnswer {
        var hello = BrokerRequest(.hello)
        hello.versions = versions
        hello.clientID = clientID
        hello.singleAccount = singleAccount
        return await ask(hello)
    }

    /// Everything that came without being the answer of a call.
    var events: [BrokerAnswer.Event] { heard.withLock { $0.compactMap(\.event) } }
    var pages: [BrokerAnswer.Progress] { heard.withLock { $0.compactMap(\.progress) } }

    /// The id of the request that was asked last.
    var lastAsked: UInt32 { last.withLock { $0 } }

    func ask(_ request: BrokerRequest) async -> BrokerAnswer {
        var request = request
        request.id = last.withLock { last in
            last += 1
            return last
        }
        return await broker.answer(request, from: peer)
    }

    func ask(_ verb: BrokerVerb, _ change: (inout BrokerRequest) -> Void = { _ in }) async -> BrokerAnswer {
        var request = BrokerRequest(verb)
        change(&request)
        return await ask(request)
    }

    func current() async throws -> CurrentAccount { try #require(await ask(.accountCurrent).current) }

    /// Asks for something that a person takes part in, and is that person.
    func attended(
        _ verb: BrokerVerb, as person: FakePerson, at provider: FakeIdentityProvider,
        _ change: (inout BrokerRequest) -> Void = { _ in }
    ) async -> BrokerAnswer {
        var request = BrokerRequest(verb)
        request.scopes = BrokerStand.scopes
        request.resource = BrokerStand.resource
        change(&request)
        request.id = last.withLock { last in
            last += 1
            return last
        }
        let (question, broker, peer) = (request, broker, peer)
        let seen = pages.count
        let answer = Task { await broker.answer(question, from: peer) }
        let person = Task {
            try await until { pages.count != seen }
            var back = BrokerRequest(.tokenReturn)
            back.request = question.id
            if let page = pages.last { back.url = await provider.visit(page.page, as: person)?.absoluteString }
            _ = await ask(back)
        }
        defer { person.cancel() }
        return await answer.value
    }

    @discardableResult
    func signIn(_ person: FakePerson, at provider: FakeIdentityProvider) async throws -> BrokerAnswer.Token {
        let answer = await attended(.tokenInteractive, as: person, at: provider)
        if let error = answer.error { throw error.signInError }
        return try #require(answer.token)
    }

    func leave() async { await broker.close(peer) }
}
