import Foundation
import HTTPTypes

/// Pages as answers: each with its form, its headers and, where the browser is new, its cookie.
struct PageAnswers: Sendable {
    let pages: ProviderPages
    let environment: ProviderEnvironment

    /// The page that asks for name and password.
    func signIn(
        _ page: OpenPage, of client: IdentityProviderClient?, username: String? = nil, failure: String? = nil,
        status: HTTPResponse.Status = .ok, issuer: String
    ) -> ProviderAnswer {
        let nonce = environment.randomText(16)
        var hint = ""
        if case .authorization(let wanted) = page.interaction.purpose { hint = wanted.loginHint ?? "" }
        let html = pages.signIn(
            form(page, to: .signIn, issuer: issuer), clientName: Self.name(client), username: username ?? hint,
            failure: failure, nonce: nonce)
        return answer(html, nonce: nonce, status: status, page: page, issuer: issuer)
    }

    /// The question that belongs to a page: which account, whether to allow, whether to sign out.
    ///
    /// - Parameter access: What a device asks for.
    func decision(
        _ page: OpenPage, of client: IdentityProviderClient?, access: ProviderAccess?,
        person: DevelopmentDirectory.Person, issuer: String
    ) -> ProviderAnswer {
        let nonce = environment.randomText(16)
        let target = form(page, to: .decision, issuer: issuer)
        let name = Self.name(client)
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
        case .device:
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

    /// The page that asks for the code of a device.
    func deviceCode(
        _ page: OpenPage, userCode: String, failure: String? = nil, status: HTTPResponse.Status = .ok, issuer: String
    ) -> ProviderAnswer {
        let nonce = environment.randomText(16)
        let html = pages.deviceCode(
            form(page, to: .device, issuer: issuer), userCode: userCode, failure: failure, nonce: nonce)
        return answer(html, nonce: nonce, status: status, page: page, issuer: issuer)
    }

    /// A page without a form.
    func message(_ title: String, _ text: String, status: HTTPResponse.Status = .ok) -> ProviderAnswer {
        let nonce = environment.randomText(16)
        return .page(pages.message(title: title, text: text, nonce: nonce), status: status, nonce: nonce)
    }

    /// What a form gets that is not ours or has grown too old.
    var staleForm: ProviderAnswer {
        message("This page is no longer valid", "Go back to the app and start again.", status: .forbidden)
    }

    private func answer(
        _ html: String, nonce: String, status: HTTPResponse.Status = .ok, page: OpenPage, issuer: String
    ) -> ProviderAnswer {
        var targets: [String] = []
        switch page.interaction.purpose {
        case .authorization(let request): targets = [ProviderRedirect.formTarget(request.redirectURI)]
        case .endSession(let request): targets = request.redirectURI.map { [ProviderRedirect.formTarget($0)] } ?? []
        case .device, .deviceEntry: break
        }
        var answer = ProviderAnswer.page(html, status: status, nonce: nonce, formTargets: targets)
        if let browser = page.newBrowser { answer.setCookie(BrowserSessions.browserCookie, browser, issuer: issuer) }
        return answer
    }

    private func form(_ page: OpenPage, to endpoint: ProviderEndpoint, issuer: String) -> ProviderPages.Form {
        ProviderPages.Form(
            action: endpoint.address(issuer), interaction: page.handle, token: page.interaction.token)
    }

    private static func name(_ client: IdentityProviderClient?) -> String { client?.displayName ?? "Cordon" }
}
