import Crypto
import Foundation
import SwiftASN1

/// The hash functions that signatures and PKCS#12 files name. Code for old systems is signed with SHA-1.
enum SignatureHash {
    case sha1, sha256, sha384, sha512

    /// Nil for a function that is not known.
    init?(_ identifier: ASN1ObjectIdentifier) {
        switch identifier {
        case .sha1: self = .sha1
        case .sha256: self = .sha256
        case .sha384: self = .sha384
        case .sha512: self = .sha512
        default: return nil
        }
    }

    /// Bytes that the function works on at a time.
    var blockSize: Int { self == .sha1 || self == .sha256 ? 64 : 128 }

    func hash(_ data: Data) -> Data {
        switch self {
        case .sha1: Data(Insecure.SHA1.hash(data: data))
        case .sha256: Data(SHA256.hash(data: data))
        case .sha384: Data(SHA384.hash(data: data))
        case .sha512: Data(SHA512.hash(data: data))
        }
    }

    func isAuthenticationCode(_ code: Data, of data: Data, key: SymmetricKey) -> Bool {
        switch self {
        case .sha1: HMAC<Insecure.SHA1>.isValidAuthenticationCode(code, authenticating: data, using: key)
        case .sha256: HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: data, using: key)
        case .sha384: HMAC<SHA384>.isValidAuthenticationCode(code, authenticating: data, using: key)
        case .sha512: HMAC<SHA512>.isValidAuthenticationCode(code, authenticating: data, using: key)
        }
    }
}

extension ASN1ObjectIdentifier {
    static let sha1: Self = [1, 3, 14, 3, 2, 26]
    static let sha256: Self = [2, 16, 840, 1, 101, 3, 4, 2, 1]
    static let sha384: Self = [2, 16, 840, 1, 101, 3, 4, 2, 2]
    static let sha512: Self = [2, 16, 840, 1, 101, 3, 4, 2, 3]
    /// RFC 5652.
    static let signedData: Self = [1, 2, 840, 113549, 1, 7, 2]
    /// RFC 5652.
    static let data: Self = [1, 2, 840, 113549, 1, 7, 1]
}
