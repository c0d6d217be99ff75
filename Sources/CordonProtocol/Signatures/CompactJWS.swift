internal import CordonBase
public import Foundation

/// A JSON Web Signature in compact form (RFC 7515), ES256 only.
///
/// Verification looks at the header's algorithm, type and key, then at the signature, and only then gives
/// out the payload: nobody can parse what was not verified (SRV-CI-083). `none` and symmetric algorithms do
/// not exist here, and critical extensions are refused because none is understood.
public enum CompactJWS {
    /// The largest text that is looked at, in bytes.
    public static let largestText = 4 << 20

    private struct Header: Codable {
        var alg: String
        var typ: String?
        var kid: String?
        var jwk: JSONWebKey?
        var crit: [String]?
    }

    /// Signs a payload.
    ///
    /// - Parameters:
    ///   - payload: The bytes to sign.
    ///   - type: The `typ` header member, such as ``MessageType/policyEnvelope``.
    ///   - embedsKey: Whether the header carries the whole public key instead of its id.
    /// - Throws: ``ProtocolError`` when the key cannot sign.
    public static func sign(
        _ payload: Data, type: MessageType, with signer: some MessageSigner, embedsKey: Bool = false
    ) throws(ProtocolError) -> String {
        let header = Header(
            alg: "ES256", typ: type.rawValue, kid: embedsKey ? nil : signer.publicKey.keyID,
            jwk: embedsKey ? signer.publicKey : nil)
        let signed = Base64URL.encode(try MessageCoding.encode(header)) + "." + Base64URL.encode(payload)
        let signature = try signer.signature(for: Data(signed.utf8))
        return signed + "." + Base64URL.encode(signature)
    }

    /// The payload of a text signed by one of the keys.
    ///
    /// - Throws: ``ProtocolError`` saying which check failed; nothing of the payload is returned then.
    public static func payload(
        of text: String, type: MessageType, signedBy keys: JSONWebKeySet
    ) throws(ProtocolError) -> Data {
        let parts = try Parts(text, type: type)
        guard parts.header.jwk == nil, let keyID = parts.header.kid else {
            throw ProtocolError(.unknownKey, "the signature names no key id")
        }
        guard let key = keys[keyID] else { throw ProtocolError(.unknownKey, "no trusted key has the id \(keyID)") }
        return try parts.payload(verifiedWith: key)
    }

    /// The payload of a text that carries its own key, and that key; the caller must decide whether to trust it.
    ///
    /// - Throws: ``ProtocolError`` saying which check failed.
    public static func payloadWithEmbeddedKey(
        of text: String, type: MessageType
    ) throws(ProtocolError) -> (payload: Data, key: JSONWebKey) {
        let parts = try Parts(text, type: type)
        guard let key = parts.header.jwk else { throw ProtocolError(.unknownKey, "the signature carries no key") }
        return (try parts.payload(verifiedWith: key), key)
    }

    private struct Parts {
        let header: Header
        let signed: Data
        let payload: Data
        let signature: Data

        init(_ text: String, type: MessageType) throws(ProtocolError) {
            guard text.utf8.count <= CompactJWS.largestText else {
                throw ProtocolError(.malformed, "the signed text is larger than \(CompactJWS.largestText) bytes")
            }
            let parts = text.split(separator: ".", omittingEmptySubsequences: false)
            guard parts.count == 3, let header = Base64URL.decode(parts[0]), let payload = Base64URL.decode(parts[1]),
                let signature = Base64URL.decode(parts[2])
            else { throw ProtocolError(.malformed, "the signed text is not three base64url parts") }
            self.header = try MessageCoding.decode(Header.self, from: header)
            self.signed = Data((parts[0] + "." + parts[1]).utf8)
            self.payload = payload
            self.signature = signature
            guard self.header.alg == "ES256" else {
                throw ProtocolError(.unsupported, "the signature's algorithm is not ES256")
            }
            guard self.header.typ == type.rawValue else {
                throw ProtocolError(.unsupported, "the signed text is not of type \(type.rawValue)")
            }
            guard self.header.crit == nil else {
                throw ProtocolError(.unsupported, "the signature has critical extensions that are not understood")
            }
        }

        func payload(verifiedWith key: JSONWebKey) throws(ProtocolError) -> Data {
            guard key.isValidSignature(signature, for: signed) else {
                throw ProtocolError(.wrongSignature, "the signature does not match")
            }
            return payload
        }
    }
}
