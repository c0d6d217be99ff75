import Foundation
import HTTPTypes
import Logging

extension DevelopmentIdentityProvider {
    typealias SignedIn = (session: ProviderSession, person: DevelopmentDirectory.Person)

    /// The authorization endpoint.
    func authorize(_ request: ProviderRequest, issuer: String) throws(OAuthError) -> ProviderAnswer {
        var parameters = request.parameters
        let destination: ProviderAuthorizationRequest.Destination
        do {
            if let pushed = try pushed(parameters) {
                guard pushed.expires > clock() else {
                    return refusal(
                        OAuthError(.invalidRequestURI, "request_uri has expired"), to: pushed.destination.redirectURI,
                        state: pushed.destination.state, issuer: issuer)
                }
                parameters = pushed.parameters
            }
            destination = try .init(parameters, configuration: configuration)
        } catch {
            return message(
                "This sign-in cannot start", "The app sent a request that is not correct: \(error.description).",
                status: .badRequest, issuer: issuer)
        }
        let wanted: ProviderAuthorizationRequest
        do {
            wanted = try .init(parameters, to: destination, configuration: configuration) {
                subject(ofIDToken: $0, issuer: issuer)
            }
        } catch {
            return refusal(error, to: destination.redirectURI, state: destination.state, issuer: issuer)
        }
        return begin(wanted, request, issuer: issuer)
    }

    /// The `sub` of an ID token that this provider signed, however old; nil for any other text.
    func subject(ofIDToken token: String, issuer: String) -> String? {
        signingKey.claims(IDTokenClaims.self, in: token, typ: "JWT").flatMap { $0.iss == issuer ? $0.sub : nil }
    }

    private func begin(
        _ wanted: ProviderAuthorizationRequest, _ request: ProviderRequest, issuer: String
    ) -> ProviderAnswer {
        let signedIn = session(of: request).flatMap { isGoodEnough($0, for: wanted) ? $0 : nil }
        if wanted.prompts.contains(.none) {
            guard let signedIn else {
                return refusal(
                    OAuthError(.loginRequired, "nobody suitable is signed in"), to: wanted.redirectURI,
                    state: wanted.state, issuer: issuer)
            }
            return grantCode(wanted, to: signedIn, issuer: issuer)
        }
        let page = open(.authorization(wanted), mustSignIn: signedIn == nil, for: request)
        guard let signedIn else { return signInPage(page, issuer: issuer) }
        if wanted.prompts.contains(.selectAccount) {
            return decisionPage(page, person: signedIn.person, issuer: issuer)
        }
        return proceed(page, signedIn: signedIn, issuer: issuer)
    }

    /// Whether a session answers the request without a new sign-in.
    private func isGoodEnough(_ signedIn: SignedIn, for wanted: ProviderAuthorizationRequest) -> Bool {
        if wanted.prompts.contains(.login) { return false }
        if let hinted = wanted.hintedSubject, hinted != signedIn.person.id { return false }
        if let hint = wanted.loginHint, hint.lowercased() != signedIn.person.userPrincipalName.lowercased() {
            return false
        }
        if let maxAge = wanted.maxAge {
            return clock().timeIntervalSince(signedIn.session.authenticated) < TimeInterval(maxAge)
        }
        return true
    }

    /// The next step of a page once somebody is signed in: a question, or the end.
    func proceed(_ page: OpenPage, signedIn: SignedIn, issuer: String) -> ProviderAnswer {
        guard case .authorization(let wanted) = page.interaction.purpose,
            !wanted.prompts.contains(.consent) || page.interaction.hasConsent
        else {
            return decisionPage(page, person: signedIn.person, issuer: issuer)
        }
        close(page)
        return grantCode(wanted, to: signedIn, issuer: issuer)
    }

    private func grantCode(
        _ wanted: ProviderAuthorizationRequest, to signedIn: SignedIn, issuer: String
    ) -> ProviderAnswer {
        if let hinted = wanted.hintedSubject, hinted != signedIn.person.id {
            return refusal(
                OAuthError(.loginRequired, "somebody else signed in"), to: wanted.redirectURI, state: wanted.state,
                issuer: issuer)
        }
        let now = clock()
        let code = randomText()
        let expires = now.addingTimeInterval(seconds(\.authorizationCode))
        let grant = makeGrant(
            clientID: wanted.clientID, access: wanted.access, signedIn: signedIn, nonce: wanted.nonce)
        // Kept for longer than it is good, so that a late replay still ends what came of it.
        codes.insert(
            ProviderAuthorizationCode(request: wanted, grant: grant, expires: expires), for: Self.digest(code),
            until: expires.addingTimeInterval(seconds(\.accessToken)), at: now)
        logger.info(
            "authorization granted", metadata: ["client": "\(wanted.clientID)", "person": "\(signedIn.person.id)"])
        return respond([("code", code)], to: wanted.redirectURI, state: wanted.state, issuer: issuer)
    }

    func makeGrant(
        clientID: String, access: ProviderAccess, signedIn: SignedIn, nonce: String? = nil
    ) -> ProviderGrant {
        ProviderGrant(
            id: randomText(16), clientID: clientID, personID: signedIn.person.id, scopes: access.scopes,
            resources: access.resources, authenticated: signedIn.session.authenticated, nonce: nonce)
    }

    /// An error that the client gets through the browser.
    func refusal(_ error: OAuthError, to redirectURI: String, state: String?, issuer: String) -> ProviderAnswer {
        respond(
            [("error", error.code.rawValue), ("error_description", error.description)], to: redirectURI, state: state,
            issuer: issuer)
    }

    /// Every authorization answer names its issuer (RFC 9207).
    private func respond(
        _ parameters: [(String, String)], to redirectURI: String, state: String?, issuer: String
    ) -> ProviderAnswer {
        let all = parameters + (state.map { [("state", $0)] } ?? []) + [("iss", issuer)]
        return .redirect(to: ProviderRedirect.adding(all, to: redirectURI))
    }
}
