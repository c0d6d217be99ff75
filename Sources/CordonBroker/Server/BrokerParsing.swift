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
        _ = try? MessageCoding.decode(BrokerAnswer.self, from: payload)
        guard let request = try? MessageCoding.decode(BrokerRequest.self, from: payload) else { return false }
        _ = SigningInput(request.input ?? "")
        let written = try? MessageCoding.encode(request)
        let again = written.flatMap { try? MessageCoding.decode(BrokerRequest.self, from: $0) }
        if written == nil || again.flatMap({ try? MessageCoding.encode($0) }) != written {
            outcome.fault = "a request that was read has no form that reads back the same"
        }
        return true
    }
}
