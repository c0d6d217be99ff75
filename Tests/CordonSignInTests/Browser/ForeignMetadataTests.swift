import CordonBase
import CordonIdentity
import CordonSignIn
import CordonTesting
import Foundation
import Testing

/// A provider's metadata and key set as any server may have written them: each wrong member is an error, none ends the process.
@Suite struct ForeignMetadataTests {
    /// Wrong forms as JSON texts.
    static let wrongForms =
        ["null", "true", "-1", "1e308", "[]", "{}", #"[{"a":1}]"#]
        + [
            "", " ", "nonsense", "/token", "//id.contoso.example/token", "https:", "https://", "https:///token",
            "http://id.contoso.example/token", "ftp://id.contoso.example/", "javascript:alert(1)", "data:,x",
            "https://user:password@id.contoso.example/", "https://id.contoso.example:0/",
            "https://id.contoso.example:99999/", "https://id.contoso.example:99999999999999999999/", "https://[::1/",
            "https://%00/", "https://a b/", String(repeating: "a", count: 10_000),
        ].map { "\"\($0)\"" }

    private static let metadata = "/.well-known/openid-configuration"

    /// The pages that the browser is sent to are counted in `visits`.
    private func failureOfSignIn(
        whereMember member: String, of path: String, is form: String, visits: Locked<Int> = Locked(0)
    ) async throws -> SignInError? {
        let fixture = try SignInFixture()
        let transport = RewritingTransport(inner: fixture.provider.transport) { place, body in
            guard place == path, var document = try JSONSerialization.jsonObject(with: body) as? [String: Any] else {
                return body
            }
            let value = try JSONSerialization.jsonObject(with: Data(form.utf8), options: .fragmentsAllowed)
            if path == Self.metadata || member == "keys" {
                document[member] = value
            } else if var keys = document["keys"] as? [[String: Any]], !keys.isEmpty {
                keys[0][member] = value
                document["keys"] = keys
            }
            return try JSONSerialization.data(withJSONObject: document)
        }
        // No answer comes from a browser that was sent to a foreign page.
        let provider = fixture.provider
        let browser = BrowserLauncher { page, _ in
            visits.withLock { $0 += 1 }
            guard let answer = await provider.visit(page, as: .worker) else { throw CancellationError() }
            return answer
        }
        return await failure {
            try await fixture.client(transport: transport).signIn(SignInFixture.request, browser: browser)
        }
    }

    @Test(arguments: ["issuer", "authorization_endpoint", "token_endpoint", "jwks_uri"])
    func `metadata with a member in a wrong form is an error`(member: String) async throws {
        for form in Self.wrongForms {
            #expect(
                try await failureOfSignIn(whereMember: member, of: Self.metadata, is: form) != nil, "\(form.prefix(60))"
            )
        }
    }

    @Test func `no browser is sent to a page in a wrong form`() async throws {
        let visits = Locked(0)
        for form in Self.wrongForms {
            _ = try await failureOfSignIn(
                whereMember: "authorization_endpoint", of: Self.metadata, is: form, visits: visits)
            #expect(visits.withLock { $0 } == 0, "\(form.prefix(60))")
        }
        // The control: with metadata that nothing was changed in, one is.
        _ = try await failureOfSignIn(whereMember: "unknown", of: Self.metadata, is: "true", visits: visits)
        #expect(visits.withLock { $0 } == 1)
    }

    @Test(arguments: ["keys", "kty", "crv", "x", "y", "kid"])
    func `a key set with a member in a wrong form vouches for no one`(member: String) async throws {
        for form in Self.wrongForms {
            #expect(try await failureOfSignIn(whereMember: member, of: "/keys", is: form) != nil, "\(form.prefix(60))")
        }
    }
}
