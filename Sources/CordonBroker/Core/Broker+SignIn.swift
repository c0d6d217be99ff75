internal import CordonIdentity
internal import CordonSignIn
internal import Foundation
internal import Logging

extension Broker {
    /// Signs somebody in to the device through the app's browser.
    func signIn(_ request: BrokerRequest, _ key: RequestKey) async throws(SignInError) -> BrokerAnswer {
        try mayBeginSignIn(request, key)
        var wanted = SignInRequest(scopes: request.scopes ?? [], resource: request.resource)
        wanted.loginHint = request.loginHint
        wanted.domainHint = request.domainHint
        wanted.extraScopesToConsent = request.extraScopes ?? []
        wanted.maximumAuthenticationAge = request.maximumAge.map { .seconds(max(1, $0)) }
        wanted.extraParameters = configuration.signInParameters
        wanted.account = request.account ?? state.account?.facts.id
        wanted.requiresProofOfPossession = request.requiresProof ?? false
        if let prompt = request.prompt {
            guard let known = AuthorizationPrompt(rawValue: prompt) else {
                throw SignInError(.configuration, .invalidParameter, "the prompt is not known")
            }
            wanted.prompt = known
        }
        if let claims = request.claims { wanted.claims = try ClaimsRequest(json: claims) }
        if let id = request.correlationID { wanted.correlationID = id }
        let (question, browser) = (wanted, launcher(key))
        return try await adopting(key, request.resource) { client async throws(SignInError) in
            try await client.signIn(question, browser: browser)
        }
    }

    /// Signs somebody in who types a code on another screen.
    func signInElsewhere(_ request: BrokerRequest, _ key: RequestKey) async throws(SignInError) -> BrokerAnswer {
        try mayBeginSignIn(request, key)
        var wanted = DeviceCodeRequest(scopes: request.scopes ?? [], resource: request.resource)
        wanted.account = request.account ?? state.account?.facts.id
        wanted.requiresProofOfPossession = request.requiresProof ?? false
        if let id = request.correlationID { wanted.correlationID = id }
        let question = wanted
        let send = peers[key.peer]?.send
        return try await adopting(key, request.resource) { client async throws(SignInError) in
            try await client.signIn(question) { prompt in
                var progress = BrokerAnswer.Progress(page: prompt.page)
                progress.userCode = prompt.userCode
                progress.completePage = prompt.completePage
                progress.expires = prompt.expires
                var answer = BrokerAnswer(id: key.id)
                answer.progress = progress
                send?(answer)
            }
        }
    }

    private func mayBeginSignIn(_ request: BrokerRequest, _ key: RequestKey) throws(SignInError) {
        let (app, rule) = try app(key.peer)
        try requireShared()
        try refuseWhileOwing(app)
        try check(resource: request.resource, rule)
        guard let account = state.account else { return }
        let isOther =
            request.account.map { $0 != account.facts.id }
            ?? request.loginHint.map { $0.lowercased() != account.facts.userPrincipalName.lowercased() } ?? false
        guard !isOther else {
            throw SignInError(.accountMismatch, .mismatchedUser, "somebody else is signed in on this device")
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
        _ key: RequestKey, _ resource: String?, _ signIn: (SignInClient) async throws(SignInError) -> SignInResult
    ) async throws(SignInError) -> BrokerAnswer {
        let began = state.session
        let app = try app(key.peer).identity
        do throws(SignInError) {
            let result = try await signIn(client)
            try await adopt(result.account, since: began, by: app)
            handOut(
                Departure.Token(
                    app: app, resource: resource, token: result.accessToken, obtained: environment.now()))
            var answer = BrokerAnswer()
            var token = BrokerAnswer.Token(result.accessToken, session: state.account?.session ?? state.session)
            token.account = result.account
            token.matchesHint = result.matchesHint
            token.isRenewable = result.isRenewable
            answer.token = token
            return answer
        } catch {
            // Some scopes were declined and the person is signed in all the same.
            if error.code == .declinedScopes, let id = error.details.account, let account = try await client.account(id)
            {
                try await adopt(account, since: began, by: app)
            }
            throw error
        }
    }

    private func adopt(
        _ account: SignedInAccount, since began: UInt64, by app: AppIdentity
    ) async throws(SignInError) {
        guard state.session == began, !Task.isCancelled else {
            if state.account?.facts.id == account.id {
                try goOn(as: account)
            } else {
                _ = try await client.retire(account.id)
            }
            throw Self.overtaken
        }
        guard account.tenant == state.registration?.facts.tenant,
            account.tenant.rawValue.lowercased() != BrokerConfiguration.personalTenant
        else {
            _ = try await client.retire(account.id)
            throw SignInError(
                .brokerRefused, .brokerDenied, "only accounts of the device's organisation can sign in here")
        }
        lastActivity = environment.now()
        if state.account?.facts.id == account.id { return try goOn(as: account, in: app) }
        var changed = state
        changed.session += 1
        changed.changed = environment.now()
        changed.activity = nil
        changed.account = BrokerState.AccountRecord(
            facts: account, session: changed.session, began: environment.now())
        _ = changed.noteUse(by: app)
        // Who listens looks at once; noted here it costs one write for all of them.
        for listener in peers.values where listener.isSubscribed && listener.rule != nil {
            if let app = listener.app { changed.noteAudience(app) }
        }
        do throws(SignInError) {
            try store.makeSeed(session: changed.session, random: environment.randomBytes(32))
            try commit(changed, telling: .accountChanged)
        } catch {
            _ = try? await client.retire(account.id)
            throw error
        }
        logger.info("somebody signed in", metadata: ["session": "\(state.session)"])
        reportSoon()
    }

    /// The same person signed in once more: the session goes on, and no token from before is given out any more, since it
    /// may be bound to another key (SI-177). An app that comes in this way owes a clean-up like any other (SI-067).
    ///
    /// - Parameter authenticated: When the person gave credentials; nil for now.
    func goOn(
        as account: SignedInAccount, in app: AppIdentity? = nil, authenticated: Date? = nil
    ) throws(SignInError) {
        var changed = state
        if changed.account?.facts.session != account.session {
            handed = []
            changed.account?.authenticated = authenticated ?? environment.now()
        }
        changed.account?.facts = account
        if let app { _ = changed.noteUse(by: app) }
        try commit(changed, telling: nil)
    }

    // MARK: The browser

    /// Has the app show a page and waits until it says what came of it.
    nonisolated func launcher(_ key: RequestKey) -> BrowserLauncher {
        BrowserLauncher { page, redirect in try await self.show(page, redirect, key) }
    }

    private func show(_ page: URL, _ redirect: URL, _ key: RequestKey) async throws -> URL? {
        guard let send = peers[key.peer]?.send else { throw CancellationError() }
        var answer = BrokerAnswer(id: key.id)
        answer.progress = BrokerAnswer.Progress(page: page, redirect: redirect)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                guard !Task.isCancelled else {
                    continuation.resume(throwing: CancellationError())
                    return
                }
                returns.removeValue(forKey: key)?.resume(throwing: CancellationError())
                returns[key] = continuation
                send(answer)
            }
        } onCancel: {
            Task { await self.abandon(key) }
        }
    }

    private func abandon(_ key: RequestKey) {
        returns.removeValue(forKey: key)?.resume(throwing: CancellationError())
    }

    /// The app's page ended, or the app only opened it: then the loopback listener hears the rest.
    func giveBack(_ request: BrokerRequest, _ peer: Int) -> BrokerAnswer {
        if let id = request.request {
            returns.removeValue(forKey: RequestKey(peer: peer, id: id))?
                .resume(returning: request.url.flatMap { URL(string: $0) })
        }
        return BrokerAnswer()
    }
}
