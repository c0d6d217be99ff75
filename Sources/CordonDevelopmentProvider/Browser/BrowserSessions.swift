import Crypto
import Foundation
import HTTPTypes

/// An interaction with its handle, as a page needs them.
struct OpenPage {
    let handle: String
    let interaction: ProviderInteraction
    /// Set when the browser has to get a cookie first.
    let newBrowser: String?
}

/// Pages that wait for their forms, and browsers with a signed-in person.
struct BrowserSessions: Sendable {
    static let browserCookie = "cordon_idp_browser"
    static let sessionCookie = "cordon_idp_session"

    private let environment: ProviderEnvironment
    private var interactions: ProviderBoundedTable<String, ProviderInteraction>
    private var sessions: ProviderBoundedTable<String, ProviderSession>

    init(_ environment: ProviderEnvironment) {
        self.environment = environment
        interactions = .init(capacity: environment.configuration.capacity)
        sessions = .init(capacity: environment.configuration.capacity)
    }

    // MARK: Pages

    mutating func open(
        _ purpose: ProviderInteraction.Purpose, mustSignIn: Bool, for request: ProviderRequest
    ) -> OpenPage {
        let known = request.cookie(Self.browserCookie).flatMap { $0.utf8.count == 43 ? $0 : nil }
        let browser = known ?? environment.randomText()
        let handle = environment.randomText()
        let interaction = ProviderInteraction(
            purpose: purpose, browser: ProviderEnvironment.digest(browser), token: environment.randomText(),
            mustSignIn: mustSignIn)
        let now = environment.now
        interactions.insert(
            interaction, for: ProviderEnvironment.digest(handle), until: now + environment.seconds(\.page), at: now)
        return OpenPage(handle: handle, interaction: interaction, newBrowser: known == nil ? browser : nil)
    }

    /// The page that a form belongs to; nil when the form is not ours, is too old, or came from another site.
    func page(of request: ProviderRequest) throws(OAuthError) -> OpenPage? {
        if let origin = request.headers[.origin], origin != Self.origin(of: request.issuer) { return nil }
        guard let handle = try request.form.value("request"), let token = try request.form.value("csrf"),
            let browser = request.cookie(Self.browserCookie),
            let interaction = interactions.value(ProviderEnvironment.digest(handle), at: environment.now),
            Self.isSame(token, interaction.token),
            Self.isSame(ProviderEnvironment.digest(browser), interaction.browser)
        else { return nil }
        return OpenPage(handle: handle, interaction: interaction, newBrowser: nil)
    }

    mutating func update(_ page: OpenPage, _ change: (inout ProviderInteraction) -> Void) -> OpenPage {
        var interaction = page.interaction
        change(&interaction)
        interactions.update(ProviderEnvironment.digest(page.handle), at: environment.now) { $0 = interaction }
        return OpenPage(handle: page.handle, interaction: interaction, newBrowser: page.newBrowser)
    }

    mutating func close(_ page: OpenPage) {
        interactions.remove(ProviderEnvironment.digest(page.handle), at: environment.now)
    }

    // MARK: Sessions

    func session(of request: ProviderRequest) -> ProviderSession? {
        request.cookie(Self.sessionCookie).flatMap {
            sessions.value(ProviderEnvironment.digest($0), at: environment.now)
        }
    }

    /// Begins a session under a new name: one that was known before a sign-in is never kept.
    mutating func beginSession(
        ofPerson id: String, replacing request: ProviderRequest
    ) -> (session: ProviderSession, cookie: String) {
        endSession(of: request)
        let cookie = environment.randomText()
        let now = environment.now
        let session = ProviderSession(personID: id, authenticated: now)
        sessions.insert(
            session, for: ProviderEnvironment.digest(cookie), until: now + environment.seconds(\.session), at: now)
        return (session, cookie)
    }

    mutating func endSession(of request: ProviderRequest) {
        guard let old = request.cookie(Self.sessionCookie) else { return }
        sessions.remove(ProviderEnvironment.digest(old), at: environment.now)
    }

    mutating func endSessions(ofPerson id: String) { sessions.removeAll { $0.personID == id } }

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
