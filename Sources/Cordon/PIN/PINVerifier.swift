internal import Crypto
internal import CryptoExtras
internal import Foundation

/// What is kept of a PIN: enough to recognise it, at the price of one derivation and with the device's root key.
struct PINVerifier: Codable, Equatable, Sendable {
    private let cost: PINCost
    private let salt: Data
    private let tag: Data

    private static let saltBytes = 16

    /// Derives what is kept of a new PIN.
    init(_ pin: String, cost: PINCost, key: SymmetricKey) throws(ProtectionError) {
        let salt = SymmetricKey(size: .init(bitCount: Self.saltBytes * 8)).withUnsafeBytes { Data($0) }
        self.cost = cost
        self.salt = salt
        tag = Data(HMAC<SHA256>.authenticationCode(for: try Self.derive(pin, salt, cost), using: key))
    }

    /// Whether the PIN is this one; the comparison takes the same time for every wrong one.
    func matches(_ pin: String, key: SymmetricKey) throws(ProtectionError) -> Bool {
        guard cost.isWithinBounds, salt.count == Self.saltBytes else {
            throw ProtectionError(.stateUnreadable, "the stored PIN names a cost beyond all bounds")
        }
        return HMAC<SHA256>.isValidAuthenticationCode(
            tag, authenticating: try Self.derive(pin, salt, cost), using: key)
    }

    /// Whether it was derived at this cost.
    func isOf(_ cost: PINCost) -> Bool { self.cost == cost }

    private static func derive(_ pin: String, _ salt: Data, _ cost: PINCost) throws(ProtectionError) -> Data {
        do {
            // One spelling of characters that keyboards compose differently.
            let bytes = Data(pin.precomposedStringWithCanonicalMapping.utf8)
            return try KDF.Scrypt.deriveKey(
                from: bytes, salt: salt, outputByteCount: 32, rounds: 1 << cost.logRounds, blockSize: cost.blockSize,
                parallelism: cost.parallelism, maxMemory: 2 * cost.memory
            ).withUnsafeBytes { Data($0) }
        } catch {
            throw ProtectionError(.stateUnwritable, "the PIN cannot be derived, memory may be short")
        }
    }
}
