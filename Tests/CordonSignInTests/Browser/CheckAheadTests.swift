import CordonBase
import CordonIdentity
import CordonSignIn
import CordonTesting
import Foundation
import HTTPTypes
import Testing

/// What would keep a sign-in from ending is found before a person is asked for anything.
@Suite struct CheckAheadTests {
    let fixture: SignInFixture

    init() throws { fixture = try SignInFixture() }

    private static let metadata = "/.well-known/openid-configuration"

    /// The errors of a sign-in by browser and of one by code, and how often a person was asked.
    private func attempts(
        over transport: any HTTPTransport
    ) async throws -> (browser: SignInError?, code: SignInError?, asked: Int) {
        let asked = Locked(0)
        let provider = fixture.provider
        let browser = BrowserLauncher { page, _ in
            asked.withLock { $0 += 1 }
            return await provider.visit(page, as: .worker)
        }
        let byBrowser = await failure {
            try await fixture.client(transport: transport).signIn(SignInFixture.request, browser: browser)
        }
        let request = DeviceCodeRequest(scopes: SignInFixture.scopes, resource: SignInFixture.resource)
        let byCode = await failure {
            try await fixture.client(transport: transport).signIn(request) { prompt in
                asked.withLock { $0 += 1 }
                await provider.enter(userCode: prompt.userCode, as: .worker)
            }
        }
        return (byBrowser, byCode, asked.withLock { $0 })
    }

    @Test(
        arguments: [
            (nil, .missingEndpoint), ("", .invalidResponse), ("ftp://x/", .insecureAddress),
            ("http://evil.example/x", .insecureAddress), ("https://id.contoso.example:99999/", .invalidResponse),
        ] as [(String?, SignInFault)])
    func `metadata without a usable address is an error before the person's part`(
        address: String?, fault: SignInFault
    ) async throws {
        for member in ["token_endpoint", "jwks_uri"] {
            let transport = RewritingTransport(inner: fixture.provider.transport) { path, body in
                guard path == Self.metadata,
                    var document = try JSONSerialization.jsonObject(with: body) as? [String: Any]
                else { return body }
                document[member] = address
                return try JSONSerialization.data(withJSONObject: document)
            }
            let (browser, code, asked) = try await attempts(over: transport)
            #expect(browser?.fault == fault && code?.fault == fault, "\(member)")
            #expect(asked == 0, "\(member)")
        }
        #expect(await fixture.provider.count(of: "/device") == 0)
    }

    @Test(
        arguments: [
            (404, "", .invalidResponse), (200, "nonsense", .invalidResponse), (200, "{}", .invalidResponse),
            (200, #"{"keys":[]}"#, .invalidIDToken),
            (200, #"{"keys":[{"kty":"oct","kid":"k","k":"AAAA"}]}"#, .invalidIDToken),
        ] as [(Int, String, SignInFault)])
    func `a key set that vouches for no one is an error before the person's part`(
        status: Int, body: String, fault: SignInFault
    ) async throws {
        let transport = InterceptedTransport(fixture.provider.transport, path: "/keys")
        transport.intercept(status: status, body: body)
        let (browser, code, asked) = try await attempts(over: transport)
        #expect(browser?.fault == fault && code?.fault == fault)
        #expect(asked == 0)
        #expect(await fixture.provider.count(of: "/device") == 0)
    }

    @Test func `with nothing amiss a person is asked once by each way`() async throws {
        let (browser, code, asked) = try await attempts(over: fixture.provider.transport)
        #expect(browser == nil && code == nil && asked == 2)
    }

    @Test func `keys that are fresh are not fetched for a second sign-in`() async throws {
        let client = try fixture.client()
        for _ in 0..<2 {
            _ = try await client.signIn(
                SignInFixture.request, browser: fixture.provider.browser(signingInAs: .worker))
        }
        #expect(await fixture.provider.count(of: "/keys") == 1)
    }

    @Test func `a key that changes while the page is open verifies all the same`() async throws {
        let provider = fixture.provider
        let browser = BrowserLauncher { page, _ in
            await provider.rotateKey()
            return await provider.visit(page, as: .worker)
        }
        let result = try await fixture.client().signIn(SignInFixture.request, browser: browser)
        #expect(result.account.id == FakePerson.worker.account)
        #expect(await provider.count(of: "/keys") == 2)
    }
}
