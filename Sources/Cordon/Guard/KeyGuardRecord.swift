internal import CordonIdentity
internal import Crypto
internal import Foundation

/// The share that guards an account's key in this app, as the PIN opens it; sealed and counted.
struct KeyGuardRecord: Codable, Equatable, Sendable {
    /// The registration that has left the share with the service.
    let registrationID: String
    private let sealed: Data

    /// Seals a share under the PIN's key.
    init(
        _ share: SymmetricKey, under pinKey: SymmetricKey, of account: AccountID, registrationID: String
    ) throws(ProtectionError) {
        self.registrationID = registrationID
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
        guard let sealed = try? AES.GCM.seal(share.bytes, using: key, authenticating: name(of: account)).combined else {
            throw ProtectionError(.stateUnwritable, "the share of a key cannot be sealed")
        }
        return sealed
    }

    /// A key that was sealed for an account; nil where another key has sealed it, or for another account.
    static func open(_ sealed: Data, _ key: SymmetricKey, _ account: AccountID) -> SymmetricKey? {
        guard let box = try? AES.GCM.SealedBox(combined: sealed),
            let bytes = try? AES.GCM.open(box, using: key, authenticating: name(of: account)), bytes.count == 32
        else { return nil }
        return SymmetricKey(data: bytes)
    }

    private static func wrappingKey(_ pinKey: SymmetricKey) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(inputKeyMaterial: pinKey, info: Data("cordon-guard-pin-1".utf8), outputByteCount: 32)
    }

    private static func name(of account: AccountID) -> Data { Data(account.rawValue.lowercased().utf8) }
}
