internal import CordonProtocol
internal import Foundation

extension SignInClient {
    /// Signs a person in on another screen (RFC 8628): for kiosks and terminals without a browser (SI-174).
    ///
    /// - Parameters:
    ///   - request: What is asked for.
    ///   - show: Shows the code and the page. It is called once; the wait begins when it returns.
    /// - Throws: ``SignInError``: `cancelled` when the person said no, `interactionRequired` with fault
    ///   `timedOut` when no one signed in before the code expired.
    public func signIn(
        _ request: DeviceCodeRequest, show: @Sendable (DeviceCodePrompt) async -> Void
    ) async throws(SignInError) -> SignInResult {
        try await noted(.deviceCode) { () async throws(SignInError) in try await signInNow(request, show: show) }
    }

    private func signInNow(
        _ request: DeviceCodeRequest, show: @Sendable (DeviceCodePrompt) async -> Void
    ) async throws(SignInError) -> SignInResult {
        try beginInteraction()
        defer { endInteraction() }
        let metadata = try await provider.metadata(correlationID: request.correlationID)
        try checkProofs(metadata, areNeeded: request.requiresProofOfPossession)
        try await provider.checkAhead(metadata, correlationID: request.correlationID)
        let signer = usesProofs(metadata) ? key(for: request.account) : nil
        var parameters = ["client_id": configuration.clientID]
        parameters["scope"] = AuthorizationAttempt.scopes(configuration.reservedScopes + request.scopes)
            .joined(separator: " ")
        parameters["resource"] = request.resource
        let authorization = try await provider.authorizeDevice(
            parameters, at: metadata, correlationID: request.correlationID)
        await show(authorization.prompt)
        let tokens = try await poll(authorization, at: metadata, request, signer)
        return try await begin(
            tokens,
            SessionStart(
                scopes: request.scopes, resource: request.resource, expected: request.account, hint: nil, nonce: nil,
                maximumAge: nil, correlationID: request.correlationID, signer: signer,
                ownKey: request.keepsOwnKey ? key(for: request.account) : nil))
    }

    /// Asks again and again, never sooner than the provider allows and never before one interval has passed.
    private func poll(
        _ authorization: DeviceAuthorization, at metadata: ProviderMetadata, _ request: DeviceCodeRequest,
        _ signer: (any MessageSigner)?
    ) async throws(SignInError) -> TokenAnswer {
        var parameters = [
            "grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": authorization.deviceCode,
            "client_id": configuration.clientID,
        ]
        parameters["resource"] = request.resource
        let expires = authorization.prompt.expires
        var interval = authorization.interval
        var pause = Duration.zero
        while true {
            // Nothing comes after the code's end, however long a pause was asked for.
            let left = Duration.seconds(max(0, expires.timeIntervalSince(environment.now())))
            let wait = max(interval, pause)
            do { try await environment.sleep(min(wait, left)) } catch {
                throw SignInError(.cancelled, .stopped, "the sign-in was cancelled")
            }
            pause = .zero
            try requireNotEnded(request.account)
            // After a shorter wait nothing is asked, whatever the clock says: it may go slower than the wait, or have been set back.
            guard wait < left, environment.now() < expires else {
                throw SignInError(.interactionRequired, .timedOut, "no one signed in before the code expired")
            }
            do {
                return try await provider.redeem(
                    parameters, at: metadata, grant: .device, signer: signer, correlationID: request.correlationID)
            } catch {
                switch (error.details.oauthError, error.code) {
                case ("authorization_pending", _): continue
                case ("slow_down", _): interval += .seconds(5)
                // A provider that cannot be reached is asked less often (RFC 8628 §3.5).
                case (_, .network), (_, .serverBusy):
                    interval = max(interval, min(interval * 2, .seconds(60)))
                    pause = error.details.retryAfter ?? .zero
                default: throw error
                }
            }
        }
    }
}
