import Foundation
import HTTPTypes
import Logging

extension DevelopmentIdentityProvider {
    /// The page that asks for name and password.
    func signInPage(
        _ page: OpenPage, username: String? = nil, failure: String? = nil, status: HTTPResponse.Status = .ok,
        issuer: String
    ) -> ProviderAnswer {
        let nonce = randomText(16)
        var hint = ""
        if case .authorization(let wanted) = page.interaction.purpose { hint = wanted.loginHint ?? "" }
        let html = pages.signIn(
            form(page, to: .signIn, issuer: issuer), clientName: clientName(page.interaction.purpose),
            username: username ?? hint, failure: failure, nonce: nonce)
        return answer(html, nonce: nonce, status: status, page: page, issuer: issuer)
    }

    func clientName(_ purpose: ProviderInteraction.Purpose) -> String {
        let id: String? =
            switch purpose {
            case .authorization(let wanted): wanted.clientID
            case .device(let key): devices.value(key, at: clock())?.clientID
            case .deviceEntry, .endSession: nil
            }
        return id.flatMap { configuration.client($0)?.displayName } ?? "Cordon"
    }

    /// The form of the sign-in page.
    func signIn(_ request: ProviderRequest, issuer: String) async throws(OAuthError) -> ProviderAnswer {
        guard let page = try interaction(of: request, issuer: issuer) else { return staleForm(issuer) }
        if try request.form.value("action") == "cancel" { return cancel(page, issuer: issuer) }
        let username = try request.form.value("username") ?? ""
        let password = try request.form.value("password") ?? ""
        let key = username.lowercased()
        if let wait = passwordLimiter.begin(key, at: clock()) {
            logger.notice("too many wrong passwords", metadata: ["wait": "\(wait)"])
            var answer = signInPage(
                page, username: username, failure: "Too many attempts. Wait \(wait) seconds and try again.",
                status: .tooManyRequests, issuer: issuer)
            if let name = HTTPField.Name("Retry-After") { answer.headers[name] = String(wait) }
            return answer
        }
        guard let person = await person(username, password: password) else {
            return signInPage(
                page, username: username, failure: "The name or the password is not correct.", status: .badRequest,
                issuer: issuer)
        }
        passwordLimiter.succeed(key, at: clock())
        // The password took its time: the page may have been answered or have ended meanwhile.
        guard let current = try interaction(of: request, issuer: issuer) else { return staleForm(issuer) }
        let (session, cookie) = beginSession(for: person, replacing: request)
        logger.info("signed in", metadata: ["person": "\(person.id)"])
        let open = update(current) { $0.mustSignIn = false }
        var answer = proceed(open, signedIn: (session, person), issuer: issuer)
        setCookie(Self.sessionCookie, cookie, in: &answer, issuer: issuer)
        return answer
    }

    /// The person with this name and password; nil for every kind of mismatch, after the same work.
    private func person(_ name: String, password: String) async -> DevelopmentDirectory.Person? {
        let found = directory.person(userPrincipalName: name)
        guard let stored = found?.password ?? decoy else { return nil }
        let matches = await Self.matches(stored, password)
        guard matches, let found, let person = enabledPerson(found.id), person.password == stored else {
            logger.notice("sign-in refused", metadata: ["person": "\(found?.id ?? "unknown")"])
            return nil
        }
        return person
    }

    /// Runs scrypt outside of the actor, which goes on answering meanwhile.
    @concurrent private nonisolated static func matches(_ stored: DirectoryPassword, _ password: String) async -> Bool {
        stored.matches(password)
    }

    private func cancel(_ page: OpenPage, issuer: String) -> ProviderAnswer {
        close(page)
        switch page.interaction.purpose {
        case .authorization(let wanted):
            return refusal(
                OAuthError(.accessDenied, "the person cancelled"), to: wanted.redirectURI, state: wanted.state,
                issuer: issuer)
        case .device(let key):
            devices.update(key, at: clock()) { if case .pending = $0.state { $0.state = .denied } }
        case .deviceEntry, .endSession: break
        }
        return message("Cancelled", "Nothing was connected. You may close this page.", issuer: issuer)
    }
}
