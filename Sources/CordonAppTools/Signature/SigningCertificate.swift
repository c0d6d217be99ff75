import Foundation
import SwiftASN1
import X509

/// What signatures need of an X.509 certificate.
struct SigningCertificate {
    let der: Data
    let certificate: Certificate
    /// The developer team, which the subject's organisational unit names. Apple's own certificates name one of its
    /// departments there.
    let team: String?
    /// The subject's common name.
    let name: String?
    /// Whether the certificate looks like one of Apple's for code; who really issued it is a matter of trust.
    let isIssuedByApple: Bool
    /// When the certificate is valid.
    let validity: Range<Date>

    init(_ der: Data) throws(AppToolsError) {
        self.der = der
        do { certificate = try Certificate(derEncoded: Array(der)) } catch {
            throw AppToolsError(.malformed, "a certificate cannot be read")
        }
        name = try Self.text(.RDNAttributeType.commonName, in: certificate.subject)
        let issuer = try Self.text(.RDNAttributeType.organizationName, in: certificate.issuer)
        let isMarked = certificate.extensions.contains { $0.oid.oidComponents.starts(with: Self.marker) }
        isIssuedByApple = isMarked && issuer == "Apple Inc."
        let unit = try Self.text(.RDNAttributeType.organizationalUnitName, in: certificate.subject)
        let isDepartment = issuer == "Apple Inc." && !(unit.map(Self.isTeam) ?? false)
        team = isDepartment ? nil : unit
        let (start, end) = (certificate.notValidBefore, certificate.notValidAfter)
        guard start < end else { throw AppToolsError(.malformed, "the certificate ends before it begins") }
        validity = start..<end
    }

    /// The extensions by which Apple marks certificates for code.
    private static let marker: [UInt] = [1, 2, 840, 113635, 100, 6, 1]

    /// Whether a text has the form of Apple's team identifiers.
    private static func isTeam(_ text: String) -> Bool {
        text.count == 10 && text.allSatisfy { $0.isASCII && ($0.isUppercase || $0.isNumber) }
    }

    /// The first part of a distinguished name that has the type.
    private static func text(
        _ type: ASN1ObjectIdentifier, in name: DistinguishedName
    ) throws(AppToolsError) -> String? {
        guard let value = name.lazy.flatMap({ $0 }).first(where: { $0.type == type })?.value else { return nil }
        if let text = String(value) { return text }
        // Strings in older alphabets are read as far as they are ASCII.
        return String(decoding: try DERNode(Data(der: ASN1Any(value))).content, as: UTF8.self)
    }

    /// All blocks of a kind in a PEM file.
    static func blocks(_ kind: String, in pem: String) -> [Data] {
        pem.components(separatedBy: "-----BEGIN \(kind)-----").dropFirst().compactMap { part in
            guard let end = part.range(of: "-----END \(kind)-----") else { return nil }
            return Data(base64Encoded: String(part[..<end.lowerBound].filter { !$0.isWhitespace }))
        }
    }
}
