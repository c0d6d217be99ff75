import AsyncHTTPClient
import CordonBase
import CordonPolicy
import CordonService
import Foundation
import NIOCore
import NIOHTTP1
import Testing

@testable import CordonServiceHTTP

/// SRV-CI-091: a running service fetches events, and what they say counts for its requests.
@Suite(.timeLimit(.minutes(10))) struct SecurityEventServerTests {
    /// A token that ends the owner's sessions.
    private func revocation(_ issuer: TestIssuer, at moment: Date) throws -> JSONValue {
        let event = "https://schemas.openid.net/secevent/caep/event-type/session-revoked"
        return .string(
            try issuer.token(
                [
                    "iss": .string(TestIssuer.name), "aud": .string(ServiceServerConfiguration.usualCheckInAudience),
                    "iat": .integer(Int64(moment.timeIntervalSince1970)), "jti": "1",
                    "sub_id": ["format": "opaque", "id": .string(TestService.owner.id)],
                    "events": .object([event: [:]]),
                ], header: ["typ": "secevent+jwt"]))
    }

    @Test func `a running service fetches events, refuses the tokens that they end, and leaves a hanging answer`()
        async throws
    {
        let (questions, asked) = AsyncStream.makeStream(of: JSONValue.self)
        let answers = Locked<[JSONValue]>([])
        // The first answer waits until the test has seen that the token is good.
        let isSeen = DispatchSemaphore(value: 0)
        let provider = try RawServer { connection in
            let head = connection.readHead() ?? ""
            let length = head.lowercased().firstMatch(of: /content-length: (\d+)/).flatMap { Int($0.1) } ?? 0
            asked.yield((try? JSONValue(parsing: connection.read(length))) ?? .null)
            isSeen.wait()
            let answer = answers.withLock { $0.isEmpty ? nil : $0.removeFirst().text() }
            if let answer {
                connection.write(
                    "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: \(answer.utf8.count)\r\n\r\n\(answer)")
            }
            connection.waitForEnd()
        }
        defer {
            isSeen.signal()
            provider.stop()
        }
        var profile = IssuerProfile()
        profile.eventStream = .init(
            poll: try #require(URL(string: "http://127.0.0.1:\(provider.port)/poll")), tokenFile: nil)
        let fixture = try await LiveService(profile: profile)
        let server = fixture.server
        let (ready, source) = AsyncStream.makeStream(of: String.self)
        async let serving: Void = server.run { source.yield($0.base.absoluteString) }
        let base = try #require(await ready.first { _ in true })
        var asking = questions.makeAsyncIterator()
        #expect(await asking.next()?["ack"] == nil)

        let now = Date()
        let token = try fixture.issuer.token(TestIssuer.administrationClaims(at: now))
        func status() async throws -> UInt {
            var request = HTTPClientRequest(url: base + "/v1.0/me")
            request.headers.add(name: "authorization", value: "Bearer \(token)")
            return try await HTTPClient.shared.execute(request, timeout: .seconds(30)).status.code
        }
        #expect(try await status() != 401)
        let revocation = try revocation(fixture.issuer, at: now)
        answers.withLock { $0 = [["sets": ["1": revocation], "moreAvailable": true]] }
        isSeen.signal()
        #expect(await asking.next()?["ack"] == ["1"])
        #expect(try await status() == 401)

        let start = ContinuousClock.now
        await server.shutDown()
        try await serving
        #expect(ContinuousClock.now - start < .seconds(10), "less than the time for draining")
    }
}
