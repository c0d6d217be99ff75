internal import CordonIdentity
internal import CordonPolicy
internal import CordonProtocol
internal import Crypto
internal import Foundation

/// The share that guards an account's key in this app, as the PIN opens it; sealed and counted.
struct KeyGuardRecord: Codable, Equatable, Sendable {
    /// The registration that has left the share with the service, or that the service was asked to hand it on to.
    var registrationID: String
    /// The digest of what was left there; nil where the service has said that it has it no more, and in records of older versions: then
    /// the next right PIN leaves it again.
    var left: String?
    /// The public key of what the account receives while its key is not in memory.
    let inboxKey: Data
    private let sealed: Data

    /// Seals a share under the PIN's key.
    init(
        _ share: SymmetricKey, under pinKey: SymmetricKey, of account: AccountID, registrationID: String,
        left: String?, inboxKey: Data
    ) throws(ProtectionError) {
        self.registrationID = registrationID
        self.left = left
        self.inboxKey = inboxKey
        sealed = try Self.seal(share, Self.wrappingKey(pinKey), account)
    }

    /// The share; nil where another key has sealed it.
    func share(under pinKey: SymmetricKey, of account: AccountID) -> SymmetricKey? {
        Self.open(sealed, Self.wrappingKey(pinKey), account)
    }

    /// A key sealed for an account.
    static func seal(
        _ share: SymmetricKey, _ key: SymmetricKey, _ account: AccountID
    ) throws(ProtectionError) -> Data {
        guard let sealed = share.sealed(under: key, authenticating: name(of: account)) else {
            throw ProtectionError(.stateUnwritable, "the share of a key cannot be sealed")
        }
        return sealed
    }

    /// A key that was sealed for an account; nil where another key has sealed it, or for another account.
    static func open(_ sealed: Data, _ key: SymmetricKey, _ account: AccountID) -> SymmetricKey? {
        SymmetricKey.opened(sealed, under: key, authenticating: name(of: account))
    }

    private static func wrappingKey(_ pinKey: SymmetricKey) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(inputKeyMaterial: pinKey, info: Data("cordon-guard-pin-1".utf8), outputByteCount: 32)
    }

    private static func name(of account: AccountID) -> Data { Data(account.rawValue.lowercased().utf8) }
}

extension KeyGuardRecord: JSONReadable {
    // No start needs it: it is read when the person is asked.
    init(_ members: JSONMembers) throws(PolicyError) { self = try members.decode(Self.self) }
}
