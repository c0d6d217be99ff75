import Crypto
import CryptoExtras
import Foundation

/// Whether a signature's CMS part fits its code directories and was made by the certificate in it.
struct CMSCheck {
    let signature: SuperBlob

    func problems() throws(AppToolsError) -> [ImageSignatureCheck.Problem] {
        let directories = signature.codeDirectories
        guard let first = directories.first else { return [] }
        let isAdHoc = try CodeDirectory(first).flags & CodeDirectory.Flag.adHoc != 0
        let content = signature.content(SuperBlob.Slot.cms) ?? Data()
        guard !content.isEmpty else {
            return isAdHoc ? [] : [error("has neither a certificate's signature nor the ad-hoc flag")]
        }
        let parts: Parts
        do throws(AppToolsError) { parts = try Parts(content) } catch {
            return [self.error("the certificate's signature cannot be read: \(error.reason)")]
        }
        var typed: [(hashType: UInt8, blob: Data)] = []
        for blob in directories { typed.append((try CodeDirectory(blob).hash.rawValue, blob)) }
        return check(parts, typed, first)
    }

    /// The certificate that signed an image; nil for an image without one.
    static func certificate(of image: MachOImage) -> SigningCertificate? {
        parts(of: image)?.certificate
    }

    /// The signer's certificate and the others of the message, DER.
    static func chain(of image: MachOImage) -> (leaf: Data, others: [Data])? {
        guard let parts = parts(of: image), let leaf = parts.certificate?.der else { return nil }
        return (leaf, parts.certificates.filter { $0 != leaf })
    }

    private static func parts(of image: MachOImage) -> Parts? {
        guard let signature = try? ImageSignatureCheck.signature(image),
            let content = signature.content(SuperBlob.Slot.cms), !content.isEmpty
        else { return nil }
        return try? Parts(content)
    }

    private func error(_ message: String) -> ImageSignatureCheck.Problem {
        .init(severity: .error, code: "SG-CMS", message: message)
    }

    private func check(
        _ parts: Parts, _ directories: [(hashType: UInt8, blob: Data)], _ first: Data
    ) -> [ImageSignatureCheck.Problem] {
        var found: [ImageSignatureCheck.Problem] = []
        if parts.attributes[CMSAttributes.messageDigest] != [DER.octets(Data(SHA256.hash(data: first)))] {
            found.append(error("the certificate signed another code directory"))
        }
        if let lists = parts.attributes[CMSAttributes.hashList] {
            let named = lists.first.flatMap { try? DERNode($0).content }
                .flatMap { try? PropertyList(reading: Data($0)).value["cdhashes"] }
            let expected = try? PropertyList(reading: CMSAttributes.list(directories)).value["cdhashes"]
            if named != expected { found.append(error("the list of code hashes does not fit the directories")) }
        }
        if let hashes = parts.attributes[CMSAttributes.hashes],
            Set(hashes) != Set(CMSAttributes.hashes(directories))
        {
            found.append(error("the full code hashes do not fit the directories"))
        }
        guard let certificate = parts.certificate else { return found + [error("the signer's certificate is missing")] }
        if !isSigned(parts, by: certificate) { found.append(error("the certificate did not make this signature")) }
        if let team = try? CodeDirectory(first).team, let named = certificate.team, team != named {
            found.append(error("the code names team \(team), the certificate \(named)"))
        }
        return found
    }

    private func isSigned(_ parts: Parts, by certificate: SigningCertificate) -> Bool {
        let digest = SHA256.hash(data: Data([0x31]) + parts.signedAttributes.dropFirst())
        if let key = try? _RSA.Signing.PublicKey(derRepresentation: certificate.publicKeyInfo) {
            let signature = _RSA.Signing.RSASignature(rawRepresentation: parts.signature)
            return key.isValidSignature(signature, for: digest, padding: .insecurePKCS1v1_5)
        }
        guard let key = try? P256.Signing.PublicKey(derRepresentation: certificate.publicKeyInfo),
            let signature = try? P256.Signing.ECDSASignature(derRepresentation: parts.signature)
        else { return false }
        return key.isValidSignature(signature, for: digest)
    }

    /// What is looked at in the message.
    private struct Parts {
        let signedAttributes: Data
        let signature: Data
        let certificate: SigningCertificate?
        let certificates: [Data]
        /// Values by type, both with their heads.
        private(set) var attributes: [Data: [Data]] = [:]

        init(_ message: Data) throws(AppToolsError) {
            let fields = try DERNode(message).child(1).child(0).children()
            guard let signers = fields.last, signers.tag == 0x31 else {
                throw AppToolsError(.malformed, "there is no signer")
            }
            let signer = try signers.child(0).children()
            guard signer.count >= 6, signer[3].tag == 0xA0 else {
                throw AppToolsError(.malformed, "the signer signed no attributes")
            }
            signedAttributes = signer[3].whole
            signature = Data(signer[5].content)
            let wanted = signer[1].content
            var match: SigningCertificate?
            var all: [Data] = []
            for certificate in try fields.first(where: { $0.tag == 0xA0 })?.children() ?? [] {
                let read = try SigningCertificate(Data(certificate.whole))
                all.append(read.der)
                if read.issuer + read.serial == wanted { match = read }
            }
            certificate = match
            certificates = all
            for attribute in try signer[3].children() {
                let parts = try attribute.children()
                guard parts.count == 2 else { throw AppToolsError(.malformed, "a signed attribute is incomplete") }
                attributes[Data(parts[0].whole)] = try parts[1].children().map { Data($0.whole) }
            }
        }
    }
}
