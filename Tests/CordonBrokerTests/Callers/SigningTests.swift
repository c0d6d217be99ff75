import CordonBase
import CordonIdentity
import CordonProtocol
import CordonSignIn
import CordonTestSupport
import CordonTesting
import Foundation
import Testing

@testable import CordonBroker

/// What the session's key, which all apps share, signs for which app.
@Suite struct SigningTests {
    /// Makes texts with the session's public key in them; what the broker signs is their header and payload.
    private struct Draft: MessageSigner {
        let publicKey: JSONWebKey
        func signature(for bytes: Data) throws(ProtocolError) -> Data { Data(count: 64) }
    }

    private static let service = "https://service.contoso.example/cordon/v1/check-in"

    private static func draft(of app: BrokerApp) async throws -> Draft {
        Draft(publicKey: try #require(await app.ask(.tokenKey).publicKey))
    }

    private static func input(_ text: String) -> String {
        text.split(separator: ".").prefix(2).joined(separator: ".")
    }

    /// A text made whole with the broker's signature; nil where the broker refuses.
    private static func signed(_ text: String, for app: BrokerApp) async -> String? {
        let answer = await app.ask(.tokenProof) { $0.input = input(text) }
        #expect((answer.signature == nil) == (answer.error != nil))
        return answer.signature.map { input(text) + "." + $0 }
    }

    private static func proof(
        _ address: String, token: String? = "a token", _ draft: Draft, at now: Date
    ) throws -> String {
        try DPoPProof.make(
            method: "POST", url: #require(URL(string: address)), accessToken: token, nonce: "n-1",
            body: Data("{}".utf8), issued: now, signer: draft)
    }

    private static func receipt(of bundleID: String, _ draft: Draft, at now: Date) throws -> String {
        try WipeReceipt(
            commandID: "c", tenant: TenantID("contoso"), registrationID: "r", account: FakePerson.worker.account,
            bundleID: bundleID, destroyedKeyIDs: ["k"], files: 1, bytes: 1, started: now, finished: now, failures: []
        ).signed(by: draft)
    }

    @Test func `an app has its own wipe's receipt signed, and never another app's`() async throws {
        let stand = try BrokerStand { $0.apps[2].bundleID = nil }
        let broker = try await stand.joinedBroker()
        let notes = try await BrokerApp("notes", at: broker)
        try await notes.signIn(.worker, at: stand.provider)
        let draft = try await Self.draft(of: notes)
        let own = try #require(
            try await Self.signed(Self.receipt(of: "Example.Notes", draft, at: stand.time.now), for: notes))
        #expect(try WipeReceipt(verifying: own, signedBy: draft.publicKey).bundleID == "Example.Notes")
        let board = try Self.receipt(of: "example.board", draft, at: stand.time.now)
        #expect(await Self.signed(board, for: notes) == nil)
        // The control: whose receipt it is, has it signed by the same key.
        #expect(try await Self.signed(board, for: BrokerApp("board", at: broker)) != nil)
        // Of an app that the list names no bundle id for, the broker does not know what is its own.
        let third = try await BrokerApp("third", at: broker)
        #expect(try await Self.signed(Self.receipt(of: "example.third", draft, at: stand.time.now), for: third) == nil)
    }

    @Test func `an app learns whether the broker signs no such text, only denies it, or has no such key any more`()
        async throws
    {
        try await ServedBroker.serve { socket, stand in
            try await ServedBroker.join(socket, stand)
            let notes = try SharedDeviceMode.patient(at: socket, clientID: "notes")
            let request = SignInRequest(scopes: BrokerStand.scopes, resource: BrokerStand.resource)
            let account = try await notes.signIn(request, browser: stand.provider.browser(signingInAs: .worker)).account
            let signer = try await notes.signer(for: account.id)
            let url = try #require(URL(string: Self.service))
            func sign(_ issued: Date) throws(ProtocolError) -> String {
                try DPoPProof.make(method: "POST", url: url, accessToken: nil, issued: issued, signer: signer)
            }
            #expect(try !sign(stand.time.now).isEmpty)
            #expect(throws: ProtocolError(.signingFailed, "")) { try sign(stand.time.now + 3600) }
            #expect(throws: ProtocolError(.unsupported, "")) { try signer.signature(for: Data("anything".utf8)) }
            try await notes.signOut()
            #expect(throws: ProtocolError(.unsupported, "")) { try sign(stand.time.now) }
        }
    }

    @Test func `an app proves possession to the origins of its own entry, and to no other`() async throws {
        let stand = try BrokerStand {
            $0.apps[0].resources = [BrokerStand.resource]
            $0.apps[1].origins = ["https://board.contoso.example:8443"]
        }
        let broker = try await stand.joinedBroker()
        let notes = try await BrokerApp("notes", at: broker)
        try await notes.signIn(.worker, at: stand.provider)
        let draft = try await Self.draft(of: notes)
        let now = stand.time.now
        let own = try #require(try await Self.signed(Self.proof(Self.service, draft, at: now), for: notes))
        let url = try #require(URL(string: Self.service))
        let read = try DPoPProof(verifying: own, method: "POST", url: url, accessToken: "a token", now: now)
        #expect(read.key == draft.publicKey && read.nonce == "n-1")
        #expect(read.bodyDigest == DPoPProof.bodyDigest(Data("{}".utf8)))
        // An acknowledgement goes to the service without a token.
        #expect(try await Self.signed(Self.proof(Self.service, token: nil, draft, at: now), for: notes) != nil)
        let board = try await BrokerApp("board", at: broker)
        let mine = "https://board.contoso.example:8443/shifts"
        #expect(try await Self.signed(Self.proof(mine, draft, at: now), for: board) != nil)
        #expect(try await Self.signed(Self.proof(mine, draft, at: now), for: notes) == nil)
        for foreign in [
            Self.service, "https://board.contoso.example/shifts", "http://board.contoso.example:8443/shifts",
            "https://evil.board.contoso.example:8443/", "https://mail.contoso.example/",
        ] {
            #expect(try await Self.signed(Self.proof(foreign, draft, at: now), for: board) == nil, "\(foreign)")
        }
        // Ready for a time after the sign-out, while the token is still good.
        for (ahead, isSigned) in [(-3_600.0, true), (59, true), (61, false), (3_600, false)] {
            let text = try Self.proof(mine, draft, at: now.addingTimeInterval(ahead))
            let signature = await Self.signed(text, for: board)
            #expect((signature != nil) == isSigned, "\(ahead)")
        }
        // Nothing says where this one's tokens are good for anything.
        let third = try await BrokerApp("third", at: broker)
        #expect(try await Self.signed(Self.proof(Self.service, draft, at: now), for: third) == nil)
    }

    @Test func `the broker's own service is an origin of every app that names no other`() async throws {
        let stand = try BrokerStand {
            $0.service = FakeRegister.address
            $0.apps[0].resources = ["api://cordon/check-in", BrokerStand.resource]
            $0.apps[1].origins = ["https://board.contoso.example"]
        }
        let broker = try await stand.joinedBroker(transport: FakeRegister(stand.provider.transport))
        let notes = try await BrokerApp("notes", at: broker)
        try await notes.signIn(.worker, at: stand.provider)
        let proof = try Self.proof(Self.service, try await Self.draft(of: notes), at: stand.time.now)
        #expect(await Self.signed(proof, for: notes) != nil)
        #expect(try await Self.signed(proof, for: BrokerApp("third", at: broker)) != nil)
        #expect(try await Self.signed(proof, for: BrokerApp("board", at: broker)) == nil)
    }

    private static let head = #"{"alg":"ES256","typ":"dpop+jwt","jwk":{}}"#
    private static let hash = "n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg"

    private static func claims(_ change: (String) -> String) -> String {
        change(
            #"{"jti":"1","htm":"GET","htu":"https://a.example/x","iat":1800000000,"ath":"\#(hash)","nonce":"n"}"#)
    }

    private func purpose(_ header: String, _ payload: String) -> SigningInput.Purpose? {
        SigningInput(Base64URL.encode(Data(header.utf8)) + "." + Base64URL.encode(Data(payload.utf8)))?.purpose
    }

    @Test func `a text that could be read in two ways is not signed`() throws {
        let origin = try #require(WebOrigin("https://a.example"))
        #expect(purpose(Self.head, Self.claims { $0 }) == .proof(origin, issued: 1_800_000_000))
        let changes: [(String, String)] = [
            (#""jti""#, #""htu":"https://b.example/","jti""#), (#""jti""#, #""h\u0074u":"https://b.example/","jti""#),
            (#""jti""#, #""HTU":"https://b.example/","jti""#), (#""jti""#, #""extra":1,"jti""#),
            ("https://a.example/x", "https://a.example@b.example/x"),
            ("https://a.example/x", #"https://a.example\\@b.example/x"#),
            ("https://a.example/x", "https://a.example/x?y"), ("https://a.example/x", "https://a.example/x#y"),
            ("https://a.example/x", "https:a.example"), ("https://a.example/x", "https://a.exampl\u{E9}/x"),
            ("https://a.example/x", "https://a.example:/x"), ("https://a.example/x", "https://a.example:99999/x"),
            ("https://a.example/x", "ftp://a.example/x"), (Self.hash, "short"), (#""ath":""#, #""ath":"=""#),
            (#""nonce":"n""#, #""nonce":"a b""#), (#""nonce":"n""#, #""nonce":"""#), (#""jti":"1""#, #""jti":"""#),
            ("GET", "get"), ("1800000000", #""1800000000""#), ("1800000000", "-1"), (#""htm":"GET","#, ""),
        ]
        for (old, new) in changes {
            let text = Self.claims { $0.replacing(old, with: new) }
            #expect(text != Self.claims { $0 } && purpose(Self.head, text) == nil, "\(text)")
        }
        for head in [
            #"{"alg":"ES256","typ":"JWT","typ":"dpop+jwt","jwk":{}}"#,
            #"{"alg":"ES256","typ":"dpop+jwt","crit":["x"]}"#,
            #"{"alg":"ES256","typ":"dpop+jwt","jwk":{"x":"1","x":"2"}}"#,
            #"{"alg":"HS256","typ":"dpop+jwt","jwk":{}}"#, #"{"alg":"ES256","typ":"JWT","jwk":{}}"#, "[]", "",
        ] {
            #expect(purpose(head, Self.claims { $0 }) == nil, "\(head)")
        }
        for encoding in [String.Encoding.utf16, .utf16LittleEndian, .utf32] {
            let payload = try #require(Self.claims { $0 }.data(using: encoding))
            #expect(
                SigningInput(Base64URL.encode(Data(Self.head.utf8)) + "." + Base64URL.encode(payload)) == nil)
        }
        // A colon, a bracket and a quotation mark inside a text are no members.
        #expect(
            purpose(Self.head, Self.claims { $0.replacing(#":"1""#, with: #":"a:{\"[,\\""#) })
                == .proof(origin, issued: 1_800_000_000))
    }
}
