import CordonPages
import CordonProtocol
import Foundation
import HTTPTypes

/// The pages of the provider: plain HTML forms, no script, nothing loaded from elsewhere.
struct ProviderPages: Sendable {
    /// A form that waits for an answer: where it goes and what proves that it came from this page.
    struct Form: Sendable {
        let action: String
        let interaction: String
        let token: String
    }

    private let library: PageLibrary

    init() throws(ProgramError) {
        do {
            library = try PageLibrary(ProviderTemplates.all)
        } catch {
            throw ProgramError(
                .configurationInvalid, reason: "a page template cannot be read", place: "pages",
                hint: "this is a fault of the program: report it")
        }
    }

    /// Name and password. `failure` says why the last attempt did not work.
    func signIn(
        _ form: Form, clientName: String, username: String, failure: String?, nonce: String
    ) -> String {
        render(
            "sign-in", title: "Sign in", nonce: nonce, form: form,
            ["client": clientName, "username": username, "failure": failure ?? ""])
    }

    /// A question with an `allow` and a `deny` button, and `switch` when another account may be chosen.
    func decision(
        _ form: Form, title: String, text: String, allow: String, deny: String, other: String? = nil,
        details: [String] = [], nonce: String
    ) -> String {
        render(
            "decision", title: title, nonce: nonce, form: form,
            ["text": text, "allow": allow, "deny": deny, "other": other ?? ""], details: details)
    }

    /// The code that a device shows.
    func deviceCode(_ form: Form, userCode: String, failure: String?, nonce: String) -> String {
        render(
            "device-code", title: "Connect a device", nonce: nonce, form: form,
            ["code": userCode, "failure": failure ?? ""])
    }

    /// A page without a form.
    func message(title: String, text: String, nonce: String) -> String {
        render("message", title: title, nonce: nonce, form: nil, ["text": text])
    }

    private func render(
        _ template: String, title: String, nonce: String, form: Form?, _ values: [String: String],
        details: [String] = []
    ) -> String {
        var all = values
        all["title"] = title
        all["nonce"] = nonce
        all["action"] = form?.action
        all["request"] = form?.interaction
        all["csrf"] = form?.token
        var model: [String: Any] = all.filter { !$0.value.isEmpty }
        if !details.isEmpty { model["details"] = details.map { ["detail": $0] } }
        return library.render(template, model)
    }
}

extension ProviderAnswer {
    /// A page with headers that keep scripts, frames and foreign forms out.
    ///
    /// - Parameter formTargets: where the answer to the page's form may lead besides this server.
    static func page(
        _ html: String, status: HTTPResponse.Status, nonce: String, formTargets: [String] = []
    ) -> ProviderAnswer {
        var answer = ProviderAnswer(status: status, body: Data(html.utf8))
        answer.headers[.contentType] = "text/html; charset=utf-8"
        answer.headers[.cacheControl] = "no-store"
        answer.headers[.contentSecurityPolicy] =
            "default-src 'none'; style-src 'nonce-\(nonce)'; base-uri 'none'; frame-ancestors 'none'; "
            + "form-action \((["'self'"] + formTargets).joined(separator: " "))"
        answer.headers[.xContentTypeOptions] = "nosniff"
        answer.headers[.xFrameOptions] = "DENY"
        // Not no-referrer: with that, browsers send "Origin: null" with our own forms.
        answer.headers[.referrerPolicy] = "same-origin"
        return answer
    }
}
