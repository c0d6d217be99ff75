import CordonIdentity
import CordonProtocol
import Foundation
import Testing

@testable import CordonSignIn

/// What travels between app and broker, and what an app makes of a broker of another version.
@Suite struct WireTests {
    private func account(_ id: String) throws -> SignedInAccount {
        try MessageCoding.decode(
            SignedInAccount.self,
            from: Data(
                """
                {"id": "\(id)", "tenant": "contoso", "userPrincipalName": "\(id)@contoso.example",
                 "issuer": "https://id.contoso.example", "subject": "s", "session": "\(UUID().uuidString)"}
                """.utf8))
    }

    @Test(
        arguments: [
            (nil, nil, .nobody, false), ("a", nil, .firstSeen, false), ("a", "A", .unchanged, false),
            ("b", "a", .switched, true), (nil, "a", .signedOut, true),
        ] as [(String?, String?, CurrentAccount.Change, Bool)])
    func `the five pairs, by id and without regard to case`(
        current: String?, previous: String?, change: CurrentAccount.Change, isDue: Bool
    ) throws {
        let now = CurrentAccount(
            current: try current.map { try account($0) }, previous: previous.map { AccountID($0) }, owed: [], session: 1
        )
        #expect(now.change == change)
        #expect(now.isCleanUpDue == isDue)
    }

    @Test func `a mark alone makes a clean-up due`() {
        let now = CurrentAccount(
            current: nil, previous: nil, owed: [.init(account: "a", session: 4)], session: 5)
        #expect(now.change == .nobody && now.isCleanUpDue)
    }

    @Test func `an error travels whole and without what must not travel`() throws {
        var details = SignInErrorDetails()
        details.correlationID = UUID()
        details.declinedScopes = ["x"]
        details.retryAfter = .seconds(9)
        details.grantedScopes = ["openid"]
        details.claims = #"{"access_token":{}}"#
        details.oauthError = "invalid_grant"
        details.subError = "basic_action"
        details.httpStatus = 400
        details.account = "oid-a"
        details.isThrottled = true
        details.providerDescription = "names somebody"
        let error = SignInError(.serverBusy, .overloaded, "reason", hint: "hint", details: details)
        let bytes = try MessageCoding.encode(BrokerAnswer(id: 3, error))
        #expect(!String(decoding: bytes, as: UTF8.self).contains("names somebody"))
        let read = try MessageCoding.decode(BrokerAnswer.self, from: bytes).error?.signInError
        #expect(read == error && read?.fault == .overloaded && read?.reason == "reason" && read?.hint == "hint")
        details.providerDescription = nil
        #expect(read?.details == details)
    }

    @Test func `what a newer broker says is refused or read as a refusal, never as personal mode`() throws {
        let strange = Data(#"{"id":1,"error":{"code":"newCode","fault":"newFault","reason":"r","hint":"h"}}"#.utf8)
        #expect(try MessageCoding.decode(BrokerAnswer.self, from: strange).error?.signInError.code == .brokerRefused)
        let mode = Data(
            #"{"id":1,"device":{"mode":"kiosk","missing":[],"brokerVersion":"9","protocolVersion":1,"session":1,"warnings":[]}}"#
                .utf8)
        #expect(throws: ProtocolError.self) { try MessageCoding.decode(BrokerAnswer.self, from: mode) }
    }

    /// The names are the contract between apps and brokers (SI-162).
    @Test(
        arguments: zip(
            [
                "SDM_REGISTRATION_START", "SDM_REGISTERED", "GLOBAL_SIGN_OUT", "ACCOUNT_CHANGED", "SIGN_OUT_SOON",
                "RESUMED",
            ], AccountEvent.Kind.allCases))
    func `an event has its name on the wire`(name: String, kind: AccountEvent.Kind) throws {
        var answer = BrokerAnswer()
        answer.event = BrokerAnswer.Event(kind, session: 3)
        let bytes = try MessageCoding.encode(answer)
        #expect(String(decoding: bytes, as: UTF8.self) == #"{"event":{"session":3,"type":"\#(name)"}}"#)
        #expect(try MessageCoding.decode(BrokerAnswer.self, from: bytes).event == answer.event)
    }

    @Test func `an event, warning or outcome of a newer broker is no reason to hang up`() throws {
        func read(_ text: String) throws -> BrokerAnswer {
            try MessageCoding.decode(BrokerAnswer.self, from: Data(text.utf8))
        }
        let event = try read(#"{"event":{"type":"BATTERY_LOW","session":9}}"#).event
        #expect(event?.type == .resumed && event?.session == 9)
        let device = try read(
            #"{"id":1,"device":{"mode":"shared","missing":["moon"],"brokerVersion":"9","protocolVersion":1,"session":1,"warnings":["tooHot","softwareKey"]}}"#
        ).device
        #expect(device?.warnings == [.softwareKey] && device?.missing == [] && device?.isShared == true)
        let report = try read(
            #"{"id":1,"signOut":{"hadAccount":true,"keyDestroyed":true,"revocation":"x","browserSessionMayRemain":true,"session":2,"apps":[{"name":"a","clientID":"a","outcome":"paused","stage":"tidying"}]}}"#
        ).signOut
        #expect(report?.apps.map(\.outcome) == [.late] && report?.apps.first?.stage == nil)
    }

    @Test func `a token and its description never show the token`() {
        let token = BrokerAnswer.Token(AccessToken(text: "secret-text", expires: .now), session: 1).accessToken
        #expect(!"\(token)".contains("secret-text"))
    }
}
