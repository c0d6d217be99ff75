import Foundation

/// Writes metrics in Prometheus' text format, version 0.0.4.
struct PrometheusText {
    private(set) var text = ""

    /// The media type of the format.
    static let mediaType = "text/plain; version=0.0.4; charset=utf-8"

    /// Begins a metric.
    mutating func metric(_ name: String, _ kind: String, _ help: String) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind)\n"
    }

    /// Writes a value with its labels in order.
    mutating func value(_ name: String, _ labels: [(String, String)], _ value: some CustomStringConvertible) {
        let pairs = labels.map { "\($0.0)=\"\(Self.escaped($0.1))\"" }.joined(separator: ",")
        text += name + (pairs.isEmpty ? "" : "{\(pairs)}") + " \(value)\n"
    }

    private static func escaped(_ value: String) -> String {
        value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }
}

extension PrometheusText {
    /// Writes everything that the service counts.
    init(_ metrics: ServiceMetrics) {
        let counts = metrics.snapshot
        metric("cordon_build_info", "gauge", "The version of this software.")
        value("cordon_build_info", [("version", ServiceServer.version)], 1)
        metric("cordon_start_time_seconds", "gauge", "When the service started, in seconds since 1970.")
        value("cordon_start_time_seconds", [], metrics.started.timeIntervalSince1970)
        metric("cordon_http_requests_total", "counter", "Requests that were answered.")
        let requests = counts.requests.sorted {
            ($0.key.route, $0.key.method, $0.key.status) < ($1.key.route, $1.key.method, $1.key.status)
        }
        for (request, count) in requests {
            value(
                "cordon_http_requests_total",
                [("route", request.route), ("method", request.method), ("status", String(request.status))], count)
        }
        metric("cordon_http_request_duration_seconds", "histogram", "Time until an answer began.")
        for (route, histogram) in counts.durations.sorted(by: { $0.key < $1.key }) { durations(route, histogram) }
        metric("cordon_check_ins_total", "counter", "Check-ins by the status that they were answered with.")
        for (status, count) in counts.checkIns.sorted(by: { $0.key < $1.key }) {
            value("cordon_check_ins_total", [("status", String(status))], count)
        }
        metric(
            "cordon_wipe_reports_total", "counter", "What apps reported of wipes; one that failed is asked for again.")
        for (phase, count) in counts.wipeReports.sorted(by: { $0.key < $1.key }) {
            value("cordon_wipe_reports_total", [("phase", phase)], count)
        }
        metric("cordon_event_streams", "gauge", "Event streams that are open.")
        value("cordon_event_streams", [], counts.streams)
        metric("cordon_event_streams_opened_total", "counter", "Event streams that were opened.")
        value("cordon_event_streams_opened_total", [], counts.streamsOpened)
        metric("cordon_connections", "gauge", "Connections that are open.")
        value("cordon_connections", [], counts.connections)
        metric("cordon_connections_refused_total", "counter", "Connections that were closed because of too many.")
        value("cordon_connections_refused_total", [], counts.connectionsRefused)
        var named = ""
        for gauge in counts.gauges {
            // Values of one metric stand together, under one heading.
            if gauge.name != named { metric(gauge.name, "gauge", gauge.help) }
            named = gauge.name
            value(gauge.name, gauge.labels.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }, gauge.value)
        }
        metric("cordon_condition", "gauge", "Whether an operator has to look at something, by what it is.")
        for kind in ServiceCondition.Kind.allCases {
            let isSo = counts.conditions.contains { $0.kind == kind }
            value("cordon_condition", [("condition", kind.rawValue)], isSo ? 1 : 0)
        }
    }

    private mutating func durations(_ route: String, _ histogram: ServiceMetrics.Histogram) {
        let name = "cordon_http_request_duration_seconds"
        for (bound, count) in zip(ServiceMetrics.Histogram.bounds, histogram.buckets) {
            value(name + "_bucket", [("route", route), ("le", String(bound))], count)
        }
        value(name + "_bucket", [("route", route), ("le", "+Inf")], histogram.count)
        value(name + "_sum", [("route", route)], histogram.sum)
        value(name + "_count", [("route", route)], histogram.count)
    }
}
