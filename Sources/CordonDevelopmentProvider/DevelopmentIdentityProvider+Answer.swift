internal import CordonBase
public import Foundation
public import HTTPTypes
internal import Logging

extension DevelopmentIdentityProvider {
    /// The most bytes of a request's body.
    public static let largestBody = 65_536

    /// The path below which the provider answers.
    public static let path = "/idp"

    /// Every request the provider takes: a method and a path from the root of the server.
    ///
    /// Below ``path``: `/.well-known/openid-configuration`, `/.well-known/oauth-authorization-server`, `/keys`, `/par`,
    /// `/authorize`, `/sign-in`, `/decision`, `/device_authorization`, `/device`, `/token`, `/userinfo`, `/revoke` and
    /// `/logout`. The metadata also answers at the root, where RFC 8414 §3.1 looks for it
    /// (`/.well-known/oauth-authorization-server/idp`).
    public static let routes: [(method: HTTPRequest.Method, path: String)] =
        ProviderEndpoint.allCases.flatMap { endpoint in
            endpoint.methods.map { ($0, path + "/" + endpoint.rawValue) }
        } + [ProviderEndpoint.configuration, .metadata].map { (.get, "/" + $0.rawValue + path) }

    /// Answers a request to one of the ``routes``; 404 for every other.
    ///
    /// The pages are plain forms, so a test signs in without a browser: keep cookies, read the hidden fields `request` and
    /// `csrf`, post them to the form's action with `username`, `password` and `action=sign-in` (or `action=allow` for a
    /// question, `user_code` for a device) and take the `Location` of the answer.
    ///
    /// - Parameters:
    ///   - request: the head of the request; its authority must be a loopback name.
    ///   - body: the body, nil when it is larger than ``largestBody``.
    public func answer(_ request: HTTPRequest, body: Data?) async -> (head: HTTPResponse, body: Data) {
        guard let endpoint = Self.endpoint(of: request) else { return (HTTPResponse(status: .notFound), Data()) }
        let answer: ProviderAnswer
        do throws(OAuthError) {
            // A page elsewhere could make a browser use its own name for this machine (DNS rebinding).
            guard Loopback.includes(Loopback.host(ofAuthority: request.authority ?? "")) else {
                throw OAuthError(
                    .invalidRequest, "this provider answers on loopback names only", status: .misdirectedRequest)
            }
            answer = try await route(endpoint, try ProviderRequest(request, body: body, issuer: issuer))
        } catch {
            answer = refusal(error, at: endpoint)
        }
        if let correlation = Self.correlation(in: request.headerFields) {
            environment.logger.info(
                "answered",
                metadata: [
                    "endpoint": "\(endpoint.rawValue)", "status": "\(answer.status.code)",
                    "correlation": "\(correlation)",
                ])
        }
        return answer.response
    }

    /// Answers a token request that came by another path and perhaps another name of the server (SRV-OP-017).
    ///
    /// Any name will do: such a request needs a secret, a code with its verifier, or a refresh token, none of which a
    /// page elsewhere has.
    ///
    /// - Parameters:
    ///   - request: the head of the request.
    ///   - body: the body, nil when it is larger than ``largestBody``.
    ///   - address: the address that the client used, where it is surely the server's; assertions may then be made for it.
    public func answerToken(
        _ request: HTTPRequest, body: Data?, at address: String?
    ) async -> (head: HTTPResponse, body: Data) {
        do {
            var read = try ProviderRequest(request, body: body, issuer: issuer)
            read.tokenAddress = address
            return try token(read).response
        } catch {
            return refusal(error, at: .token).response
        }
    }

    private static func endpoint(of request: HTTPRequest) -> ProviderEndpoint? {
        let requested = request.path?.prefix { $0 != "?" } ?? ""
        let endpoint =
            ProviderEndpoint.allCases.first { requested == path + "/" + $0.rawValue }
            ?? [.configuration, .metadata].first { requested == "/" + $0.rawValue + path }
        return endpoint.flatMap { $0.methods.contains(request.method) ? $0 : nil }
    }

    /// The id that a client gave its request and has in its own log, where it is one: nothing else gets into ours (SI-079).
    private static func correlation(in headers: HTTPFields) -> String? {
        headers[.correlationID].flatMap { UUID(uuidString: $0) }?.uuidString
    }

    private func route(_ endpoint: ProviderEndpoint, _ request: ProviderRequest) async throws(OAuthError)
        -> ProviderAnswer
    {
        switch endpoint {
        case .configuration, .metadata:
            .json(ProviderMetadata(issuer: issuer, configuration: environment.configuration))
        case .keys: .json(issuing.key.published)
        case .pushedRequest: try push(request)
        case .authorization: try authorize(request)
        case .signIn: try await signIn(request)
        case .decision: try decide(request)
        case .deviceAuthorization: try authorizeDevice(request)
        case .device: try device(request)
        case .token: try token(request)
        case .userInfo: try userInfo(request)
        case .revocation: try revoke(request)
        case .endSession: try endSession(request)
        }
    }

    private struct ErrorAnswer: Encodable {
        let error: String
        let error_description: String
    }

    /// An error as the endpoint's readers expect it.
    private func refusal(_ error: OAuthError, at endpoint: ProviderEndpoint) -> ProviderAnswer {
        if endpoint.isPage {
            return pages.message(
                "This does not work", "The request is not correct: \(error.description).", status: error.status)
        }
        let isChallenge = endpoint == .userInfo && error.code == .useDPoPNonce
        var answer = ProviderAnswer.json(
            ErrorAnswer(error: error.code.rawValue, error_description: error.description),
            status: isChallenge ? .unauthorized : error.status)
        if error.code == .useDPoPNonce { answer.headers[.dpopNonce] = proofs.nonce() }
        guard answer.status == .unauthorized || answer.status == .forbidden else { return answer }
        let details = "error=\"\(error.code.rawValue)\", error_description=\"\(error.description)\""
        if endpoint == .userInfo {
            answer.headers.append(HTTPField(name: .wwwAuthenticate, value: "Bearer \(details)"))
            answer.headers.append(HTTPField(name: .wwwAuthenticate, value: "DPoP algs=\"ES256\", \(details)"))
        } else {
            answer.headers[.wwwAuthenticate] = "Basic realm=\"token\""
        }
        return answer
    }
}
