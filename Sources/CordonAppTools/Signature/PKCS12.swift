import Crypto
import CryptoExtras
import Foundation
import SwiftASN1

/// The key and certificates of a PKCS#12 file (RFC 7292), as current tools write it: PBES2 with AES, and a MAC.
///
/// The encryption of older tools (RC2, triple DES) is refused by name, so nothing weak has to be implemented.
struct PKCS12 {
    /// The one private key, as PKCS#8.
    let key: Data
    /// The certificates in the order of the file, DER.
    let certificates: [Data]

    private enum Identifier {
        static let encryptedData: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 7, 6]
        static let keyBag: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 12, 10, 1, 1]
        static let shroudedKeyBag: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 12, 10, 1, 2]
        static let certificateBag: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 12, 10, 1, 3]
    }

    init(_ data: Data, password: String) throws(AppToolsError) {
        let fields = try DERNode(data).children()
        guard fields.count >= 2, fields[0].content == Data([3]) else {
            throw AppToolsError(.malformed, "is not a PKCS#12 file of version 3")
        }
        let content = try Self.octets(fields[1].child(1).child(0))
        guard fields.count == 3 else {
            throw AppToolsError(.unsupported, "the PKCS#12 file is not protected by a password")
        }
        var rounds = KeyRounds()
        guard try PKCS12MAC(fields[2], &rounds).authenticates(content, password: password) else {
            throw AppToolsError(.refused, "the password of the PKCS#12 file is wrong, or the file was changed")
        }
        var keys: [Data] = []
        var found: [Data] = []
        for part in try DERNode(content).children() {
            let bags = try Self.bags(part, password, &rounds)
            for bag in try DERNode(bags).children() {
                let value = try bag.child(1).child(0)
                switch try bag.child(0).object() {
                case Identifier.keyBag: keys.append(Data(value.whole))
                case Identifier.shroudedKeyBag:
                    keys.append(
                        try PasswordEncryption(value.child(0), &rounds).decrypt(
                            value.child(1).content, password: password))
                case Identifier.certificateBag: found.append(try Self.octets(value.child(1).child(0)))
                default: break
                }
            }
        }
        guard let key = keys.first, keys.count == 1 else {
            throw AppToolsError(.malformed, "the PKCS#12 file holds \(keys.count) keys instead of one")
        }
        self.key = key
        certificates = found
    }

    private static func bags(
        _ part: DERNode, _ password: String, _ rounds: inout KeyRounds
    ) throws(AppToolsError) -> Data {
        let kind = try part.child(0).object()
        let value = try part.child(1).child(0)
        switch kind {
        case .data: return try octets(value)
        case Identifier.encryptedData:
            let encrypted = try value.child(1)
            return try PasswordEncryption(encrypted.child(1), &rounds).decrypt(
                encrypted.child(2).content, password: password)
        default: throw AppToolsError(.unsupported, "the PKCS#12 file is encrypted for a certificate, not by a password")
        }
    }

    private static func octets(_ node: DERNode) throws(AppToolsError) -> Data {
        do { return try node.octets() } catch {
            throw AppToolsError(.malformed, "the PKCS#12 file lacks an octet string")
        }
    }
}

/// Encryption by a password: PBES2 with PBKDF2 and AES-CBC (RFC 8018).
private struct PasswordEncryption {
    private let salt: Data
    private let rounds: Int
    private let function: KDF.Insecure.PBKDF2.HashFunction
    private let keySize: Int
    private let initialValue: Data

    init(_ algorithm: DERNode, _ allowance: inout KeyRounds) throws(AppToolsError) {
        guard try algorithm.child(0).object() == [1, 2, 840, 113549, 1, 5, 13] else { throw old }
        let derivation = try algorithm.child(1).child(0)
        let cipher = try algorithm.child(1).child(1)
        guard try derivation.child(0).object() == [1, 2, 840, 113549, 1, 5, 12] else {
            throw AppToolsError(.unsupported, "the PKCS#12 file derives its key in an unknown way")
        }
        let parameters = try derivation.child(1).children()
        guard parameters.count >= 2, parameters[0].identifier == .octetString else {
            throw AppToolsError(.malformed, "the key derivation of the PKCS#12 file is incomplete")
        }
        salt = Data(parameters[0].content)
        rounds = try allowance.take(parameters[1])
        let last = parameters[parameters.count - 1]
        switch last.identifier == .sequence ? try last.child(0).object() : nil {
        case nil, [1, 2, 840, 113549, 2, 7]: function = .insecureSHA1
        case [1, 2, 840, 113549, 2, 9]: function = .sha256
        case [1, 2, 840, 113549, 2, 10]: function = .sha384
        case [1, 2, 840, 113549, 2, 11]: function = .sha512
        default: throw AppToolsError(.unsupported, "the PKCS#12 file uses an unknown hash function")
        }
        switch try cipher.child(0).object() {
        case [2, 16, 840, 1, 101, 3, 4, 1, 2]: keySize = 16
        case [2, 16, 840, 1, 101, 3, 4, 1, 22]: keySize = 24
        case [2, 16, 840, 1, 101, 3, 4, 1, 42]: keySize = 32
        default: throw old
        }
        initialValue = Data(try cipher.child(1).content)
    }

    func decrypt(_ content: Data, password: String) throws(AppToolsError) -> Data {
        do {
            let key = try KDF.Insecure.PBKDF2.deriveKey(
                from: Data(password.utf8), salt: salt, using: function, outputByteCount: keySize,
                unsafeUncheckedRounds: rounds)
            return try AES._CBC.decrypt(content, using: key, iv: AES._CBC.IV(ivBytes: initialValue))
        } catch { throw AppToolsError(.malformed, "the PKCS#12 file cannot be decrypted") }
    }
}

private let old = AppToolsError(
    .unsupported, "the PKCS#12 file is encrypted in the way of older tools (RC2 or triple DES)",
    hint: "write it anew: openssl pkcs12 -legacy -in OLD -nodes | openssl pkcs12 -export -out NEW")
