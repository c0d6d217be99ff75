import Foundation

extension DevelopmentIdentityProvider {
    /// The question that belongs to a page: which account, whether to allow, whether to sign out.
    func decisionPage(_ page: OpenPage, person: DevelopmentDirectory.Person, issuer: String) -> ProviderAnswer {
        let nonce = randomText(16)
        let target = form(page, to: .decision, issuer: issuer)
        let name = clientName(page.interaction.purpose)
        let html: String
        switch page.interaction.purpose {
        case .authorization(let wanted) where wanted.prompts.contains(.consent):
            html = pages.decision(
                target, title: "Allow access?",
                text: "\(name) asks \(person.userPrincipalName) for access to:", allow: "Allow", deny: "Deny",
                other: "Use another account", details: wanted.access.resources + wanted.access.scopes, nonce: nonce)
        case .authorization:
            html = pages.decision(
                target, title: "Choose an account", text: "You are signed in. \(name) asks which account to use.",
                allow: "Continue as \(person.userPrincipalName)", deny: "Cancel", other: "Use another account",
                nonce: nonce)
        case .device(let key):
            let access = devices.value(key, at: clock())?.access
            html = pages.decision(
                target, title: "Connect the device?",
                text: "A device running \(name) asks to act for \(person.userPrincipalName):", allow: "Allow",
                deny: "Deny", other: "Use another account", details: (access?.resources ?? []) + (access?.scopes ?? []),
                nonce: nonce)
        case .endSession, .deviceEntry:
            html = pages.decision(
                target, title: "Sign out?", text: "You are signed in as \(person.userPrincipalName).",
                allow: "Sign out", deny: "Stay signed in", nonce: nonce)
        }
        return answer(html, nonce: nonce, page: page, issuer: issuer)
    }

    /// The form of the decision page.
    func decide(_ request: ProviderRequest, issuer: String) throws(OAuthError) -> ProviderAnswer {
        guard let page = try interaction(of: request, issuer: issuer) else { return staleForm(issuer) }
        let action = try request.form.value("action")
        if case .endSession(let end) = page.interaction.purpose {
            close(page)
            guard action == "allow" else {
                return message("Still signed in", "You may close this page.", issuer: issuer)
            }
            return finish(end, request, issuer: issuer)
        }
        guard let signedIn = session(of: request), !page.interaction.mustSignIn, action != "switch" else {
            return signInPage(update(page) { $0.mustSignIn = true }, username: "", issuer: issuer)
        }
        switch page.interaction.purpose {
        case .authorization(let wanted):
            guard action == "allow" else {
                close(page)
                return refusal(
                    OAuthError(.accessDenied, "the person refused"), to: wanted.redirectURI, state: wanted.state,
                    issuer: issuer)
            }
            return proceed(update(page) { $0.hasConsent = true }, signedIn: signedIn, issuer: issuer)
        case .device(let key):
            close(page)
            return decide(device: key, allowed: action == "allow", signedIn: signedIn, issuer: issuer)
        case .deviceEntry, .endSession: return staleForm(issuer)
        }
    }
}
