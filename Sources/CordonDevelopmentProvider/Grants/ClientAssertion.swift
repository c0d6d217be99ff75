import CordonBase
import CordonProtocol
import CordonSignatures
import Foundation
import HTTPTypes

/// A client's own signature in place of a secret (RFC 7523 §2.2, `private_key_jwt` of OpenID Connect): nothing is sent that
/// could be used again.
struct ClientAssertion {
    static let type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
    /// How far ahead an assertion may end, in seconds; what was used is remembered that long.
    static let longest: TimeInterval = 600
    private static let futureTolerance: TimeInterval = 60

    private struct Claims: Decodable {
        let iss: String
        let sub: String
        let aud: Audience
        let exp: Double
        let nbf: Double?
        let iat: Double?
        let jti: String
    }

    /// One name, or a list of names.
    private struct Audience: Decodable {
        let names: [String]

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            names = try (try? [container.decode(String.self)]) ?? container.decode([String].self)
        }
    }

    /// The client that it speaks of; believed only after ``check(_:audiences:at:)``.
    let client: String
    /// Its number, to be used once.
    let id: String
    /// When it ends.
    let expires: Date
    private let text: SignedText
    private let claims: Claims

    init(_ text: String) throws(OAuthError) {
        let signed: SignedText
        do {
            signed = try SignedText(text, .clientAssertion)
        } catch {
            throw switch error.kind {
            case .algorithm, .type, .critical:
                Self.refusal("client_assertion must be a JWT signed with ES256, PS256 or RS256")
            default: Self.notOne
            }
        }
        guard let claims = try? JSONDecoder().decode(Claims.self, from: signed.payload),
            (1...256).contains(claims.jti.utf8.count), claims.exp.isFinite, abs(claims.exp) < 1e12
        else { throw Self.notOne }
        self.text = signed
        self.claims = claims
        client = claims.sub
        id = claims.jti
        expires = Date(timeIntervalSince1970: claims.exp)
    }

    /// Checks who signed it, whom it is for and when (RFC 7523 §3).
    func check(_ signer: IdentityProviderClient, audiences: Set<String>, at now: Date) throws(OAuthError) {
        guard claims.iss == claims.sub else { throw Self.refusal("iss and sub must both be the client") }
        guard !audiences.isDisjoint(with: claims.aud.names) else {
            throw Self.refusal("aud must be the issuer or the token endpoint")
        }
        let moment = now.timeIntervalSince1970
        guard claims.exp > moment, claims.exp <= moment + Self.longest + Self.futureTolerance,
            max(claims.nbf ?? 0, claims.iat ?? 0) <= moment + Self.futureTolerance
        else { throw Self.refusal("client_assertion has ended, has not begun, or lasts longer than ten minutes") }
        guard isSigned(by: signer) else { throw Self.refusal("none of the client's keys signed client_assertion") }
    }

    /// Whether one of the client's keys of the algorithm's own kind signed it. Clients with a certificate name it by `x5t` or
    /// `x5t#S256` in place of a key id; which key it was, the signature says.
    private func isSigned(by signer: IdentityProviderClient) -> Bool {
        let keys =
            signer.keys.map { ($0.keyID as String?, $0.verification) }
            + signer.rsaKeys.map { ($0.keyID, $0.verification) }
        return keys.contains { id, key in
            (text.keyID == nil || id == nil || text.keyID == id) && text.isSigned(by: key)
        }
    }

    private static let notOne = refusal("client_assertion is not a signed JWT with iss, sub, aud, exp and jti")

    static func refusal(_ reason: String) -> OAuthError { OAuthError(.invalidClient, reason, status: .unauthorized) }
}
