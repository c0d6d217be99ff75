import CordonIdentity
import CordonSignIn
import CordonTestSupport
import CordonTesting
import Foundation
import Testing

/// Answers of a token or device endpoint that are malformed in every way a small generator finds.
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
