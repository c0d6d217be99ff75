import CordonIdentity
import CordonProtocol
import CordonTestSupport
import CordonTesting
import Foundation
import Testing

@testable import CordonSignIn

/// Answers that are read by hand say what the general decoder reads in them.
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

    @Test func `a token is read byte for byte where it is written so, and in any other order as well`() throws {
        let plain = BrokerToken(
            AccessToken(text: "ey.J_-/", expires: token.expires, scopes: ["a", "https://b.example/c"], isBound: false),
            session: 8)
        for scopes in [plain.scopes, [], ["a"]] {
            var token = plain
            token.scopes = scopes
            for id in [0, 7, UInt32.max] {
                let payload = try payload(.answer(id: id, .token, WrittenAnswer(token)))
                #expect(PlainAnswer.token(in: payload, id: id) == token)
                #expect(PlainAnswer.token(in: payload, id: id ^ 1) == nil)
                #expect(PlainAnswer.token(in: payload + [0x20], id: id) == nil)
                #expect(PlainAnswer.token(in: payload.dropLast(), id: id) == nil)
            }
        }
        // A payload may be a part of what was received, which does not begin at zero.
        let whole = Data([1, 2, 3]) + (try payload(.answer(id: 7, .token, plain)))
        #expect(PlainAnswer.token(in: whole.dropFirst(3), id: 7) == plain)
        #expect(PlainAnswer.token(in: try payload(.answer(id: 7, .token, token)), id: 7) == nil)
        let expires = #""expires":"2027-01-15T08:00:00Z""#
        for text in [
            #"{"token":{\#(expires),"isBound":false,"scopes":["a"],"session":8,"text":"t"},"id":7}"#,
            #"{"id":7, "token":{\#(expires),"isBound":false,"scopes":["a"],"session":8,"text":"t"}}"#,
            #"{"id":7,"token":{"text":"t",\#(expires),"isBound":false,"scopes":["a"],"session":8}}"#,
            #"{"id":7,"token":{\#(expires),"isBound":false,"scopes":["a"],"session":8,"text":"\u0074"}}"#,
        ] {
            let payload = Data(text.utf8)
            #expect(PlainAnswer.token(in: payload, id: 7) == nil, "\(text)")
            #expect(ShortReply.token(in: payload, id: 7)?.text == "t", "\(text)")
        }
        for session in ["08", "", "-8", "8.0", "8e0", "18446744073709551616", "true", #""8""#] {
            let text = #"{"id":7,"token":{\#(expires),"isBound":false,"scopes":[],"session":\#(session),"text":"t"}}"#
            #expect(PlainAnswer.token(in: Data(text.utf8), id: 7) == nil, "\(session)")
        }
    }

    @Test func `times are read as Foundation reads them, and another form is left to it`() throws {
        for seconds in stride(from: 0.0, to: 253_402_300_799, by: 77_777_777) {
            let date = Date(timeIntervalSince1970: seconds)
            #expect(MessageTime.written(date.formatted(.iso8601)) == date, "\(seconds)")
        }
        for year in [1970, 1972, 1999, 2000, 2024, 2026, 2100, 2400, 9999] {
            for month in 1...12 {
                for day in [0, 1, 28, 29, 30, 31, 32] {
                    let digits = [month, day].map { ($0 < 10 ? "0" : "") + String($0) }
                    let text = "\(year)-\(digits[0])-\(digits[1])T23:59:59Z"
                    let date = MessageTime.written(text)
                    #expect(date?.formatted(.iso8601) == (date == nil ? nil : text))
                    #expect((date != nil) == isDay(day, of: month, year), "\(text)")
                }
            }
        }
        for text in [
            "", "2026-03-01T08:30:00", "2026-03-01T08:30:00+01:00", "2026-03-01T08:30:00.5Z", "2026-03-01 08:30:00Z",
            "2026-13-01T08:30:00Z", "2026-00-01T08:30:00Z", "2026-03-01T24:00:00Z", "2026-03-01T08:60:00Z",
            "2026-03-01T08:30:60Z", "20a6-03-01T08:30:00Z", "2026-03-01T08:30:00z",
        ] { #expect(MessageTime.written(text) == nil, "\(text)") }
    }

    private func isDay(_ day: Int, of month: Int, _ year: Int) -> Bool {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let first = calendar.date(from: DateComponents(year: year, month: month, day: 1))
        return first.flatMap { calendar.range(of: .day, in: .month, for: $0) }?.contains(day) ?? false
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

    @Test(.seeded(as: 62)) func `a damaged answer is refused, or says what the decoder reads in it`() throws {
        var dice = SeededGenerator()
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
