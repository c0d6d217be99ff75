import Crypto
import Foundation

/// What an authenticator says about itself and an app (WebAuthn §6.1), in the two forms that App Attest has.
struct AuthenticatorData {
    /// SHA-256 of the app's id.
    let appHash: Data
    /// How often the key was used.
    let counter: UInt32
    /// The new key; nil in an assertion.
    let credential: Credential?

    /// A key that was made.
    struct Credential {
        /// Which service made it.
        let environment: AppAttestSettings.Environment
        let id: Data
        /// The key as in certificates: 0x04, x and y.
        let publicKey: Data
    }

    /// The flag that says that a key comes with the data; the other flags are not looked at.
    private static let hasCredential: UInt8 = 0x40

    /// Reads the data of an attestation, or of an assertion; nil for anything else.
    init?(_ bytes: Data, hasCredential: Bool) {
        let bytes = Data(bytes)
        guard bytes.count >= 37 else { return nil }
        appHash = bytes.prefix(32)
        counter = bytes[33..<37].reduce(0) { $0 << 8 | UInt32($1) }
        guard hasCredential else {
            guard bytes.count == 37 else { return nil }
            credential = nil
            return
        }
        guard bytes[32] & Self.hasCredential != 0, bytes.count > 55,
            let environment = AppAttestSettings.Environment(mark: bytes[37..<53])
        else { return nil }
        let length = Int(bytes[53]) << 8 | Int(bytes[54])
        guard bytes.count > 55 + length, let key = CBORValue(bytes[(55 + length)...]),
            key[.integer(1)] == .integer(2), key[.integer(-1)] == .integer(1),
            let x = key[.integer(-2)]?.bytes, let y = key[.integer(-3)]?.bytes, x.count == 32, y.count == 32
        else { return nil }
        credential = Credential(
            environment: environment, id: bytes[55..<(55 + length)], publicKey: Data([4]) + x + y)
    }
}
