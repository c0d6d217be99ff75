internal import CordonBase
internal import CordonProtocol
internal import CordonSignIn
internal import Foundation

extension Broker {
    /// A token from memory or renewed; for a session that has just ended, one that the app had already (SI-068).
    func silentToken(_ request: BrokerRequest, _ peer: Int) async throws(SignInError) -> BrokerAnswer {
        let (app, rule) = try app(peer)
        try check(resource: request.resource, rule)
        let scopes = request.scopes ?? []
        if let session = request.session, let departure = departures[session] {
            guard
                let token = departure.tokens.first(where: {
                    $0.serves(app, request.resource, scopes) && $0.token.expires > environment.now()
                })
            else {
                throw SignInError(.interactionRequired, .signedOut, "the account was signed out")
            }
            return Self.answer(token.token, session)
        }
        let account = try account(of: request)
        try refuseWhileOwing(app)
        // What this app was given before needs neither the store nor the provider.
        let asked = environment.now()
        if request.forcesRenewal != true, request.claims == nil,
            let known = handed.first(where: { $0.serves(app, request.resource, scopes) }),
            known.isFresh(at: asked, buffer: configuration.signIn.expiryBuffer)
        {
            return Self.answer(known.token, account.session)
        }
        var options = TokenOptions()
        options.forcesRenewal = request.forcesRenewal ?? false
        if let claims = request.claims { options.claims = try ClaimsRequest(json: claims) }
        if let id = request.correlationID { options.correlationID = id }
        let token: AccessToken
        do throws(SignInError) {
            token = try await client.accessToken(
                for: account.facts.id, resource: request.resource, scopes: scopes, options: options)
        } catch {
            if error.fault == .invalidGrant { askAfterRefusal(of: account) }
            throw error
        }
        guard let now = state.account, now.session == account.session else {
            throw SignInError(.interactionRequired, .signedOut, "the account was signed out meanwhile")
        }
        // The person signed in once more meanwhile: this token may be bound to a key that nothing signs with any longer.
        guard now.facts.session == account.facts.session else { return try await silentToken(request, peer) }
        try noteUse(by: app)
        handOut(Departure.Token(app: app, resource: request.resource, token: token, obtained: asked))
        return Self.answer(token, account.session)
    }

    private static func answer(_ token: AccessToken, _ session: UInt64) -> BrokerAnswer {
        var answer = BrokerAnswer()
        answer.token = BrokerAnswer.Token(token, session: session)
        return answer
    }

    /// The public half of the key that the session's tokens are bound to.
    func sessionKey(_ request: BrokerRequest, _ peer: Int) async throws(SignInError) -> BrokerAnswer {
        var answer = BrokerAnswer()
        answer.publicKey = try await signer(request, peer).publicKey
        return answer
    }

    /// Signs a proof of possession or a wipe's receipt of the app itself with the session's key, and nothing else.
    func proof(_ request: BrokerRequest, _ peer: Int) async throws(SignInError) -> BrokerAnswer {
        let rule = try app(peer).rule
        guard let input = request.input, let asked = SigningInput(input) else {
            throw SignInError(
                .brokerRefused, .invalidRequest, "the broker signs proofs of possession and receipts only")
        }
        try check(asked.purpose, rule)
        let signer = try await signer(request, peer)
        do throws(ProtocolError) {
            var answer = BrokerAnswer()
            answer.signature = Base64URL.encode(try signer.signature(for: Data(input.utf8)))
            return answer
        } catch {
            throw SignInError(.storage, .storeUnavailable, "the session's key could not sign")
        }
    }

    private func signer(_ request: BrokerRequest, _ peer: Int) async throws(SignInError) -> any MessageSigner {
        let app = try app(peer).identity
        if let session = request.session, let signer = departures[session]?.signer { return signer }
        let account = try account(of: request)
        try refuseWhileOwing(app)
        return try await client.signer(for: account.facts.id)
    }

    /// Refuses what the session's key would say in another app's name: all apps of a session share it.
    private func check(_ purpose: SigningInput.Purpose, _ rule: AllowedApp) throws(SignInError) {
        // In development without a list, every program of the user is whichever app it says.
        if configuration.isDevelopment, configuration.apps.isEmpty { return }
        switch purpose {
        case .proof(let origin):
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
