public import Foundation
import SwiftASN1
import X509

/// Whether the certificates in code signatures lead to roots that the caller trusts (TL-SG-09).
public struct SignatureTrust: Sendable {
    private let roots: CertificateStore

    /// Takes the trusted roots from PEM; chains are judged as of now.
    /// - Throws: ``AppToolsError`` `malformed` when there is no certificate or one cannot be read.
    public init(anchors pem: String) throws(AppToolsError) {
        let blocks = SigningCertificate.blocks("CERTIFICATE", in: pem)
        guard !blocks.isEmpty else { throw AppToolsError(.malformed, "there is no certificate among the anchors") }
        var roots: [Certificate] = []
        for block in blocks { roots.append(try SigningCertificate(block).certificate) }
        self.roots = CertificateStore(roots)
    }

    /// One error for every image that carries no certificate, or one that is not for code or leads to no trusted root.
    /// - Throws: ``AppToolsError`` `missing` or `malformed` when there is no code to look at.
    public func findings(_ url: URL) async throws(AppToolsError) -> [Finding] {
        let place = InputFile.kind(of: url)
        guard place.exists else { throw AppToolsError(.missing, "does not exist", at: url.path) }
        var found: [Finding] = []
        for file in place.isFolder ? CodeFiles.all(in: url) : [url] {
            let data = try InputFile.map(file)
            let code = try naming(file.path) { () throws(AppToolsError) in try MachOFile(data) }
            for image in code.slices.compactMap(\.image) where !image.isSymbolFile {
                guard let chain = CMSCheck.chain(of: image) else {
                    found.append(Finding(file.path, .error, "SG-TRUST", "\(image.cpu): carries no certificate"))
                    continue
                }
                guard let reason = await problem(chain.leaf.certificate, chain.others.map(\.certificate)) else {
                    continue
                }
                found.append(Finding(file.path, .error, "SG-TRUST", "\(image.cpu): \(reason)"))
            }
        }
        return found
    }

    /// A message has three in practice. Of certificates that could all have issued each other every order is tried.
    private static let mostCertificates = 5

    private func problem(_ leaf: Certificate, _ others: [Certificate]) async -> String? {
        guard others.count < Self.mostCertificates else {
            return "the signature carries more certificates than a chain has"
        }
        guard Self.maySignCode(leaf) else { return "the certificate is not for signing code: \(leaf.subject)" }
        var verifier = Verifier(rootCertificates: roots) {
            RFC5280Policy()
            CodeExtensions()
        }
        switch await verifier.validate(leaf: leaf, intermediates: CertificateStore(others)) {
        case .validCertificate: return nil
        case .couldNotValidate:
            let now = Date()
            let ended = ([leaf] + others).first { $0.notValidAfter < now }
            return ended.map { "a certificate of the chain has expired: \($0.subject)" }
                ?? "the certificate does not lead to a trusted root"
        }
    }

    /// Whether what a certificate says of its use allows it to sign code.
    private static func maySignCode(_ leaf: Certificate) -> Bool {
        do {
            let purposes = try leaf.extensions.extendedKeyUsage
            let usage = try leaf.extensions.keyUsage
            return (purposes.map { $0.contains(.codeSigning) || $0.contains(.any) } ?? true)
                && usage?.digitalSignature ?? true
        } catch { return false }
    }
}

/// Critical extensions that certificates for code carry and that mean nothing for the chain itself.
private struct CodeExtensions: VerifierPolicy {
    let verifyingCriticalExtensions: [ASN1ObjectIdentifier] = [
        .X509ExtensionID.extendedKeyUsage, [1, 2, 840, 113635, 100, 6, 1, 2], [1, 2, 840, 113635, 100, 6, 1, 4],
        [1, 2, 840, 113635, 100, 6, 1, 7], [1, 2, 840, 113635, 100, 6, 1, 12],
    ]

    mutating func chainMeetsPolicyRequirements(chain: UnverifiedCertificateChain) -> PolicyEvaluationResult {
        .meetsPolicy
    }
}
