internal import CordonAEADShim
internal import Crypto
internal import CryptoExtras
internal import Foundation

/// What is kept of a PIN: enough to recognise it, at the price of one derivation and with the device's root key.
struct PINVerifier: Codable, Equatable, Sendable {
    private let cost: PINCost
    private let salt: Data
    private let tag: Data

    private static let saltBytes = 16

    /// Derives what is kept of a new PIN, and the key that it gives.
    static func make(
        _ pin: String, cost: PINCost, key: SymmetricKey
    ) throws(ProtectionError) -> (verifier: PINVerifier, derived: SymmetricKey) {
        let salt = SymmetricKey(size: .init(bitCount: saltBytes * 8)).withUnsafeBytes { Data($0) }
        let (proof, derived) = try derive(pin, salt, cost)
        let tag = proof.withUnsafeBytes { Data(HMAC<SHA256>.authenticationCode(for: $0, using: key)) }
        return (PINVerifier(cost: cost, salt: salt, tag: tag), derived)
    }

    /// Whether the PIN is this one; the comparison takes the same time for every wrong one.
    func matches(_ pin: String, key: SymmetricKey) throws(ProtectionError) -> Bool {
        try derived(from: pin, key: key) != nil
    }

    /// The key that the PIN gives; nil for a wrong one, and the comparison takes the same time for every wrong one.
    func derived(from pin: String, key: SymmetricKey) throws(ProtectionError) -> SymmetricKey? {
        // Of no PIN that was ever made.
        guard salt.count == Self.saltBytes else { return nil }
        let (proof, derived) = try Self.derive(pin, salt, cost)
        let isRight = proof.withUnsafeBytes {
            HMAC<SHA256>.isValidAuthenticationCode(tag, authenticating: $0, using: key)
        }
        return isRight ? derived : nil
    }

    /// Bytes that one check takes.
    var memory: Int { cost.memory }

    /// Whether it was derived at this cost.
    func isOf(_ cost: PINCost) -> Bool { self.cost == cost }

    /// What the PIN is recognised by, and a key that says nothing of that: scrypt's output comes in blocks of 32 bytes that do not depend
    /// on how many there are. What the PIN is made into on the way is zeroed.
    private static func derive(
        _ pin: String, _ salt: Data, _ cost: PINCost
    ) throws(ProtectionError) -> (proof: SymmetricKey, derived: SymmetricKey) {
        var bytes = spelling(of: pin)
        defer { bytes.withUnsafeMutableBytes { cordon_zero($0.baseAddress, $0.count) } }
        do {
            return try KDF.Scrypt.deriveKey(
                from: bytes, salt: salt, outputByteCount: 64, rounds: 1 << cost.logRounds, blockSize: cost.blockSize,
                parallelism: cost.parallelism, maxMemory: 2 * cost.memory
            ).withUnsafeBytes { (SymmetricKey(data: $0.prefix(32)), SymmetricKey(data: $0.suffix(32))) }
        } catch {
            throw ProtectionError(.stateUnwritable, "no key can be derived from the PIN; memory may be short")
        }
    }

    /// One spelling of characters that keyboards compose differently. ASCII has but one, so no copy is made of it.
    private static func spelling(of pin: String) -> [UInt8] {
        Array((pin.utf8.allSatisfy { $0 < 128 } ? pin : pin.precomposedStringWithCanonicalMapping).utf8)
    }
}
