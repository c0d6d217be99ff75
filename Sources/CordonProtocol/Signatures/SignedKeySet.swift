package import CordonPolicy
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
    /// The same keys, their version and their validity, compact JWS with the key embedded that signed it: the root key, or one
    /// that ``delegation`` names.
    public let signed: String
    /// The root key's ``KeyDelegation`` for the key that signed; nil where the root key itself did.
    public let delegation: String?

    private struct Payload: Encodable, JSONReadable {
        var keys: [JSONWebKey]
        var iat: Int64
        var exp: Int64
        /// Nil in sets of services before versions.
        var ver: Int64?

        init(keys: [JSONWebKey], iat: Int64, exp: Int64, ver: Int64) {
            self.keys = keys
            self.iat = iat
            self.exp = exp
            self.ver = ver
        }

        init(_ members: JSONMembers) throws(PolicyError) {
            keys = try members.list("keys")
            iat = try members.number("iat")
            exp = try members.number("exp")
            ver = try members.optionalNumber("ver")
        }
    }

    /// Signs a set of keys with the root key.
    ///
    /// - Parameter version: Higher than that of every set before it, so that an app takes no older one.
    /// - Throws: ``ProtocolError`` when the root key cannot sign.
    public init(
        _ keys: [JSONWebKey], for use: Use = .envelopes, version: Int64 = 0, validFrom issued: Date,
        until expiry: Date, root: some MessageSigner
    ) throws(ProtocolError) {
        try self.init(keys, for: use, version: version, validFrom: issued, until: expiry, signer: root, under: nil)
    }

    /// Signs a set of keys with a key that the root key has delegated that to; the set ends with the delegation.
    ///
    /// - Throws: ``ProtocolError`` when the key cannot sign.
    public init(
        _ keys: [JSONWebKey], for use: Use = .envelopes, version: Int64 = 0, validFrom issued: Date,
        until expiry: Date, delegate: some MessageSigner, under delegation: KeyDelegation
    ) throws(ProtocolError) {
        try self.init(
            keys, for: use, version: version, validFrom: issued, until: min(expiry, delegation.expires),
            signer: delegate, under: delegation.text)
    }

    private init(
        _ keys: [JSONWebKey], for use: Use, version: Int64, validFrom issued: Date, until expiry: Date,
        signer: some MessageSigner, under delegation: String?
    ) throws(ProtocolError) {
        let payload = Payload(
            keys: keys, iat: Int64(issued.timeIntervalSince1970), exp: Int64(expiry.timeIntervalSince1970),
            ver: version)
        self.keys = keys
        self.delegation = delegation
        self.signed = try CompactJWS.sign(
            try MessageCoding.encode(payload), type: use.messageType, with: signer, embedsKey: true)
    }

    /// The keys that may sign envelopes, provided that a pinned root key, or a key that it delegated that to, signed them for
    /// that and they are valid now.
    ///
    /// - Parameters:
    ///   - pin: The RFC 7638 thumbprint of the root key.
    ///   - next: That of the root key that may follow it, nil for none.
    ///   - now: The moment; `.distantPast` for a set whose validity was looked at when it came.
    ///   - known: The version of the newest set that was ever taken: an older one is refused, since an attacker who recorded it may
    ///     have a key that has left the set since.
    /// - Throws: ``ProtocolError``: `unsupported` for a set for another use, `unknownKey` for another root,
    ///   `wrongSignature`, `expired`, or `replayed` for an older set.
    public func verified(
        pin: String, orNext next: String? = nil, at now: Date, after known: Int64 = 0
    ) throws(ProtocolError) -> JSONWebKeySet {
        let (payload, root) = try content(as: .keySet, at: now)
        guard root == pin || root == next else { throw Self.notPinned }
        guard now.timeIntervalSince1970 < Double(payload.exp) else {
            throw ProtocolError(.expired, "the key set has expired")
        }
        guard payload.ver ?? 0 >= known else {
            throw ProtocolError(.replayed, "the key set is older than one that was taken before")
        }
        return JSONWebKeySet(payload.keys)
    }

    /// The set's version, 0 in sets of services before versions; only worth anything once ``verified(pin:orNext:at:after:)``
    /// has succeeded.
    public var version: Int64 {
        ((try? content(as: .keySet, at: .distantPast))?.payload.ver) ?? 0
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
            (payload, root) = try content(as: .auditKeySet, at: .distantPast)
        } catch  where error.code == .unsupported {
            (payload, root) = try content(as: .keySet, at: .distantPast)
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

    /// What was signed, and the thumbprint of the root key that stands behind it.
    private func content(as type: MessageType, at now: Date) throws(ProtocolError) -> (payload: Payload, root: String) {
        let (bytes, key) = try CompactJWS.payloadWithEmbeddedKey(of: signed, type: type)
        let payload = try MessageCoding.read(Payload.self, from: bytes)
        guard let delegation else { return (payload, key.thumbprint) }
        let delegated = try KeyDelegation(verifying: delegation)
        guard delegated.key.thumbprint == key.thumbprint else {
            throw ProtocolError(.unknownKey, "the key set is signed by another key than the delegated one")
        }
        guard now < delegated.expires else { throw ProtocolError(.expired, "the root key's delegation has ended") }
        return (payload, delegated.root)
    }

    /// The thumbprint of the root key that signed a set for apps, trusted or not: for showing to a person who then decides to
    /// pin it.
    ///
    /// - Throws: ``ProtocolError`` when the set is not signed by the key that it carries or names.
    public func embeddedRoot() throws(ProtocolError) -> String {
        try content(as: .keySet, at: .distantPast).root
    }
}

extension SignedKeySet: JSONReadable {
    /// Reads the members as written; the keys are not trusted before ``verified(pin:orNext:at:after:)``.
    package init(_ members: JSONMembers) throws(PolicyError) {
        keys = try members.list("keys")
        signed = try members.text("signed")
        delegation = try members.optionalText("delegation")
    }
}
