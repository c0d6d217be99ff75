package import CordonPolicy

/// The service's word that it answered a check-in, signed by the key of its envelopes: an answer without an envelope says nothing of who
/// gave it, and the time without contact counts from here.
public struct ContactProof: Sendable, Codable, Equatable {
    /// The registration.
    public var registrationID: String
    /// The random value of the request.
    public var nonce: String
    /// The device's own clock as the request said it, in whole seconds since 1970: offline times are counted by that clock.
    public var clientTime: Int64
    /// When it was signed, by the service's clock, in whole seconds since 1970.
    public var issuedAt: Int64
    /// The highest generation of the app's registration record that the service has heard of (``CheckInRequest/stateGeneration``), nil where it
    /// never heard of any: an app that has a lower one runs on an older copy of its home.
    public var stateGeneration: Int64?
    /// Whether the service keeps the recovery share that the request named by its digest (``CheckInRequest/recoveryShareDigest``); nil where
    /// the request named none, and from older services.
    public var hasRecoveryShare: Bool?
    /// The digest of the envelope that is to be in force after the answer (``SignedEnvelope/digest``): the one that it brings, or where it
    /// brings none the one that the request named. Nil where the check-in was refused, and from older services.
    public var envelopeDigest: String?
    /// True where the service refused the check-in because the account was disabled or removed: data is removed on this word alone, and on
    /// none that is not signed (SRV-TG-32). False where it refused it although the account is not, which takes that word back. Such an answer
    /// is no contact.
    public var isAccountDisabled: Bool?

    private enum CodingKeys: String, CodingKey {
        case registrationID = "rid"
        case nonce, clientTime, stateGeneration, hasRecoveryShare, envelopeDigest
        case isAccountDisabled = "accountDisabled"
        case issuedAt = "iat"
    }

    /// States an answer.
    public init(
        registrationID: String, nonce: String, clientTime: Int64, issuedAt: Int64, stateGeneration: Int64? = nil,
        hasRecoveryShare: Bool? = nil, envelopeDigest: String? = nil, isAccountDisabled: Bool? = nil
    ) {
        self.envelopeDigest = envelopeDigest
        self.stateGeneration = stateGeneration
        self.hasRecoveryShare = hasRecoveryShare
        self.isAccountDisabled = isAccountDisabled
        self.registrationID = registrationID
        self.nonce = nonce
        self.clientTime = clientTime
        self.issuedAt = issuedAt
    }

    /// Reads a compact JWS as the service sent it.
    ///
    /// - Throws: ``ProtocolError``: signature first, then form, then `wrongRecipient` for another registration's.
    public init(
        verifying text: String, by keys: JSONWebKeySet, forRegistration id: String
    ) throws(ProtocolError) {
        self = try MessageCoding.read(
            Self.self, from: try CompactJWS.payload(of: text, type: .contactProof, signedBy: keys))
        guard registrationID == id else {
            throw ProtocolError(.wrongRecipient, "the answer was made for another registration")
        }
    }

    /// The compact JWS to send.
    ///
    /// - Throws: ``ProtocolError`` when the key cannot sign.
    public func signed(by signer: some MessageSigner) throws(ProtocolError) -> String {
        try CompactJWS.sign(claims.bytes, type: .contactProof, with: signer)
    }

    /// The members by hand: every check-in is answered with them.
    private var claims: JSONValue {
        var members: [String: JSONValue] = [
            CodingKeys.registrationID.rawValue: .string(registrationID), CodingKeys.nonce.rawValue: .string(nonce),
            CodingKeys.clientTime.rawValue: .integer(clientTime), CodingKeys.issuedAt.rawValue: .integer(issuedAt),
        ]
        members[CodingKeys.stateGeneration.rawValue] = stateGeneration.map(JSONValue.integer)
        members[CodingKeys.hasRecoveryShare.rawValue] = hasRecoveryShare.map(JSONValue.bool)
        members[CodingKeys.envelopeDigest.rawValue] = envelopeDigest.map(JSONValue.string)
        members[CodingKeys.isAccountDisabled.rawValue] = isAccountDisabled.map(JSONValue.bool)
        return .object(members)
    }
}

extension ContactProof: JSONReadable {
    /// Reads the members as they are written.
    package init(_ members: JSONMembers) throws(PolicyError) {
        self.init(
            registrationID: try members.text(CodingKeys.registrationID.rawValue),
            nonce: try members.text(CodingKeys.nonce.rawValue),
            clientTime: try members.number(CodingKeys.clientTime.rawValue),
            issuedAt: try members.number(CodingKeys.issuedAt.rawValue),
            stateGeneration: try members.optionalNumber(CodingKeys.stateGeneration.rawValue),
            hasRecoveryShare: try members.optionalFlag(CodingKeys.hasRecoveryShare.rawValue),
            envelopeDigest: try members.optionalText(CodingKeys.envelopeDigest.rawValue),
            isAccountDisabled: try members.optionalFlag(CodingKeys.isAccountDisabled.rawValue))
    }
}
