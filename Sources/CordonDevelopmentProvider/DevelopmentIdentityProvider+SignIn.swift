import Foundation
import HTTPTypes
import Logging

/// The pages and their forms: sign-in and decision.
extension DevelopmentIdentityProvider {
    func signInPage(
        _ page: OpenPage, username: String? = nil, failure: String? = nil, status: HTTPResponse.Status = .ok
    ) -> ProviderAnswer {
        pages.signIn(
            page, of: client(of: page), username: username, failure: failure, status: status, issuer: issuer)
    }

    func decisionPage(_ page: OpenPage, person: DevelopmentDirectory.Person) -> ProviderAnswer {
        var access: ProviderAccess?
        if case .device(let key) = page.interaction.purpose { access = devices.device(key)?.access }
        return pages.decision(page, of: client(of: page), access: access, person: person, issuer: issuer)
    }

    /// The client that a page is shown for.
    private func client(of page: OpenPage) -> IdentityProviderClient? {
        let id: String? =
            switch page.interaction.purpose {
            case .authorization(let wanted): wanted.clientID
            case .device(let key): devices.device(key)?.clientID
            case .deviceEntry, .endSession: nil
            }
        return id.flatMap(environment.configuration.client)
    }

    /// The form of the sign-in page.
    func signIn(_ request: ProviderRequest) async throws(OAuthError) -> ProviderAnswer {
        guard let page = try browsers.page(of: request) else { return pages.staleForm }
        if try request.form.value("action") == "cancel" { return cancel(page) }
        let username = try request.form.value("username") ?? ""
        let password = try request.form.value("password") ?? ""
        if let wait = people.beginAttempt(username, at: environment.now) {
            environment.logger.notice("too many wrong passwords", metadata: ["wait": "\(wait)"])
            var answer = signInPage(
                page, username: username, failure: "Too many attempts. Wait \(wait) seconds and try again.",
                status: .tooManyRequests)
            answer.headers[.retryAfter] = String(wait)
            return answer
        }
        guard let person = await person(username, password: password) else {
            return signInPage(
                page, username: username, failure: "The name or the password is not correct.", status: .badRequest)
        }
        people.succeed(username, at: environment.now)
        // The password took its time: the page may have been answered or have ended meanwhile.
        guard let current = try browsers.page(of: request) else { return pages.staleForm }
        let (session, cookie) = browsers.beginSession(ofPerson: person.id, replacing: request)
        environment.logger.info("signed in", metadata: ["person": "\(person.id)"])
        let open = browsers.update(current) { $0.mustSignIn = false }
        var answer = proceed(open, signedIn: (session, person))
        answer.setCookie(BrowserSessions.sessionCookie, cookie, issuer: issuer)
        return answer
    }

    /// The person with this name and password; nil for every kind of mismatch, after the same work.
    private func person(_ name: String, password: String) async -> DevelopmentDirectory.Person? {
        let (found, stored) = people.candidate(name)
        guard let stored else { return nil }
        let matches = await Self.matches(stored, password)
        guard matches, let found, let person = people.enabled(found.id), person.password == stored else {
            environment.logger.notice("sign-in refused", metadata: ["person": "\(found?.id ?? "unknown")"])
            return nil
        }
        return person
    }

    /// Runs scrypt outside of the actor, which goes on answering meanwhile.
    @concurrent private nonisolated static func matches(_ stored: DirectoryPassword, _ password: String) async -> Bool {
        stored.matches(password)
    }

    private func cancel(_ page: OpenPage) -> ProviderAnswer {
        browsers.close(page)
        switch page.interaction.purpose {
        case .authorization(let wanted):
            pushedRequests.finish(wanted.pushed)
            return refusal(
                OAuthError(.accessDenied, "the person cancelled"), to: wanted.redirectURI, state: wanted.state)
        case .device(let key): devices.deny(key)
        case .deviceEntry, .endSession: break
        }
        return pages.message("Cancelled", "Nothing was connected. You may close this page.")
    }

    /// The form of the decision page.
    func decide(_ request: ProviderRequest) throws(OAuthError) -> ProviderAnswer {
        guard let page = try browsers.page(of: request) else { return pages.staleForm }
        let action = try request.form.value("action")
        if case .endSession(let end) = page.interaction.purpose {
            browsers.close(page)
            guard action == "allow" else { return pages.message("Still signed in", "You may close this page.") }
            return finish(end, request)
        }
        guard let signedIn = session(of: request), !page.interaction.mustSignIn, action != "switch" else {
            return signInPage(browsers.update(page) { $0.mustSignIn = true }, username: "")
        }
        switch page.interaction.purpose {
        case .authorization(let wanted):
            guard action == "allow" else {
                browsers.close(page)
                pushedRequests.finish(wanted.pushed)
                return refusal(
                    OAuthError(.accessDenied, "the person refused"), to: wanted.redirectURI, state: wanted.state)
            }
            return proceed(browsers.update(page) { $0.hasConsent = true }, signedIn: signedIn)
        case .device(let key):
            browsers.close(page)
            return decide(device: key, allowed: action == "allow", signedIn: signedIn)
        case .deviceEntry, .endSession: return pages.staleForm
        }
    }
}
