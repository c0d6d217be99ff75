internal import CordonBase
internal import CordonIdentity
internal import CordonSignIn
internal import Foundation
internal import Logging

extension Broker {
    /// Signs a person in to the device through the app's browser.
    func signIn(_ call: SignInCall, _ request: RequestContext) async throws(SignInError) -> BrokerToken {
        try await mayBeginSignIn(call.account, hint: call.loginHint, resource: call.resource, request)
        var wanted = SignInRequest(scopes: call.scopes ?? [], resource: call.resource)
        wanted.loginHint = call.loginHint
        wanted.domainHint = call.domainHint
        wanted.extraScopesToConsent = call.extraScopes ?? []
        wanted.maximumAuthenticationAge = call.maximumAge.map { .seconds(max(1, $0)) }
        wanted.extraParameters = configuration.signInParameters
        wanted.account = call.account ?? state.account?.facts.id
        wanted.requiresProofOfPossession = call.requiresProof ?? false
        wanted.prompt = try prompt(call.prompt ?? "")
        if let claims = call.claims { wanted.claims = try ClaimsRequest(json: claims) }
        if let id = request.correlationID { wanted.correlationID = id }
        let (question, browser) = (wanted, launcher(request.key))
        return try await adopting(request, call.resource) { client async throws(SignInError) in
            try await client.signIn(question, browser: browser)
        }
    }

    /// Signs a person in who types a code on another screen.
    func signIn(_ call: DeviceCodeCall, _ request: RequestContext) async throws(SignInError) -> BrokerToken {
        try await mayBeginSignIn(call.account, hint: nil, resource: call.resource, request)
        var wanted = DeviceCodeRequest(scopes: call.scopes ?? [], resource: call.resource)
        wanted.account = call.account ?? state.account?.facts.id
        wanted.requiresProofOfPossession = call.requiresProof ?? false
        if let id = request.correlationID { wanted.correlationID = id }
        let question = wanted
        let send = connections.sender(request.peer)
        return try await adopting(request, call.resource) { client async throws(SignInError) in
            try await client.signIn(question) { prompt in
                var progress = BrokerProgress(page: prompt.page)
                progress.userCode = prompt.userCode
                progress.completePage = prompt.completePage
                progress.expires = prompt.expires
                send?(.progress(id: request.key.id, progress))
            }
        }
    }

    /// How insistently the provider asks. Whoever comes to a device without a person gives credentials: the browser may still be signed in at the
    /// provider as the one before, who would be at work again by a click of the next.
    private func prompt(_ name: String) throws(SignInError) -> AuthorizationPrompt {
        guard let asked = AuthorizationPrompt(rawValue: name) else {
            throw SignInError(.configuration, .invalidParameter, "the prompt is not known")
        }
        guard state.account == nil else { return asked }
        switch asked {
        case .ifNecessary, .selectAccount, .login, .consent: return .login
        case .create: return .create
        case .none:
            throw SignInError(.interactionRequired, .accountRequired, "no account is signed in on this device")
        }
    }

    private func mayBeginSignIn(
        _ wanted: AccountID?, hint: String?, resource: String?, _ request: RequestContext
    ) async throws(SignInError) {
        let (app, rule) = try connections.app(request.peer)
        // Before anything is stored that would be taken for the former session's; and first, since a sign-out meanwhile changes the rest.
        try await removeLeft()
        try requireShared()
        try refuseWhileOwing(app)
        try check(resource: resource, rule)
        guard let account = state.account else { return }
        let isOther =
            wanted.map { $0 != account.facts.id }
            ?? hint.map { $0.lowercased() != account.facts.userPrincipalName.lowercased() } ?? false
        guard !isOther else {
            throw SignInError(.accountMismatch, .mismatchedUser, "another person is signed in on this device")
        }
    }

    func check(resource: String?, _ rule: AllowedApp) throws(SignInError) {
        guard let allowed = rule.resources else { return }
        guard let resource, allowed.contains(resource) else {
            throw SignInError(.brokerRefused, .brokerDenied, "this app may not have tokens for the resource")
        }
    }

    /// Runs a sign-in and makes who came back the device's account, unless something happened meanwhile (SI-057).
    private func adopting(
        _ request: RequestContext, _ resource: String?,
        _ signIn: (SignInClient) async throws(SignInError) -> SignInResult
    ) async throws(SignInError) -> BrokerToken {
        let began = state.session
        let app = try connections.app(request.peer).identity
        do {
            let result = try await signIn(client)
            try await adopt(result.account, since: began, by: app)
            let session = state.account?.session ?? state.session
            handed.add(HandedToken(result.accessToken, of: resource, to: app, in: session, at: environment.now()))
            var token = BrokerToken(result.accessToken, session: session)
            token.account = result.account
            token.matchesHint = result.matchesHint
            token.isRenewable = result.isRenewable
            return token
        } catch {
            if let account = try await signedIn(despite: error) { try await adopt(account, since: began, by: app) }
            throw error
        }
    }

    /// Who is signed in although some scopes were declined; nil after every other error.
    func signedIn(despite error: SignInError) async throws(SignInError) -> SignedInAccount? {
        guard error.code == .declinedScopes, let id = error.details.account else { return nil }
        return try await client.account(id)
    }

    /// Forgets a sign-in that begins no session; where it is that of the person on the device, the session goes on with it.
    func letGo(_ account: SignedInAccount) async throws(SignInError) {
        let age = await client.credentialsAge(of: account.id)
        if state.account?.facts.id == account.id {
            return try goOn(as: account, authenticated: age.map { look() - $0 })
        }
        try await forget(account.id)
    }

    /// Forgets a sign-in that begins no session. What the disk keeps of it is removed as soon as that can be.
    private func forget(_ id: AccountID) async throws(SignInError) {
        let removal = await client.retire(id).removal
        if case .failure = removal { strays.insert(id) }
        _ = try removal.get()
    }

    private func adopt(
        _ account: SignedInAccount, since began: UInt64, by app: AppIdentity
    ) async throws(SignInError) {
        let age = await client.credentialsAge(of: account.id)
        guard state.session == began, !Task.isCancelled else {
            try await letGo(account)
            throw Self.overtaken
        }
        guard account.tenant == state.registration?.facts.tenant,
            account.tenant.rawValue.lowercased() != BrokerConfiguration.personalTenant
        else {
            try await forget(account.id)
            throw SignInError(
                .brokerRefused, .brokerDenied, "only accounts of the device's organisation can sign in here")
        }
        let now = look()
        timer.noteSignIn(at: now)
        if state.account?.facts.id == account.id {
            return try goOn(as: account, in: app, authenticated: age.map { now - $0 })
        }
        var changed = state
        changed.session += 1
        changed.changed = now
        changed.activity = nil
        changed.account = BrokerState.AccountRecord(
            facts: account, session: changed.session, began: now, authenticated: age.map { now - $0 },
            nonce: Base64URL.encode(environment.randomBytes(16)), clientID: configuration.signIn.clientID)
        _ = changed.noteUse(by: app)
        // Who listens looks at once; noted here it costs one write for all of them.
        for listener in connections.listeningApps { changed.noteAudience(listener) }
        do {
            try store.makeSeed(session: changed.session, random: environment.randomBytes(32))
            try commit(changed, telling: .accountChanged)
        } catch {
            _ = try? store.destroySeed(session: changed.session)
            try? await forget(account.id)
            throw error
        }
        logger.info("a person signed in", metadata: ["session": "\(state.session)"])
        reportSoon()
    }

    /// The same person signed in once more: the session goes on, and no token from before is given out any more, since it
    /// may be bound to another key (SI-177). An app that comes in this way owes a clean-up like any other (SI-067).
    ///
    /// - Parameter authenticated: When the person gave credentials, which is no earlier than is known; nil for now. A provider that answers out of its
    ///   browser session has asked for none, and the sign-in is no later than a revocation that came before it.
    func goOn(
        as account: SignedInAccount, in app: AppIdentity? = nil, authenticated: Date? = nil
    ) throws(SignInError) {
        let now = look()
        var changed = state
        if changed.account?.facts.session != account.session {
            handed.removeAll()
            let known = changed.account?.authenticated ?? changed.account?.began ?? now
            changed.account?.authenticated = max(known, authenticated ?? now)
        }
        changed.account?.facts = account
        changed.account?.clientID = configuration.signIn.clientID
        if let app { _ = changed.noteUse(by: app) }
        try commit(changed, telling: nil)
    }

    // MARK: The browser

    /// Has the app show a page and waits until it says what came of it.
    nonisolated func launcher(_ key: RequestKey) -> BrowserLauncher {
        BrowserLauncher { page, redirect in try await self.show(page, redirect, key) }
    }

    private func show(_ page: URL, _ redirect: URL, _ key: RequestKey) async throws -> URL? {
        guard let send = connections.sender(key.peer) else { throw CancellationError() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                guard !Task.isCancelled else {
                    continuation.resume(throwing: CancellationError())
                    return
                }
                attended.awaitPage(key, continuation)
                send(.progress(id: key.id, BrokerProgress(page: page, redirect: redirect)))
            }
        } onCancel: {
            Task { await self.abandon(key) }
        }
    }

    private func abandon(_ key: RequestKey) {
        attended.abandonPage(key)
    }
}
