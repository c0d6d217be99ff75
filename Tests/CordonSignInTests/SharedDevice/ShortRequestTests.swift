import CordonIdentity
import CordonProtocol
import Foundation
import Testing

@testable import CordonSignIn

/// Questions that are read and written by hand have the bytes and the meaning that the general coders give them.
@Suite struct ShortRequestTests {
    private static let id = UUID(uuidString: "5B0F1E0C-2C57-4B0E-9C39-6A2B1F7A4D11")

    private func token(_ change: (inout SilentTokenCall) -> Void = { _ in }) -> SilentTokenCall {
        var call = SilentTokenCall(
            account: "oid.tid", session: 7, scopes: ["a", "b/c"], resource: "https://service.contoso.example/check-in")
        change(&call)
        return call
    }

    private func expectSame(_ call: some BrokerCall, id: UInt32 = .max, isShort: Bool = true) throws {
        for (correlation, nonce) in [(Self.id, "n"), (nil, nil)] as [(UUID?, String?)] {
            let request = BrokerRequest(call, id: id, correlationID: correlation, nonce: nonce)
            let written = try MessageCoding.encode(request)
            #expect(request.payload == written && (request.shortPayload != nil) == isShort)
            let read = ShortRequest(written)
            #expect((read != nil) == isShort)
            guard let read else { continue }
            #expect(read.head == (try MessageCoding.decode(BrokerRequestHead.self, from: written)))
            #expect(try MessageCoding.encode(read.call) == MessageCoding.encode(call))
        }
    }

    @Test func `a short question has the bytes that the coders write, and is read as they read it`() throws {
        try expectSame(DeviceInfoCall())
        try expectSame(CurrentAccountCall(), id: 0)
        try expectSame(AccountListCall())
        try expectSame(token())
        try expectSame(token { $0.scopes = [] })
        try expectSame(token { ($0.account, $0.session, $0.scopes, $0.resource) = (nil, nil, nil, nil) })
        try expectSame(token { $0.session = .max })
    }

    @Test func `what is not short is left to the coders`() throws {
        try expectSame(token { $0.forcesRenewal = true }, isShort: false)
        try expectSame(token { $0.claims = "{}" }, isShort: false)
        try expectSame(SubscribeCall(), isShort: false)
        try expectSame(ProofCall(session: 7, input: "a.b"), isShort: false)
    }

    @Test(arguments: ["a\"b", "a\\b", "ä", "line\nfeed", "\u{7F}", "\u{0}"])
    func `a text that needs an escape travels by the coders and comes out the same`(text: String) throws {
        let request = BrokerRequest(token { $0.resource = text }, id: 7, nonce: "n")
        #expect(request.shortPayload == nil)
        let written = try #require(request.payload)
        #expect(try written == MessageCoding.encode(request))
        #expect((ShortRequest(written)?.call as? SilentTokenCall)?.resource == text)
    }

    @Test(arguments: [
        "", "[]", "{}", #"{"id":1}"#, #"{"verb":"device.info"}"#, #"{"id":1,"verb":"device.info"}x"#,
        #"{"id":1,"id":1,"verb":"device.info"}"#, #"{"id":1,"verb":"device.info","verb":"token.silent"}"#,
        #"{"id":1,"verb":"device.info","session":7}"#, #"{"id":1,"verb":"device.info","zeal":1}"#,
        #"{"id":1,"verb":"token.silent","session":null}"#, #"{"id":1,"verb":"token.silent","session":7.0}"#,
        #"{"id":1,"verb":"token.silent","session":-0}"#, #"{"id":1,"verb":"token.silent","session":"7"}"#,
        #"{"id":4294967296,"verb":"token.silent"}"#, #"{"id":1,"verb":"token.silent","scopes":["a",1]}"#,
        #"{"id":1,"verb":"token.silent","correlationID":"no"}"#, #"{"id":1,"verb":"account.signout"}"#,
        #"{"id":1,"verb":"token.silent","scopes":[["a"]]}"#, "\u{FEFF}" + #"{"id":1,"verb":"device.info"}"#,
    ])
    func `what this library does not write is left to the coders`(text: String) {
        #expect(ShortRequest(Data(text.utf8)) == nil)
    }

    @Test func `an answer that was written before has the bytes that the coders write`() throws {
        let device = DeviceInformation(
            mode: .shared, missing: [], registration: nil, brokerVersion: "1", protocolVersion: 2, session: 7,
            warnings: [.softwareKey], preferredAuthenticationMethod: "qr/pin")
        let expires = Date(timeIntervalSince1970: 1_800_000_000)
        let token = BrokerToken(AccessToken(text: "a.b\"c", expires: expires, scopes: ["a"]), session: 7)
        for message in [
            BrokerMessage.answer(id: 0, .device, WrittenAnswer(device)),
            .answer(id: .max, .token, WrittenAnswer(token)),
        ] {
            #expect(message.payload == (try MessageCoding.encode(message)))
        }
        let plain = BrokerMessage.answer(id: 7, .token, token)
        #expect(plain.payload == BrokerMessage.answer(id: 7, .token, WrittenAnswer(token)).payload)
    }
}
