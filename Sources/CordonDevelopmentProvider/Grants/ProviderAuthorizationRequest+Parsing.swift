import CordonBase
import CordonProtocol
import Foundation

extension ProviderAuthorizationRequest {
    /// Where the answer goes, found first: an error before this point must not redirect (RFC 6749 §4.1.2.1).
    struct Destination: Sendable {
        let client: IdentityProviderClient
        let redirectURI: String
        let state: String?

        init(_ parameters: ProviderParameters, configuration: IdentityProviderConfiguration) throws(OAuthError) {
            guard let client = configuration.client(try parameters.required("client_id")) else {
                throw OAuthError(.unauthorizedClient, "this client is not registered")
            }
            let redirectURI = try parameters.required("redirect_uri")
            guard ProviderRedirect.isAllowed(redirectURI, registered: client.redirectURIs) else {
                throw OAuthError(.invalidRequest, "redirect_uri is not registered for this client")
            }
            self.client = client
            self.redirectURI = redirectURI
            // A state given twice is answered with an error and without it.
            state = parameters.all("state").count == 1 ? parameters.all("state").first : nil
        }
    }

    /// Reads the rest of the request.
    ///
    /// - Parameter subject: gives the `sub` of an ID token that this provider signed, nil for any other text.
    init(
        _ parameters: ProviderParameters, to destination: Destination, configuration: IdentityProviderConfiguration,
        subject: (String) -> String?
    ) throws(OAuthError) {
        guard destination.client.grants.contains(.authorizationCode) else {
            throw OAuthError(.unauthorizedClient, "this client may not use authorization codes")
        }
        if try parameters.value("request") != nil {
            throw OAuthError(.requestNotSupported, "request objects are not supported")
        }
        if try parameters.value("request_uri") != nil {
            throw OAuthError(.requestURINotSupported, "request_uri is not supported")
        }
        guard try parameters.required("response_type") == "code" else {
            throw OAuthError(.unsupportedResponseType, "response_type must be code")
        }
        guard ["query", nil].contains(try parameters.value("response_mode")) else {
            throw OAuthError(.invalidRequest, "response_mode must be query")
        }
        clientID = destination.client.id
        redirectURI = destination.redirectURI
        state = try parameters.value("state")
        nonce = try parameters.value("nonce")
        codeChallenge = try Self.codeChallenge(parameters)
        proofThumbprint = try Self.thumbprint(parameters)
        prompts = try Self.prompts(parameters)
        loginHint = try parameters.value("login_hint")
        maxAge = try Self.maxAge(parameters)
        if let hint = try parameters.value("id_token_hint") {
            guard let hinted = subject(hint) else {
                throw OAuthError(.invalidRequest, "id_token_hint is not an ID token of this provider")
            }
            hintedSubject = hinted
        } else {
            hintedSubject = nil
        }
        access = try ProviderAccess(parameters, client: destination.client, configuration: configuration)
            .checkedForPerson(configuration)
    }

    private static func codeChallenge(_ parameters: ProviderParameters) throws(OAuthError) -> String {
        guard let challenge = try parameters.value("code_challenge") else {
            throw OAuthError(.invalidRequest, "code_challenge is missing: PKCE is required")
        }
        guard try parameters.value("code_challenge_method") == "S256" else {
            throw OAuthError(.invalidRequest, "code_challenge_method must be S256")
        }
        guard Base64URL.decode(challenge)?.count == 32 else {
            throw OAuthError(.invalidRequest, "code_challenge must be a SHA-256 in base64url")
        }
        return challenge
    }

    private static func thumbprint(_ parameters: ProviderParameters) throws(OAuthError) -> String? {
        guard let thumbprint = try parameters.value("dpop_jkt") else { return nil }
        guard Base64URL.decode(thumbprint)?.count == 32 else {
            throw OAuthError(.invalidRequest, "dpop_jkt must be a SHA-256 thumbprint in base64url")
        }
        return thumbprint
    }

    private static func prompts(_ parameters: ProviderParameters) throws(OAuthError) -> Set<Prompt> {
        var prompts: Set<Prompt> = []
        for word in try parameters.words("prompt") {
            guard let prompt = Prompt(rawValue: word) else {
                throw OAuthError(.invalidRequest, "prompt has a value that is not supported")
            }
            prompts.insert(prompt)
        }
        guard !prompts.contains(.none) || prompts.count == 1 else {
            throw OAuthError(.invalidRequest, "prompt none excludes every other prompt")
        }
        return prompts
    }

    private static func maxAge(_ parameters: ProviderParameters) throws(OAuthError) -> Int? {
        guard let text = try parameters.value("max_age") else { return nil }
        guard let seconds = Int(text), (0...1_000_000_000).contains(seconds) else {
            throw OAuthError(.invalidRequest, "max_age must be a number of seconds")
        }
        return seconds
    }
}
