import Crypto
import CryptoExtras
import Foundation
import SwiftASN1
import X509

/// What is looked at in a signed message (RFC 5652) with one signer.
struct CMSParts {
    /// The attributes that the signer signed instead of the content.
    struct Attributes {
        private let digest: SignatureHash
        /// What the signature may be over: the DER that the standard demands, and the members as they were written,
        /// because some signers do not sort them.
        let signedForms: [Data]
        /// Values by type, in DER with their heads.
        private var values: [ASN1ObjectIdentifier: [Data]] = [:]

        subscript(type: ASN1ObjectIdentifier) -> [Data]? { values[type] }

        /// Whether the hash of every code directory is signed, and not that of the first alone.
        var namesHashes: Bool { values[CMSAttributes.hashList] != nil || values[CMSAttributes.hashes] != nil }

        /// Whether the hash that is signed is a content's.
        func isSigned(_ content: Data) -> Bool {
            guard let hash = try? CMSAttributes.octets(digest.hash(content)) else { return false }
            return values[CMSAttributes.messageDigest] == [hash]
        }

        init(_ node: DERNode, _ digest: SignatureHash) throws(AppToolsError) {
            self.digest = digest
            let members = try node.children()
            signedForms = [
                try Data(der: { try $0.serializeSetOf(members) }),
                try Data(der: { coder in
                    coder.appendConstructedNode(identifier: .set) { $0.serializeRawBytes(node.content) }
                }),
            ]
            for member in members {
                let parts = try member.children()
                guard parts.count == 2 else { throw AppToolsError(.malformed, "a signed attribute is incomplete") }
                var all: [Data] = []
                for value in try parts[1].children() { all.append(try value.distinguished()) }
                guard values.updateValue(all, forKey: try parts[0].object()) == nil else {
                    throw AppToolsError(.malformed, "an attribute is signed twice")
                }
            }
        }
    }

    let digest: SignatureHash
    /// Nil when the signature is over the content itself.
    let attributes: Attributes?
    let signature: Data
    let certificate: SigningCertificate?
    let certificates: [SigningCertificate]

    init(_ message: Data) throws(AppToolsError) {
        let fields = try DERNode(message).child(1).child(0).children()
        guard let signers = fields.last, signers.identifier == .set else {
            throw AppToolsError(.malformed, "there is no signer")
        }
        let signer = try signers.child(0).children()
        // Version, signer, digest algorithm, attributes or not, signature algorithm, signature.
        let hasAttributes = signer.count > 3 && signer[3].identifier == .firstOfContext
        let place = hasAttributes ? 5 : 4
        guard signer.count > place else { throw AppToolsError(.malformed, "the signer is incomplete") }
        guard let digest = SignatureHash(try signer[2].child(0).object()) else {
            throw AppToolsError(.unsupported, "the signer's hash function is not known")
        }
        self.digest = digest
        attributes = hasAttributes ? try Attributes(signer[3], digest) : nil
        signature = try signer[place].octets()
        let (issuer, serial) = try Self.name(signer[1])
        var all: [SigningCertificate] = []
        for certificate in try fields.first(where: { $0.identifier == .firstOfContext })?.children() ?? [] {
            all.append(try SigningCertificate(certificate.whole))
        }
        certificate = all.last { $0.certificate.issuer == issuer && $0.certificate.serialNumber == serial }
        certificates = all
    }

    /// The issuer and the serial number that name the signer.
    private static func name(
        _ signer: DERNode
    ) throws(AppToolsError) -> (DistinguishedName, Certificate.SerialNumber) {
        guard signer.identifier == .sequence else {
            throw AppToolsError(.unsupported, "the signer is not named by issuer and serial number")
        }
        do {
            let issuer = try DistinguishedName(derEncoded: DER.parse(Array(try signer.child(0).distinguished())))
            return (issuer, Certificate.SerialNumber(bytes: try signer.child(1).content))
        } catch { throw AppToolsError(.malformed, "the signer's name cannot be read") }
    }

    func isSignature(by certificate: SigningCertificate, over content: Data) -> Bool {
        switch digest {
        case .sha1: isSignature(by: certificate, of: Insecure.SHA1.hash(data: content))
        case .sha256: isSignature(by: certificate, of: SHA256.hash(data: content))
        case .sha384: isSignature(by: certificate, of: SHA384.hash(data: content))
        case .sha512: isSignature(by: certificate, of: SHA512.hash(data: content))
        }
    }

    private func isSignature(by certificate: SigningCertificate, of digest: some Digest) -> Bool {
        if let key = _RSA.Signing.PublicKey(certificate.certificate.publicKey) {
            let signature = _RSA.Signing.RSASignature(rawRepresentation: signature)
            return key.isValidSignature(signature, for: digest, padding: .insecurePKCS1v1_5)
        }
        guard let key = P256.Signing.PublicKey(certificate.certificate.publicKey),
            let signature = try? P256.Signing.ECDSASignature(derRepresentation: signature)
        else { return false }
        return key.isValidSignature(signature, for: digest)
    }
}
