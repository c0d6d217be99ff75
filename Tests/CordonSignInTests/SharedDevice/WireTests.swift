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
        details.providerDescription = "names somebody"
        let error = SignInError(.serverBusy, .overloaded, "reason", hint: "hint", details: details)
        let bytes = try MessageCoding.encode(BrokerAnswer(id: 3, error))
        #expect(!String(decoding: bytes, as: UTF8.self).contains("names somebody"))
        let read = try MessageCoding.decode(BrokerAnswer.self, from: bytes).error?.signInError
        #expect(read == error && read?.fault == .overloaded && read?.reason == "reason" && read?.hint == "hint")
        #expect(read?.details.correlationID == details.correlationID)
        #expect(read?.details.retryAfter == .seconds(9) && read?.details.declinedScopes == ["x"])
    }

    @Test func `what a newer broker says is refused or read as a refusal, never as personal mode`() throws {
        let strange = Data(#"{"id":1,"error":{"code":"newCode","fault":"newFault","reason":"r","hint":"h"}}"#.utf8)
        #expect(try MessageCoding.decode(BrokerAnswer.self, from: strange).error?.signInError.code == .brokerRefused)
        let mode = Data(
            #"{"id":1,"device":{"mode":"kiosk","missing":[],"brokerVersion":"9","protocolVersion":1,"session":1,"warnings":[]}}"#
                .utf8)
        #expect(throws: ProtocolError.self) { try MessageCoding.decode(BrokerAnswer.self, from: mode) }
    }

    @Test func `a token and its description never show the token`() {
        let token = BrokerAnswer.Token(AccessToken(text: "secret-text", expires: .now), session: 1).accessToken
        #expect(!"\(token)".contains("secret-text"))
    }
}
