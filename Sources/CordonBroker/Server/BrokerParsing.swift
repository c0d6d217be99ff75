internal import CordonProtocol
internal import CordonSignIn
public import Foundation

/// What the broker does to bytes before it knows anything of them, for whoever wants to try it with hostile ones.
public enum BrokerParsing {
    /// Reads bytes as frames and requests, whole and in pieces.
    ///
    /// Stops the process when the cut of the bytes changes what they mean, or a frame passes the limit: a check for
    /// fuzzing, not for use.
    public static func exercise(_ bytes: Data) {
        let whole = payloads(in: [bytes])
        precondition(whole == payloads(in: bytes.map { Data([$0]) }), "the cut of the bytes changed the frames")
        for payload in whole {
            precondition(payload.count <= BrokerFrame.largestGreeting, "a frame above the limit was accepted")
            read(payload)
        }
        read(bytes)
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

    private static func read(_ payload: Data) {
        _ = try? MessageCoding.decode(BrokerAnswer.self, from: payload)
        guard let request = try? MessageCoding.decode(BrokerRequest.self, from: payload) else { return }
        _ = Broker.maySign(request.input ?? "")
        guard let written = try? MessageCoding.encode(request),
            let again = try? MessageCoding.decode(BrokerRequest.self, from: written),
            (try? MessageCoding.encode(again)) == written
        else { preconditionFailure("a request that was read has no form that reads back the same") }
    }
}
