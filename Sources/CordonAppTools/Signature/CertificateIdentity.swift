import Crypto
import CryptoExtras
public import Foundation
import SwiftASN1
import X509

/// A signing identity from PEM or PKCS#12: an RSA or P-256 key, its certificate, and the chain up to the root.
public struct CertificateIdentity: SigningIdentity {
    private enum Key: Sendable {
        case rsa(_RSA.Signing.PrivateKey)
        case p256(P256.Signing.PrivateKey)

        var publicKey: Certificate.PublicKey {
            switch self {
            case .rsa(let key): Certificate.PublicKey(key.publicKey)
            case .p256(let key): Certificate.PublicKey(key.publicKey)
            }
        }
    }

    /// The team that the certificate's subject names.
    public let team: String?
    private let key: Key
    private let certificates: [SigningCertificate]
    private let now: @Sendable () -> Date

    /// Reads a key and a chain whose first certificate belongs to the key.
    ///
    /// - Parameter now: Gives the signing time.
    /// - Throws: ``AppToolsError`` `malformed` when something is missing or the key and certificate do not belong together.
    public init(
        key keyText: String, certificates pem: String, now: @escaping @Sendable () -> Date = { Date() }
    ) throws(AppToolsError) {
        var chain: [SigningCertificate] = []
        for block in SigningCertificate.blocks("CERTIFICATE", in: pem) { chain.append(try SigningCertificate(block)) }
        guard !chain.isEmpty else { throw AppToolsError(.malformed, "there is no certificate in the PEM file") }
        if let rsa = try? _RSA.Signing.PrivateKey(pemRepresentation: keyText) {
            try self.init(.rsa(rsa), chain, now)
        } else if let p256 = try? P256.Signing.PrivateKey(pemRepresentation: keyText) {
            try self.init(.p256(p256), chain, now)
        } else {
            throw AppToolsError(.malformed, "the key is neither an unencrypted RSA nor a P-256 key in PEM")
        }
    }

    /// Reads a PKCS#12 file with one key, its certificate and the chain (TL-SG-05).
    ///
    /// - Parameter now: Gives the signing time.
    /// - Throws: ``AppToolsError`` `refused` when the password is wrong, `unsupported` for the encryption of older
    ///   tools, `malformed` when something is missing or the key and the certificates do not belong together.
    public init(
        pkcs12 data: Data, password: String, now: @escaping @Sendable () -> Date = { Date() }
    ) throws(AppToolsError) {
        let file = try PKCS12(data, password: password)
        let key: Key
        if let rsa = try? _RSA.Signing.PrivateKey(derRepresentation: file.key) {
            key = .rsa(rsa)
        } else if let p256 = try? P256.Signing.PrivateKey(derRepresentation: file.key) {
            key = .p256(p256)
        } else {
            throw AppToolsError(.unsupported, "the key in the PKCS#12 file is neither RSA nor P-256")
        }
        var chain: [SigningCertificate] = []
        for certificate in file.certificates { chain.append(try SigningCertificate(certificate)) }
        // The format does not order certificates; the message must begin with the key's own.
        let own = chain.firstIndex { $0.certificate.publicKey == key.publicKey }
        if let own { chain.insert(chain.remove(at: own), at: 0) }
        try self.init(key, chain, now)
    }

    private init(
        _ key: Key, _ chain: [SigningCertificate], _ now: @escaping @Sendable () -> Date
    ) throws(AppToolsError) {
        guard let leaf = chain.first, key.publicKey == leaf.certificate.publicKey else {
            throw AppToolsError(.malformed, "the first certificate does not belong to the key")
        }
        self.key = key
        team = leaf.team
        certificates = chain
        self.now = now
    }

    /// The requirement that later versions of the code must meet: only Apple's certificates have one (TL-SG-06).
    public func designatedRequirement(of identifier: String) -> Data? {
        DesignatedRequirement(identifier: identifier, leaf: certificates[0])?.requirements
    }

    /// A detached CMS signature over the first directory that also names every directory's hash (TL-MO-28).
    /// - Throws: ``AppToolsError`` `unsupported` when the key cannot sign.
    public func sign(_ directories: [(hashType: UInt8, blob: Data)]) throws(AppToolsError) -> Data {
        try message(attributes: CMSAttributes(directories: directories, time: now()).members, content: nil)
    }

    /// A CMS message that carries the content, as signed configuration profiles are (TL-MC-06).
    /// - Throws: ``AppToolsError`` `unsupported` when the key cannot sign.
    public func envelope(_ content: Data) throws(AppToolsError) -> Data {
        try message(attributes: CMSAttributes(content: content, time: now()).members, content: content)
    }

    private func message(attributes: [CMSAttribute], content: Data?) throws(AppToolsError) -> Data {
        let digest = SHA256.hash(data: try Data(der: { try $0.serializeSetOf(attributes) }))
        let (algorithm, signature): (CMSAlgorithm, Data)
        do {
            switch key {
            case .rsa(let key):
                algorithm = .rsa
                signature = try key.signature(for: digest, padding: .insecurePKCS1v1_5).rawRepresentation
            case .p256(let key):
                algorithm = .ecdsa
                signature = try key.signature(for: digest).derRepresentation
            }
        } catch { throw AppToolsError(.unsupported, "the key cannot sign") }
        let signer = CMSSigner(
            certificate: certificates[0].certificate, attributes: attributes, algorithm: algorithm,
            signature: signature)
        return try Data(der: CMSMessage(content: content, certificates: certificates, signer: signer))
    }
}
