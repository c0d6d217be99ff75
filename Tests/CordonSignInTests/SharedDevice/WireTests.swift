import CordonBase
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

    private func reply(_ bytes: Data) throws -> BrokerReply { try BrokerReply.read(bytes) { _ in nil } }

    /// What an app that asked with the call is answered.
    private func answer<Call: BrokerCall>(_ bytes: Data, to call: Call.Type) throws -> Call.Answer {
        let heard = Locked<Result<Call.Answer, SignInError>?>(nil)
        let reply = try BrokerReply.read(bytes) { _ in
            { decoder in
                let answer = try BrokerReply.answer(to: call, from: decoder)
                return { heard.withLock { $0 = answer } }
            }
        }
        reply.complete?()
        return try #require(heard.withLock { $0 }).get()
    }

    @Test func `an answer without its member, or to no request, is no answer`() throws {
        #expect(throws: SignInError(.brokerUnavailable, .invalidResponse, "")) {
            try answer(Data(#"{"id":1,"accounts":[]}"#.utf8), to: DeviceInfoCall.self)
        }
        #expect(try answer(Data(#"{"id":1,"accounts":[]}"#.utf8), to: AccountListCall.self).isEmpty)
        #expect(try answer(Data(#"{"id":1,"news":true}"#.utf8), to: ActivityCall.self) == Done())
        #expect(try reply(Data(#"{"id":1,"accounts":[]}"#.utf8)).complete == nil)
    }

    @Test(
        arguments: [
            (nil, nil, .nobody), ("a", nil, .firstSeen), ("a", "A", .unchanged), ("b", "a", .switched),
            (nil, "a", .signedOut),
        ] as [(String?, String?, CurrentAccount.Change)])
    func `the five pairs, by id and without regard to case`(
        current: String?, previous: String?, change: CurrentAccount.Change
    ) throws {
        let now = CurrentAccount(
            current: try current.map { try account($0) }, previous: previous.map { AccountID($0) }, owed: [], session: 1
        )
        #expect(now.change == change)
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
        let bytes = try MessageCoding.encode(BrokerMessage.failure(id: 3, error))
        #expect(!String(decoding: bytes, as: UTF8.self).contains("names somebody"))
        let read = try reply(bytes).error
        #expect(read == error && read?.fault == .overloaded && read?.reason == "reason" && read?.hint == "hint")
        details.providerDescription = nil
        #expect(read?.details == details)
    }

    @Test func `what a newer broker says is refused or read as a refusal, never as personal mode`() throws {
        let strange = Data(#"{"id":1,"error":{"code":"newCode","fault":"newFault","reason":"r","hint":"h"}}"#.utf8)
        #expect(try reply(strange).error?.code == .brokerRefused)
        let mode = Data(
            #"{"id":1,"device":{"mode":"kiosk","missing":[],"brokerVersion":"9","protocolVersion":1,"session":1,"warnings":[]}}"#
                .utf8)
        #expect(throws: ProtocolError.self) { try answer(mode, to: DeviceInfoCall.self) }
    }

    /// The names are the contract between apps and brokers (SI-162).
    @Test(
        arguments: zip(
            [
                "SDM_REGISTRATION_START", "SDM_REGISTERED", "GLOBAL_SIGN_OUT", "ACCOUNT_CHANGED", "SIGN_OUT_SOON",
                "RESUMED",
            ], AccountEvent.Kind.allCases))
    func `an event has its name on the wire`(name: String, kind: AccountEvent.Kind) throws {
        let event = AccountEvent(kind, session: 3)
        let bytes = try MessageCoding.encode(BrokerMessage.event(event))
        #expect(String(decoding: bytes, as: UTF8.self) == #"{"event":{"session":3,"type":"\#(name)"}}"#)
        #expect(try reply(bytes).event == event)
    }

    @Test func `an event, warning or outcome of a newer broker is no reason to hang up`() throws {
        let event = try reply(Data(#"{"event":{"type":"BATTERY_LOW","session":9}}"#.utf8)).event
        #expect(event?.kind == .resumed && event?.session == 9)
        let device = try answer(
            Data(
                #"{"id":1,"device":{"mode":"shared","missing":["moon"],"brokerVersion":"9","protocolVersion":1,"session":1,"warnings":["tooHot","softwareKey"]}}"#
                    .utf8), to: DeviceInfoCall.self)
        #expect(device.warnings == [.softwareKey] && device.missing == [] && device.isShared)
        let report = try answer(
            Data(
                #"{"id":1,"signOut":{"hadAccount":true,"keyDestroyed":true,"revocation":"x","browserSessionMayRemain":true,"session":2,"apps":[{"name":"a","clientID":"a","outcome":"paused","stage":"tidying"}]}}"#
                    .utf8), to: SignOutCall.self)
        #expect(report.apps.map(\.outcome) == [.late] && report.apps.first?.stage == nil)
    }

    @Test func `a token and its description never show the token`() {
        let token = BrokerToken(AccessToken(text: "secret-text", expires: .now), session: 1).accessToken
        #expect(!"\(token)".contains("secret-text"))
    }
}
