package import CordonBase
internal import Crypto
package import Foundation

/// A DPoP proof whose signature holds (RFC 9449 §4.3, checks 2 to 7); its claims are the receiver's to compare.
package struct ProofOfPossession: Sendable {
    /// The key that signed it.
    package let key: P256PublicKey
    /// `jti`
    package let id: String
    /// `htm`
    package let method: String
    /// `htu`
    package let target: String
    /// `iat`, in seconds since 1970.
    package let issued: Double
    /// `ath`
    package let tokenHash: String?
    /// `nonce`
    package let nonce: String?
    /// `bodyDigest`, which is Cordon's own.
    package let bodyDigest: String?

    /// Reads a proof.
    package init(_ text: String) throws(TextFlaw) {
        let signed = try SignedText(text, .proof)
        guard let key = signed.embeddedKey, signed.isSigned(by: key.verification) else { throw TextFlaw(.signature) }
        guard let members = try? JSONReader.members(of: signed.payload),
            let id = members["jti"]?.string, let method = members["htm"]?.string, let target = members["htu"]?.string,
            case .scalar(.number(let time))? = members["iat"], let issued = Double(time), issued.isFinite,
            let tokenHash = Self.optional(members["ath"]), let nonce = Self.optional(members["nonce"]),
            let bodyDigest = Self.optional(members["bodyDigest"])
        else { throw TextFlaw(.claims) }
        self.key = key
        self.id = id
        self.method = method
        self.target = target
        self.issued = issued
        self.tokenHash = tokenHash
        self.nonce = nonce
        self.bodyDigest = bodyDigest
    }

    private static func optional(_ content: JSONReader.Content?) -> String?? {
        guard let content, !content.isNull else { return .some(nil) }
        return content.string.map { .some($0) }
    }

    /// Whether the proof was made for an address.
    package func isFor(_ url: URL) -> Bool { isFor(address: url.absoluteString) }

    /// Whether the proof was made for an address; for none where the text is no URL.
    package func isFor(address: String) -> Bool {
        // Clients repeat the address letter for letter, so the two forms seldom have to be taken apart.
        if target == address { return true }
        guard let proved = URL(string: target), let wanted = URL(string: address) else { return false }
        return Self.target(proved) == Self.target(wanted)
    }

    /// The hash by which a proof names an access token, base64url (RFC 9449 §4.2).
    package static func tokenHash(_ token: String) -> String { bodyDigest(Data(token.utf8)) }

    /// The digest by which a proof names the body of a request, base64url.
    package static func bodyDigest(_ body: Data) -> String {
        Base64URL.encode(SHA256.hash(data: body).withUnsafeBytes { Data($0) })
    }

    /// The address as a proof names it: scheme and host in lower case, the port only where it is not the scheme's own, the path
    /// as it is, neither query nor fragment (RFC 9449 §4.2, RFC 3986 §6.2).
    package static func target(_ url: URL) -> String {
        var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) ?? URLComponents()
        parts.query = nil
        parts.fragment = nil
        parts.scheme = parts.scheme?.lowercased()
        parts.host = parts.host?.lowercased()
        let usual = ["http": 80, "https": 443][parts.scheme ?? ""]
        if parts.port == usual { parts.port = nil }
        if parts.percentEncodedPath.isEmpty { parts.percentEncodedPath = "/" }
        return parts.string ?? ""
    }
}
