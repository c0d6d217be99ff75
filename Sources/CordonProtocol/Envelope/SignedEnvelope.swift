internal import CordonBase
public import CordonIdentity
internal import Crypto
public import Foundation

/// A policy envelope as it travels and is stored: a compact JWS that nothing has parsed yet.
///
/// Keep this value, not the payload: an app verifies it again at every start (SRV-CI-083).
public struct SignedEnvelope: Sendable, Equatable, Codable {
    /// The compact JWS exactly as received.
    public let text: String

    /// Wraps a text as received; nothing is checked yet.
    public init(_ text: String) {
        self.text = text
    }

    /// Reads a bare string.
    public init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode(String.self))
    }

    /// Writes a bare string.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }

    /// Signs an envelope.
    ///
    /// - Throws: ``ProtocolError`` when the key cannot sign.
    public init(signing envelope: PolicyEnvelope, with signer: some MessageSigner) throws(ProtocolError) {
        self.text = try CompactJWS.sign(
            try MessageCoding.encode(envelope), type: .policyEnvelope, with: signer)
    }

    /// The SHA-256 of the text, base64url: how a device tells the service which envelope is in force.
    public var digest: String {
        Base64URL.encode(SHA256.hash(data: Array(text.utf8)).withUnsafeBytes { Data($0) })
    }

    /// The receiver that an envelope must have been made for.
    public struct Receiver: Sendable, Equatable {
        /// The organisation.
        public var tenant: TenantID
        /// The registration.
        public var registrationID: String
        /// The account.
        public var account: AccountID
        /// The app, compared without case.
        public var bundleID: String

        /// Makes a receiver.
        public init(tenant: TenantID, registrationID: String, account: AccountID, bundleID: String) {
            self.tenant = tenant
            self.registrationID = registrationID
            self.account = account
            self.bundleID = bundleID
        }
    }

    /// The envelope of a stored text: signature and receiver are checked again, age and sequence are not.
    ///
    /// - Throws: ``ProtocolError``: signature first, then form, then receiver.
    public func verified(by keys: JSONWebKeySet, for receiver: Receiver) throws(ProtocolError) -> PolicyEnvelope {
        let payload = try CompactJWS.payload(of: text, type: .policyEnvelope, signedBy: keys)
        let envelope = try MessageCoding.read(PolicyEnvelope.self, from: payload)
        guard envelope.tenant == receiver.tenant, envelope.registrationID == receiver.registrationID,
            envelope.account == receiver.account,
            envelope.bundleID.lowercased() == receiver.bundleID.lowercased()
        else { throw ProtocolError(.wrongRecipient, "the envelope was made for another registration") }
        return envelope
    }

    /// The envelope of a text that has just arrived.
    ///
    /// - Parameters:
    ///   - current: The envelope in force, nil for none; a lower sequence, or the same one with other bytes, is refused.
    ///   - nonce: The random value of the request that this answers.
    /// - Throws: ``ProtocolError``: as ``verified(by:for:)``, then `expired` or `replayed` (SRV-CI-085).
    public func accepted(
        by keys: JSONWebKeySet, for receiver: Receiver, after current: (sequence: Int64, digest: String)?,
        nonce: String, at now: Date
    ) throws(ProtocolError) -> PolicyEnvelope {
        let envelope = try verified(by: keys, for: receiver)
        guard now.timeIntervalSince1970 < Double(envelope.expiresAt) else {
            throw ProtocolError(.expired, "the envelope has expired")
        }
        guard envelope.nonce == nonce else {
            throw ProtocolError(.replayed, "the envelope answers another request")
        }
        if let current {
            let repeats = envelope.sequence == current.sequence && digest == current.digest
            guard envelope.sequence > current.sequence || repeats else {
                throw ProtocolError(
                    .replayed, "the envelope's sequence \(envelope.sequence) does not follow \(current.sequence)")
            }
        }
        return envelope
    }
}
