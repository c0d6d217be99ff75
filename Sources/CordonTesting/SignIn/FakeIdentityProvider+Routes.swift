internal import CordonProtocol
internal import CordonSignIn
internal import Foundation
internal import HTTPTypes

extension FakeIdentityProvider {
    /// Answers a request as the provider's server would.
    func answer(_ request: HTTPRequest, body: Data?) throws(TransportError) -> HTTPAnswer {
        guard !faults.contains(.unreachable) else { throw TransportError(.unreachable, reason: "switched off") }
        let address = "\(request.scheme ?? "")://\(request.authority ?? "")\(request.path ?? "")"
        guard address.hasPrefix(issuer), let url = URL(string: address) else {
            throw TransportError(.unreachable, reason: "no server at \(request.authority ?? "")")
        }
        let path = String(address.dropFirst(issuer.count))
        let parameters = Self.parameters(String(decoding: body ?? Data(), as: UTF8.self))
        let proof = HTTPField.Name("DPoP").flatMap { request.headerFields[$0] }
        received.append(Received(path: path, parameters: parameters, hasProof: proof != nil))
        if faults.remove(.failsOnce) != nil { return Self.refusal("server_error", status: .internalServerError) }
        if faults.contains(.floods) {
            return HTTPAnswer(head: HTTPResponse(status: .ok), body: Data(repeating: 0x20, count: 4 << 20))
        }
        switch path {
        case "/.well-known/openid-configuration": return Self.json(metadata)
        case "/keys": return HTTPAnswer(head: HTTPResponse(status: .ok), body: publicKeys)
        case "/par": return push(parameters)
        case "/token":
            if faults.contains(.overloaded) {
                var answer = Self.refusal("temporarily_unavailable", status: .tooManyRequests).head
                answer.headerFields[.retryAfter] = "90"
                return HTTPAnswer(head: answer, body: Data())
            }
            return token(parameters, proof: proof, url: url)
        case "/device": return authorizeDevice(parameters)
        case "/revoke": return revoke(parameters, authorization: request.headerFields[.authorization])
        default: return Self.refusal("not_found", status: .notFound)
        }
    }

    private var metadata: [String: Any] {
        var metadata: [String: Any] = [
            "issuer": faults.contains(.foreignIssuerInMetadata) ? issuer + "/" : issuer,
            "authorization_endpoint": issuer + "/authorize", "token_endpoint": issuer + "/token",
            "jwks_uri": issuer + "/keys", "device_authorization_endpoint": issuer + "/device",
            "end_session_endpoint": issuer + "/logout", "authorization_response_iss_parameter_supported": true,
            // Real providers advertise "none" too; a client must not take them at their word.
            "id_token_signing_alg_values_supported": ["ES256", "none"],
        ]
        if !faults.contains(.hidesProofKeys) { metadata["code_challenge_methods_supported"] = ["S256"] }
        if !faults.contains(.noProofs) { metadata["dpop_signing_alg_values_supported"] = ["ES256"] }
        if !faults.contains(.noRevocation) { metadata["revocation_endpoint"] = issuer + "/revoke" }
        if faults.contains(.pushedRequests) {
            metadata["pushed_authorization_request_endpoint"] = issuer + "/par"
            metadata["require_pushed_authorization_requests"] = true
        }
        return metadata
    }

    private func push(_ parameters: [String: String]) -> HTTPAnswer {
        guard faults.contains(.pushedRequests), parameters["client_id"] == clientID else {
            return Self.refusal("invalid_client", status: .unauthorized)
        }
        let reference = "urn:ietf:params:oauth:request_uri:" + UUID().uuidString
        pushed[reference] = parameters
        return Self.json(["request_uri": reference, "expires_in": 60], status: .created)
    }

    static func json(_ object: [String: Any], status: HTTPResponse.Status = .ok) -> HTTPAnswer {
        let body = (try? JSONSerialization.data(withJSONObject: object)) ?? Data()
        var head = HTTPResponse(status: status)
        head.headerFields[.contentType] = "application/json"
        return HTTPAnswer(head: head, body: body)
    }

    static func refusal(
        _ error: String, _ detail: String? = nil, saying more: [String: String] = [:],
        status: HTTPResponse.Status = .badRequest
    ) -> HTTPAnswer {
        var body = more
        body["error"] = error
        body["error_description"] = "refused by the fake provider"
        body["suberror"] = detail
        return json(body, status: status)
    }

    static func parameters(_ query: String) -> [String: String] {
        let items = URLComponents(string: "?" + query)?.queryItems ?? []
        return Dictionary(items.map { ($0.name, $0.value ?? "") }) { first, _ in first }
    }
}
