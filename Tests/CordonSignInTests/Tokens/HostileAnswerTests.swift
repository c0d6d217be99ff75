import CordonBase
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonSignIn
import CordonTestSupport
import CordonTesting
import Foundation
import Testing

/// Answers of a provider that are malformed in every way a small generator finds.
@Suite struct HostileAnswerTests {
    @Test(arguments: [
        "1e308", "-1", "0", "\"900\"", "\"nan\"", "null", "1e400", "\"\"", "{}", "[]", "true", "9223372036854775807",
    ])
    func `no lifetime of an access token breaks the client`(lifetime: String) async throws {
        let fixture = try SignInFixture()
        let transport = RewritingTransport(inner: fixture.provider.transport) { path, body in
            guard path == "/token" else { return body }
            let text = String(decoding: body, as: UTF8.self)
            return Data(text.replacing(#/"expires_in":[0-9.]+/#, with: "\"expires_in\":\(lifetime)").utf8)
        }
        let client = try fixture.client(transport: transport)
        do {
            let result = try await client.signIn(
                SignInFixture.request, browser: fixture.provider.browser(signingInAs: .worker))
            #expect(result.accessToken.expires <= fixture.time.now + 86_400)
            #expect(result.accessToken.expires >= fixture.time.now)
        } catch {
            #expect(error.code == .server)
        }
    }

    @Test(arguments: [
        #"{"device_code":"d","user_code":"u","verification_uri":"https://a.example","expires_in":1e308,"interval":1e308}"#,
        #"{"device_code":"d","user_code":"u","verification_uri":"https://a.example","expires_in":-1}"#,
        #"{"device_code":"d","user_code":"u","verification_uri":"http://a.example","expires_in":600}"#,
        #"{"device_code":"d","user_code":"u","verification_uri":"javascript:x","expires_in":600}"#,
        #"{"device_code":"","user_code":"u","verification_uri":"https://a.example","expires_in":600}"#,
        #"{"device_code":"d","user_code":"u","expires_in":600}"#, "[]", "",
    ])
    func `no device authorization breaks the client or sends a person to a strange page`(answer: String) async throws {
        let fixture = try SignInFixture()
        let transport = RewritingTransport(inner: fixture.provider.transport) { path, body in
            path == "/device" ? Data(answer.utf8) : body
        }
        let error = await failure {
            try await fixture.client(transport: transport).signIn(DeviceCodeRequest(scopes: [])) { prompt in
                #expect(prompt.page.scheme == "https")
                #expect(prompt.expires <= fixture.time.now + 3_600)
            }
        }
        #expect(error != nil)
        #expect(fixture.time.slept.allSatisfy { $0 <= .seconds(300) })
    }

    @Test(arguments: [(255, 255, true), (256, 36, false), (36, 256, false)])
    func `an ID token whose ids are longer than ids may be names no person`(
        objectID: Int, tenant: Int, isTaken: Bool
    ) async throws {
        let fixture = try SignInFixture()
        let person = FakePerson(
            "worker-a@contoso.example", subject: "sub-worker-a", objectID: String(repeating: "o", count: objectID),
            tenant: String(repeating: "t", count: tenant))
        let error = await failure { try await fixture.signedInClient(person) }
        #expect(error?.fault == (isTaken ? nil : .invalidIDToken))
        #expect(await fixture.provider.liveRefreshTokens == (isTaken ? 1 : 0))
    }

    /// What a provider answers.
    enum Document: String, CaseIterable {
        case metadata = "/.well-known/openid-configuration"
        case keys = "/keys"
        case token = "/token"
        case claims
        case pushedRequest = "/par"
        case device = "/device"

        /// A transport over which this document is changed.
        func changing(
            _ fixture: SignInFixture, _ change: @escaping @Sendable (Data) throws -> Data
        ) -> RewritingTransport {
            let key = SoftwareSigningKey()
            return RewritingTransport(inner: fixture.provider.transport) { path, body in
                guard self == .claims else { return path == rawValue ? try change(body) : body }
                if path == Self.keys.rawValue {
                    return Data(
                        #"{"keys":[\#(String(decoding: try MessageCoding.encode(key.publicKey), as: UTF8.self))]}"#.utf8
                    )
                }
                guard path == Self.token.rawValue, var answer = try JSONValue(parsing: body).object,
                    let claims = answer["id_token"]?.string?.split(separator: ".")[1]
                else { return body }
                let head = Data(#"{"alg":"ES256","kid":"\#(key.publicKey.keyID)"}"#.utf8)
                let payload = try change(try #require(Base64URL.decode(claims)))
                let signed = Base64URL.encode(head) + "." + Base64URL.encode(payload)
                let signature = Base64URL.encode(try key.signature(for: Data(signed.utf8)))
                answer["id_token"] = .string(signed + "." + signature)
                return Data(JSONValue.object(answer).text().utf8)
            }
        }
    }

    /// Signs in; nil where it succeeded.
    private func refusal(of document: Document, _ fixture: SignInFixture, _ transport: any HTTPTransport) async throws
        -> SignInError?
    {
        let (client, provider) = (try fixture.client(transport: transport), fixture.provider)
        if document == .device {
            return await failure {
                try await client.signIn(DeviceCodeRequest(scopes: [])) { prompt in
                    #expect(prompt.page.scheme == "https" && TerminalText.isSafe(prompt.userCode))
                }
            }
        }
        // No answer comes from a browser that was sent to a foreign page.
        let browser = BrowserLauncher { page, _ in
            #expect(page.scheme == "https")
            guard let answer = await provider.visit(page, as: .worker) else { throw CancellationError() }
            return answer
        }
        return await failure {
            let result = try await client.signIn(SignInFixture.request, browser: browser)
            #expect(result.accessToken.expires <= fixture.time.now + 86_400)
        }
    }

    @Test(arguments: Document.allCases)
    func `every member of what a provider answers, in every wrong form, is an error or a session`(
        document: Document
    ) async throws {
        let fixture = try SignInFixture()
        if document == .pushedRequest { await fixture.provider.setFaults([.pushedRequests]) }
        let (seen, change) = (Locked(Data()), Locked<(@Sendable (Data) throws -> Data)?>(nil))
        let transport = document.changing(fixture) { body in
            seen.withLock { $0 = body }
            return try change.withLock { $0 }?(body) ?? body
        }
        // Nobody types the code, which is the whole of that answer's use here.
        let honest = try await refusal(of: document, fixture, transport)
        #expect(honest == nil || document == .device && honest?.code != .server)
        let places = Place.all(in: try JSONValue(parsing: seen.withLock { $0 }))
        #expect(!places.isEmpty)
        var refused = 0
        for (index, place) in places.enumerated() {
            for form in WrongForm.some(at: index) {
                change.withLock { $0 = { Data(place.text(of: try JSONValue(parsing: $0), as: form).utf8) } }
                let error = try await refusal(of: document, fixture, transport)
                #expect(error.map { TerminalText.isSafe($0.reason) } ?? true, "\(place) \(form)")
                if error != nil { refused += 1 }
            }
        }
        #expect(refused > 0)
        for body in WrongBody.allCases where body.isNone {
            change.withLock { $0 = { body.bytes(of: $0) } }
            #expect(try await refusal(of: document, fixture, transport) != nil, "\(body)")
        }
        #expect(fixture.time.slept.allSatisfy { $0 <= .seconds(300) })
    }

    @Test(.seeded(as: 0x5EED)) func `damaged answers give a typed error or a session, never a crash`() async throws {
        let fixture = try SignInFixture()
        let source = DamageSource(SeededGenerator())
        let transport = RewritingTransport(inner: fixture.provider.transport) { path, body in
            path.hasPrefix("/.well-known") ? body : await source.damage(body)
        }
        let rounds = DeepRun.isDeep ? 20_000 : 300
        var refused = 0
        for _ in 0..<rounds {
            let client = try fixture.client(transport: transport)
            do {
                _ = try await client.signIn(
                    SignInFixture.request, browser: fixture.provider.browser(signingInAs: .worker))
            } catch {
                refused += 1
            }
        }
        #expect(refused > rounds / 2)
    }
}

/// Changes, cuts and repeats bytes, the same way for the same seed.
private actor DamageSource {
    private var random: SeededGenerator

    init(_ random: SeededGenerator) { self.random = random }

    private func next(_ bound: Int) -> Int { Int.random(in: 0..<max(bound, 1), using: &random) }

    func damage(_ body: Data) -> Data {
        var bytes = [UInt8](body)
        guard !bytes.isEmpty else { return body }
        switch next(4) {
        case 0: bytes[next(bytes.count)] = UInt8(next(256))
        case 1: bytes.removeLast(next(bytes.count))
        case 2: bytes.insert(contentsOf: bytes.suffix(next(16)), at: next(bytes.count))
        default: for _ in 0..<8 { bytes[next(bytes.count)] ^= UInt8(1 << next(8)) }
        }
        return Data(bytes)
    }
}
