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
        let parts: CMSParts
        do { parts = try CMSParts(content) } catch {
            return [self.error("the certificate's signature cannot be read: \(error.reason)")]
        }
        var typed: [(hashType: UInt8, blob: Data)] = []
        for blob in directories { typed.append((try CodeDirectory(blob).hash.rawValue, blob)) }
        return try check(parts, typed, first)
    }

    /// The certificate that signed an image; nil for an image without one.
    static func certificate(of image: MachOImage) -> SigningCertificate? {
        parts(of: image)?.certificate
    }

    /// The signer's certificate and the others of the message.
    static func chain(of image: MachOImage) -> (leaf: SigningCertificate, others: [SigningCertificate])? {
        guard let parts = parts(of: image), let leaf = parts.certificate else { return nil }
        return (leaf, parts.certificates.filter { $0.der != leaf.der })
    }

    private static func parts(of image: MachOImage) -> CMSParts? {
        guard let signature = try? ImageSignatureCheck.signature(image),
            let content = signature.content(SuperBlob.Slot.cms), !content.isEmpty
        else { return nil }
        return try? CMSParts(content)
    }

    private func error(_ message: String) -> ImageSignatureCheck.Problem {
        .init(severity: .error, code: "SG-CMS", message: message)
    }

    private func check(
        _ parts: CMSParts, _ directories: [(hashType: UInt8, blob: Data)], _ first: Data
    ) throws(AppToolsError) -> [ImageSignatureCheck.Problem] {
        guard let certificate = parts.certificate else { return [error("the signer's certificate is missing")] }
        var found: [ImageSignatureCheck.Problem] = []
        if let attributes = parts.attributes {
            found += try check(attributes, directories, first)
            if !attributes.signedForms.contains(where: { parts.isSignature(by: certificate, over: $0) }) {
                found.append(error("the certificate did not make this signature"))
            }
        } else if !parts.isSignature(by: certificate, over: first) {
            // Without attributes the signature is over the content itself (RFC 5652, section 5.4).
            found.append(error("the certificate did not make this signature over the code directory"))
        }
        if directories.count > 1, parts.attributes?.namesHashes != true {
            found.append(error("the certificate signed one of \(directories.count) code directories only"))
        }
        if let team = try? CodeDirectory(first).team, let named = certificate.team, team != named {
            found.append(error("the code names team \(team), the certificate \(named)"))
        }
        return found
    }

    private func check(
        _ attributes: CMSParts.Attributes, _ directories: [(hashType: UInt8, blob: Data)], _ first: Data
    ) throws(AppToolsError) -> [ImageSignatureCheck.Problem] {
        var found: [ImageSignatureCheck.Problem] = []
        if !attributes.isSigned(first) {
            found.append(error("the certificate signed another code directory"))
        }
        if let lists = attributes[CMSAttributes.hashList] {
            let named = lists.first.flatMap { try? DERNode($0).octets() }
                .flatMap { try? PropertyList(reading: $0).value["cdhashes"] }
            let expected = try? PropertyList(reading: CMSAttributes.list(directories)).value["cdhashes"]
            if named != expected { found.append(error("the list of code hashes does not fit the directories")) }
        }
        if let hashes = attributes[CMSAttributes.hashes], Set(hashes) != Set(try CMSAttributes.hashes(directories)) {
            found.append(error("the full code hashes do not fit the directories"))
        }
        return found
    }
}
