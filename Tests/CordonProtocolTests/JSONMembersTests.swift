import CordonIdentity
import CordonPolicy
import CordonProtocol
import Foundation
import Testing

/// What an app reads at its start is read member by member, and says what a decoder would say.
struct JSONMembersTests {
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)
    private static let account = ManagedAccount(id: "oid-a", tenant: TenantID("t"), userPrincipalName: "a@b.example")

    private func compare<Message: Codable & Equatable & JSONReadable>(_ message: Message) throws {
        let bytes = try MessageCoding.encode(message)
        #expect(try MessageCoding.read(Message.self, from: bytes) == message)
        var refused = 0
        for tree in JSONTreeDecoderTests.changed(try JSONValue(parsing: bytes)) {
            let read = try? MessageCoding.read(Message.self, from: Data(tree.text().utf8))
            #expect(read == (try? MessageCoding.decode(Message.self, from: tree)), "\(tree.text())")
            if read == nil { refused += 1 }
        }
        // The control: some of the changes make no message.
        #expect(refused > 10)
    }

    @Test func `a message is read by its members as by a decoder, however it is damaged`() throws {
        let (root, signing) = (SoftwareSigningKey(), SoftwareSigningKey())
        try compare(Self.account)
        try compare(signing.publicKey)
        let delegation = try KeyDelegation(
            of: signing.publicKey, from: Self.now, until: Self.now + 60, root: root)
        try compare(
            try SignedKeySet(
                [signing.publicKey], validFrom: Self.now, until: Self.now + 60, delegate: signing, under: delegation))
        try compare(
            ContactProof(
                registrationID: "r", nonce: "n", clientTime: 1, issuedAt: 2, stateGeneration: 3, hasRecoveryShare: true,
                envelopeDigest: "d", isAccountDisabled: true))
        let address = try #require(URL(string: "https://a.example/b"))
        try compare(
            ServiceDiscovery(
                tenant: TenantID("t"), issuer: address, checkIn: address, resource: "r", scope: "s", keys: address,
                versions: [1, 2], proof: .registration, tokenRequest: .init(scopes: ["s"], resource: "r")))
    }

    private static var envelope: PolicyEnvelope {
        PolicyEnvelope(
            tenant: TenantID("t"), registrationID: "r", account: "oid-a", bundleID: "b", sequence: 1, version: "v",
            nonce: "n", issuedAt: 1, expiresAt: 2, policy: nil, configurations: [["number": 1500, "text": "a"]],
            allowedAccounts: [.init(id: AccountID("a"), userPrincipalName: "a@b")],
            workingTime: WorkingTime(status: .clockedIn, asOf: 1, validUntil: 2), certificatePins: ["a.example": ["x"]],
            telemetryDisabled: true,
            commands: [Command(id: "c", kind: .resetPIN, account: "oid-a", reason: .device, issuedAt: 1, notAfter: 2)],
            compliance: ComplianceReport(.notCompliant), hasContact: true)
    }

    private func read(_ members: [String: JSONValue]) throws -> PolicyEnvelope {
        try MessageCoding.read(PolicyEnvelope.self, from: Data(JSONValue.object(members).text().utf8))
    }

    @Test func `an envelope is what was written, and names the member that is missing or wrong`() throws {
        let whole = try #require(try JSONValue(parsing: MessageCoding.encode(Self.envelope)).object)
        #expect(try read(whole) == Self.envelope)
        for name in ["version", "nonce", "iat", "exp", "appConfig", "commands"] {
            let error = #expect(throws: ProtocolError.self) { try read(whole.filter { $0.key != name }) }
            #expect(error?.reason == "the message cannot be read: `\(name)` is missing")
        }
        for name in [
            "policy", "allowedAccounts", "clock", "certificatePins", "telemetryDisabled", "compliance", "service",
            "logRequests", "hasContact",
        ] {
            let rest = whole.filter { $0.key != name }
            #expect(try MessageCoding.encode(read(rest)) == Data(JSONValue.object(rest).text().utf8), "\(name)")
        }
        for name in Set(whole.keys).union(["policy", "service", "logRequests"]) {
            var members = whole
            members[name] = ["telemetryDisabled", "hasContact"].contains(name) ? "x" : true
            let error = #expect(throws: ProtocolError.self) { try read(members) }
            #expect(error?.reason.contains("` has the wrong form") == true, "\(name)")
        }
    }

    @Test func `the rules in an envelope are those that a decoder reads, however they are damaged`() throws {
        var envelope = Self.envelope
        var policy = AppProtectionPolicy(id: "p", version: "2", displayName: "Name")
        policy.access.pinRequired = true
        envelope.policy = EffectivePolicy(policy)
        let whole = try #require(try JSONValue(parsing: MessageCoding.encode(envelope)).object)
        #expect(try read(whole).policy?.policy.access.pinRequired == true)
        let merged = try #require(whole["policy"]?.object)
        let changed: [JSONValue] = [
            ["id": 7], ["pinRequired": "x"], ["version": .null], ["minimumPinLength": -1], [], .null, "x", ["new": 1],
        ]
        for value in changed {
            for name in ["policy", "origins", "conflicts", "contributors"] {
                var (members, inner) = (whole, merged)
                inner[name] = value
                members["policy"] = .object(inner)
                #expect(
                    (try? read(members))?.policy
                        == (try? MessageCoding.decode(EffectivePolicy.self, from: .object(inner))), "\(name) \(value)")
            }
        }
    }

    @Test func `words of a later version leave an envelope readable, with the wipe in it`() throws {
        let text = """
            {"tenant":"t","registrationID":"r","account":"oid-a","bundleID":"b","sequence":1,"version":"v","nonce":"n",\
            "iat":1,"exp":2,"appConfig":[],"compliance":{"status":1,"textID":"later"},"commands":[\
            {"id":"c","kind":"wipe","account":"oid-a","reason":"later","issuedAt":1,"notAfter":2}]}
            """
        let envelope = try MessageCoding.read(PolicyEnvelope.self, from: Data(text.utf8))
        #expect(envelope.commands.map(\.kind) == [.wipe] && envelope.commands.map(\.reason) == [.unknown])
        #expect(envelope.compliance == ComplianceReport(.notCompliant))
        let problem =
            #"{"type":"urn:cordon:problem:account-disabled","title":"t","status":403,"code":299,"contact":"w"}"#
        let read = try MessageCoding.decode(ProblemDetails.self, from: Data(problem.utf8))
        #expect(read.type == ProblemDetails.accountDisabled && read.contact == "w" && read.code == nil)
    }

    @Test func `a member that is given twice is an error, also in what a device has signed`() throws {
        let receipt = WipeReceipt(
            commandID: "c", tenant: TenantID("t"), registrationID: "r", account: "oid-a", bundleID: "b",
            destroyedKeyIDs: [], files: 1, bytes: 2, started: Self.now, finished: Self.now, failures: [])
        let text = String(decoding: try MessageCoding.encode(receipt), as: UTF8.self)
        #expect(try MessageCoding.decode(WipeReceipt.self, from: Data(text.utf8)) == receipt)
        let doubled = text.replacing("{", with: #"{"failures":["a key is there"],"#, maxReplacements: 1)
        #expect(throws: ProtocolError(.malformed, "")) {
            try MessageCoding.decode(WipeReceipt.self, from: Data(doubled.utf8))
        }
    }

    @Test func `a key set with a key that is none names it`() throws {
        let text = #"{"keys":[{"kty":"RSA","n":"AQAB","e":"AQAB"}],"signed":"s"}"#
        let error = #expect(throws: ProtocolError.self) {
            try MessageCoding.decode(SignedKeySet.self, from: Data(text.utf8))
        }
        #expect(error?.reason.contains("`keys[0]`") == true)
    }

    @Test func `what is wrong is named by its place, and never by its value`() throws {
        let text = #"{"id":"a","tenant":"secret","userPrincipalName":7}"#
        let error = #expect(throws: ProtocolError.self) {
            try MessageCoding.read(ManagedAccount.self, from: Data(text.utf8))
        }
        #expect(error?.reason == "the message cannot be read: `userPrincipalName` has the wrong form")
        // A name may be the sender's own, too.
        let named = #expect(throws: ProtocolError.self) {
            try MessageCoding.decode(
                [String: [String]].self, from: JSONValue.object(["a\u{1B}[2J\n\u{202E}": .array([.integer(7)])]))
        }
        #expect(named.map { TerminalText.isSafe($0.reason) } == true)
        let missing = #expect(throws: ProtocolError.self) {
            try MessageCoding.read(ManagedAccount.self, from: Data(#"{"tenant":"secret"}"#.utf8))
        }
        #expect(missing?.reason == "the message cannot be read: `id` is missing")
        let other = #expect(throws: ProtocolError.self) {
            try MessageCoding.read(ManagedAccount.self, from: Data("secret".utf8))
        }
        #expect(other?.reason == "the message is not JSON")
        let deep = #expect(throws: ProtocolError.self) {
            try MessageCoding.decode([String].self, from: Data(String(repeating: "[", count: 65).utf8))
        }
        #expect(deep?.reason == "the message is too large, or too deeply nested")
    }

    @Test(arguments: [
        "1970-01-01T00:00:00Z", "2026-11-23T20:05:09Z", "2024-02-29T23:59:59Z", "2023-02-29T00:00:00Z",
        "2000-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2024-04-31T00:00:00Z", "2024-12-31T23:59:59Z",
        "1969-12-31T23:59:59Z", "1600-03-01T00:00:00Z", "1582-10-10T00:00:00Z", "0001-01-01T00:00:00Z",
        "9999-12-31T23:59:59Z", "2024-01-01T24:00:00Z", "2024-01-01T23:60:00Z", "2016-12-31T23:59:60Z",
        "2024-00-01T00:00:00Z", "2024-13-01T00:00:00Z", "2024-01-00T00:00:00Z", "2024-1-01T00:00:00Z",
        "2024-01-01T00:00:00+00:00", "2024-01-01T01:00:00+01:00", "2024-01-01 00:00:00Z", "2024-01-01T00:00:00z",
        "2024-01-01T00:00:00.5Z", "2O24-01-01T00:00:00Z", "", "x",
    ])
    func `a time is the moment that Foundation reads`(_ text: String) throws {
        let bytes = Data(JSONValue.array([.string(text)]).text().utf8)
        #expect(
            (try? MessageCoding.decode([Date].self, from: try JSONValue(parsing: bytes)))
                == (try? MessageCoding.decode([Date].self, from: bytes)))
    }

    @Test func `times of all years are the moments that Foundation reads`() throws {
        var moments = stride(from: -11_600_000_000, through: 250_000_000_000, by: 86_399 * 997).map {
            Date(timeIntervalSince1970: TimeInterval($0))
        }
        moments.append(.distantPast)
        let bytes = try MessageCoding.encode(moments)
        #expect(try MessageCoding.decode([Date].self, from: JSONValue(parsing: bytes)) == moments)
    }
}
