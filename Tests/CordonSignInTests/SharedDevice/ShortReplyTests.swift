import CordonIdentity
import CordonProtocol
import CordonTesting
import Foundation
import Testing

@testable import CordonSignIn

/// Answers that are read by hand say what Foundation's decoder reads in them.
@Suite struct ShortReplyTests {
    private struct Reply: Decodable {
        let id: UInt32
        var token: BrokerToken?
        var device: DeviceInformation?
    }

    private let token = BrokerToken(
        AccessToken(
            text: "ey.J/ä\"", expires: Date(timeIntervalSince1970: 1_800_000_000), scopes: ["a", "b"], isBound: true),
        session: .max)

    private func device(_ session: UInt64 = 7) -> DeviceInformation {
        DeviceInformation(
            mode: .shared, missing: [],
            registration: .init(
                deviceID: "d", tenant: TenantID("t"), issuer: "https://id.example", keyThumbprint: "k",
                since: Date(timeIntervalSince1970: 1_800_000_000)), brokerVersion: "1", protocolVersion: 2,
            session: session, warnings: [.softwareKey], preferredAuthenticationMethod: nil)
    }

    private func payload(_ message: BrokerMessage) throws -> Data { try #require(message.payload) }

    @Test func `a token and a device are read as the decoder reads them`() throws {
        let payload = try payload(.answer(id: 7, .token, WrittenAnswer(token)))
        #expect(ShortReply.id(in: payload) == 7 && ShortReply.token(in: payload, id: 7) == token)
        #expect(ShortReply.token(in: payload, id: 8) == nil)
        var memory = DeviceMemory()
        for id in [7, 8, UInt32.max] {
            let payload = try self.payload(.answer(id: id, .device, WrittenAnswer(device())))
            #expect(ShortReply.id(in: payload) == id && memory.device(in: payload, id: id) == device())
            #expect(memory.device(in: payload, id: id &- 1) == nil)
        }
        let changed = try self.payload(.answer(id: 9, .device, WrittenAnswer(device(8))))
        #expect(memory.device(in: changed, id: 9) == device(8))
    }

    @Test func `everything else that a broker says is left to the decoder`() throws {
        var signedIn = token
        signedIn.isRenewable = true
        let refusal = SignInError(.interactionRequired, .signedOut, "nobody")
        let messages: [BrokerMessage] = [
            .answer(id: 7, .token, signedIn), .failure(id: 7, refusal), .answer(id: 7, nil, Done()),
            .event(AccountEvent(.globalSignOut, session: 7)),
        ]
        for message in messages {
            var memory = DeviceMemory()
            let payload = try payload(message)
            #expect(ShortReply.token(in: payload, id: 7) == nil && memory.device(in: payload, id: 7) == nil)
        }
        for text in [
            #"{"id":7,"id":7,"token":{}}"#, #"{"id":7,"token":null}"#, #"{"id":7}"#, "", "}", #","id":7}"#,
            #"{"device":{},"error":{},"id":7}"#,
            #"{"id":7,"token":{"text":"a","text":"b","scopes":[],"isBound":true}}"#,
        ] {
            var memory = DeviceMemory()
            let payload = Data(text.utf8)
            #expect(ShortReply.token(in: payload, id: 7) == nil && memory.device(in: payload, id: 7) == nil, "\(text)")
        }
    }

    @Test func `a damaged answer is refused, or says what the decoder reads in it`() throws {
        var dice = SeededGenerator(62)
        let answers = [
            try payload(.answer(id: 7, .token, WrittenAnswer(token))),
            try payload(.answer(id: 7, .device, WrittenAnswer(device()))),
        ]
        var memory = DeviceMemory()
        var read = 0
        for round in 0..<4_000 {
            var bytes = answers[round % 2]
            for _ in 0..<Int.random(in: 1...2, using: &dice) {
                let place = Int.random(in: 0..<bytes.count, using: &dice)
                bytes[place] = .random(in: 0x20...0x7E, using: &dice)
            }
            let short = (ShortReply.token(in: bytes, id: 7), memory.device(in: bytes, id: 7))
            guard short.0 != nil || short.1 != nil else { continue }
            read += 1
            let decoded = try MessageCoding.decode(Reply.self, from: bytes)
            #expect(decoded.id == 7 && short.0.map { $0 == decoded.token } ?? true)
            #expect(short.1.map { $0 == decoded.device } ?? true)
        }
        #expect(read > 0 && read < 4_000)
    }
}
