internal import CordonBase
internal import CordonProtocol
internal import Foundation

/// One trip through the browser: what was sent and what the answer is checked against.
///
/// `state` ties the answer to this attempt, the nonce ties the ID token to it, the proof key ties the code to
/// it, and the issuer ties all of them to one provider (RFC 9700 §2.1, §4.4, §4.5).
struct AuthorizationAttempt: Sendable {
    let state: String
    let nonce: String
    let proofKey: ProofKey
    let redirect: String
    let parameters: [String: String]

    /// Names that only this library sets.
    fileprivate static let reserved: Set<String> = [
        "response_type", "response_mode", "client_id", "redirect_uri", "scope", "state", "nonce", "code_challenge",
        "code_challenge_method", "code_verifier", "code", "grant_type", "refresh_token", "device_code", "prompt",
        "login_hint", "domain_hint", "claims", "max_age", "resource", "request", "request_uri", "dpop_jkt",
        "client_secret", "client_assertion", "id_token_hint",
    ]

    init(
        _ request: SignInRequest, configuration: SignInConfiguration, redirect: String, prompt: AuthorizationPrompt,
        keyThumbprint: String?, environment: SignInEnvironment
    ) throws(SignInError) {
        try Self.check(request)
        state = Base64URL.encode(environment.randomBytes(32))
        nonce = Base64URL.encode(environment.randomBytes(32))
        proofKey = ProofKey(environment)
        self.redirect = redirect
        var parameters = request.extraParameters
        parameters["response_type"] = "code"
        parameters["client_id"] = configuration.clientID
        parameters["redirect_uri"] = redirect
        parameters["scope"] = Self.scopes(
            configuration.reservedScopes + request.scopes + request.extraScopesToConsent
        ).joined(separator: " ")
        parameters["state"] = state
        parameters["nonce"] = nonce
        parameters["code_challenge"] = proofKey.challenge
        parameters["code_challenge_method"] = "S256"
        parameters["resource"] = request.resource
        parameters["login_hint"] = request.loginHint
        parameters["domain_hint"] = request.domainHint
        parameters["claims"] = ClaimsRequest.parameter(request.claims, capabilities: configuration.capabilities)
        parameters["max_age"] = request.maximumAuthenticationAge.map { String(max(1, $0.components.seconds)) }
        if prompt != .ifNecessary { parameters["prompt"] = prompt.rawValue }
        parameters["dpop_jkt"] = keyThumbprint
        self.parameters = parameters
    }

    private static func check(_ request: SignInRequest) throws(SignInError) {
        if let name = request.extraParameters.keys.first(where: { reserved.contains($0) }) {
            throw SignInError(.configuration, .invalidParameter, "the parameter \(name) is set by the library itself")
        }
        for scope in request.scopes + request.extraScopesToConsent {
            guard !scope.isEmpty, scope.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x5C }) else {
                throw SignInError(.configuration, .invalidParameter, "a scope is empty or holds a forbidden character")
            }
        }
    }

    /// Scopes without repetition, in order.
    static func scopes(_ scopes: [String]) -> [String] {
        var seen: Set<String> = []
        return scopes.filter { seen.insert($0).inserted }
    }
}

extension SignInRequest {
    /// Whether only this library sets the parameter, so that ``extraParameters`` may not.
    package static func isReserved(_ parameter: String) -> Bool { AuthorizationAttempt.reserved.contains(parameter) }
}
