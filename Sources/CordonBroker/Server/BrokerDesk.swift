internal import CordonProtocol
internal import CordonSignIn
internal import Foundation

/// Where one connection meets the broker: who it is was settled when it was made, and is looked at again each time.
struct BrokerDesk: Sendable {
    /// The broker.
    let broker: Broker
    /// Who connected; asked once, and nothing is read from the connection meanwhile.
    let identify: @Sendable () async -> BrokerCaller
    /// Whether it is still the same program in the same process.
    let isUnchanged: @Sendable () -> Bool

    /// Takes the connection in.
    func open(_ send: @escaping @Sendable (BrokerAnswer) -> Void) async -> Int {
        await broker.open(await identify(), send: send)
    }

    /// Ends it.
    func close(_ peer: Int) async {
        await broker.close(peer)
    }

    /// An answer as it is sent.
    struct Answered: Sendable {
        /// The frame; nil when the answer has no form that could be sent.
        let frame: Data?
        /// Whether it accepts a greeting.
        let greets: Bool

        init(_ answer: BrokerAnswer, greets: Bool = false) {
            frame = BrokerDesk.frame(of: answer)
            self.greets = greets
        }
    }

    /// The frame of an answer.
    static func frame(of answer: BrokerAnswer) -> Data? {
        guard let payload = try? MessageCoding.encode(answer), payload.count <= BrokerFrame.largestAnswer else {
            return nil
        }
        return BrokerFrame.encode(payload)
    }

    /// Answers a payload.
    func answer(_ payload: Data, from peer: Int) async -> Answered {
        guard let request = try? MessageCoding.decode(BrokerRequest.self, from: payload) else {
            return Answered(
                BrokerAnswer(id: 0, SignInError(.configuration, .invalidRequest, "the request is malformed")))
        }
        guard isUnchanged() else {
            return Answered(
                BrokerAnswer(
                    id: request.id,
                    SignInError(.brokerRefused, .brokerDenied, "the program that connected is no longer the same")))
        }
        let answer = await broker.answer(request, from: peer)
        return Answered(answer, greets: request.verb == BrokerVerb.hello.rawValue && answer.error == nil)
    }
}
