internal import Foundation

/// What a token endpoint hands out (RFC 6749 §5.1).
struct TokenAnswer: Decodable, Sendable {
    let accessToken: String
    let type: String
    let lifetime: Double?
    let refreshToken: String?
    let idToken: String?
    let scope: String?

    private enum CodingKeys: String, CodingKey {
        case accessToken = "access_token"
        case type = "token_type"
        case lifetime = "expires_in"
        case refreshToken = "refresh_token"
        case idToken = "id_token"
        case scope
    }

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        accessToken = try members.decode(String.self, forKey: .accessToken)
        type = try members.decode(String.self, forKey: .type)
        refreshToken = try members.decodeIfPresent(String.self, forKey: .refreshToken)
        idToken = try members.decodeIfPresent(String.self, forKey: .idToken)
        scope = try members.decodeIfPresent(String.self, forKey: .scope)
        // Some providers write the seconds as text.
        if let number = try? members.decodeIfPresent(Double.self, forKey: .lifetime) {
            lifetime = number
        } else {
            lifetime = (try? members.decodeIfPresent(String.self, forKey: .lifetime)).flatMap { Double($0) }
        }
    }

    var isBound: Bool { type.lowercased() == "dpop" }

    /// Refuses tokens of another kind than was asked for: bound to a key, or bearer tokens.
    func requireBinding(_ isWanted: Bool) throws(SignInError) {
        guard isBound == isWanted, isBound || type.lowercased() == "bearer" else {
            throw SignInError(.server, .unboundToken, "the access token is not bound to the device key as asked")
        }
    }

    /// The granted scopes: what the answer lists, else what was asked for (RFC 6749 §5.1).
    func granted(requested: [String]) -> [String] {
        guard let scope, !scope.isEmpty else { return requested }
        return scope.split(separator: " ").map(String.init)
    }
}
