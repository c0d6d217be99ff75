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

@Suite struct LoggingTests {
    @Test func `logs tell routes and outcomes but no person, no id in a path and no secret`() async throws {
        let log = LogRecorder()
        let service = try await TestService(logger: log.logger)
        _ = try await service.publishPolicy()
        let device = TestDevice(tag: "tag-secret")
        let secrets = try await service.test { client in
            let token = try client.token(device)
            let id = try await client.register(device).registrationID
            try await client.send(
                .post, "/mam/v1/registrations/\(id)/checkins", as: device, device.checkIn(at: service.clock.now),
                .init(token: token))
            try await client.send(
                .post, "/mam/v1/registrations", as: device, device.registration, .init(token: "x.y.z"))
            try await client.administer(.get, "/v1.0/users/worker-a%40contoso.example")
            try await client.administer(.get, "/v1.0/users/nobody%40contoso.example")
            return [token, "x.y.z"]
        }
        #expect(log.lines.contains { $0.contains("users/*") && $0.contains("200") })
        #expect(log.lines.contains { $0.contains("/mam/v1/registrations/:id/checkins") })
        #expect(log.lines.contains { $0.contains("urn:cordon:problem:access-token") })
        for word in secrets + ["contoso.example", "%40", TestPerson.workerA.id, "tag-secret"] {
            #expect(!log.lines.contains { $0.contains(word) }, "\(word.prefix(12))")
        }
    }

    @Test func `the id that a client gave its request is in the log, and nothing else that it says there`() async throws
    {
        let log = LogRecorder()
        let service = try await TestService(logger: log.logger)
        let name = try #require(HTTPField.Name("X-Correlation-ID"))
        let id = UUID().uuidString
        try await service.test { client in
            for value in [id, "worker-a@contoso.example", "\(id)\u{9}x"] {
                _ = try await client.client.execute(uri: "/v1.0/me", method: .get, headers: [name: value])
            }
        }
        #expect(log.lines.filter { $0.contains("correlation=\(id)") }.count == 1)
        #expect(log.lines.filter { $0.contains("correlation=") }.count == 1)
        #expect(log.lines.filter { $0.contains("/v1.0/me") || $0.contains("status=401") }.count >= 3, "the control")
    }

    @Test func `a request is in the log with its client's trace, a span of its own and how long it took`() async throws
    {
        let log = LogRecorder()
        let service = try await TestService(logger: log.logger)
        let name = try #require(HTTPField.Name("traceparent"))
        let (trace, parent) = ("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7")
        let bad = [
            "00-\(trace)-\(parent)", "01-\(trace)-\(parent)-01", "00-\(trace.uppercased())-\(parent)-01",
            "00-\(String(repeating: "0", count: 32))-\(parent)-01", "00-worker-a@contoso.example-\(parent)-01",
            "00-\(trace)-\(parent)-01-x",
        ]
        try await service.test { client in
            for value in ["00-\(trace)-\(parent)-01"] + bad {
                _ = try await client.client.execute(uri: "/v1.0/me", method: .get, headers: [name: value])
            }
        }
        let answered = log.lines.filter { $0.contains("status=401") }
        #expect(answered.count == bad.count + 1, "the control")
        let traced = answered.filter { $0.contains("trace_id=") }
        #expect(traced.count == 1)
        let line = try #require(traced.first)
        #expect(line.contains("trace_id=\(trace)") && line.contains("parent_span_id=\(parent)"))
        #expect(line.firstMatch(of: /[^_]span_id=[0-9a-f]{16}/) != nil && !line.contains(" span_id=\(parent)"))
        #expect(answered.allSatisfy { $0.firstMatch(of: /duration=\d+\.\d{6}/) != nil })
    }

    @Test func `a call that is refused before its route is known has the route of the metrics in the log`() async throws
    {
        let log = LogRecorder()
        let service = try await TestService(logger: log.logger)
        try await service.test { client in
            let answer = try await client.client.execute(uri: "/v1.0/users", method: .get)
            #expect(answer.status == .unauthorized)
        }
        #expect(log.lines.contains { $0.contains("/v1.0/**") && $0.contains("401") })
        #expect(!log.lines.contains { $0.contains("(unknown)") })
    }

    @Test func `each request of a batch is in the log with its own id and status, and the batch's id`() async throws {
        let log = LogRecorder()
        let service = try await TestService(logger: log.logger)
        let answer = try await service.test { client in
            try await client.administer(
                .post, "/v1.0/$batch",
                [
                    "requests": [
                        ["id": "1", "method": "GET", "url": "/users"],
                        ["id": "2", "method": "GET", "url": "/users/nobody"],
                        ["id": "3", "method": "GET", "url": "/nowhere"],
                    ]
                ])
        }
        let batch = try #require(answer.headers[.requestID])
        let inside = log.lines.filter { $0.contains("batch=\(batch)") }
        #expect(inside.count == 3)
        for (item, facts) in zip(
            answer.json["responses"]?.array ?? [], [("users", 200), ("users/*", 404), ("(unknown)", 404)])
        {
            let id = try #require(item["headers"]?["request-id"]?.string)
            let line = try #require(inside.first { $0.contains("request=\(id)") })
            #expect(line.contains("\(facts.1)") && line.contains(facts.0))
            #expect(id != batch && item["status"]?.integer == Int64(facts.1))
        }
        #expect(!log.lines.contains { $0.contains("nobody") })
    }
}
