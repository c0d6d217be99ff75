// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// CryptoKit's Secure Enclave, with keys of software that a test can take away.

@_exported public import Crypto
public import Foundation

public enum SecureEnclave {
    public static var isAvailable: Bool { stubIsAvailable }
    nonisolated(unsafe) public static var stubIsAvailable = true

    public enum P256 {
        public enum Signing {
            public struct PrivateKey: Sendable {
                private let key: Crypto.P256.Signing.PrivateKey
                public init(compactRepresentable: Bool = true) throws { key = Crypto.P256.Signing.PrivateKey() }
                public init(dataRepresentation: Data) throws {
                    key = try Crypto.P256.Signing.PrivateKey(rawRepresentation: dataRepresentation)
                }
                public var dataRepresentation: Data { key.rawRepresentation }
                public var publicKey: Crypto.P256.Signing.PublicKey { key.publicKey }
                public func signature<D: DataProtocol>(for data: D) throws -> Crypto.P256.Signing.ECDSASignature {
                    try key.signature(for: data)
                }
            }
        }
    }
}
