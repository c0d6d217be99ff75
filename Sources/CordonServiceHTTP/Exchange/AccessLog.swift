import Foundation
package import HTTPTypes
package import Hummingbird
package import Logging

/// Names a request in its answer, and writes one line about it: the route's pattern, never its values, and nothing of a
/// person.
package struct AccessLog: RouterMiddleware {
    private let logger: Logger

    package init(logger: Logger) { self.logger = logger }

    package func handle(
        _ request: Request, context: ServiceRequestContext,
        next: (Request, ServiceRequestContext) async throws -> Response
    ) async throws -> Response {
        var response = try await next(request, context)
        response.headers[.requestID] = context.requestID
        write(request, context, response.status)
        return response
    }

    /// Writes the line of a request that was answered.
    package func write(_ request: Request, _ context: ServiceRequestContext, _ status: HTTPResponse.Status) {
        let level: Logger.Level = status.code >= 500 ? .error : .info
        guard logger.logLevel <= level else { return }
        let facts = context.notes.facts
        let route = facts.route ?? Self.pattern(context.endpointPath ?? "none")
        var line: Logger.Metadata = [
            "request": "\(context.requestID)", "method": "\(request.method.rawValue)", "route": "\(route)",
            "status": "\(status.code)", "duration": "\(Self.seconds(since: context.notes.started))",
        ]
        if let trace = request.headers[.traceParent].flatMap({ TraceContext($0) }) {
            line["trace_id"] = "\(trace.trace)"
            line["parent_span_id"] = "\(trace.parent)"
            line["span_id"] = "\(TraceContext.span())"
        }
        if let code = facts.code { line["code"] = "\(code)" }
        if let batch = context.notes.batch { line["batch"] = "\(batch)" }
        if let correlation = Self.correlation(in: request.headers) { line["correlation"] = "\(correlation)" }
        if let failure = facts.failure { line["failure"] = "\(failure)" }
        logger.log(level: level, "answered", metadata: line)
    }

    /// How long ago a moment was, in seconds with six digits: OpenTelemetry's `http.server.request.duration`.
    private static func seconds(since start: ContinuousClock.Instant) -> String {
        let microseconds = max(0, Int64(start.duration(to: .now) / .microseconds(1)))
        let fraction = String(microseconds % 1_000_000)
        return "\(microseconds / 1_000_000)." + String(repeating: "0", count: 6 - fraction.count) + fraction
    }

    /// The id that a client gave its request and has in its own log, where it is one: nothing else gets into ours (SI-079).
    private static func correlation(in headers: HTTPFields) -> String? {
        headers[.correlationID].flatMap { UUID(uuidString: $0) }?.uuidString
    }

    /// A path as routes are written, `/users/:id`, in place of the router's `/users/{id}`.
    private static func pattern(_ path: String) -> String {
        path.replacing("{", with: ":").replacing("}", with: "")
    }
}
