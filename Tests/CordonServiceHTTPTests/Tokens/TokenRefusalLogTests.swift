import CordonBase
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import CordonTestSupport
import CordonTesting
import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import Testing

@testable import CordonServiceHTTP

/// Operators learn from the log why a provider's tokens do not count.
@Suite struct TokenRefusalLogTests {
    private func told(_ log: LogRecorder) -> [String] { log.lines.filter { $0.hasPrefix("notice ") } }

    @Test func `why a token was refused is in the log, once a minute, and nothing of the token`() async throws {
        let log = LogRecorder()
        let service = try await TestService(logger: log.logger)
        try await service.test { client in
            let device = TestDevice()
            let claims = TestIssuer.checkInClaims(device.person, key: device.key.publicKey, at: service.clock.now)
            let wrong = try service.issuer.token(claims, header: ["typ": "JWT"])
            func send(_ token: String) async throws {
                try await client.send(
                    .post, "/mam/v1/registrations", as: device, device.registration, .init(token: token))
            }
            for _ in 0..<50 { try await send(wrong) }
            var lines = told(log)
            #expect(lines.count == 1)
            #expect(lines.first?.contains("check-in token was refused") == true)
            #expect(lines.first?.contains("not of type at+jwt") == true)
            service.clock.advance(by: TokenRefusalLog.pause)
            try await send(wrong)
            lines = told(log)
            #expect(lines.count == 2 && lines.last?.contains("49 more") == true)

            // A slash too many in the configuration, which every token shows.
            var slash = claims
            slash["iss"] = .string(TestIssuer.name + "/")
            try await send(try service.issuer.token(slash))
            #expect(told(log).last?.contains("otherwise than \(TestIssuer.name) of") == true)
            slash["iss"] = "https://stranger.example"
            try await send(try service.issuer.token(slash))
            #expect(told(log).last?.contains("allow-list") == true)

            var poor = TestIssuer.administrationClaims(scopes: "openid", at: service.clock.now)
            poor["auth_time"] = nil
            try await client.administer(.get, "/v1.0/groups", claims: poor)
            #expect(told(log).last?.contains("Group.ReadWrite.All") == true)
            #expect(told(log).last?.contains("issuer \(TestIssuer.name)") == true)
            for word in [wrong, "stranger", TestPerson.workerA.id, "contoso.example", "openid"] {
                #expect(!log.lines.contains { $0.contains(word) }, "\(word.prefix(12))")
            }
        }
    }

    @Test func `a provider that cannot be asked for its keys is in the log, also while the old keys go on`()
        async throws
    {
        let log = LogRecorder()
        let service = try await TestService(logger: log.logger)
        try await service.test { client in
            let good = try await client.administer(.get, "/v1.0/groups")
            #expect(good.status == .ok && told(log).isEmpty)
            service.issuer.published.withLock { $0 = nil }
            service.clock.advance(by: IssuerKeys.longestAge + 1)
            let later = try await client.administer(.get, "/v1.0/groups")
            #expect(later.status == .ok && told(log).count == 1)
            #expect(told(log).last?.contains("cannot be used") == true)
            #expect(told(log).last?.contains("(issuer \(TestIssuer.name))") == true)
        }
    }

    @Test func `reasons without end fill neither log nor memory, and a clock set back silences nothing`() {
        let recorder = LogRecorder()
        let clock = SettableClock()
        let log = TokenRefusalLog(logger: recorder.logger, now: { clock.now })
        for number in 0..<2_000 { log.note("refused", code: "x", reason: "\(number)") }
        let full = recorder.lines.count
        #expect(full < 1_000)
        clock.advance(by: -3_600)
        log.note("refused", code: "x", reason: "0")
        #expect(recorder.lines.count == full + 1)
    }

    @Test func `what a provider says of itself is written in plain letters`() {
        let text = TokenRefusalLog.plain("https://a.example\u{1b}[31m\r\n\u{202e}")
        #expect(text == "https://a.example?[31m?????")
        #expect(TokenRefusalLog.plain(String(repeating: "x", count: 5_000)).count == 201)
    }
}
