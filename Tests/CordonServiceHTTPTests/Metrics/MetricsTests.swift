import CordonProtocol
import CordonTestSupport
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Testing

@testable import CordonServiceHTTP

/// What Prometheus reads.
@Suite struct MetricsTests {
    private func filled() -> ServiceMetrics {
        let metrics = ServiceMetrics(started: Date(timeIntervalSince1970: 1_800_000_000))
        metrics.answered("GET", route: "/healthz", status: 200, seconds: 0.004)
        metrics.answered("GET", route: "/healthz", status: 200, seconds: 3)
        metrics.answered("BREW", route: nil, status: 404, seconds: 0.1)
        metrics.answered("GET", route: "/a\"b\\c", status: 200, seconds: 0.1)
        metrics.checkedIn(101)
        metrics.streamOpened()
        return metrics
    }

    @Test func `requests are counted by pattern, and their times in buckets that add up`() {
        let lines = Set(PrometheusText(filled()).text.split(separator: "\n").map(String.init))
        for line in [
            #"cordon_http_requests_total{route="/healthz",method="GET",status="200"} 2"#,
            #"cordon_http_requests_total{route="none",method="other",status="404"} 1"#,
            #"cordon_http_request_duration_seconds_bucket{route="/healthz",le="0.0025"} 0"#,
            #"cordon_http_request_duration_seconds_bucket{route="/healthz",le="0.005"} 1"#,
            #"cordon_http_request_duration_seconds_bucket{route="/healthz",le="+Inf"} 2"#,
            #"cordon_http_request_duration_seconds_count{route="/healthz"} 2"#,
            #"cordon_check_ins_total{status="101"} 1"#, "cordon_event_streams 1",
            #"cordon_check_ins_total{status="102"} 0"#, #"cordon_wipe_reports_total{phase="failed"} 0"#,
            #"cordon_http_requests_total{route="/a\"b\\c",method="GET",status="200"} 1"#,
        ] {
            #expect(lines.contains(line), "\(line)")
        }
    }

    @Test func `what an operator has to look at is a metric of its own, and several values stand under one heading`() {
        let metrics = filled()
        metrics.note(
            [
                ServiceGauge("cordon_provider_keys_age_seconds", "Age.", labels: ["issuer": "https://a.example"], 5),
                ServiceGauge("cordon_provider_keys_age_seconds", "Age.", labels: ["issuer": "https://b.example"], 6),
            ], [ServiceCondition(.disk, "the disk is almost full")])
        let text = PrometheusText(metrics).text
        #expect(text.contains("cordon_condition{condition=\"disk.low\"} 1\n"))
        #expect(text.contains("cordon_condition{condition=\"backup.old\"} 0\n"))
        #expect(text.contains("cordon_provider_keys_age_seconds{issuer=\"https://b.example\"} 6.0\n"))
        #expect(text.components(separatedBy: "# TYPE cordon_provider_keys_age_seconds").count == 2)
    }

    @Test func `what the service counts names no person`() async throws {
        let service = try await TestService()
        _ = try await service.publishPolicy()
        try await service.test { client in
            let device = TestDevice()
            let id = try await client.register(device).registrationID
            _ = try await client.administer(.get, "/beta/users/\(TestPerson.workerA.id)")
            _ = try await client.client.execute(uri: "/mam/v1/registrations/\(id)/checkins", method: .post)
            _ = try await client.client.execute(uri: "/beta/users/\(TestPerson.workerA.id)", method: .get)
            _ = try await client.client.execute(uri: "/nowhere/\(id)", method: .get)
            let text = PrometheusText(service.metrics).text
            // The control: the routes are there, by their patterns.
            #expect(text.contains("registrations") && text.contains("status=\"401\""))
            #expect(!text.contains(id) && !text.contains(TestPerson.workerA.id))
        }
    }

    private static let promtool =
        ProcessInfo.processInfo.environment["CORDON_PROMTOOL"] ?? Program.find("promtool")

    @Test(.enabled(if: promtool != nil, "needs promtool, of the Debian package prometheus"))
    func `promtool finds nothing wrong`() async throws {
        let tool = try #require(Self.promtool)
        func check(_ text: String) async throws -> String {
            try await Program.run(tool, ["check", "metrics"], input: Data(text.utf8)).everything
        }
        let result = try await check(PrometheusText(filled()).text)
        #expect(result == "", "\(result)")
        // The control: it finds a mistake.
        #expect(try await check("no_help 1\n") != "")
    }
}
