internal import CordonProtocol
internal import Foundation

extension SignInClient {
    /// Signs a person in through the system browser: authorization code with PKCE (RFC 6749, 7636, 8252).
    ///
    /// Somebody other than the hinted person may sign in; ``SignInResult/matchesHint`` says so.
    /// - Throws: ``SignInError``; with `declinedScopes` the account is signed in all the same, and you can ask for the granted
    ///   scopes silently.
    public func signIn(_ request: SignInRequest, browser: BrowserLauncher) async throws(SignInError) -> SignInResult {
        try await noted(.browser) { () async throws(SignInError) in try await signInNow(request, browser: browser) }
    }

    private func signInNow(
        _ request: SignInRequest, browser: BrowserLauncher
    ) async throws(SignInError) -> SignInResult {
        try beginInteraction()
        defer { endInteraction() }
        let metadata = try await provider.metadata(correlationID: request.correlationID)
        try checkProofKeySupport(metadata)
        try checkProofs(metadata, areNeeded: request.requiresProofOfPossession)
        try await provider.checkAhead(metadata, correlationID: request.correlationID)
        let signer = usesProofs(metadata) ? key(for: request.account) : nil
        let redirect = try wayBack()
        defer { redirect.stop() }
        var answer: (AuthorizationAttempt, AuthorizationAnswer)
        do {
            answer = try await authorize(request, metadata, redirect, signer, browser)
        } catch  where error.details.oauthError == "invalid_request_uri" && metadata.pushedRequestEndpoint != nil {
            // The pushed request had expired before the browser used it (SI-176).
            let again = try wayBack()
            defer { again.stop() }
            answer = try await authorize(request, metadata, again, signer, browser)
        }
        let (attempt, code) = answer
        var parameters = request.extraParameters
        parameters["grant_type"] = "authorization_code"
        parameters["code"] = code.code
        parameters["redirect_uri"] = attempt.redirect
        parameters["client_id"] = configuration.clientID
        parameters["code_verifier"] = attempt.proofKey.verifier
        parameters["resource"] = request.resource
        let tokens = try await provider.redeem(
            parameters, at: metadata, grant: .code, signer: signer, correlationID: request.correlationID)
        return try await begin(
            tokens,
            SessionStart(
                scopes: request.scopes, resource: request.resource, expected: request.account, hint: request.loginHint,
                nonce: attempt.nonce, maximumAge: request.maximumAuthenticationAge,
                correlationID: request.correlationID, signer: signer,
                ownKey: request.keepsOwnKey ? key(for: request.account) : nil))
    }

    /// A provider that does not promise S256 could be talked into ignoring the proof key (RFC 9700 §2.1.1).
    private func checkProofKeySupport(_ metadata: ProviderMetadata) throws(SignInError) {
        guard configuration.requiresAnnouncedS256 else { return }
        guard metadata.challengeMethods?.contains("S256") == true else {
            throw SignInError(
                .configuration, .proofKeyUnsupported, "the identity provider does not announce PKCE with S256",
                hint: "Use a provider that does, or allow it in the configuration if you know that it does.")
        }
    }

    private func authorize(
        _ request: SignInRequest, _ metadata: ProviderMetadata, _ redirect: SignInReturn,
        _ signer: (any MessageSigner)?, _ browser: BrowserLauncher
    ) async throws(SignInError) -> (AuthorizationAttempt, AuthorizationAnswer) {
        let attempt = try AuthorizationAttempt(
            request, configuration: configuration, redirect: redirect.address, prompt: prompt(of: request),
            keyThumbprint: signer?.publicKey.thumbprint, environment: environment)
        let endpoint = try ProviderAddress.endpoint(metadata.authorizationEndpoint, named: "authorization_endpoint")
        let page: URL
        if metadata.pushedRequestEndpoint != nil {
            let reference = try await provider.push(
                attempt.parameters, at: metadata, signer: signer, correlationID: request.correlationID)
            page = try ProviderAddress.page(
                at: endpoint, ["client_id": configuration.clientID, "request_uri": reference])
        } else if metadata.requiresPushedRequests == true {
            throw SignInError(
                .configuration, .missingEndpoint, "the provider requires pushed requests and has no endpoint for them")
        } else {
            page = try ProviderAddress.page(at: endpoint, attempt.parameters)
        }
        try requireNotEnded(request.account)
        awaited = request.account.map { (account: $0, way: redirect) }
        defer { awaited = nil }
        let url = try await redirect.visit(
            page, browser: browser, state: attempt.state, timeout: configuration.interactionTimeout)
        let answer = try AuthorizationAnswer(
            url, to: attempt, issuer: configuration.issuer,
            announcesIssuer: metadata.announcesIssuerInAnswers == true, correlationID: request.correlationID)
        return (attempt, answer)
    }

    /// Where the browser comes back to. A sign-out page that nobody finished does not keep a registered port from who signs in next.
    private func wayBack() throws(SignInError) -> SignInReturn {
        do { return try SignInReturn(configuration.redirect) } catch {
            guard !departures.isEmpty else { throw error }
            for departure in departures.values { departure.giveUp(SignInReturn.timedOut) }
            return try SignInReturn(configuration.redirect)
        }
    }

    /// A person who was signed out here gives credentials again, unless consent was asked for (SI-109).
    private func prompt(of request: SignInRequest) -> AuthorizationPrompt {
        guard let account = request.account, request.prompt != .consent,
            cache.isMarkedSignedOut(account, owner: owner)
        else { return request.prompt }
        return .login
    }
}
