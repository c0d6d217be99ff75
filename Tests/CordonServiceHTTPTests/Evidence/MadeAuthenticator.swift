import CordonBase
import Crypto
import Foundation
import SwiftASN1
import X509

@testable import CordonServiceHTTP

/// An authenticator that a test made, under a root that a test made: what a device's App Attest does, and what one could do that lies.
struct MadeAuthenticator {
    /// What a lie changes; nil and false say the truth.
    struct Lie: Sendable {
        var format = "apple-appattest"
        var app: String?
        var counter: UInt32 = 0
        var mark = Data("appattest".utf8) + Data(count: 7)
        var credentialID: Data?
        var tellsAnotherKey = false
        var nonce: Data?
        var nonceHeader = Data([0x30, 0x24, 0xa1, 0x22, 0x04, 0x20])
        var omitsNonce = false
        var isAuthorityForeign = false
        var ends: TimeInterval = 86_400
        var omitsAuthority = false
        var flags: UInt8 = 0x40
        var leafKey: P256.Signing.PrivateKey?
    }

    /// The root's certificate, in PEM.
    let root: String
    let key = P256.Signing.PrivateKey()
    let app: String
    private let authority = P384.Signing.PrivateKey()
    private let authorityCertificate: Certificate
    private let foreign = P384.Signing.PrivateKey()
    private let now: Date

    var keyID: Data { Data(SHA256.hash(data: key.publicKey.x963Representation)) }

    init(app: String, at now: Date) throws {
        self.app = app
        self.now = now
        let rootKey = P384.Signing.PrivateKey()
        let name = try DistinguishedName { CommonName("Made Root") }
        let made = try Certificate(
            version: .v3, serialNumber: .init(), publicKey: .init(rootKey.publicKey), notValidBefore: now - 86_400,
            notValidAfter: now + 864_000, issuer: name, subject: name, signatureAlgorithm: .ecdsaWithSHA384,
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
            },
            issuerPrivateKey: .init(rootKey))
        root = try made.serializeAsPEM().pemString
        authorityCertificate = try Certificate(
            version: .v3, serialNumber: .init(), publicKey: .init(authority.publicKey), notValidBefore: now - 86_400,
            notValidAfter: now + 864_000, issuer: name, subject: DistinguishedName { CommonName("Made Authority") },
            signatureAlgorithm: .ecdsaWithSHA384,
            extensions: Certificate.Extensions { Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0)) },
            issuerPrivateKey: .init(rootKey))
    }

    private static func hash(_ bytes: Data) -> Data { Data(SHA256.hash(data: bytes)) }

    /// An attestation of the key.
    func attestation(_ challenge: Data, _ lie: Lie = Lie()) throws -> Data {
        let shown = (lie.tellsAnotherKey ? P256.Signing.PrivateKey() : key).publicKey.rawRepresentation
        let cose = CBORWriter.map([
            (CBORWriter.integer(1), CBORWriter.integer(2)), (CBORWriter.integer(3), CBORWriter.integer(-7)),
            (CBORWriter.integer(-1), CBORWriter.integer(1)),
            (CBORWriter.integer(-2), CBORWriter.bytes(shown.prefix(32))),
            (CBORWriter.integer(-3), CBORWriter.bytes(shown.suffix(32))),
        ])
        let id = lie.credentialID ?? keyID
        let data =
            Self.hash(Data((lie.app ?? app).utf8)) + [lie.flags] + Self.bytes(lie.counter) + lie.mark
            + [UInt8(id.count >> 8), UInt8(id.count & 0xff)] + id + cose
        let nonce = lie.nonce ?? Self.hash(data + Self.hash(challenge))
        var chain = [try Self.der(leaf(nonce, lie))]
        if !lie.omitsAuthority { chain.append(try Self.der(authorityCertificate)) }
        return CBORWriter.map([
            (CBORWriter.text("fmt"), CBORWriter.text(lie.format)),
            (
                CBORWriter.text("attStmt"),
                CBORWriter.map([
                    (CBORWriter.text("x5c"), CBORWriter.list(chain.map(CBORWriter.bytes))),
                    (CBORWriter.text("receipt"), CBORWriter.bytes(Data(count: 300))),
                ])
            ),
            (CBORWriter.text("authData"), CBORWriter.bytes(data)),
        ])
    }

    /// An assertion by the key.
    func assertion(_ challenge: Data, counter: UInt32, app: String? = nil, by other: P256.Signing.PrivateKey? = nil)
        throws -> Data
    {
        let data = Self.hash(Data((app ?? self.app).utf8)) + [0] + Self.bytes(counter)
        let signature = try (other ?? key).signature(for: Self.hash(data + Self.hash(challenge)))
        return CBORWriter.map([
            (CBORWriter.text("signature"), CBORWriter.bytes(signature.derRepresentation)),
            (CBORWriter.text("authenticatorData"), CBORWriter.bytes(data)),
        ])
    }

    private func leaf(_ nonce: Data, _ lie: Lie) throws -> Certificate {
        let own = Certificate.Extension(
            oid: [1, 2, 840, 113635, 100, 8, 2], critical: false, value: ArraySlice(lie.nonceHeader + nonce))
        return try Certificate(
            version: .v3, serialNumber: .init(), publicKey: .init((lie.leafKey ?? key).publicKey),
            notValidBefore: now - 86_400, notValidAfter: now + lie.ends, issuer: authorityCertificate.subject,
            subject: DistinguishedName { CommonName("Made Leaf") }, signatureAlgorithm: .ecdsaWithSHA384,
            extensions: try Certificate.Extensions(lie.omitsNonce ? [] : [own]),
            issuerPrivateKey: .init(lie.isAuthorityForeign ? foreign : authority))
    }

    private static func der(_ certificate: Certificate) throws -> Data {
        var serializer = DER.Serializer()
        try certificate.serialize(into: &serializer)
        return Data(serializer.serializedBytes)
    }

    private static func bytes(_ number: UInt32) -> Data { withUnsafeBytes(of: number.bigEndian) { Data($0) } }
}

/// Writes CBOR the shortest way.
enum CBORWriter {
    static func integer(_ value: Int) -> Data { value < 0 ? head(1, -1 - value) : head(0, value) }
    static func bytes(_ value: Data) -> Data { head(2, value.count) + value }
    static func text(_ value: String) -> Data { head(3, value.utf8.count) + Data(value.utf8) }
    static func list(_ values: [Data]) -> Data { values.reduce(head(4, values.count), +) }
    static func map(_ members: [(Data, Data)]) -> Data { members.reduce(head(5, members.count)) { $0 + $1.0 + $1.1 } }

    private static func head(_ kind: UInt8, _ count: Int) -> Data {
        switch count {
        case ..<24: Data([kind << 5 | UInt8(count)])
        case ..<256: Data([kind << 5 | 24, UInt8(count)])
        default: Data([kind << 5 | 25, UInt8(count >> 8), UInt8(count & 0xff)])
        }
    }
}
