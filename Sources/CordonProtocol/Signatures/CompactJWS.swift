internal import CordonBase
internal import CordonIdentity
internal import CordonPolicy
internal import CordonSignatures
public import Foundation

/// A JSON Web Signature in compact form (RFC 7515), ES256 only.
///
/// Verification looks at the header's algorithm, type and key, then at the signature, and only then gives
/// out the payload: callers cannot parse what was not verified (SRV-CI-083). `none` and symmetric algorithms do
/// not exist here, and critical extensions are refused because none is understood.
public enum CompactJWS {
    /// The largest text that is looked at, in bytes.
    public static let largestText = SignatureProfile.largestMessage

    private struct Header: Encodable {
        var alg: String
        var typ: String?
        var jwk: JSONWebKey
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
        let algorithm = SignatureAlgorithm.es256.rawValue
        // Every answer to a check-in has one, and an encoder costs several times what the three texts do.
        let header =
            embedsKey
            ? try MessageCoding.encode(Header(alg: algorithm, typ: type.rawValue, jwk: signer.publicKey))
            : JSONValue.object([
                "alg": .string(algorithm), "kid": .string(signer.publicKey.keyID), "typ": .string(type.rawValue),
            ]).bytes
        return try SignedText.make(header: header, payload: payload, signature: signer.signature)
    }

    /// The payload of a text signed by one of the keys.
    ///
    /// - Throws: ``ProtocolError`` saying which check failed; nothing of the payload is returned then.
    public static func payload(
        of text: String, type: MessageType, signedBy keys: JSONWebKeySet
    ) throws(ProtocolError) -> Data {
        let signed = try read(text, .message(type.rawValue), type)
        guard let keyID = signed.keyID, let key = keys[keyID] else {
            throw ProtocolError(
                .unknownKey, "no trusted key has the id \(TerminalText(signed.keyID ?? "", limit: 100))")
        }
        return try payload(of: signed, verifiedWith: key)
    }

    /// The payload of a text that carries its own key, and that key; the caller must decide whether to trust it.
    ///
    /// - Throws: ``ProtocolError`` saying which check failed.
    public static func payloadWithEmbeddedKey(
        of text: String, type: MessageType
    ) throws(ProtocolError) -> (payload: Data, key: JSONWebKey) {
        let signed = try read(text, .introduction(type.rawValue), type)
        guard let key = signed.embeddedKey.map(JSONWebKey.init) else { throw ProtocolError(TextFlaw(.key), type) }
        return (try payload(of: signed, verifiedWith: key), key)
    }

    private static func read(
        _ text: String, _ profile: SignatureProfile, _ type: MessageType
    ) throws(ProtocolError) -> SignedText {
        do { return try SignedText(text, profile) } catch { throw ProtocolError(error, type) }
    }

    private static func payload(
        of text: SignedText, verifiedWith key: JSONWebKey
    ) throws(ProtocolError) -> Data {
        guard text.isSigned(by: key.verification) else {
            throw ProtocolError(.wrongSignature, "the signature does not match")
        }
        return text.payload
    }
}

extension ProtocolError {
    /// What a flaw of a signed text is to a receiver of messages.
    init(_ flaw: TextFlaw, _ type: MessageType) {
        switch flaw.kind {
        case .tooLarge: self.init(.malformed, "the signed text is too large")
        case .malformed: self.init(.malformed, "the signed text is not three base64url parts with a header")
        case .algorithm: self.init(.unsupported, "the signature's algorithm is not ES256")
        case .type: self.init(.unsupported, "the signed text is not of type \(type.rawValue)")
        case .critical:
            self.init(.unsupported, "the signature has critical extensions that are not understood")
        case .key: self.init(.unknownKey, "the signature does not name its key as its type asks")
        case .signature: self.init(.wrongSignature, "the signature does not match")
        case .claims: self.init(.malformed, "a claim of the signed text is missing or of the wrong kind")
        }
    }
}

extension JSONValue {
    /// The value as it is sent.
    var bytes: Data { Data(text().utf8) }
}
