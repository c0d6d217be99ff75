import Foundation

/// What signatures need of an X.509 certificate.
struct SigningCertificate {
    let der: Data
    let serial: Data
    let issuer: Data
    let publicKeyInfo: Data
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
        var fields = try DERNode(der).child(0).children()
        if fields.first?.tag == 0xA0 { fields.removeFirst() }
        guard fields.count >= 6 else { throw AppToolsError(.malformed, "the certificate is incomplete") }
        serial = fields[0].whole
        issuer = fields[2].whole
        publicKeyInfo = fields[5].whole
        name = try Self.text([2, 5, 4, 3], in: fields[4])
        let marker = DER.identifierBytes([1, 2, 840, 113635, 100, 6, 1])
        var isMarked = false
        let extensions = fields.first { $0.tag == 0xA3 }
        for entry in try extensions.map({ (node) throws(AppToolsError) in try node.child(0).children() }) ?? []
        where try entry.child(0).content.starts(with: marker) { isMarked = true }
        let issuerName = try Self.text([2, 5, 4, 10], in: fields[2])
        isIssuedByApple = isMarked && issuerName == "Apple Inc."
        let unit = try Self.text([2, 5, 4, 11], in: fields[4])
        let isDepartment = issuerName == "Apple Inc." && !(unit.map(Self.isTeam) ?? false)
        team = isDepartment ? nil : unit
        let start = try Self.time(fields[3].child(0))
        let end = try Self.time(fields[3].child(1))
        guard start < end else { throw AppToolsError(.malformed, "the certificate ends before it begins") }
        validity = start..<end
    }

    /// Whether a text has the form of Apple's team identifiers.
    private static func isTeam(_ text: String) -> Bool {
        text.count == 10 && text.allSatisfy { $0.isASCII && ($0.isUppercase || $0.isNumber) }
    }

    /// A part of a distinguished name.
    private static func text(_ attribute: [UInt64], in name: DERNode) throws(AppToolsError) -> String? {
        for group in try name.children() {
            for entry in try group.children() {
                let parts = try entry.children()
                if parts.count == 2, parts[0].content == DER.identifierBytes(attribute) {
                    return String(decoding: parts[1].content, as: UTF8.self)
                }
            }
        }
        return nil
    }

    /// UTCTime has two digits for the year, 50 and above meaning the last century (RFC 5280, 4.1.2.5).
    private static func time(_ node: DERNode) throws(AppToolsError) -> Date {
        var digits = String(decoding: node.content, as: UTF8.self)
        if node.tag == 0x17 { digits = (digits >= "50" ? "19" : "20") + digits }
        let parts = [4, 2, 2, 2, 2, 2].reduce(into: (rest: Substring(digits), numbers: [Int]())) { parts, count in
            parts.numbers.append(Int(parts.rest.prefix(count)) ?? -1)
            parts.rest = parts.rest.dropFirst(count)
        }
        let text = zip(parts.numbers, ["%04d-", "%02d-", "%02dT", "%02d:", "%02d:", "%02dZ"])
            .map { String(format: $1, $0) }.joined()
        guard parts.rest == "Z", let date = PropertyListText.date(text) else {
            throw AppToolsError(.malformed, "a time in the certificate cannot be read")
        }
        return date
    }

    /// All blocks of a kind in a PEM file.
    static func blocks(_ kind: String, in pem: String) -> [Data] {
        pem.components(separatedBy: "-----BEGIN \(kind)-----").dropFirst().compactMap { part in
            guard let end = part.range(of: "-----END \(kind)-----") else { return nil }
            return Data(base64Encoded: String(part[..<end.lowerBound].filter { !$0.isWhitespace }))
        }
    }
}
