import Foundation
import HTTPTypes
import Logging

/// The endpoints that a browser is sent to: authorization, devices and the end of a session.
extension DevelopmentIdentityProvider {
    /// The authorization endpoint.
    func authorize(_ request: ProviderRequest) throws(OAuthError) -> ProviderAnswer {
        var parameters = request.parameters
        let destination: ProviderAuthorizationRequest.Destination
        var reference: String?
        do {
            if let (key, pushed) = try pushedRequests.open(parameters) {
                reference = key
                guard pushed.expires > environment.now else {
                    return refusal(
                        OAuthError(.invalidRequestURI, "request_uri has expired"), to: pushed.destination.redirectURI,
                        state: pushed.destination.state)
                }
                parameters = pushed.parameters
            }
            destination = try .init(parameters, configuration: environment.configuration)
        } catch {
            return pages.message(
                "This sign-in cannot start", "The app sent a request that is not correct: \(error.description).",
                status: .badRequest)
        }
        var wanted: ProviderAuthorizationRequest
        do {
            wanted = try .init(
                parameters, to: destination, configuration: environment.configuration,
                subject: subject(ofIDToken:))
        } catch {
            return refusal(error, to: destination.redirectURI, state: destination.state)
        }
        wanted.pushed = reference
        return begin(wanted, request)
    }

    private func begin(_ wanted: ProviderAuthorizationRequest, _ request: ProviderRequest) -> ProviderAnswer {
        let signedIn = session(of: request).flatMap { isGoodEnough($0, for: wanted) ? $0 : nil }
        if wanted.prompts.contains(.none) {
            guard let signedIn else {
                return refusal(
                    OAuthError(.loginRequired, "no suitable person is signed in"), to: wanted.redirectURI,
                    state: wanted.state)
            }
            return grantCode(wanted, to: signedIn)
        }
        let page = browsers.open(.authorization(wanted), mustSignIn: signedIn == nil, for: request)
        guard let signedIn else { return signInPage(page) }
        if wanted.prompts.contains(.selectAccount) { return decisionPage(page, person: signedIn.person) }
        return proceed(page, signedIn: signedIn)
    }

    /// Whether a session answers the request without a new sign-in.
    private func isGoodEnough(_ signedIn: SignedIn, for wanted: ProviderAuthorizationRequest) -> Bool {
        if wanted.prompts.contains(.login) { return false }
        if let hinted = wanted.hintedSubject, hinted != signedIn.person.id { return false }
        if let hint = wanted.loginHint, hint.lowercased() != signedIn.person.userPrincipalName.lowercased() {
            return false
        }
        if let maxAge = wanted.maxAge {
            return environment.now.timeIntervalSince(signedIn.session.authenticated) < TimeInterval(maxAge)
        }
        return true
    }

    /// The next step of a page once a person is signed in: a question, or the end.
    func proceed(_ page: OpenPage, signedIn: SignedIn) -> ProviderAnswer {
        guard case .authorization(let wanted) = page.interaction.purpose,
            !wanted.prompts.contains(.consent) || page.interaction.hasConsent
        else {
            return decisionPage(page, person: signedIn.person)
        }
        browsers.close(page)
        return grantCode(wanted, to: signedIn)
    }

    private func grantCode(_ wanted: ProviderAuthorizationRequest, to signedIn: SignedIn) -> ProviderAnswer {
        if let hinted = wanted.hintedSubject, hinted != signedIn.person.id {
            return refusal(
                OAuthError(.loginRequired, "another person signed in"), to: wanted.redirectURI, state: wanted.state)
        }
        pushedRequests.finish(wanted.pushed)
        let grant = makeGrant(
            clientID: wanted.clientID, access: wanted.access, signedIn: signedIn, nonce: wanted.nonce)
        let code = grants.makeCode(for: grant, wanted)
        environment.logger.info(
            "authorization granted", metadata: ["client": "\(wanted.clientID)", "person": "\(signedIn.person.id)"])
        return respond([("code", code)], to: wanted.redirectURI, state: wanted.state)
    }

    private func makeGrant(
        clientID: String, access: ProviderAccess, signedIn: SignedIn, nonce: String? = nil
    ) -> ProviderGrant {
        ProviderGrant(
            id: environment.randomText(16), clientID: clientID, personID: signedIn.person.id, scopes: access.scopes,
            resources: access.resources, authenticated: signedIn.session.authenticated, nonce: nonce)
    }

    /// An error that the client gets through the browser.
    func refusal(_ error: OAuthError, to redirectURI: String, state: String?) -> ProviderAnswer {
        respond(
            [("error", error.code.rawValue), ("error_description", error.description)], to: redirectURI, state: state)
    }

    /// Every authorization answer names its issuer (RFC 9207).
    private func respond(_ parameters: [(String, String)], to redirectURI: String, state: String?) -> ProviderAnswer {
        let all = parameters + (state.map { [("state", $0)] } ?? []) + [("iss", issuer)]
        return .redirect(to: ProviderRedirect.adding(all, to: redirectURI))
    }

    // MARK: Devices

    /// The page where a person enters the code of a device, and its form.
    func device(_ request: ProviderRequest) throws(OAuthError) -> ProviderAnswer {
        guard request.method == .post else {
            let page = browsers.open(.deviceEntry, mustSignIn: false, for: request)
            return pages.deviceCode(page, userCode: try request.query.value("user_code") ?? "", issuer: issuer)
        }
        guard let page = try browsers.page(of: request), case .deviceEntry = page.interaction.purpose
        else { return pages.staleForm }
        let typed = try request.form.value("user_code") ?? ""
        switch devices.enter(userCode: typed) {
        case .wait(let seconds):
            return pages.deviceCode(
                page, userCode: typed, failure: "Too many codes were tried. Wait \(seconds) seconds.",
                status: .tooManyRequests, issuer: issuer)
        case .unknown:
            return pages.deviceCode(
                page, userCode: typed, failure: "This code is not known or has expired.", status: .badRequest,
                issuer: issuer)
        case .found(let key):
            let next = browsers.update(page) { $0.purpose = .device(key) }
            guard let signedIn = session(of: request) else {
                return signInPage(browsers.update(next) { $0.mustSignIn = true })
            }
            return decisionPage(next, person: signedIn.person)
        }
    }

    /// A person's decision on a device; it counts once.
    func decide(device key: String, allowed: Bool, signedIn: SignedIn) -> ProviderAnswer {
        let decided = devices.decide(key) { device in
            allowed ? makeGrant(clientID: device.clientID, access: device.access, signedIn: signedIn) : nil
        }
        guard let decided else {
            return pages.message(
                "This code is no longer valid", "Start again on the device.", status: .badRequest)
        }
        environment.logger.info(
            "device decided",
            metadata: [
                "client": "\(decided.clientID)", "person": "\(signedIn.person.id)", "allowed": "\(allowed)",
            ])
        return pages.message(
            allowed ? "The device is connected" : "The device was refused", "You may close this page.")
    }

    // MARK: End of session

    /// The end-session endpoint (OpenID Connect RP-Initiated Logout). The browser leaves only for an address that the
    /// client registered, and a session ends unasked only when the app shows whose session it means.
    func endSession(_ request: ProviderRequest) throws(OAuthError) -> ProviderAnswer {
        let parameters = request.parameters
        var clientID = try parameters.value("client_id")
        var subject: String?
        if let hint = try parameters.value("id_token_hint") {
            // An ID token that has expired still says who is meant.
            guard let claims = issuing.key.claims(IDTokenClaims.self, in: hint, typ: "JWT"), claims.iss == issuer,
                clientID == nil || clientID == claims.aud
            else {
                throw OAuthError(.invalidRequest, "id_token_hint is not an ID token of this provider for this client")
            }
            clientID = claims.aud
            subject = claims.sub
        }
        let end = ProviderEndSession(
            redirectURI: try postLogoutRedirect(parameters, clientID: clientID), state: try parameters.value("state"))
        guard let signedIn = session(of: request), subject != signedIn.person.id else { return finish(end, request) }
        let page = browsers.open(.endSession(end), mustSignIn: false, for: request)
        return decisionPage(page, person: signedIn.person)
    }

    private func postLogoutRedirect(
        _ parameters: ProviderParameters, clientID: String?
    ) throws(OAuthError) -> String? {
        guard let uri = try parameters.value("post_logout_redirect_uri") else { return nil }
        guard let client = clientID.flatMap(environment.configuration.client),
            ProviderRedirect.isAllowed(uri, registered: client.postLogoutRedirectURIs)
        else {
            throw OAuthError(.invalidRequest, "post_logout_redirect_uri is not registered for this client")
        }
        return uri
    }

    func finish(_ end: ProviderEndSession, _ request: ProviderRequest) -> ProviderAnswer {
        if let signedIn = session(of: request) {
            environment.logger.info("signed out", metadata: ["person": "\(signedIn.person.id)"])
        }
        browsers.endSession(of: request)
        var answer =
            if let uri = end.redirectURI {
                ProviderAnswer.redirect(
                    to: end.state.map { ProviderRedirect.adding([("state", $0)], to: uri) } ?? uri)
            } else {
                pages.message("Signed out", "You may close this page.")
            }
        answer.setCookie(BrowserSessions.sessionCookie, "", issuer: issuer)
        return answer
    }
}
