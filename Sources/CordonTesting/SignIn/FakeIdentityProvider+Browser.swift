public import CordonSignIn
public import Foundation

extension FakeIdentityProvider {
    /// A browser in which the person signs in at once; the answer goes straight back to the client.
    public nonisolated func browser(signingInAs person: FakePerson) -> BrowserLauncher {
        BrowserLauncher { page, _ in await self.visit(page, as: person) }
    }

    /// Shows a page of the provider to a person who does what it asks; the address the browser is sent to then.
    ///
    /// Nil when the page shows an error instead of sending the browser anywhere.
    public func visit(_ page: URL, as person: FakePerson) -> URL? {
        let query = Self.parameters(URLComponents(url: page, resolvingAgainstBaseURL: false)?.percentEncodedQuery ?? "")
        switch page.path() {
        case "/authorize": return authorize(query, as: person)
        case "/logout": return endSession(query)
        default: return nil
        }
    }

    private func authorize(_ query: [String: String], as person: FakePerson) -> URL? {
        var request = query
        if let reference = query["request_uri"] {
            guard let known = pushed.removeValue(forKey: reference) else { return nil }
            request = known
            if faults.remove(.expiredReferenceOnce) != nil {
                return redirect(request, ["error": "invalid_request_uri"])
            }
        } else if faults.contains(.pushedRequests) {
            return nil
        }
        guard request["client_id"] == clientID, let redirect = request["redirect_uri"],
            request["response_type"] == "code"
        else { return nil }
        guard request["code_challenge_method"] == "S256", let challenge = request["code_challenge"],
            challenge.count == 43
        else { return self.redirect(request, ["error": "invalid_request"]) }
        if faults.contains(.accessDenied) { return self.redirect(request, ["error": "access_denied"]) }
        let prompt = request["prompt"] ?? ""
        if prompt == "none", !sessions.contains(person.subject) {
            return self.redirect(request, ["error": "login_required"])
        }
        sessions.insert(person.subject)
        let code = UUID().uuidString
        grants[code] = Grant(
            person: person, scopes: Self.words(request["scope"]), nonce: request["nonce"], challenge: challenge,
            redirect: redirect, keyThumbprint: request["dpop_jkt"])
        return self.redirect(request, ["code": code])
    }

    private func redirect(_ request: [String: String], _ answer: [String: String]) -> URL? {
        var answer = answer
        answer["state"] = request["state"]
        answer["iss"] = issuer
        if faults.contains(.wrongState) { answer["state"] = "somebody-elses-state" }
        if faults.contains(.noState) { answer["state"] = nil }
        if faults.contains(.foreignIssuerInAnswer) { answer["iss"] = "https://id.attacker.example" }
        if faults.contains(.noIssuerInAnswer) { answer["iss"] = nil }
        let target = faults.contains(.wrongRedirect) ? "http://127.0.0.1:1/elsewhere" : request["redirect_uri"] ?? ""
        var parts = URLComponents(string: target)
        var items = answer.sorted { $0.key < $1.key }.map { URLQueryItem(name: $0.key, value: $0.value) }
        if faults.contains(.repeatedCode) { items.append(URLQueryItem(name: "code", value: "another")) }
        parts?.queryItems = items
        return parts?.url
    }

    private func endSession(_ query: [String: String]) -> URL? {
        guard query["client_id"] == clientID else { return nil }
        sessions.removeAll()
        received.append(Received(path: "/logout", parameters: query, hasProof: false))
        var parts = query["post_logout_redirect_uri"].flatMap { URLComponents(string: $0) }
        parts?.queryItems = query["state"].map { [URLQueryItem(name: "state", value: $0)] }
        return parts?.url
    }

    static func words(_ text: String?) -> [String] {
        (text ?? "").split(separator: " ").map(String.init)
    }
}
