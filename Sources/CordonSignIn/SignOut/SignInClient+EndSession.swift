internal import CordonBase
internal import CordonProtocol
internal import Foundation

extension SignInClient {
    /// The path the provider sends the browser back to after sign-out.
    private static let signedOutPath = "/signed-out"

    /// Ends the browser session at the provider (OpenID Connect RP-Initiated Logout); says whether the browser came
    /// back.
    ///
    /// A closed page counts as done (SI-054): the device is signed out already.
    func endSession(
        idToken: String?, browser: BrowserLauncher, extraParameters: [String: String] = [:]
    ) async -> Bool {
        do {
            let metadata = try await provider.metadata()
            let endpoint = try ProviderAddress.endpoint(metadata.endSessionEndpoint, named: "end_session_endpoint")
            let redirect = try SignInReturn(signedOutRedirect)
            let visit = UUID()
            departures[visit] = redirect
            defer {
                departures[visit] = nil
                redirect.stop()
            }
            let state = Base64URL.encode(environment.randomBytes(32))
            var parameters = extraParameters
            parameters["client_id"] = configuration.clientID
            parameters["post_logout_redirect_uri"] = redirect.address
            parameters["state"] = state
            parameters["id_token_hint"] = idToken
            let page = try ProviderAddress.page(at: endpoint, parameters)
            let answer = try await redirect.visit(
                page, browser: browser, state: state, timeout: configuration.interactionTimeout)
            let query = URLComponents(url: answer, resolvingAgainstBaseURL: false)?.percentEncodedQuery ?? ""
            return FormEncoding.unique(query)?["state"].map { ConstantTime.equal($0, state) } ?? false
        } catch {
            return error.code == .cancelled && error.fault == .stopped
        }
    }

    private var signedOutRedirect: SignInRedirect {
        switch configuration.redirect {
        case .loopback(_, let ports): .loopback(path: Self.signedOutPath, ports: ports)
        case .application(let url): .application(url)
        }
    }
}
