internal import CordonProtocol
internal import CordonSignIn
internal import Foundation

/// One connection's way to the broker. The caller was identified when it connected, and is checked again at every request.
struct BrokerSession: Sendable {
    /// The broker.
    let broker: Broker
    /// Who connected; asked once, and nothing is read from the connection meanwhile.
    let identify: @Sendable () async -> BrokerCaller
    /// Whether it is still the same program in the same process.
    let isUnchanged: @Sendable () -> Bool

    /// Takes the connection in.
    ///
    /// - Parameter send: Sends a frame.
    func open(_ send: @escaping @Sendable (Data) -> Void) async -> Int {
        await broker.open(await identify()) { message in
            if let frame = Self.frame(of: message) { send(frame) }
        }
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
        /// Whether it refuses the program, so that nothing more is to be said.
        let refuses: Bool

        init(_ message: BrokerMessage, greets: Bool = false, refuses: Bool = false) {
            frame = BrokerSession.frame(of: message)
            self.greets = greets
            self.refuses = refuses
        }
    }

    private static func frame(of message: BrokerMessage) -> Data? {
        guard let payload = message.payload, payload.count <= BrokerFrame.largestAnswer else { return nil }
        return BrokerFrame.encode(payload)
    }

    /// The request in a payload; nil for a payload that holds none.
    func request(in payload: Data) -> IncomingRequest? {
        IncomingRequest(short: payload) ?? (try? MessageCoding.decode(IncomingRequest.self, from: payload))
    }

    /// The frame that answers what the connection has just asked, once more; nil for everything else.
    func repeatedAnswer(to payload: Data, from peer: Int) -> Data? {
        guard let frame = broker.repeated.answer(to: payload, of: peer), isUnchanged() else { return nil }
        return frame
    }

    /// Answers requests that need neither disk nor network. Returns nil for all others, having done nothing.
    ///
    /// - Parameter payload: What the request was read from.
    func quickAnswer(_ request: IncomingRequest?, in payload: Data, from peer: Int) async -> Answered? {
        guard let request, request.quick != nil, isUnchanged() else { return nil }
        return await broker.quickAnswer(request, in: payload, from: peer)
    }

    /// Answers a request; nil stands for a payload that holds none.
    func answer(_ request: IncomingRequest?, from peer: Int) async -> Answered {
        guard let request else {
            return Answered(
                .failure(id: 0, SignInError(.configuration, .invalidRequest, "the request is malformed")))
        }
        guard isUnchanged() else {
            return Answered(
                .failure(
                    id: request.head.id,
                    SignInError(.brokerRefused, .brokerDenied, "the program that connected is no longer the same")),
                refuses: true)
        }
        let message = await broker.answer(request, from: peer)
        guard request.route?.verb == .hello else { return Answered(message) }
        switch message {
        case .answer: return Answered(message, greets: true)
        case .failure(_, let error): return Answered(message, refuses: error.fault == .brokerDenied)
        default: return Answered(message)
        }
    }
}
