import CordonTestSupport
import Foundation
import HTTPTypes
import Testing

@testable import CordonDevelopmentProvider

@Suite struct DeviceFlowTests {
    private func begin(_ run: ProviderTestRun) async throws -> ProviderResponse {
        let answer = try await run.browser.post(
            "/idp/device_authorization",
            [
                ("client_id", "fieldnotes"), ("scope", "openid offline_access mam.checkin"),
                ("resource", ProviderFixture.checkIn),
            ])
        #expect(answer.status == .ok, "\(answer.body)")
        return answer
    }

    private func poll(
        _ run: ProviderTestRun, _ device: ProviderResponse, client: String = "fieldnotes"
    ) async throws -> ProviderResponse {
        try await run.token([
            ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"), ("client_id", client),
            ("device_code", device.text("device_code") ?? ""),
        ])
    }

    /// Enters the code, signs in when asked, and stops at the question.
    private func question(_ run: ProviderTestRun, code: String) async throws -> ProviderResponse {
        let page = try await run.browser.submit(try await run.browser.get("/idp/device"), [("user_code", code)])
        return page.field("username") == nil ? page : try await run.browser.signIn(page)
    }

    @Test func `a person connects a device from another screen`() async throws {
        let fixture = try ProviderFixture()
        try await fixture.run { run in
            let device = try await begin(run)
            let code = try #require(device.text("user_code"))
            #expect(code.wholeMatch(of: /[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}/) != nil)
            #expect(device.text("verification_uri") == ProviderFixture.issuer + "/device")
            #expect(device.text("verification_uri_complete") == ProviderFixture.issuer + "/device?user_code=" + code)
            #expect(device.json["expires_in"] as? Int == 600)
            #expect(device.json["interval"] as? Int == 5)
            fixture.clock.advance(by: 5)
            #expect(try await poll(run, device).error == "authorization_pending")
            let page = try await question(run, code: code.lowercased().replacingOccurrences(of: "-", with: " "))
            #expect(page.body.contains("FieldNotes") && page.body.contains("ada@example.test"))
            #expect(try await run.browser.submit(page, [("action", "allow")]).body.contains("connected"))
            let tokens = try await poll(run, device)
            #expect(ProviderTestRun.claims(tokens.text("access_token"))["aud"] as? String == ProviderFixture.checkIn)
            #expect(ProviderTestRun.claims(tokens.text("id_token"))["sub"] as? String == "oid-a")
            #expect(tokens.text("token_type") == "DPoP")
            #expect(try await poll(run, device).error == "invalid_grant", "a device code is good once")
            #expect(try await run.refresh(tokens.text("refresh_token")).status == .ok)
        }
    }

    @Test func `an administrator gets a token at a terminal by the commands of the operators' page`() async throws {
        let page = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../docs/operating.md")
        let text = try String(contentsOf: page, encoding: .utf8).replacingOccurrences(of: "\\\n", with: " ")
        @Sendable func fields(_ endpoint: String) throws -> [(String, String)] {
            let lines = text.split(separator: "\n").filter {
                $0.hasPrefix("curl -sS http://127.0.0.1:8080\(endpoint) ")
            }
            let line = try #require(lines.first { $0.contains("client_id=cordon-cli") })
            return line.matches(of: /-d ([a-z_]+)=(\S+)/).map { match in
                // The fixture's services have names of their own.
                (String(match.1), match.2 == "api://cordon/administration" ? ProviderFixture.admin : String(match.2))
            }
        }
        let fixture = try ProviderFixture()
        try await fixture.run { run in
            let device = try await run.browser.post(
                "/idp/device_authorization", try fields("/idp/device_authorization"))
            let asked = try await question(run, code: try #require(device.text("user_code")))
            #expect(try await run.browser.submit(asked, [("action", "allow")]).body.contains("connected"))
            fixture.clock.advance(by: 5)
            let request = try fields("/idp/token").map { field in
                (field.0, field.1 == "DEVICE_CODE" ? device.text("device_code") ?? "" : field.1)
            }
            let answer = try await run.token(request, proof: .some(nil))
            #expect(answer.text("token_type") == "Bearer", "\(answer.body)")
            #expect(ProviderTestRun.claims(answer.text("access_token"))["aud"] as? String == ProviderFixture.admin)
        }
    }

    @Test func `polling too fast slows down, and stays slower`() async throws {
        let fixture = try ProviderFixture()
        try await fixture.run { run in
            let device = try await begin(run)
            #expect(try await poll(run, device).error == "slow_down", "the first poll comes after one interval")
            fixture.clock.advance(by: 9)
            #expect(try await poll(run, device).error == "slow_down", "the interval is ten seconds now")
            fixture.clock.advance(by: 15)
            #expect(try await poll(run, device).error == "authorization_pending")
            fixture.clock.advance(by: 14)
            #expect(try await poll(run, device).error == "slow_down")
        }
    }

    @Test func `an expired code says so on both screens`() async throws {
        let fixture = try ProviderFixture()
        try await fixture.run { run in
            let device = try await begin(run)
            fixture.clock.advance(by: 600)
            #expect(try await poll(run, device).error == "expired_token")
            let page = try await question(run, code: device.text("user_code") ?? "")
            #expect(page.status == .badRequest)
        }
    }

    @Test func `a question that is answered too late connects nothing`() async throws {
        let fixture = try ProviderFixture()
        try await fixture.run { run in
            let device = try await begin(run)
            fixture.clock.advance(by: 590)
            let page = try await question(run, code: device.text("user_code") ?? "")
            fixture.clock.advance(by: 20)
            #expect(try await run.browser.submit(page, [("action", "allow")]).status == .badRequest)
            #expect(try await poll(run, device).error == "expired_token")
        }
    }

    @Test func `a refusal reaches the device`() async throws {
        try await ProviderFixture().run { run in
            let device = try await begin(run)
            let page = try await question(run, code: device.text("user_code") ?? "")
            #expect(try await run.browser.submit(page, [("action", "deny")]).body.contains("refused"))
            #expect(try await poll(run, device).error == "access_denied")
        }
    }

    @Test func `a decision counts once`() async throws {
        try await ProviderFixture().run { run in
            let device = try await begin(run)
            let first = try await question(run, code: device.text("user_code") ?? "")
            let second = try await question(run, code: device.text("user_code") ?? "")
            #expect(try await run.browser.submit(first, [("action", "deny")]).status == .ok)
            #expect(try await run.browser.submit(second, [("action", "allow")]).status == .badRequest)
            #expect(try await poll(run, device).error == "access_denied")
        }
    }

    @Test func `a decision needs its token and a person`() async throws {
        try await ProviderFixture().run { run in
            let device = try await begin(run)
            let page = try await question(run, code: device.text("user_code") ?? "")
            let forged = try await run.browser.post(
                "/idp/decision", [("request", page.field("request") ?? ""), ("action", "allow")])
            #expect(forged.status == .forbidden)
            #expect(try await poll(run, device).error == "slow_down")
        }
    }

    @Test func `the complete address only fills the code in`() async throws {
        try await ProviderFixture().run { run in
            let device = try await begin(run)
            _ = try await run.code()
            let page = try await run.browser.get("/idp/device", [("user_code", device.text("user_code") ?? "")])
            #expect(page.field("user_code") == device.text("user_code"))
            #expect(page.body.contains("started this yourself"))
            #expect(try await poll(run, device).error == "slow_down", "nothing was decided")
            let hostile = try await run.browser.get("/idp/device", [("user_code", "\"\u{301}><script>")])
            #expect(!hostile.body.contains("<script"))
        }
    }

    @Test func `another client cannot redeem the code`() async throws {
        try await ProviderFixture().run { run in
            let device = try await begin(run)
            let page = try await question(run, code: device.text("user_code") ?? "")
            _ = try await run.browser.submit(page, [("action", "allow")])
            #expect(try await poll(run, device, client: "cordon-cli").error == "invalid_grant")
            #expect(try await poll(run, device).status == .ok)
        }
    }

    @Test func `guessing user codes is limited`() async throws {
        try await ProviderFixture().run { run in
            var page = try await run.browser.get("/idp/device")
            for _ in 0..<30 { page = try await run.browser.submit(page, [("user_code", "BBBB-BBBB")]) }
            #expect(page.status == .badRequest)
            #expect(try await run.browser.submit(page, [("user_code", "BBBB-BBBB")]).status == .tooManyRequests)
        }
    }

    @Test func `a client without the grant is refused`() async throws {
        try await ProviderFixture().run { run in
            let answer = try await run.browser.post(
                "/idp/device_authorization",
                [
                    ("client_id", "nightly"), ("client_secret", ProviderFixture.secret), ("scope", "User.Read"),
                    ("resource", ProviderFixture.admin),
                ])
            #expect(answer.error == "unauthorized_client")
        }
    }
}
