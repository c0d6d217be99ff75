internal import CordonProtocol
internal import CordonSignIn
internal import Foundation

/// A person with a name and a password in front of a browser.
struct Person: Sendable {
    let name: String
    let password: String

    /// Opens the page that an app wants shown, signs in, and confirms whatever the provider asks.
    ///
    /// - Returns: The browser, with what it keeps by then.
    @discardableResult
    func visit(_ address: URL, over transport: any HTTPTransport) async throws(ProgramError) -> FormBrowser {
        let browser = FormBrowser(transport: transport)
        var page = try await browser.open(address)
        // The provider asks in its own order: a code, a name and password, a confirmation.
        for _ in 0..<5 {
            if page.text.contains("name=\"password\"") {
                page = try await browser.submit(
                    page, fields: ["username": name, "password": password], pressing: "sign-in")
            } else if page.text.contains("value=\"continue\"") {
                page = try await browser.submit(page, fields: [:], pressing: "continue")
            } else if page.text.contains("value=\"allow\"") {
                page = try await browser.submit(page, fields: [:], pressing: "allow")
            } else {
                break
            }
            guard page.status < 400 else {
                throw ProgramError.stage("the provider refused \(name): status \(page.status)")
            }
        }
        return browser
    }
}
