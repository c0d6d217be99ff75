import CordonBase
import CordonPolicy
import CordonSignIn
import Foundation
import HTTPTypes

/// Speaks to a service's routes for administrators.
struct ServiceClient: Sendable {
    /// The service's address.
    let address: URL
    let transport: any HTTPTransport
    /// Why changes are made, for the audit log.
    let reason: String?
    /// The access token, empty before there is one.
    var token = ""

    /// An answer.
    struct Answer: Sendable {
        let status: Int
        let body: JSONValue
        /// The id of the change that waits for a second person, where that is why.
        let waitingChange: String?
        /// The version of what was written.
        let version: String?

        /// The id of what was made; nil where the answer does not say that anything was. A proxy, or another program at the
        /// address, may answer everything with success.
        var madeID: String? {
            guard status == 201, let id = body["id"]?.string, !id.isEmpty else { return nil }
            return id
        }
    }

    private static let largest = 64 << 20

    /// Sends a request.
    ///
    /// - Parameters:
    ///   - version: What `If-Match` names.
    ///   - impact: The token of the impact that was shown.
    /// - Throws: ``CommandFailure`` with status `badInput` where no answer came, or none that is JSON.
    func send(
        _ method: HTTPRequest.Method, _ path: String, _ body: JSONValue? = nil, version: String? = nil,
        impact: String? = nil, query: [URLQueryItem] = []
    ) async throws -> Answer {
        var fields: HTTPFields = [:]
        if !token.isEmpty { fields[.authorization] = "Bearer \(token)" }
        if body != nil { fields[.contentType] = "application/json" }
        if let version { fields[.ifMatch] = "\"\(version)\"" }
        for (name, value) in [("Cordon-Impact", impact), ("Cordon-Reason", reason.map(FormEncoding.escape))] {
            if let name = HTTPField.Name(name) { fields[name] = value }
        }
        if let prefer = HTTPField.Name("Prefer"), [.post, .patch].contains(method), path.contains("deviceApp") {
            fields[prefer] = "return=representation"
        }
        var url = address.appending(path: path)
        if !query.isEmpty { url.append(queryItems: query) }
        return try await send(method, to: url, body.map { Data($0.text().utf8) }, fields)
    }

    /// The JSON of an answer that has to be one of success.
    func json(
        _ method: HTTPRequest.Method, _ path: String, _ body: JSONValue? = nil, query: [URLQueryItem] = []
    ) async throws -> JSONValue {
        let answer = try await send(method, path, body, query: query)
        guard (200...299).contains(answer.status) else { throw Self.failure(answer) }
        return answer.body
    }

    /// The JSON that answers a form, of success or not.
    func form(_ url: URL, _ pairs: [(key: String, value: String)]) async throws -> JSONValue {
        try await send(
            .post, to: url, Data(FormEncoding.encode(pairs).utf8),
            [.contentType: "application/x-www-form-urlencoded"]
        ).body
    }

    private func send(
        _ method: HTTPRequest.Method, to url: URL, _ body: Data?, _ fields: HTTPFields
    ) async throws -> Answer {
        var request = try HTTPRequest(method, to: url) { flaw in
            CommandFailure(.usage, "the address of \(url.host ?? "the service") \(flaw.predicate)")
        }
        request.headerFields = fields
        let answer: HTTPAnswer
        do {
            answer = try await transport.send(request, body: body, limit: Self.largest, timeout: .seconds(120))
        } catch {
            let host = url.host ?? "the service"
            guard error.code != .untrustedServer else {
                throw CommandFailure(
                    .badInput, "\(host) is not trusted: \(error.reason)",
                    hint: "Check the address's name, and give the file of the organisation's own authority by --ca.")
            }
            throw CommandFailure(
                .badInput, "\(host) does not answer: \(error.reason)",
                hint: "Check the address, and that the service runs.")
        }
        let json = answer.body.isEmpty ? JSONValue.null : try? JSONValue(parsing: answer.body)
        guard let json else {
            throw CommandFailure(.badInput, "\(url.path) answered \(answer.head.status.code) and no JSON")
        }
        let tag = answer.head.headerFields[.eTag] ?? json["@odata.etag"]?.string
        let waiting = HTTPField.Name("Cordon-Waiting-Change").flatMap { answer.head.headerFields[$0] }
        return Answer(
            status: answer.head.status.code, body: json, waitingChange: waiting,
            version: json["version"]?.string ?? tag?.trimmingCharacters(in: CharacterSet(charactersIn: "W/\"")))
    }

    /// What a person at the terminal reads of an answer of success that does not say what was asked for.
    static func unclear(_ answer: Answer, at place: String) -> CommandFailure {
        CommandFailure(
            .badInput, "\(place): \(unclear(answer))",
            hint: "Check that the address is the service's, and pull to see what is there.")
    }

    /// The same without the place and the hint.
    static func unclear(_ answer: Answer) -> String {
        "the service answered \(answer.status), and not as a Cordon service does"
    }

    /// What a person at the terminal reads of a refusal.
    static func failure(_ answer: Answer, at place: String? = nil) -> CommandFailure {
        let error = answer.body["error"]
        let said =
            [
                answer.body["detail"]?.string, error?["message"]?.string, answer.body["title"]?.string,
            ].compactMap(\.self).first ?? "the service answered \(answer.status)"
        let details = (error?["details"]?.array ?? []).compactMap { detail -> String? in
            guard let target = detail["target"]?.string, let message = detail["message"]?.string else { return nil }
            return "\(target): \(message)"
        }
        let text = ([said] + details).joined(separator: "; ")
        let (status, hint): (ExitStatus, String?) =
            switch answer.status {
            case 401:
                (.refused, "Sign in again; what makes people lose data takes a sign-in of the last minutes.")
            case 403: (.refused, "The roles or permissions of who signed in do not include this.")
            case 409: (.refused, nil)
            case 412: (.refused, "It was changed on the service meanwhile; plan again.")
            case 400..<500: (.badInput, nil)
            default: (.badInput, "The service's log says more.")
            }
        return CommandFailure(status, place.map { "\($0): \(text)" } ?? text, hint: hint)
    }
}
