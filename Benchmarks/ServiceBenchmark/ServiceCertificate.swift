import CordonHTTPClient
import CordonServiceHTTP
import Crypto
import Foundation
import SwiftASN1
import X509

/// A key and a certificate for 127.0.0.1, made for one run.
struct ServiceCertificate {
    /// The certificate in DER.
    let certificate: Data

    /// What trusts the certificate alone.
    var trust: ServerTrust { ServerTrust(authorities: [certificate]) }

    /// Where a service in a folder finds its certificate.
    static func files(in folder: URL) -> CertificateFiles {
        CertificateFiles(
            chain: folder.appending(path: "certificate.pem"), privateKey: folder.appending(path: "certificate.key"))
    }

    /// Makes both and writes them into the folder.
    init(in folder: URL) throws {
        let key = P256.Signing.PrivateKey()
        let name = try DistinguishedName { CommonName("cordon benchmark") }
        let made = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: .init(key.publicKey),
            notValidBefore: Date(timeIntervalSinceNow: -3_600), notValidAfter: Date(timeIntervalSinceNow: 86_400),
            issuer: name, subject: name, signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                SubjectAlternativeNames([.ipAddress(ASN1OctetString(contentBytes: [127, 0, 0, 1]))])
            }, issuerPrivateKey: .init(key))
        var serializer = DER.Serializer()
        try made.serialize(into: &serializer)
        certificate = Data(serializer.serializedBytes)
        let files = Self.files(in: folder)
        try Data(try made.serializeAsPEM().pemString.utf8).write(to: files.chain)
        // Only its owner may read it, from the first moment on.
        guard
            FileManager.default.createFile(
                atPath: files.privateKey.path, contents: Data(key.pemRepresentation.utf8),
                attributes: [.posixPermissions: 0o600])
        else { throw CocoaError(.fileWriteUnknown) }
    }
}
