import CordonTestSupport
import CordonTesting
import Foundation
import Testing

@testable import CordonBroker
@testable import CordonSignIn

/// Bytes that no library sends (R17); `CORDON_DEEP=1` runs a million.
@Suite struct HostileBytesTests {
    private static let seeds = [
        #"{"id":1,"verb":"hello","versions":[1],"clientID":"notes","singleAccount":true}"#,
        #"{"id":2,"verb":"token.silent","account":"oid","session":7,"scopes":["a"],"resource":"https://x"}"#,
        #"{"correlationID":"5B0F1E0C-2C57-4B0E-9C39-6A2B1F7A4D11","id":5,"nonce":"n","verb":"device.info"}"#,
        #"{"id":3,"verb":"token.proof","session":7,"input":"eyJhbGciOiJFUzI1NiIsInR5cCI6ImRwb3Arand0In0.e30"}"#,
        #"{"id":4,"verb":"cleanup.report","session":7,"stage":"done","correlationID":"5B0F1E0C-2C57-4B0E-9C39-6A2B1F7A4D11"}"#,
    ].map { BrokerFrame.encode(Data($0.utf8)) }

    @Test func `undamaged frames are all read`() {
        let bytes = Self.seeds.reduce(Data(), +)
        #expect(BrokerParsing.read(bytes) == BrokerParsing.Outcome(frames: 5, requests: 5))
    }

    @Test(.seeded(as: 20)) func `damaged frames are refused or read, the same however they are cut`() {
        let run = DeepRun(plain: 3_000, deep: 1_000_000)
        var dice = SeededGenerator()
        var (rounds, frames, requests) = (0, 0, 0)
        for round in run {
            rounds = round
            var bytes = Self.seeds.randomElement(using: &dice) ?? Data()
            for _ in 0..<Int.random(in: 1...4, using: &dice) {
                guard !bytes.isEmpty else { break }
                let place = bytes.startIndex + Int.random(in: 0..<bytes.count, using: &dice)
                switch Int.random(in: 0..<5, using: &dice) {
                case 0: bytes[place] = .random(in: .min ... .max, using: &dice)
                case 1: bytes.remove(at: place)
                case 2: bytes.insert(.random(in: .min ... .max, using: &dice), at: place)
                case 3: bytes = bytes.prefix(upTo: place) + Data()
                default: bytes.append(Self.seeds.randomElement(using: &dice) ?? Data())
                }
                bytes = Data(bytes)
            }
            let outcome = BrokerParsing.read(bytes)
            #expect(outcome.fault == nil, "\(bytes.base64EncodedString())")
            frames += outcome.frames
            requests += outcome.requests
        }
        // Damage of every depth came up: some frames fell away, some held no request, some were whole.
        #expect(requests > 0 && frames > requests && requests < rounds)
        run.finish("damaged streams of frames")
    }
}
