import CordonIdentity
import Foundation
import Testing

@testable import CordonSignIn

/// How an app waits for a broker that does not answer, or hangs up.
@Suite(.timeLimit(.minutes(1))) struct BrokerLinkTests {
    private func link(_ broker: SilentBroker) -> BrokerLink {
        BrokerLink(path: broker.path, clientID: "app") { _ in }
    }

    @Test func `a request whose task was cancelled before does not wait for the broker, and asks it nothing`()
        async throws
    {
        let broker = try SilentBroker()
        defer { broker.stop() }
        let link = link(broker)
        _ = try await link.connected()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await link.call(BrokerRequest(.tokenInteractive))
        }
        #expect(await failure { try await task.value }?.code == .cancelled)
        #expect(!broker.verbs.contains(BrokerVerb.tokenInteractive.rawValue))
    }

    @Test func `a task cancelled at any moment of a request stops waiting`() async throws {
        let broker = try SilentBroker()
        defer { broker.stop() }
        let link = link(broker)
        for turns in 0..<40 {
            let task = Task { try await link.call(BrokerRequest(.tokenInteractive)) }
            for _ in 0..<turns { await Task.yield() }
            task.cancel()
            #expect(await failure { try await task.value }?.code == .cancelled)
        }
    }

    @Test(arguments: [BrokerVerb.tokenReturn, .tokenCancel])
    func `what names an earlier request is not repeated over another connection`(verb: BrokerVerb) async throws {
        let broker = try SilentBroker(hangingUpAt: verb)
        defer { broker.stop() }
        var request = BrokerRequest(verb)
        request.request = 1
        let asked = request
        #expect(await failure { try await link(broker).call(asked) }?.fault == .brokerMissing)
        #expect(broker.verbs == ["hello", verb.rawValue])
    }

    @Test func `a question about the state is asked once more over a new connection`() async throws {
        let broker = try SilentBroker(hangingUpAt: .accountCurrent)
        defer { broker.stop() }
        #expect(await failure { try await link(broker).call(BrokerRequest(.accountCurrent)) }?.fault == .brokerMissing)
        #expect(broker.verbs == ["hello", "account.current", "hello", "account.current"])
    }
}
