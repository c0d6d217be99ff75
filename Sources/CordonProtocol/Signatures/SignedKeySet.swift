public import Foundation

/// The service's signing keys, vouched for by a root key that the app pins (SRV-CI-084).
public struct SignedKeySet: Sendable, Equatable, Codable {
    /// The keys that sign envelopes; also readable by clients that do not verify.
    public let keys: [JSONWebKey]
    /// The same keys and their validity, signed by the root key, compact JWS with the root key embedded.
    public let signed: String

    private struct Payload: Codable {
        var keys: [JSONWebKey]
        var iat: Int64
        var exp: Int64
    }

    /// Signs a set of keys.
    ///
    /// - Throws: ``ProtocolError`` when the root key cannot sign.
    public init(
        _ keys: [JSONWebKey], validFrom issued: Date, until expiry: Date, root: some MessageSigner
    ) throws(ProtocolError) {
        let payload = Payload(
            keys: keys, iat: Int64(issued.timeIntervalSince1970), exp: Int64(expiry.timeIntervalSince1970))
        self.keys = keys
        self.signed = try CompactJWS.sign(
            try MessageCoding.encode(payload), type: .keySet, with: root, embedsKey: true)
    }

    /// The keys, provided that the pinned root key signed them and they are valid now.
    ///
    /// - Parameter pin: The RFC 7638 thumbprint of the root key.
    /// - Throws: ``ProtocolError``: `unknownKey` for another root, `wrongSignature`, or `expired`.
    public func verified(pin: String, at now: Date) throws(ProtocolError) -> JSONWebKeySet {
        let (bytes, key) = try CompactJWS.payloadWithEmbeddedKey(of: signed, type: .keySet)
        guard key.thumbprint == pin else {
            throw ProtocolError(.unknownKey, "the key set is signed by a root key that is not pinned")
        }
        let payload = try MessageCoding.decode(Payload.self, from: bytes)
        guard now.timeIntervalSince1970 < Double(payload.exp) else {
            throw ProtocolError(.expired, "the key set has expired")
        }
        return JSONWebKeySet(payload.keys)
    }

    /// The thumbprint of the root key that signed, whoever that is: for showing to a person who then decides to pin it.
    ///
    /// - Throws: ``ProtocolError`` when the set is not signed by the key that it carries.
    public func embeddedRoot() throws(ProtocolError) -> String {
        try CompactJWS.payloadWithEmbeddedKey(of: signed, type: .keySet).key.thumbprint
    }
}
