import CordonBase
import CordonIdentity
import CordonSignIn
import CordonTesting
import Foundation
import HTTPTypes
import Testing

@Suite struct DiscoveryTests {
    let fixture: SignInFixture

    init() throws { fixture = try SignInFixture() }

    private func discoveries() async -> Int {
        await fixture.provider.count(of: "/.well-known/openid-configuration")
    }

    /// A client whose provider sends the cache header.
    private func client(cacheControl: String?) throws -> SignInClient {
        try fixture.client(transport: HeaderTransport(inner: fixture.provider.transport, cacheControl: cacheControl))
    }

    @Test(
        arguments: [
            ("max-age=120", 119, 1), ("max-age=120", 121, 2), ("public, max-age=31536000", 86_399, 1),
            ("public, max-age=31536000", 86_401, 2), ("no-store", 0, 2), (nil, 3_599, 1), (nil, 3_601, 2),
            ("max-age=-5", 0, 2), ("max-age=nan", 0, 2),
        ] as [(String?, Int, Int)])
    func `metadata is kept by the rules of HTTP, at most a day`(
        header: String?, seconds: Int, expected: Int
    ) async throws {
        let client = try client(cacheControl: header)
        _ = try await client.signIn(SignInFixture.request, browser: fixture.provider.browser(signingInAs: .worker))
        let before = await discoveries()
        fixture.time.advance(.seconds(seconds))
        _ = try await client.signIn(SignInFixture.request, browser: fixture.provider.browser(signingInAs: .worker))
        let after = await discoveries()
        if header == "no-store" || header?.hasPrefix("max-age=-") == true || header == "max-age=nan" {
            #expect(after > before)
        } else {
            #expect(after == expected)
        }
    }

    @Test(arguments: [
        "", "[]", "null", "{}", #"{"issuer":5}"#, #"{"issuer":"https://id.contoso.example"}"#, "\u{0}\u{1}",
        #"{"issuer":"https://id.contoso.example","token_endpoint":"http://id.contoso.example/token","#
            + #""authorization_endpoint":"https://id.contoso.example/authorize","#
            + #""code_challenge_methods_supported":["S256"]}"#,
        #"{"issuer":"https://id.contoso.example","authorization_endpoint":"javascript:alert(1)","#
            + #""code_challenge_methods_supported":["S256"]}"#,
    ])
    func `a document that does not fit ends the sign-in before any secret is sent`(document: String) async throws {
        let provider = fixture.provider
        let transport = RewritingTransport(inner: provider.transport) { path, body in
            path.hasPrefix("/.well-known") ? Data(document.utf8) : body
        }
        let error = await failure {
            try await fixture.client(transport: transport)
                .signIn(SignInFixture.request, browser: provider.browser(signingInAs: .worker))
        }
        #expect(error != nil)
        #expect(await provider.count(of: "/token") == 0)
    }

    @Test func `an unknown key id fetches the keys again, but not again and again`() async throws {
        await fixture.provider.setFaults([.unknownKeyID])
        let client = try fixture.client()
        for _ in 0..<5 {
            _ = await failure {
                try await client.signIn(SignInFixture.request, browser: fixture.provider.browser(signingInAs: .worker))
            }
        }
        // Once before the first page, and once for the unknown id.
        #expect(await fixture.provider.count(of: "/keys") == 2)
        fixture.time.advance(.seconds(31))
        _ = await failure {
            try await client.signIn(SignInFixture.request, browser: fixture.provider.browser(signingInAs: .worker))
        }
        #expect(await fixture.provider.count(of: "/keys") == 3)
    }

    /// What a provider says that changes its endpoints with each document, and lets none be kept.
    private struct RestlessTransport: HTTPTransport {
        let inner: any HTTPTransport
        let documents = Locked(0)

        func send(
            _ request: HTTPRequest, body: Data?, limit: Int, timeout: Duration
        ) async throws(TransportError) -> HTTPAnswer {
            let answer = try await inner.send(request, body: body, limit: limit, timeout: timeout)
            guard request.path == "/.well-known/openid-configuration" else { return answer }
            let number = documents.withLock { number in
                number += 1
                return number
            }
            var head = answer.head
            head.headerFields[.cacheControl] = "no-store"
            let text = String(decoding: answer.body, as: UTF8.self)
                .replacing(#"\/token""#, with: number == 1 ? #"\/token""# : #"\/token-\#(number)""#)
            return HTTPAnswer(head: head, body: Data(text.utf8))
        }

        func stream(_ request: HTTPRequest, timeout: Duration) async throws(TransportError) -> HTTPAnswerStream {
            try await inner.stream(request, timeout: timeout)
        }
    }

    @Test(arguments: [[], [.pushedRequests]] as [Set<FakeIdentityProviderFault>])
    func `a code goes to the endpoint of the document that was checked before the person's part`(
        faults: Set<FakeIdentityProviderFault>
    ) async throws {
        await fixture.provider.setFaults(faults)
        let transport = RestlessTransport(inner: fixture.provider.transport)
        let client = try await fixture.signedInClient(transport: transport)
        let provider = fixture.provider
        #expect(transport.documents.withLock { $0 } == 1)
        #expect(await provider.count(of: "/token") == 1)
        let request = DeviceCodeRequest(scopes: SignInFixture.scopes, resource: SignInFixture.resource)
        transport.documents.withLock { $0 = 0 }
        _ = try await client.signIn(request) { await provider.enter(userCode: $0.userCode, as: .worker) }
        #expect(transport.documents.withLock { $0 } == 1)
        #expect(await provider.count(of: "/token") == 2)
    }

    @Test func `S256 is sent even to a provider that does not announce it, when that is allowed`() async throws {
        await fixture.provider.setFaults([.hidesProofKeys])
        let client = try fixture.client { $0.requiresAnnouncedS256 = false }
        let result = try await client.signIn(
            SignInFixture.request, browser: fixture.provider.browser(signingInAs: .worker))
        #expect(result.account.id == "oid-worker-a")
    }
}

/// Adds a cache header to every answer.
private struct HeaderTransport: HTTPTransport {
    let inner: any HTTPTransport
    let cacheControl: String?

    func send(
        _ request: HTTPRequest, body: Data?, limit: Int, timeout: Duration
    ) async throws(TransportError) -> HTTPAnswer {
        let answer = try await inner.send(request, body: body, limit: limit, timeout: timeout)
        var head = answer.head
        head.headerFields[.cacheControl] = cacheControl
        return HTTPAnswer(head: head, body: answer.body)
    }

    func stream(_ request: HTTPRequest, timeout: Duration) async throws(TransportError) -> HTTPAnswerStream {
        try await inner.stream(request, timeout: timeout)
    }
}
