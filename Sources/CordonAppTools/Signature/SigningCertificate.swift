import Foundation

/// What signatures need of an X.509 certificate.
struct SigningCertificate {
    let der: Data
    let serial: Data
    let issuer: Data
    let publicKeyInfo: Data
    /// The subject's organisational unit, by which teams are named.
    let team: String?

    init(_ der: Data) throws(AppToolsError) {
        self.der = der
        var fields = try DERNode(der).child(0).children()
        if fields.first?.tag == 0xA0 { fields.removeFirst() }
        guard fields.count >= 6 else { throw AppToolsError(.malformed, "the certificate is incomplete") }
        serial = fields[0].whole
        issuer = fields[2].whole
        publicKeyInfo = fields[5].whole
        var unit: String?
        for group in try fields[4].children() {
            for attribute in try group.children() {
                let parts = try attribute.children()
                if parts.count == 2, parts[0].content == DER.identifierBytes([2, 5, 4, 11]) {
                    unit = String(decoding: parts[1].content, as: UTF8.self)
                }
            }
        }
        team = unit
    }

    /// All blocks of a kind in a PEM file.
    static func blocks(_ kind: String, in pem: String) -> [Data] {
        pem.components(separatedBy: "-----BEGIN \(kind)-----").dropFirst().compactMap { part in
            guard let end = part.range(of: "-----END \(kind)-----") else { return nil }
            return Data(base64Encoded: String(part[..<end.lowerBound].filter { !$0.isWhitespace }))
        }
    }
}
