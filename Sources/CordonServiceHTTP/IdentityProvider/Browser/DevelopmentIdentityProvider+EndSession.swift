import Foundation
import Logging

extension DevelopmentIdentityProvider {
    /// The end-session endpoint (OpenID Connect RP-Initiated Logout). The browser leaves only for an address that the
    /// client registered, and a session ends unasked only when the app shows whose session it means.
    func endSession(_ request: ProviderRequest, issuer: String) throws(OAuthError) -> ProviderAnswer {
        let parameters = request.parameters
        var clientID = try parameters.value("client_id")
        var subject: String?
        if let hint = try parameters.value("id_token_hint") {
            // An ID token that has expired still says who is meant.
            guard let claims = signingKey.claims(IDTokenClaims.self, in: hint, typ: "JWT"), claims.iss == issuer,
                clientID == nil || clientID == claims.aud
            else {
                throw OAuthError(.invalidRequest, "id_token_hint is no ID token of this provider for this client")
            }
            clientID = claims.aud
            subject = claims.sub
        }
        let end = ProviderEndSession(
            redirectURI: try postLogoutRedirect(parameters, clientID: clientID), state: try parameters.value("state"))
        guard let signedIn = session(of: request) else { return finish(end, request, issuer: issuer) }
        if subject == signedIn.person.id { return finish(end, request, issuer: issuer) }
        let page = open(.endSession(end), mustSignIn: false, for: request)
        return decisionPage(page, person: signedIn.person, issuer: issuer)
    }

    private func postLogoutRedirect(
        _ parameters: ProviderParameters, clientID: String?
    ) throws(OAuthError) -> String? {
        guard let uri = try parameters.value("post_logout_redirect_uri") else { return nil }
        guard let client = clientID.flatMap(configuration.client),
            ProviderRedirect.isAllowed(uri, registered: client.postLogoutRedirectURIs)
        else {
            throw OAuthError(.invalidRequest, "post_logout_redirect_uri is not registered for this client")
        }
        return uri
    }

    func finish(_ end: ProviderEndSession, _ request: ProviderRequest, issuer: String) -> ProviderAnswer {
        if let signedIn = session(of: request) {
            logger.info("signed out", metadata: ["person": "\(signedIn.person.id)"])
        }
        endSession(of: request)
        var answer =
            if let uri = end.redirectURI {
                ProviderAnswer.redirect(
                    to: end.state.map { ProviderRedirect.adding([("state", $0)], to: uri) } ?? uri)
            } else {
                message("Signed out", "You may close this page.", issuer: issuer)
            }
        setCookie(Self.sessionCookie, "", in: &answer, issuer: issuer)
        return answer
    }
}
