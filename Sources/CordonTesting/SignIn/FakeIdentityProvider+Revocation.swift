internal import CordonSignIn
internal import Foundation
internal import HTTPTypes

extension FakeIdentityProvider {
    /// The revocation endpoint (RFC 7009): an unknown token counts as revoked.
    func revoke(_ parameters: [String: String], authorization: String?) -> HTTPAnswer {
        if faults.contains(.refusesRevocation) || (faults.contains(.revocationNeedsToken) && authorization == nil) {
            return Self.refusal("invalid_client", status: .unauthorized)
        }
        guard parameters["client_id"] == clientID else {
            return Self.refusal("invalid_client", status: .unauthorized)
        }
        if let token = parameters["token"], let grant = refreshTokens[token] {
            refreshTokens = refreshTokens.filter { $0.value.family != grant.family }
        }
        return HTTPAnswer(head: HTTPResponse(status: .ok), body: Data())
    }
}
