public import CordonIdentity
public import Foundation

/// What a device says of itself when it joins an organisation, signed by the key that it is known by from then on.
public struct DeviceRegistrationStatement: Sendable, Codable, Equatable {
    /// The device's id, random.
    public var deviceID: String
    /// The organisation.
    public var tenant: TenantID
    /// The OpenID provider of the person who joined it.
    public var issuer: String
    /// The RFC 7638 thumbprint of the device's key.
    public var keyThumbprint: String
    /// When it joined, by its own clock.
    public var since: Date

    /// Makes a statement.
    public init(deviceID: String, tenant: TenantID, issuer: String, keyThumbprint: String, since: Date) {
        self.deviceID = deviceID
        self.tenant = tenant
        self.issuer = issuer
        self.keyThumbprint = keyThumbprint
        self.since = since
    }

    /// Reads a signed statement and the key that signed it, which must be the one that it names.
    ///
    /// - Throws: ``ProtocolError`` saying which check failed.
    public static func verified(_ text: String) throws(ProtocolError) -> (statement: Self, key: JSONWebKey) {
        let (payload, key) = try CompactJWS.payloadWithEmbeddedKey(of: text, type: .deviceRegistration)
        let statement = try MessageCoding.decode(Self.self, from: payload)
        guard statement.keyThumbprint == key.thumbprint else {
            throw ProtocolError(.unknownKey, "the statement names another key than the one that signed it")
        }
        return (statement, key)
    }
}

/// What a shared device says about who is signed in on it.
public struct DeviceSessionStatement: Sendable, Codable, Equatable {
    /// The device's id.
    public var deviceID: String
    /// Rises with every change of the account, so that an old statement never replaces a newer one.
    public var session: Int64
    /// The person who is signed in, by object id; nil when there is none.
    public var account: AccountID?
    /// When that began, by the device's own clock, in whole seconds since 1970.
    public var since: Int64
    /// How many seconds ago the person gave credentials on the device; nil while no person is signed in, and from an older broker. A span,
    /// so that the service may compare it with its own clock whatever the device's says (SI-182).
    public var age: Int64?
    /// The device's apps (SI-157); nil from an older broker.
    public var apps: [SharedDeviceApp]?
    /// When the statement was made, by the device's own clock, in whole seconds since 1970; nil from an older broker.
    public var issued: Int64?
    /// Random, so that no two statements are the same; nil from an older broker.
    public var nonce: String?

    /// Makes a statement.
    public init(
        deviceID: String, session: Int64, account: AccountID?, since: Int64, age: Int64? = nil,
        apps: [SharedDeviceApp]? = nil, issued: Int64? = nil, nonce: String? = nil
    ) {
        self.deviceID = deviceID
        self.session = session
        self.account = account
        self.since = since
        self.age = age
        self.apps = apps
        self.issued = issued
        self.nonce = nonce
    }

    /// Signs the statement with the device's key.
    ///
    /// - Throws: ``ProtocolError`` when the key cannot sign.
    public func signed(by signer: some MessageSigner) throws(ProtocolError) -> String {
        try CompactJWS.sign(
            try MessageCoding.encode(self), type: .deviceSession, with: signer, embedsKey: true)
    }

    /// Reads a statement that a device's key signed.
    ///
    /// - Throws: ``ProtocolError`` saying which check failed.
    public init(verifying text: String, signedBy key: JSONWebKey) throws(ProtocolError) {
        let (payload, signer) = try CompactJWS.payloadWithEmbeddedKey(of: text, type: .deviceSession)
        guard signer.thumbprint == key.thumbprint else {
            throw ProtocolError(.unknownKey, "the statement is signed with another key than the device's")
        }
        self = try MessageCoding.decode(Self.self, from: payload)
    }
}
