import Crypto
import Foundation
import SwiftASN1

/// The hash functions of code directories (TL-MO-26).
enum CodeHash: UInt8 {
    case sha1 = 1
    case sha256 = 2
    /// SHA-256 cut to 20 bytes.
    case truncatedSHA256 = 3
    case sha384 = 4

    var size: Int { self == .sha256 ? 32 : self == .sha384 ? 48 : 20 }

    /// The name in signed messages; nil for the one that is cut.
    var identifier: ASN1ObjectIdentifier? {
        switch self {
        case .sha1: .sha1
        case .sha256: .sha256
        case .truncatedSHA256: nil
        case .sha384: .sha384
        }
    }

    func hash(_ data: Data) -> Data {
        switch self {
        case .sha1: Data(Insecure.SHA1.hash(data: data))
        case .sha256: Data(SHA256.hash(data: data))
        case .truncatedSHA256: Data(SHA256.hash(data: data).prefix(20))
        case .sha384: Data(SHA384.hash(data: data))
        }
    }
}
