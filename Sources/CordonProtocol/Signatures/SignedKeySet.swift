public import Foundation

/// The service's signing keys, vouched for by a root key that the app pins (SRV-CI-084).
public struct SignedKeySet: Sendable, Equatable, Codable {
    /// What the root key vouches for with a set; a set for one use is refused for any other.
    public enum Use: Sendable {
        /// The keys may sign envelopes from now until the set expires. Apps take nothing else.
        case envelopes
        /// The keys have signed checkpoints of the audit log. Keys that were retired stay in such a set for ever, those that
        /// leaked among them, because earlier checkpoints need them.
        case audit

        /// The `typ` header member of such a set.
        public var messageType: MessageType {
            switch self {
            case .envelopes: .keySet
            case .audit: .auditKeySet
            }
        }
    }

    /// The keys; also readable by clients that do not verify.
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
        _ keys: [JSONWebKey], for use: Use = .envelopes, validFrom issued: Date, until expiry: Date,
        root: some MessageSigner
    ) throws(ProtocolError) {
        let payload = Payload(
            keys: keys, iat: Int64(issued.timeIntervalSince1970), exp: Int64(expiry.timeIntervalSince1970))
        self.keys = keys
        self.signed = try CompactJWS.sign(
            try MessageCoding.encode(payload), type: use.messageType, with: root, embedsKey: true)
    }

    /// The keys that may sign envelopes, provided that the pinned root key signed them for that and they are valid now.
    ///
    /// - Parameter pin: The RFC 7638 thumbprint of the root key.
    /// - Throws: ``ProtocolError``: `unsupported` for a set for another use, `unknownKey` for another root,
    ///   `wrongSignature`, or `expired`.
    public func verified(pin: String, at now: Date) throws(ProtocolError) -> JSONWebKeySet {
        let (payload, root) = try content(as: .keySet)
        guard root == pin else { throw Self.notPinned }
        guard now.timeIntervalSince1970 < Double(payload.exp) else {
            throw ProtocolError(.expired, "the key set has expired")
        }
        return JSONWebKeySet(payload.keys)
    }

    /// The keys that sign checkpoints, and the thumbprint of the root key that vouches for them; an export stays readable
    /// after its set has expired.
    ///
    /// Exports had the same kind of set as apps once. Such a set counts when the root key signed it before
    /// ``auditSetsSince``; a later one was meant for apps, or the log must be exported again.
    ///
    /// - Parameter pin: The RFC 7638 thumbprint of the root key; nil trusts whichever key the set brings along.
    /// - Throws: ``ProtocolError`` saying which check failed.
    func auditKeys(pin: String?) throws(ProtocolError) -> (keys: JSONWebKeySet, root: String) {
        let payload: Payload
        let root: String
        do {
            (payload, root) = try content(as: .auditKeySet)
        } catch  where error.code == .unsupported {
            (payload, root) = try content(as: .keySet)
            guard Double(payload.iat) < Self.auditSetsSince.timeIntervalSince1970 else {
                throw ProtocolError(
                    .unsupported, "the keys are vouched for as those of envelopes, not as those of the audit log",
                    hint: "Export the log again with a service of this version.")
            }
        }
        guard pin == nil || root == pin else { throw Self.notPinned }
        return (JSONWebKeySet(payload.keys), root)
    }

    /// From when on exports need a set of their own kind: 2027-01-01T00:00:00Z.
    static let auditSetsSince = Date(timeIntervalSince1970: 1_798_761_600)

    private static let notPinned = ProtocolError(
        .unknownKey, "the key set is signed by a root key that is not pinned")

    private func content(as type: MessageType) throws(ProtocolError) -> (payload: Payload, root: String) {
        let (bytes, key) = try CompactJWS.payloadWithEmbeddedKey(of: signed, type: type)
        return (try MessageCoding.decode(Payload.self, from: bytes), key.thumbprint)
    }

    /// The thumbprint of the root key that signed a set for apps, whoever that is: for showing to a person who then decides to
    /// pin it.
    ///
    /// - Throws: ``ProtocolError`` when the set is not signed by the key that it carries.
    public func embeddedRoot() throws(ProtocolError) -> String { try content(as: .keySet).root }
}
