import CordonTestSupport
import Foundation
import HTTPTypes
import Testing

@testable import CordonDevelopmentProvider

@Suite struct RefreshTokenTests {
    @Test func `each refresh gives another token and keeps the person`() async throws {
        try await ProviderFixture().run { run in
            let first = try await run.tokens()
            let second = try await run.refresh(first.text("refresh_token"))
            #expect(second.status == .ok)
            #expect(second.text("refresh_token") != first.text("refresh_token"))
            #expect(second.text("access_token") != first.text("access_token"))
            let claims = ProviderTestRun.claims(second.text("id_token"))
            #expect(claims["sub"] as? String == "oid-a")
            #expect(claims["nonce"] == nil)
            #expect(try await run.refresh(second.text("refresh_token")).status == .ok)
        }
    }

    @Test func `a token used twice ends its whole family`() async throws {
        try await ProviderFixture().run { run in
            let first = try await run.tokens().text("refresh_token")
            let second = try await run.refresh(first).text("refresh_token")
            let third = try await run.refresh(second).text("refresh_token")
            #expect(third != nil)
            #expect(try await run.refresh(first).error == "invalid_grant")
            #expect(try await run.refresh(third).error == "invalid_grant")
        }
    }

    @Test func `another family of the same person lives on after a reuse`() async throws {
        try await ProviderFixture().run { run in
            let stolen = try await run.tokens().text("refresh_token")
            let other = try await run.tokens().text("refresh_token")
            _ = try await run.refresh(stolen)
            _ = try await run.refresh(stolen)
            #expect(try await run.refresh(other).status == .ok)
        }
    }

    @Test func `of twenty parallel refreshes with one token one succeeds`() async throws {
        try await ProviderFixture().run { run in
            let token = try await run.tokens().text("refresh_token")
            let good = try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<20 { group.addTask { try await run.refresh(token).status == .ok } }
                return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(good == 1)
        }
    }

    @Test(arguments: ["none", "a.b.c", "x.0.AAAA", ""])
    func `a text that is no token of ours is refused`(text: String) async throws {
        try await ProviderFixture().run { run in
            let answer = try await run.refresh(text)
            #expect(answer.error == (text.isEmpty ? "invalid_request" : "invalid_grant"))
        }
    }

    @Test func `a generation cannot be guessed`() async throws {
        try await ProviderFixture().run { run in
            let token = try #require(try await run.tokens().text("refresh_token"))
            var parts = token.split(separator: ".").map(String.init)
            parts[1] = "1"
            #expect(try await run.refresh(parts.joined(separator: ".")).error == "invalid_grant")
            #expect(try await run.refresh(token).status == .ok, "a forged token ends nothing")
        }
    }

    @Test func `another client cannot use it, and does not end it`() async throws {
        try await ProviderFixture().run { run in
            let token = try await run.tokens().text("refresh_token")
            #expect(try await run.refresh(token, ["client_id": "cordon-cli"]).error == "invalid_grant")
            #expect(try await run.refresh(token).status == .ok)
        }
    }

    @Test func `a refresh may narrow the scope but not widen it`() async throws {
        try await ProviderFixture().run { run in
            let token = try await run.tokens().text("refresh_token")
            #expect(try await run.refresh(token, ["scope": "mam.checkin User.Read"]).error == "invalid_scope")
            let narrow = try await run.refresh(token, ["scope": "mam.checkin"])
            #expect(narrow.text("scope") == "mam.checkin")
            #expect(narrow.text("id_token") == nil)
        }
    }

    @Test func `a token that is not used expires, and a family ends in any case`() async throws {
        let fixture = try ProviderFixture {
            $0.lifetimes.refreshToken = .seconds(100)
            $0.lifetimes.refreshFamily = .seconds(250)
        }
        try await fixture.run { run in
            let idle = try await run.tokens().text("refresh_token")
            fixture.clock.advance(by: 100)
            #expect(try await run.refresh(idle).error == "invalid_grant")
            var busy = try await run.tokens().text("refresh_token")
            for _ in 0..<3 {
                fixture.clock.advance(by: 80)
                busy = try await run.refresh(busy).text("refresh_token")
                #expect(busy != nil)
            }
            fixture.clock.advance(by: 10)
            #expect(try await run.refresh(busy).error == "invalid_grant")
        }
    }

    @Test func `a disabled account gets no more tokens`() async throws {
        let fixture = try ProviderFixture()
        try await fixture.run { run in
            let token = try await run.tokens().text("refresh_token")
            var directory = await fixture.provider.directory
            directory.people[0].accountEnabled = false
            try await fixture.provider.replaceDirectory(directory)
            #expect(try await run.refresh(token).error == "invalid_grant")
        }
    }

    @Test func `without offline_access there is no refresh token`() async throws {
        try await ProviderFixture().run { run in
            let answer = try await run.tokens(["scope": "openid mam.checkin"])
            #expect(answer.text("refresh_token") == nil)
        }
    }

    @Test func `revoking a person ends chains, codes and sessions`() async throws {
        let fixture = try ProviderFixture()
        try await fixture.run { run in
            let token = try await run.tokens().text("refresh_token")
            let code = try await run.code()
            #expect(await fixture.provider.revokeGrants(ofPerson: "oid-b") == 0)
            #expect(await fixture.provider.revokeGrants(ofPerson: "oid-a", clientID: "cordon-cli") == 0)
            #expect(await fixture.provider.revokeGrants(ofPerson: "oid-a") == 1)
            #expect(try await run.refresh(token).error == "invalid_grant")
            #expect(try await run.exchange(code).error == "invalid_grant")
            #expect(try await run.authorize(["prompt": "none"]).parameter("error") == "login_required")
        }
    }
}
