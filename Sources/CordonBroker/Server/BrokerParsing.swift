internal import CordonProtocol
internal import CordonSignIn
package import Foundation

/// Entry point for fuzzing: parses untrusted bytes exactly as the broker does.
package enum BrokerParsing {
    /// What was read from bytes, and what ought not to have happened on the way.
    package struct Outcome: Sendable, Equatable {
        /// How many whole frames the bytes hold before the first that cannot be.
        package var frames: Int
        /// How many of them are requests.
        package var requests: Int
        /// What went wrong; nil for every input of a broker without faults.
        package var fault: String?

        /// Makes an outcome without a fault.
        package init(frames: Int = 0, requests: Int = 0) {
            self.frames = frames
            self.requests = requests
        }
    }

    /// Reads bytes as frames and requests, whole and in pieces.
    ///
    /// A fault is a stream whose meaning depends on its cut, a frame above the limit, or a request that was read and has no
    /// form that reads back the same.
    package static func read(_ bytes: Data) -> Outcome {
        var outcome = Outcome()
        let whole = payloads(in: [bytes])
        if whole != payloads(in: bytes.map { Data([$0]) }) { outcome.fault = "the cut of the bytes changed the frames" }
        if whole.contains(where: { $0.count > BrokerFrame.largestGreeting }) {
            outcome.fault = "a frame above the limit was accepted"
        }
        outcome.frames = whole.count
        for payload in whole where readsRequest(payload, &outcome) { outcome.requests += 1 }
        _ = readsRequest(bytes, &outcome)
        return outcome
    }

    private static func payloads(in pieces: [Data]) -> [Data] {
        var reader = BrokerFrameReader(limit: BrokerFrame.largestGreeting)
        var found: [Data] = []
        for piece in pieces {
            reader.append(piece)
            do {
                while let payload = try reader.next() { found.append(payload) }
            } catch { return found }
        }
        return found
    }

    private static func readsRequest(_ payload: Data, _ outcome: inout Outcome) -> Bool {
        if let short = ShortRequest(payload), !means(short.call, short.head, payload) {
            outcome.fault = "a request that was read by hand means something else to the decoder"
        }
        guard let request = try? MessageCoding.decode(IncomingRequest.self, from: payload) else { return false }
        if let route = request.route, !readsBack(route.call, payload) {
            outcome.fault = "a request that was read has no form that reads back the same"
        }
        return true
    }

    private static func means<Call: BrokerCall>(_ call: Call, _ head: BrokerRequestHead, _ payload: Data) -> Bool {
        guard let decoded = try? MessageCoding.decode(Call.self, from: payload),
            let written = try? MessageCoding.encode(call)
        else { return false }
        return (try? MessageCoding.encode(decoded)) == written
            && (try? MessageCoding.decode(BrokerRequestHead.self, from: payload)) == head
    }

    private static func readsBack<Call: BrokerCall>(_ type: Call.Type, _ payload: Data) -> Bool {
        _ = try? BrokerReply.read(payload) { _ in { try BrokerReply.completion(of: type, from: $0) } }
        guard let call = try? MessageCoding.decode(type, from: payload) else { return false }
        if let proof = call as? ProofCall { _ = SigningInput(proof.input ?? "") }
        guard let written = try? MessageCoding.encode(call), let again = try? MessageCoding.decode(type, from: written)
        else { return false }
        return (try? MessageCoding.encode(again)) == written
    }
}
