import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonSignIn
import CordonTestSupport
import Foundation
import Testing

@testable import CordonBroker
@testable import CordonSignIn

/// The bytes on the broker's socket, as the first version wrote and read them (docs/broker-protocol.md).
@Suite struct WireFormatTests {
    private static let id = UUID(uuidString: "5B0F1E0C-2C57-4B0E-9C39-6A2B1F7A4D11")

    private static let signIn: SignInCall = {
        var call = SignInCall()
        call.account = "oid-a"
        call.scopes = ["a", "b"]
        call.resource = "https://x.example/y"
        call.loginHint = "a@x.example"
        call.domainHint = "x.example"
        call.extraScopes = ["c"]
        call.maximumAge = 60
        call.prompt = "login"
        call.requiresProof = true
        call.claims = "{}"
        return call
    }()

    private static let deviceCode: DeviceCodeCall = {
        var call = DeviceCodeCall()
        call.account = "oid-a"
        call.scopes = ["a"]
        call.resource = "https://x.example"
        call.requiresProof = true
        return call
    }()

    private static let silent: SilentTokenCall = {
        var call = SilentTokenCall(account: "oid-a", session: 7, scopes: ["a"], resource: "https://x.example")
        call.claims = "{}"
        call.forcesRenewal = true
        return call
    }()

    /// Every call as it is sent with id 7 and the correlation id, in the order of the verbs.
    static let requests: [(call: any BrokerCall, members: String)] = [
        (
            HelloCall(versions: [1], clientID: "notes"),
            #""clientID":"notes",@"id":7,"library":"cordon-swift","singleAccount":true,"verb":"hello","versions":[1]"#
        ),
        (DeviceInfoCall(), #"@"id":7,"verb":"device.info""#),
        (JoinDeviceCall(), #"@"id":7,"verb":"device.join""#),
        (LeaveDeviceCall(), #"@"id":7,"verb":"device.leave""#),
        (CurrentAccountCall(), #"@"id":7,"verb":"account.current""#),
        (AccountListCall(), #"@"id":7,"verb":"account.list""#),
        (
            AccountKeyCall(account: "oid-a", session: 7),
            #""account":"oid-a",@"id":7,"session":7,"verb":"account.key""#
        ),
        (
            SignOutCall(endsBrowserSession: true),
            #"@"endsBrowserSession":true,"id":7,"verb":"account.signout""#
        ),
        (ActivityCall(), #"@"id":7,"verb":"account.activity""#),
        (ForgetAccountCall(), #"@"id":7,"verb":"account.forget""#),
        (
            signIn,
            #""account":"oid-a","claims":"{}",@"domainHint":"x.example","extraScopes":["c"],"id":7,"loginHint":"a@x.example","maximumAge":60,"prompt":"login","requiresProof":true,"resource":"https://x.example/y","scopes":["a","b"],"verb":"token.interactive""#
        ),
        (
            deviceCode,
            #""account":"oid-a",@"id":7,"requiresProof":true,"resource":"https://x.example","scopes":["a"],"verb":"token.device""#
        ),
        (
            ReturnCall(request: 3, url: "cordon.broker://auth?code=x"),
            #"@"id":7,"request":3,"url":"cordon.broker://auth?code=x","verb":"token.return""#
        ),
        (CancelCall(request: 3), #"@"id":7,"request":3,"verb":"token.cancel""#),
        (
            silent,
            #""account":"oid-a","claims":"{}",@"forcesRenewal":true,"id":7,"resource":"https://x.example","scopes":["a"],"session":7,"verb":"token.silent""#
        ),
        (TokenKeyCall(session: 7), #"@"id":7,"session":7,"verb":"token.key""#),
        (ProofCall(session: 7, input: "e30.e30"), #"@"id":7,"input":"e30.e30","session":7,"verb":"token.proof""#),
        (CleanUpCall(session: 7, stage: .done), #"@"id":7,"session":7,"stage":"done","verb":"cleanup.report""#),
        (SubscribeCall(), #"@"id":7,"verb":"events.subscribe""#),
    ]

    private static func text(_ members: String, correlation: Bool) throws -> String {
        let id = try #require(id).uuidString
        return "{" + members.replacing("@", with: correlation ? #""correlationID":"\#(id)","# : "", maxReplacements: 1)
            + "}"
    }

    private func bytes(of call: some BrokerCall, correlation: UUID?) throws -> Data {
        try MessageCoding.encode(BrokerRequest(call, id: 7, correlationID: correlation))
    }

    @Test func `every verb is recorded, and has a route that reads it`() {
        #expect(Self.requests.map { type(of: $0.call).verb } == BrokerVerb.allCases)
        for verb in BrokerVerb.allCases {
            #expect(BrokerRoute(verb).verb == verb && BrokerRoute.named(verb.rawValue)?.verb == verb)
        }
    }

    @Test(arguments: requests.indices)
    func `a request has the recorded bytes, which the first version writes too`(index: Int) throws {
        let (call, members) = Self.requests[index]
        for correlation in [nil, Self.id] {
            let recorded = try Self.text(members, correlation: correlation != nil)
            #expect(String(decoding: try bytes(of: call, correlation: correlation), as: UTF8.self) == recorded)
            let older = try MessageCoding.decode(LooseRequest.self, from: Data(recorded.utf8))
            #expect(older.verb == type(of: call).verb.rawValue && older.correlationID == correlation)
            #expect(String(decoding: try MessageCoding.encode(older), as: UTF8.self) == recorded)
        }
    }

    @Test(arguments: requests.indices)
    func `the broker reads what the first version writes, and ignores members that it does not know`(
        index: Int
    ) throws {
        func members<Call: BrokerCall>(_ call: Call, in payload: Data) throws -> Data {
            try MessageCoding.encode(try MessageCoding.decode(Call.self, from: payload))
        }
        let (call, text) = Self.requests[index]
        let recorded = try Self.text(text, correlation: true)
        for payload in [recorded, recorded.dropLast() + #","zeal":[1],"tokens":null}"#] {
            let request = try MessageCoding.decode(IncomingRequest.self, from: Data(payload.utf8))
            #expect(request.head.id == 7 && request.head.correlationID == Self.id && request.work != nil)
            #expect(request.route?.verb == type(of: call).verb)
            #expect(try members(call, in: Data(payload.utf8)) == MessageCoding.encode(call))
        }
    }

    @Test(arguments: [
        "", "[]", #"{"verb":"hello"}"#, #"{"id":-1,"verb":"hello"}"#, #"{"id":1}"#, #"{"id":1,"verb":null}"#,
        #"{"id":1,"verb":"hello","versions":"1"}"#, #"{"id":1,"verb":"cleanup.report","session":1,"stage":"tidying"}"#,
        #"{"id":1,"verb":"account.borrow","correlationID":"no"}"#,
    ])
    func `what the first version cannot read is no request`(text: String) {
        #expect(throws: ProtocolError.self) { try MessageCoding.decode(LooseRequest.self, from: Data(text.utf8)) }
        #expect(throws: ProtocolError.self) { try MessageCoding.decode(IncomingRequest.self, from: Data(text.utf8)) }
    }

    // MARK: Answers

    /// Everything that the broker says, as it is sent to request 7.
    private func answers() throws -> [(message: BrokerMessage, recorded: String)] {
        let date = Date(timeIntervalSince1970: 1_800_000_000)
        let page = try #require(URL(string: "https://id.example/a?b=c"))
        let account = try MessageCoding.decode(
            SignedInAccount.self,
            from: Data(
                #"{"id":"oid-a","issuer":"https://id.example","session":"\#(try #require(Self.id).uuidString)","subject":"s","tenant":"contoso","userPrincipalName":"a@x.example"}"#
                    .utf8))
        let accountText = String(decoding: try MessageCoding.encode(account), as: UTF8.self)
        let device = DeviceInformation(
            mode: .shared, missing: [], registration: nil, brokerVersion: "1", protocolVersion: 1, session: 4,
            warnings: [.softwareKey], preferredAuthenticationMethod: "qrpin")
        let deviceText =
            #"{"device":{"brokerVersion":"1","missing":[],"mode":"shared","preferredAuthenticationMethod":"qrpin","protocolVersion":1,"session":4,"warnings":["softwareKey"]},"id":7}"#
        var token = BrokerToken(AccessToken(text: "t", expires: date, scopes: ["a"], isBound: true), session: 4)
        let silentText =
            #""expires":"2027-01-15T08:00:00Z","isBound":true,@"scopes":["a"],"session":4,"text":"t""#
        let key = SoftwareSigningKey().publicKey
        let keyText = String(decoding: try MessageCoding.encode(key), as: UTF8.self)
        let report = DeviceSignOutReport(
            hadAccount: true, keyDestroyed: true, revocation: "queued", browserSessionMayRemain: true,
            apps: [.init(name: "n", clientID: "c", outcome: .late, stage: .workStopped)], session: 5)
        var progress = BrokerProgress(page: page, redirect: page)
        progress.userCode = "ABCD"
        progress.completePage = page
        progress.expires = date
        var details = SignInErrorDetails()
        details.correlationID = Self.id
        details.oauthError = "o"
        details.subError = "u"
        details.httpStatus = 400
        details.grantedScopes = ["g"]
        details.declinedScopes = ["d"]
        details.claims = "{}"
        details.account = "oid-a"
        details.isThrottled = true
        details.retryAfter = .milliseconds(9_900)
        details.providerDescription = "names a person"
        let silentToken = token
        token.account = account
        token.matchesHint = true
        token.isRenewable = false
        return [
            (
                BrokerMessage(
                    BrokerGreeting(version: 1, broker: "1", session: 4, features: ["hello"]), to: HelloCall.self, id: 7),
                #"{"hello":{"broker":"1","features":["hello"],"session":4,"version":1},"id":7}"#
            ),
            (BrokerMessage(device, to: DeviceInfoCall.self, id: 7), deviceText),
            (BrokerMessage(device, to: JoinDeviceCall.self, id: 7), deviceText),
            (BrokerMessage(device, to: LeaveDeviceCall.self, id: 7), deviceText),
            (
                BrokerMessage(
                    CurrentAccount(
                        current: account, previous: "oid-b",
                        owed: [.init(account: "oid-b", session: 3, reason: .idle, deadline: date)], session: 4),
                    to: CurrentAccountCall.self, id: 7),
                #"{"current":{"current":\#(accountText),"owed":[{"account":"oid-b","deadline":"2027-01-15T08:00:00Z","reason":"idle","session":3}],"previous":"oid-b","session":4},"id":7}"#
            ),
            (BrokerMessage([account], to: AccountListCall.self, id: 7), #"{"accounts":[\#(accountText)],"id":7}"#),
            (BrokerMessage("AAEC", to: AccountKeyCall.self, id: 7), #"{"id":7,"key":"AAEC"}"#),
            (
                BrokerMessage(report, to: SignOutCall.self, id: 7),
                #"{"id":7,"signOut":{"apps":[{"clientID":"c","name":"n","outcome":"late","stage":"workStopped"}],"browserSessionMayRemain":true,"hadAccount":true,"keyDestroyed":true,"revocation":"queued","session":5}}"#
            ),
            (
                BrokerMessage(token, to: SignInCall.self, id: 7),
                #"{"id":7,"token":{"account":\#(accountText),\#(silentText.replacing("@", with: #""isRenewable":false,"matchesHint":true,"#))}}"#
            ),
            (
                BrokerMessage(silentToken, to: SilentTokenCall.self, id: 7),
                #"{"id":7,"token":{\#(silentText.replacing("@", with: ""))}}"#
            ),
            (BrokerMessage(key, to: TokenKeyCall.self, id: 7), #"{"id":7,"publicKey":\#(keyText)}"#),
            (BrokerMessage("c2ln", to: ProofCall.self, id: 7), #"{"id":7,"signature":"c2ln"}"#),
            (BrokerMessage(Done(), to: ActivityCall.self, id: 7), #"{"id":7}"#),
            (
                .progress(id: 7, progress),
                #"{"id":7,"progress":{"completePage":"https://id.example/a?b=c","expires":"2027-01-15T08:00:00Z","page":"https://id.example/a?b=c","redirect":"https://id.example/a?b=c","userCode":"ABCD"}}"#
            ),
            (
                .event(AccountEvent(.accountChanged, session: 4)),
                #"{"event":{"session":4,"type":"ACCOUNT_CHANGED"}}"#
            ),
            (
                .failure(id: 7, SignInError(.serverBusy, .overloaded, "r", hint: "h", details: details)),
                #"{"error":{"account":"oid-a","claims":"{}","code":"serverBusy","correlationID":"\#(try #require(Self.id).uuidString)","declinedScopes":["d"],"fault":"overloaded","grantedScopes":["g"],"hint":"h","httpStatus":400,"isThrottled":true,"oauthError":"o","reason":"r","retryAfter":9,"subError":"u"},"id":7}"#
            ),
            (
                .failure(id: 0, SignInError(.configuration, .invalidRequest, "r", hint: "h")),
                #"{"error":{"code":"configuration","fault":"invalidRequest","hint":"h","reason":"r"},"id":0}"#
            ),
        ]
    }

    @Test func `an answer has the recorded bytes, which the first version reads and writes too`() throws {
        for (message, recorded) in try answers() {
            #expect(String(decoding: try MessageCoding.encode(message), as: UTF8.self) == recorded)
            let older = try MessageCoding.decode(LooseAnswer.self, from: Data(recorded.utf8))
            #expect(String(decoding: try MessageCoding.encode(older), as: UTF8.self) == recorded)
        }
    }

    @Test func `an app reads what the first version of the broker says`() throws {
        for (message, recorded) in try answers() {
            let reply = try BrokerReply.read(Data(recorded.utf8)) { _ in nil }
            switch message {
            case .answer: #expect(reply.id == 7 && reply.error == nil && reply.event == nil && reply.progress == nil)
            case .progress(_, let progress): #expect(reply.id == 7 && reply.progress == progress)
            case .event(let event): #expect(reply.id == nil && reply.event == event)
            case .failure(let id, let error):
                #expect(reply.id == id && reply.error == error && reply.error?.fault == error.fault)
            }
        }
    }

    /// What an app makes of a payload, by every way that it has of reading one.
    private func read(_ payload: Data) -> BrokerReply? {
        var memory = DeviceMemory()
        _ = (ShortReply.id(in: payload), ShortReply.token(in: payload, id: 7), memory.device(in: payload, id: 7))
        let calls: [any BrokerCall.Type] = [
            HelloCall.self, DeviceInfoCall.self, CurrentAccountCall.self, AccountListCall.self, AccountKeyCall.self,
            SignOutCall.self, SignInCall.self, TokenKeyCall.self, ProofCall.self, ActivityCall.self,
        ]
        for call in calls {
            func asked<Call: BrokerCall>(_ call: Call.Type) {
                _ = try? BrokerReply.read(payload) { _ in { try BrokerReply.completion(of: call, from: $0) } }
            }
            asked(call)
        }
        return try? BrokerReply.read(payload) { _ in nil }
    }

    @Test func `a page to sign in at is one however much it asks of the provider`() throws {
        let page = "https://id.example/authorize?claims=" + String(repeating: "a", count: 40_000)
        let step = try JSONDecoder().decode(BrokerProgress.self, from: Data(#"{"page":"\#(page)"}"#.utf8))
        #expect(step.page.absoluteString == page)
    }

    @Test func `what a broker says in any wrong form is no answer, or one that an app may show`() throws {
        var refused = 0
        for (_, recorded) in try answers() {
            let value = try JSONValue(parsing: Data(recorded.utf8))
            for place in Place.all(in: value) {
                for form in WrongForm.all {
                    guard let reply = read(Data(place.text(of: value, as: form).utf8)) else {
                        refused += 1
                        continue
                    }
                    let told = [reply.error?.reason, reply.error?.hint].compactMap(\.self)
                    #expect(told.allSatisfy { TerminalText.isSafe($0) }, "\(place) \(form)")
                    // A code reaches an app in a prompt alone.
                    let code = reply.progress.flatMap { try? DeviceCodePrompt($0) }?.userCode
                    #expect(code.map { TerminalText.isSafe($0) } ?? true, "\(place) \(form)")
                    let pages = [reply.progress?.page, reply.progress?.completePage].compactMap(\.self)
                    #expect(pages.allSatisfy { $0.scheme == "https" && $0.user() == nil }, "\(place) \(form)")
                }
            }
            for body in WrongBody.allCases {
                let reply = read(body.bytes(of: Data(recorded.utf8)))
                #expect(!body.isNone || reply == nil, "\(body) \(recorded)")
            }
        }
        #expect(refused > 100)
    }
}
