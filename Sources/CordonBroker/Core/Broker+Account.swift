internal import CordonBase
internal import CordonIdentity
internal import CordonProtocol
internal import CordonSignIn
internal import Foundation

extension Broker {
    /// The account that is signed in, and the one that this app saw when it last asked; each change is reported once (SI-032 to SI-036).
    func currentAccount(_ request: RequestContext) throws(SignInError) -> CurrentAccount {
        let app = try connections.app(request.peer).identity
        try requireShared()
        let key = app.key
        let known = state.apps[key] ?? BrokerState.AppRecord(name: app.name, clientID: app.clientID)
        var seen = known
        seen.lastSeen = state.account?.facts.id
        seen.seenSession = state.account?.session
        if seen != state.apps[key] {
            var changed = state
            changed.apps[key] = seen
            // That the app saw this session must not be forgotten: it owes a clean-up at the end.
            if seen.seenSession != nil, seen.seenSession != known.seenSession {
                try commit(changed, telling: nil)
            } else {
                keeper.changeLazily(changed)
            }
        }
        return CurrentAccount(
            current: state.account?.facts, previous: known.lastSeen,
            owed: state.owed(by: app, as: clientIDs(of: app)),
            session: state.account?.session ?? state.session, began: state.account?.began, nonce: state.account?.nonce)
    }

    /// The same where nothing has to be written for it.
    func quickCurrentAccount(_ request: RequestContext) throws(SignInError) -> CurrentAccount? {
        let app = try connections.app(request.peer).identity
        // That an app sees a session for the first time is written before it does.
        let isWritten = state.account.map { state.apps[app.key]?.seenSession == $0.session } ?? true
        return isWritten ? try currentAccount(request) : nil
    }

    func accountList(_ request: RequestContext) throws(SignInError) -> [SignedInAccount] {
        _ = try connections.app(request.peer)
        try requireShared()
        return state.account.map { [$0.facts] } ?? []
    }

    /// What the app seals data under in this session.
    func accountKey(_ call: AccountKeyCall, _ request: RequestContext) throws(SignInError) -> String {
        let app = try connections.app(request.peer).identity
        let account = try account(call.account, in: call.session)
        try refuseWhileOwing(app)
        try noteUse(by: app)
        guard let key = try store.key(session: account.session, app: app, account: account.facts.id) else {
            throw SignInError(.storage, .storeDamaged, "the session's secret is gone")
        }
        return Base64URL.encode(key)
    }

    /// Refused always: a shared device has one account for all apps.
    func forget(_ request: RequestContext) throws(SignInError) -> Done {
        _ = try connections.app(request.peer)
        throw SignInError(
            .brokerRefused, .brokerDenied, "a shared device has one account for all apps",
            hint: "Sign out instead.")
    }

    /// A person works.
    func noteActivity(_ request: RequestContext) throws(SignInError) -> Done {
        _ = try connections.app(request.peer)
        timer.noteActivity(at: look())
        return Done()
    }

    /// The account and session that a request names, if they are the ones in force (SI-072); nil names whatever is.
    func account(_ id: AccountID?, in session: UInt64?) throws(SignInError) -> BrokerState.AccountRecord {
        try requireShared()
        guard let account = state.account else {
            throw SignInError(.interactionRequired, .signedOut, "no account is signed in on this device")
        }
        if let id, id != account.facts.id {
            throw SignInError(.interactionRequired, .signedOut, "the account is not signed in on this device")
        }
        if let session, session != account.session {
            throw SignInError(.interactionRequired, .sessionChanged, "another session is in force")
        }
        return account
    }

    /// The client ids of an app's entry. Without one, as in development, each is an app by itself.
    private func clientIDs(of app: AppIdentity) -> [String] {
        configuration.apps.first { $0.name == app.name && $0.clientIDs.contains(app.clientID) }?.clientIDs ?? [
            app.clientID
        ]
    }

    /// An app that has still to remove one person's data gets nothing of the next person's, under none of its client ids
    /// (SI-067).
    func refuseWhileOwing(_ app: AppIdentity) throws(SignInError) {
        guard state.owed(by: app, as: clientIDs(of: app)).isEmpty else { throw SharedDeviceMode.owed }
    }

    /// An app that gets a token or key has seen the account, whether it asked or not: at its end the app owes a clean-up.
    ///
    /// - Throws: ``SignInError`` with code `storage`: without the mark the app must not get anything.
    func noteUse(by app: AppIdentity) throws(SignInError) {
        var changed = state
        guard changed.noteUse(by: app) else { return }
        try commit(changed, telling: nil)
    }

    // MARK: Clean-up

    /// An app says how far it is; done takes the mark away.
    func report(_ call: CleanUpCall, _ request: RequestContext) throws(SignInError) -> Done {
        let app = try connections.app(request.peer).identity
        guard let session = call.session, let stage = call.stage else {
            throw SignInError(.configuration, .invalidParameter, "the report names no session or no stage")
        }
        var changed = state
        if stage == .done, changed.noteCleanUp(by: app, as: clientIDs(of: app), of: session) {
            keeper.changeLazily(changed)
        }
        departures.note(stage, of: app.key, in: session, listening: connections.listening)
        return Done()
    }

    // MARK: Tokens

    /// A token that this app was given before, which needs neither the store nor the provider; for a session that has just
    /// ended, the one that it had already (SI-068). Nil where another is needed.
    func knownToken(
        _ call: SilentTokenCall, _ request: RequestContext
    ) throws(SignInError) -> BrokerRoute.KnownAnswer<BrokerToken>? {
        let (app, rule) = try connections.app(request.peer)
        try check(resource: call.resource, rule)
        let scopes = call.scopes ?? []
        if let session = call.session, let departure = departures[session] {
            guard let known = departure.tokens.token(for: app, call.resource, scopes),
                known.token.expires > environment.now()
            else { throw SignInError(.interactionRequired, .signedOut, "the account was signed out") }
            return BrokerRoute.KnownAnswer(written: known.answer(in: session), lasts: nil)
        }
        let account = try account(call.account, in: call.session)
        try refuseWhileOwing(app)
        guard call.forcesRenewal != true, call.claims == nil,
            let known = handed.token(for: app, call.resource, scopes),
            let lasts = known.freshness(buffer: configuration.signIn.expiryBuffer), lasts.contains(environment.now())
        else { return nil }
        return BrokerRoute.KnownAnswer(written: known.answer(in: account.session), lasts: lasts)
    }

    /// A token from memory or renewed.
    func silentToken(_ call: SilentTokenCall, _ request: RequestContext) async throws(SignInError) -> BrokerToken {
        if let known = try knownToken(call, request) { return known.written.answer }
        let app = try connections.app(request.peer).identity
        let account = try account(call.account, in: call.session)
        let scopes = call.scopes ?? []
        let asked = environment.now()
        var options = TokenOptions()
        options.forcesRenewal = call.forcesRenewal ?? false
        if let claims = call.claims { options.claims = try ClaimsRequest(json: claims) }
        if let id = request.correlationID { options.correlationID = id }
        let token: AccessToken
        do {
            token = try await client.accessToken(
                for: account.facts.id, resource: call.resource, scopes: scopes, options: options)
        } catch {
            if error.fault == .invalidGrant { askAfterRefusal(of: account) }
            throw error
        }
        guard let now = state.account, now.session == account.session else {
            throw SignInError(.interactionRequired, .signedOut, "the account was signed out meanwhile")
        }
        // The person signed in once more meanwhile: this token may be bound to a key that nothing signs with any longer.
        guard now.facts.session == account.facts.session else { return try await silentToken(call, request) }
        try noteUse(by: app)
        handed.add(HandedToken(token, of: call.resource, to: app, in: account.session, at: asked))
        return BrokerToken(token, session: account.session)
    }

    /// The public half of the key that the session's tokens are bound to.
    func sessionKey(_ call: TokenKeyCall, _ request: RequestContext) async throws(SignInError) -> JSONWebKey {
        try await signer(of: call.account, in: call.session, request).publicKey
    }

    /// Signs a proof of possession or a wipe's receipt of the app itself with the session's key, and nothing else.
    func proof(_ call: ProofCall, _ request: RequestContext) async throws(SignInError) -> String {
        let rule = try connections.app(request.peer).rule
        guard let input = call.input, let asked = SigningInput(input) else {
            throw SignInError(
                .brokerRefused, .invalidRequest, "the broker signs proofs of possession and receipts only")
        }
        try check(asked.purpose, rule)
        let signer = try await signer(of: call.account, in: call.session, request)
        do {
            return Base64URL.encode(try signer.signature(for: Data(input.utf8)))
        } catch {
            throw SignInError(.storage, .storeUnavailable, "the session's key could not sign")
        }
    }

    private func signer(
        of id: AccountID?, in session: UInt64?, _ request: RequestContext
    ) async throws(SignInError) -> any MessageSigner {
        let app = try connections.app(request.peer).identity
        if let signer = departures[session]?.signer { return signer }
        let account = try account(id, in: session)
        try refuseWhileOwing(app)
        return try await client.signer(for: account.facts.id)
    }

    /// How far, in seconds, the time of a proof may lie ahead of the broker's clock, which is the app's own.
    private static let mostAhead = 60.0

    /// Refuses what the session's key would say in another app's name: all apps of a session share it.
    private func check(_ purpose: SigningInput.Purpose, _ rule: AllowedApp) throws(SignInError) {
        // Made ahead of its time, a proof would serve a token that outlives the person's session.
        if case .proof(_, let issued) = purpose, issued > environment.now().timeIntervalSince1970 + Self.mostAhead {
            throw SignInError(
                .brokerRefused, .brokerDenied, "a proof of possession is signed for now, and not for later",
                hint: "Set the claim iat to the present time.")
        }
        // In development without a list, every program of the user is whichever app it says.
        if configuration.isDevelopment, configuration.apps.isEmpty { return }
        switch purpose {
        case .proof(let origin, _):
            guard rule.proofOrigins(service: configuration.service).contains(origin) else {
                throw SignInError(
                    .brokerRefused, .brokerDenied, "this app may not prove possession of the key to this origin",
                    hint: "Name the origin in `origins` of the app's entry in the broker's configuration.")
            }
        case .receipt(let bundleID):
            guard let own = rule.bundleID, own.lowercased() == bundleID.lowercased() else {
                throw SignInError(
                    .brokerRefused, .brokerDenied, "this app may have receipts of its own data's wipes signed only",
                    hint: "Give the app's entry in the broker's configuration its `bundleID`.")
            }
        }
    }
}
