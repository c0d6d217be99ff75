public import Foundation

/// The root key's word that another key may sign key sets for a while, so that the root key itself can be kept away from the
/// machine that answers requests (SRV-CI-084).
public struct KeyDelegation: Sendable, Equatable {
    /// The statement, compact JWS with the root key embedded.
    public let text: String
    /// The key that may sign key sets.
    public let key: JSONWebKey
    /// The RFC 7638 thumbprint of the root key.
    public let root: String
    /// When it was signed.
    public let issued: Date
    /// When it ends; sets of the key end no later.
    public let expires: Date

    private struct Payload: Codable {
        var key: JSONWebKey
        var iat: Int64
        var exp: Int64
    }

    /// Signs a delegation.
    ///
    /// - Throws: ``ProtocolError`` when the root key cannot sign.
    public init(
        of key: JSONWebKey, from issued: Date, until expires: Date, root: some MessageSigner
    ) throws(ProtocolError) {
        let payload = Payload(
            key: key, iat: Int64(issued.timeIntervalSince1970), exp: Int64(expires.timeIntervalSince1970))
        try self.init(
            verifying: CompactJWS.sign(
                try MessageCoding.encode(payload), type: .keyDelegation, with: root, embedsKey: true))
    }

    /// Reads a delegation and checks that the key in it signed it; whether to trust that key is the caller's to decide.
    ///
    /// - Throws: ``ProtocolError`` saying which check failed.
    public init(verifying text: String) throws(ProtocolError) {
        let (bytes, root) = try CompactJWS.payloadWithEmbeddedKey(of: text, type: .keyDelegation)
        let payload = try MessageCoding.decode(Payload.self, from: bytes)
        self.text = text
        self.key = payload.key
        self.root = root.thumbprint
        self.issued = Date(timeIntervalSince1970: Double(payload.iat))
        self.expires = Date(timeIntervalSince1970: Double(payload.exp))
    }
}
