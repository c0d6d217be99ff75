import Crypto
import CryptoExtras
import Foundation

/// What is looked at in a signed message (RFC 5652) with one signer.
struct CMSParts {
    /// The attributes that the signer signed instead of the content.
    struct Attributes {
        /// What the signature may be over: the DER that the standard demands, and the members as they were written,
        /// because some signers do not sort them.
        let signedForms: [Data]
        /// Values by type, both in DER with their heads.
        private var values: [Data: [Data]] = [:]

        subscript(type: Data) -> [Data]? { values[type] }

        init(_ node: DERNode) throws(AppToolsError) {
            let members = try node.children()
            var forms: [Data] = []
            for member in members { forms.append(try member.distinguished()) }
            signedForms = [DER.set(forms), DER.element(0x31, node.content)]
            for member in members {
                let parts = try member.children()
                guard parts.count == 2 else { throw AppToolsError(.malformed, "a signed attribute is incomplete") }
                var all: [Data] = []
                for value in try parts[1].children() { all.append(try value.distinguished()) }
                guard values.updateValue(all, forKey: try parts[0].distinguished()) == nil else {
                    throw AppToolsError(.malformed, "an attribute is signed twice")
                }
            }
        }
    }

    let digest: CMSDigest
    /// Nil when the signature is over the content itself.
    let attributes: Attributes?
    let signature: Data
    let certificate: SigningCertificate?
    let certificates: [Data]

    init(_ message: Data) throws(AppToolsError) {
        let fields = try DERNode(message).child(1).child(0).children()
        guard let signers = fields.last, signers.tag == 0x31 else {
            throw AppToolsError(.malformed, "there is no signer")
        }
        let signer = try signers.child(0).children()
        // Version, signer, digest algorithm, attributes or not, signature algorithm, signature.
        let hasAttributes = signer.count > 3 && signer[3].tag == 0xA0
        let place = hasAttributes ? 5 : 4
        guard signer.count > place else { throw AppToolsError(.malformed, "the signer is incomplete") }
        digest = try CMSDigest(signer[2])
        attributes = hasAttributes ? try Attributes(signer[3]) : nil
        signature = try signer[place].octets()
        let names = try Self.names(signer[1])
        var match: SigningCertificate?
        var all: [Data] = []
        for certificate in try fields.first(where: { $0.tag == 0xA0 })?.children() ?? [] {
            let read = try SigningCertificate(certificate.whole)
            all.append(read.der)
            if names.contains(read.issuer + read.serial) { match = read }
        }
        certificate = match
        certificates = all
    }

    /// The issuer and the serial number that name the signer, as they stand and in DER, which certificates are in.
    private static func names(_ signer: DERNode) throws(AppToolsError) -> [Data] {
        guard signer.tag == 0x30 else {
            throw AppToolsError(.unsupported, "the signer is not named by issuer and serial number")
        }
        var distinguished = Data()
        for part in try signer.children() { distinguished += try part.distinguished() }
        return [signer.content, distinguished]
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
        if let key = try? _RSA.Signing.PublicKey(derRepresentation: certificate.publicKeyInfo) {
            let signature = _RSA.Signing.RSASignature(rawRepresentation: signature)
            return key.isValidSignature(signature, for: digest, padding: .insecurePKCS1v1_5)
        }
        guard let key = try? P256.Signing.PublicKey(derRepresentation: certificate.publicKeyInfo),
            let signature = try? P256.Signing.ECDSASignature(derRepresentation: signature)
        else { return false }
        return key.isValidSignature(signature, for: digest)
    }
}

/// The hash function that a signer names. Code for old systems is signed with SHA-1.
enum CMSDigest {
    case sha1, sha256, sha384, sha512

    init(_ algorithm: DERNode) throws(AppToolsError) {
        switch try algorithm.child(0).content {
        case DER.identifierBytes([1, 3, 14, 3, 2, 26]): self = .sha1
        case DER.identifierBytes([2, 16, 840, 1, 101, 3, 4, 2, 1]): self = .sha256
        case DER.identifierBytes([2, 16, 840, 1, 101, 3, 4, 2, 2]): self = .sha384
        case DER.identifierBytes([2, 16, 840, 1, 101, 3, 4, 2, 3]): self = .sha512
        default: throw AppToolsError(.unsupported, "the signer's hash function is not known")
        }
    }

    func hash(_ content: Data) -> Data {
        switch self {
        case .sha1: Data(Insecure.SHA1.hash(data: content))
        case .sha256: Data(SHA256.hash(data: content))
        case .sha384: Data(SHA384.hash(data: content))
        case .sha512: Data(SHA512.hash(data: content))
        }
    }
}
