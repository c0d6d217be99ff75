internal import Foundation
internal import SwiftASN1

/// What pinning looks at in a certificate (RFC 5280 §4.1): whose key it is, and who says so.
struct PinnedCertificate {
    /// The subject public key info, DER.
    let publicKey: Data
    private let subject: Data
    private let issuer: Data

    /// Reads a certificate, DER.
    ///
    /// - Throws: `errorAccessingCertificate` for what is none.
    init(_ bytes: Data) throws(ProtectionError) {
        guard let certificate = try? DER.parse(Array(bytes)),
            let signed = Self.parts(of: certificate)?.first, let fields = Self.parts(of: signed)
        else { throw ProtectionError(.errorAccessingCertificate) }
        // A version is there unless it is the oldest.
        let version = ASN1Identifier(tagWithNumber: 0, tagClass: .contextSpecific)
        let named = fields.first?.identifier == version ? fields.dropFirst() : fields[...]
        let (issuer, subject, key) = (2, 4, 5)
        let all = Array(named.prefix(key + 1))
        guard all.count == key + 1, [issuer, subject, key].allSatisfy({ all[$0].identifier == .sequence }) else {
            throw ProtectionError(.errorAccessingCertificate)
        }
        publicKey = Data(all[key].encodedBytes)
        self.subject = Data(all[subject].encodedBytes)
        self.issuer = Data(all[issuer].encodedBytes)
    }

    /// Whether each certificate names the next one as its issuer.
    static func areChained(_ certificates: [PinnedCertificate]) -> Bool {
        zip(certificates, certificates.dropFirst()).allSatisfy { $0.issuer == $1.subject }
    }

    private static func parts(of node: ASN1Node) -> [ASN1Node]? {
        guard node.identifier == .sequence, case .constructed(let nodes) = node.content else { return nil }
        return Array(nodes)
    }
}
