import CordonBase
import Foundation
import HTTPTypes
import Testing

@testable import CordonDevelopmentProvider

@Suite struct ClientCredentialsTests {
    private let request = [("grant_type", "client_credentials"), ("resource", ProviderFixture.admin)]

    private func basic(_ id: String, _ secret: String) -> HTTPFields {
        let text = "\(FormEncoding.escape(id)):\(FormEncoding.escape(secret))"
        return [.authorization: "Basic " + Data(text.utf8).base64EncodedString()]
    }

    @Test func `a confidential client gets a token with its own roles`() async throws {
        try await ProviderFixture().run { run in
            let answer = try await run.token(
                request, proof: .some(nil), headers: basic("nightly", ProviderFixture.secret))
            let claims = ProviderTestRun.claims(answer.text("access_token"))
            #expect(claims["sub"] as? String == "nightly")
            #expect(claims["client_id"] as? String == "nightly")
            #expect(claims["aud"] as? String == ProviderFixture.admin)
            #expect(claims["roles"] as? [String] == ["DeviceManagementApps.ReadWrite.All"])
            #expect(claims["oid"] == nil && claims["scp"] == nil)
            #expect(answer.text("refresh_token") == nil)
        }
    }

    @Test func `the secret may come in the form, with the default scope of a resource`() async throws {
        try await ProviderFixture().run { run in
            let answer = try await run.token(
                [
                    ("grant_type", "client_credentials"), ("client_id", "nightly"),
                    ("client_secret", ProviderFixture.secret), ("scope", "https://graph.microsoft.com/.default"),
                ], proof: .some(nil))
            #expect(
                ProviderTestRun.claims(answer.text("access_token"))["aud"] as? String == "https://graph.microsoft.com")
        }
    }

    @Test func `a wrong secret, none, or two ways at once are refused`() async throws {
        try await ProviderFixture().run { run in
            let wrong = try await run.token(request, proof: .some(nil), headers: basic("nightly", "guessed"))
            #expect(wrong.status == .unauthorized)
            #expect(wrong.error == "invalid_client")
            #expect(wrong.headers[.wwwAuthenticate]?.hasPrefix("Basic") == true)
            let none = try await run.token(request + [("client_id", "nightly")], proof: .some(nil))
            #expect(none.error == "invalid_client")
            let both = try await run.token(
                request + [("client_id", "nightly"), ("client_secret", ProviderFixture.secret)], proof: .some(nil),
                headers: basic("nightly", ProviderFixture.secret))
            #expect(both.error == "invalid_request")
        }
    }

    @Test func `a resource of another client is refused`() async throws {
        try await ProviderFixture().run { run in
            let answer = try await run.token(
                [("grant_type", "client_credentials"), ("resource", ProviderFixture.checkIn)], proof: .some(nil),
                headers: basic("nightly", ProviderFixture.secret))
            #expect(answer.error == "invalid_target")
        }
    }
}
