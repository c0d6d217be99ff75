import Foundation
import HTTPTypes

extension DevelopmentIdentityProvider {
    /// Answers a request to one of the endpoints; errors come back as the endpoint's readers expect them.
    func answer(_ endpoint: ProviderEndpoint, _ request: ProviderRequest) async -> ProviderAnswer {
        let issuer = await issuer()
        do {
            return try await route(endpoint, request, issuer: issuer)
        } catch {
            return endpoint.isPage
                ? message(
                    "This does not work", "The request is not correct: \(error.description).", status: error.status,
                    issuer: issuer)
                : json(error, at: endpoint)
        }
    }

    /// Answers a request that could not even be read.
    func answer(_ error: OAuthError, at endpoint: ProviderEndpoint) async -> ProviderAnswer {
        endpoint.isPage
            ? message(
                "This does not work", "The request is not correct: \(error.description).", status: error.status,
                issuer: await issuer())
            : json(error, at: endpoint)
    }

    private func route(
        _ endpoint: ProviderEndpoint, _ request: ProviderRequest, issuer: String
    ) async throws(OAuthError) -> ProviderAnswer {
        switch endpoint {
        case .configuration, .metadata: metadata(issuer: issuer)
        case .keys: .json(ProviderKeySet(keys: [signingKey.published]))
        case .pushedRequest: try push(request, issuer: issuer)
        case .authorization: try authorize(request, issuer: issuer)
        case .signIn: try await signIn(request, issuer: issuer)
        case .decision: try decide(request, issuer: issuer)
        case .deviceAuthorization: try authorizeDevice(request, issuer: issuer)
        case .device: try device(request, issuer: issuer)
        case .token: try token(request, issuer: issuer)
        case .userInfo: try userInfo(request, issuer: issuer)
        case .revocation: try revoke(request, issuer: issuer)
        case .endSession: try endSession(request, issuer: issuer)
        }
    }

    private struct ErrorAnswer: Encodable {
        let error: String
        let error_description: String
    }

    private func json(_ error: OAuthError, at endpoint: ProviderEndpoint) -> ProviderAnswer {
        let isChallenge = endpoint == .userInfo && error.code == .useDPoPNonce
        var answer = ProviderAnswer.json(
            ErrorAnswer(error: error.code.rawValue, error_description: error.description),
            status: isChallenge ? .unauthorized : error.status)
        if error.code == .useDPoPNonce, let name = HTTPField.Name(Self.nonceHeader) {
            answer.headers[name] = proofNonce()
        }
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
