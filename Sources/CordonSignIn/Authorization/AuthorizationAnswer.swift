internal import CordonBase
internal import Foundation

/// What came back through the browser, checked against the attempt it claims to answer.
struct AuthorizationAnswer: Sendable {
    let code: String

    /// Checks an answer: redirect, state, issuer, then success.
    ///
    /// - Parameter announcesIssuer: Whether the provider promised to name itself in every answer (RFC 9207).
    init(
        _ url: URL, to attempt: AuthorizationAttempt, issuer: String, announcesIssuer: Bool, correlationID: UUID
    ) throws(SignInError) {
        let text = url.absoluteString
        let end = text.firstIndex { $0 == "?" || $0 == "#" } ?? text.endIndex
        guard text[..<end] == attempt.redirect else {
            throw SignInError(.server, .invalidRedirect, "the answer came to another redirect")
        }
        guard text.utf8.count <= 16_384, let query = URLComponents(string: text)?.percentEncodedQuery,
            let parameters = FormEncoding.unique(query)
        else { throw SignInError(.server, .invalidResponse, "the answer's parameters are missing or repeated") }
        guard let state = parameters["state"], ConstantTime.equal(state, attempt.state) else {
            throw SignInError(.server, .invalidState, "the answer does not belong to this sign-in")
        }
        // Not believed of a provider that is not the right one, but the hint that its administrator needs.
        let alsoSays = parameters["error"].map { "; it also says \(OAuthFailure.printable($0))" } ?? ""
        if let named = parameters["iss"] {
            guard Array(named.utf8) == Array(issuer.utf8) else {
                throw SignInError(
                    .server, .issuerMismatch, "the answer comes from another identity provider\(alsoSays)")
            }
        } else if announcesIssuer {
            throw SignInError(
                .server, .issuerMismatch, "the answer does not name its identity provider as announced\(alsoSays)")
        }
        if let error = parameters["error"] {
            var details = SignInErrorDetails()
            details.correlationID = correlationID
            let failure = OAuthFailure(
                error: error, errorDescription: parameters["error_description"], subError: parameters["error_subcode"],
                claims: parameters["claims"])
            throw failure.error(grant: .none, details: details)
        }
        guard let code = parameters["code"], !code.isEmpty else {
            throw SignInError(.server, .invalidResponse, "the answer holds no code")
        }
        self.code = code
    }
}

/// Comparison whose duration does not tell where two texts differ.
package enum ConstantTime {
    package static func equal(_ left: String, _ right: String) -> Bool {
        let left = Array(left.utf8)
        let right = Array(right.utf8)
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
