import CordonSignatures
import Foundation
import HTTPTypes

/// An authorization request that its client handed over directly (RFC 9126).
struct ProviderPushedRequest: Sendable {
    let destination: ProviderAuthorizationRequest.Destination
    let parameters: ProviderParameters
    let expires: Date
}

extension DevelopmentIdentityProvider {
    private static let pushedPrefix = "urn:ietf:params:oauth:request_uri:"
    private static let pushedLifetime = 60

    private struct PushedAnswer: Encodable {
        let request_uri: String
        let expires_in: Int
    }

    /// The pushed authorization request endpoint: checks a request as the authorization endpoint would, and keeps it.
    func push(_ request: ProviderRequest, issuer: String) throws(OAuthError) -> ProviderAnswer {
        let client = try authenticatedClient(request, issuer: issuer)
        if try request.form.value("request_uri") != nil {
            throw OAuthError(.invalidRequest, "a pushed request cannot refer to another one")
        }
        var parameters = request.form.setting("client_id", to: client.id)
        // A proof here binds the code to its key, as dpop_jkt does (RFC 9449 §10.1).
        if let key = try provenKey(request, at: ProviderEndpoint.pushedRequest.address(issuer)) {
            if let named = try parameters.value("dpop_jkt"), named != key {
                throw SignedProof.invalid("dpop_jkt is not the key of the proof")
            }
            parameters = parameters.setting("dpop_jkt", to: key)
        }
        let destination = try ProviderAuthorizationRequest.Destination(parameters, configuration: configuration)
        _ = try ProviderAuthorizationRequest(parameters, to: destination, configuration: configuration) {
            subject(ofIDToken: $0, issuer: issuer)
        }
        let now = clock()
        let reference = Self.pushedPrefix + randomText()
        let expires = now.addingTimeInterval(TimeInterval(Self.pushedLifetime))
        // Kept for longer than it is good, so that the client learns that it came too late and can push again.
        pushedRequests.insert(
            ProviderPushedRequest(destination: destination, parameters: parameters, expires: expires),
            for: Self.digest(reference), until: expires.addingTimeInterval(seconds(\.page)), at: now)
        return .json(
            PushedAnswer(request_uri: reference, expires_in: Self.pushedLifetime), status: .created)
    }

    /// The request that a reference of ours stands for, once; nil when the parameters hold none.
    func pushed(_ parameters: ProviderParameters) throws(OAuthError) -> ProviderPushedRequest? {
        guard let reference = try parameters.value("request_uri"), reference.hasPrefix(Self.pushedPrefix) else {
            return nil
        }
        let key = Self.digest(reference)
        let now = clock()
        let clientID = try parameters.required("client_id")
        guard let found = pushedRequests.value(key, at: now), found.destination.client.id == clientID else {
            throw OAuthError(.invalidRequestURI, "request_uri is not known or was used")
        }
        pushedRequests.remove(key, at: now)
        return found
    }
}
