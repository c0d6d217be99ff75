import Crypto
import Foundation
import HTTPTypes

extension DevelopmentIdentityProvider {
    static let browserCookie = "cordon_idp_browser"
    static let sessionCookie = "cordon_idp_session"

    /// An interaction with its handle, as a page needs them.
    struct OpenPage {
        let handle: String
        let interaction: ProviderInteraction
        /// Set when the browser has to get a cookie first.
        let newBrowser: String?
    }

    func open(
        _ purpose: ProviderInteraction.Purpose, mustSignIn: Bool, for request: ProviderRequest
    ) -> OpenPage {
        let known = request.cookie(Self.browserCookie).flatMap { $0.utf8.count == 43 ? $0 : nil }
        let browser = known ?? randomText()
        let handle = randomText()
        let interaction = ProviderInteraction(
            purpose: purpose, browser: Self.digest(browser), token: randomText(), mustSignIn: mustSignIn)
        let now = clock()
        interactions.insert(
            interaction, for: Self.digest(handle), until: now.addingTimeInterval(seconds(\.page)), at: now)
        return OpenPage(handle: handle, interaction: interaction, newBrowser: known == nil ? browser : nil)
    }

    /// The interaction that a form belongs to; nil when the form is not ours, is too old, or came from another site.
    func interaction(of request: ProviderRequest, issuer: String) throws(OAuthError) -> OpenPage? {
        if let origin = request.headers[.origin], origin != Self.origin(of: issuer) { return nil }
        guard let handle = try request.form.value("request"), let token = try request.form.value("csrf"),
            let browser = request.cookie(Self.browserCookie),
            let interaction = interactions.value(Self.digest(handle), at: clock()),
            Self.isSame(token, interaction.token), Self.isSame(Self.digest(browser), interaction.browser)
        else { return nil }
        return OpenPage(handle: handle, interaction: interaction, newBrowser: nil)
    }

    func update(_ page: OpenPage, _ change: (inout ProviderInteraction) -> Void) -> OpenPage {
        var interaction = page.interaction
        change(&interaction)
        interactions.update(Self.digest(page.handle), at: clock()) { $0 = interaction }
        return OpenPage(handle: page.handle, interaction: interaction, newBrowser: page.newBrowser)
    }

    func close(_ page: OpenPage) { interactions.remove(Self.digest(page.handle), at: clock()) }

    func form(_ page: OpenPage, to endpoint: ProviderEndpoint, issuer: String) -> ProviderPages.Form {
        ProviderPages.Form(
            action: endpoint.address(issuer), interaction: page.handle, token: page.interaction.token)
    }

    /// A page as an answer, with the browser's cookie where it is new.
    func answer(
        _ html: String, nonce: String, status: HTTPResponse.Status = .ok, page: OpenPage? = nil, issuer: String
    ) -> ProviderAnswer {
        var targets: [String] = []
        switch page?.interaction.purpose {
        case .authorization(let request): targets = [ProviderRedirect.formTarget(request.redirectURI)]
        case .endSession(let request): targets = request.redirectURI.map { [ProviderRedirect.formTarget($0)] } ?? []
        case .device, .deviceEntry, nil: break
        }
        var answer = ProviderAnswer.page(html, status: status, nonce: nonce, formTargets: targets)
        if let browser = page?.newBrowser { setCookie(Self.browserCookie, browser, in: &answer, issuer: issuer) }
        return answer
    }

    func message(
        _ title: String, _ text: String, status: HTTPResponse.Status = .ok, issuer: String
    ) -> ProviderAnswer {
        let nonce = randomText(16)
        return answer(
            pages.message(title: title, text: text, nonce: nonce), nonce: nonce, status: status, issuer: issuer)
    }

    /// What a form gets that is not ours or has grown too old.
    func staleForm(_ issuer: String) -> ProviderAnswer {
        message(
            "This page is no longer valid", "Go back to the app and start again.", status: .forbidden, issuer: issuer)
    }

    // MARK: Sessions

    /// The session of this browser, if its person may still sign in.
    func session(of request: ProviderRequest) -> (session: ProviderSession, person: DevelopmentDirectory.Person)? {
        guard let cookie = request.cookie(Self.sessionCookie),
            let session = sessions.value(Self.digest(cookie), at: clock()),
            let person = enabledPerson(session.personID)
        else { return nil }
        return (session, person)
    }

    /// Begins a session under a new name: one that was known before a sign-in is never kept.
    func beginSession(
        for person: DevelopmentDirectory.Person, replacing request: ProviderRequest
    ) -> (session: ProviderSession, cookie: String) {
        endSession(of: request)
        let cookie = randomText()
        let now = clock()
        let session = ProviderSession(personID: person.id, authenticated: now)
        sessions.insert(session, for: Self.digest(cookie), until: now.addingTimeInterval(seconds(\.session)), at: now)
        return (session, cookie)
    }

    func endSession(of request: ProviderRequest) {
        if let old = request.cookie(Self.sessionCookie) { sessions.remove(Self.digest(old), at: clock()) }
    }

    func setCookie(_ name: String, _ value: String, in answer: inout ProviderAnswer, issuer: String) {
        let path = URLComponents(string: issuer)?.path ?? ""
        let secure = issuer.hasPrefix("https:") ? "; Secure" : ""
        let end = value.isEmpty ? "; Max-Age=0" : ""
        let field = "\(name)=\(value); Path=\(path.isEmpty ? "/" : path); HttpOnly; SameSite=Lax\(secure)\(end)"
        answer.headers.append(HTTPField(name: .setCookie, value: field))
    }

    // MARK: Comparing

    private static func isSame(_ left: String, _ right: String) -> Bool {
        SymmetricKey(data: Data(left.utf8)) == SymmetricKey(data: Data(right.utf8))
    }

    private static func origin(of issuer: String) -> String {
        guard let parts = URLComponents(string: issuer), let scheme = parts.scheme, let host = parts.host else {
            return ""
        }
        let name = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
        return "\(scheme)://\(name)" + (parts.port.map { ":\($0)" } ?? "")
    }
}
