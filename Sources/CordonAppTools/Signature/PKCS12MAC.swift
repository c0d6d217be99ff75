import Crypto
import Foundation

/// The password-based MAC over a PKCS#12 file (RFC 7292, appendix B).
struct PKCS12MAC {
    private static let mostRounds = 10_000_000

    private let hash: Hash
    private let expected: Data
    private let salt: Data
    private let rounds: Int

    private enum Hash {
        case sha1, sha256, sha384, sha512

        var blockSize: Int { self == .sha1 || self == .sha256 ? 64 : 128 }

        func digest(_ data: Data) -> Data {
            switch self {
            case .sha1: Data(Insecure.SHA1.hash(data: data))
            case .sha256: Data(SHA256.hash(data: data))
            case .sha384: Data(SHA384.hash(data: data))
            case .sha512: Data(SHA512.hash(data: data))
            }
        }

        func isValid(_ code: Data, of data: Data, key: SymmetricKey) -> Bool {
            switch self {
            case .sha1: HMAC<Insecure.SHA1>.isValidAuthenticationCode(code, authenticating: data, using: key)
            case .sha256: HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: data, using: key)
            case .sha384: HMAC<SHA384>.isValidAuthenticationCode(code, authenticating: data, using: key)
            case .sha512: HMAC<SHA512>.isValidAuthenticationCode(code, authenticating: data, using: key)
            }
        }
    }

    init(_ node: DERNode) throws(AppToolsError) {
        let info = try node.child(0)
        switch try info.child(0).child(0).content {
        case DER.identifierBytes([1, 3, 14, 3, 2, 26]): hash = .sha1
        case DER.identifierBytes([2, 16, 840, 1, 101, 3, 4, 2, 1]): hash = .sha256
        case DER.identifierBytes([2, 16, 840, 1, 101, 3, 4, 2, 2]): hash = .sha384
        case DER.identifierBytes([2, 16, 840, 1, 101, 3, 4, 2, 3]): hash = .sha512
        default: throw AppToolsError(.unsupported, "the PKCS#12 file is protected by an unknown kind of MAC")
        }
        expected = Data(try info.child(1).content)
        let fields = try node.children()
        salt = Data(try node.child(1).content)
        rounds = fields.count > 2 ? try Self.rounds(fields[2]) : 1
    }

    /// A number of iterations; absurd ones would hang the tool.
    static func rounds(_ node: DERNode) throws(AppToolsError) -> Int {
        guard node.tag == 0x02, (1...4).contains(node.content.count) else {
            throw AppToolsError(.malformed, "the PKCS#12 file's number of rounds cannot be read")
        }
        let rounds = node.content.reduce(0) { $0 << 8 | Int($1) }
        guard (1...mostRounds).contains(rounds) else {
            throw AppToolsError(.unsupported, "the PKCS#12 file wants \(rounds) rounds of key derivation")
        }
        return rounds
    }

    func authenticates(_ content: Data, password: String) -> Bool {
        hash.isValid(expected, of: content, key: SymmetricKey(data: key(password)))
    }

    /// The derivation for MAC keys; the key is never longer than one hash.
    private func key(_ password: String) -> Data {
        let unit = hash.blockSize
        func filled(_ data: Data) -> Data {
            guard !data.isEmpty else { return Data() }
            let size = (data.count + unit - 1) / unit * unit
            return Data((0..<size).map { data[data.startIndex + $0 % data.count] })
        }
        let text = Data((Array(password.utf16) + [0]).flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] })
        var key = Data(repeating: 3, count: unit) + filled(salt) + filled(text)
        for _ in 0..<rounds { key = hash.digest(key) }
        return key
    }
}
