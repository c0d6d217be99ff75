import Crypto
import Foundation
import SwiftASN1

/// A signed attribute: its type, and its values in DER with their heads.
struct CMSAttribute: DERSerializable {
    let type: ASN1ObjectIdentifier
    let values: [Data]

    func serialize(into coder: inout DER.Serializer) throws {
        try coder.appendConstructedNode(identifier: .sequence) { coder in
            try coder.serialize(type)
            try coder.serializeSetOf(try values.map { try DERNode($0) })
        }
    }
}

/// The attributes that a code signature's CMS part signs (TL-MO-28).
struct CMSAttributes {
    static let contentType: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 9, 3]
    static let messageDigest: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 9, 4]
    static let signingTime: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 9, 5]
    static let hashList: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 9, 1]
    static let hashes: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 9, 2]

    let members: [CMSAttribute]

    init(directories: [(hashType: UInt8, blob: Data)], time: Date) throws(AppToolsError) {
        guard let first = directories.first else { throw AppToolsError(.usage, "there is no code directory to sign") }
        members =
            try Self.common(first.blob, time) + [
                CMSAttribute(type: Self.hashList, values: [Self.octets(Self.list(directories))]),
                CMSAttribute(type: Self.hashes, values: Self.hashes(directories)),
            ]
    }

    /// The attributes of any signed content.
    init(content: Data, time: Date) throws(AppToolsError) {
        members = try Self.common(content, time)
    }

    private static func common(_ content: Data, _ time: Date) throws(AppToolsError) -> [CMSAttribute] {
        [
            CMSAttribute(type: contentType, values: [try Data(der: ASN1ObjectIdentifier.data)]),
            CMSAttribute(type: signingTime, values: [try Self.time(time)]),
            CMSAttribute(type: messageDigest, values: [try octets(Data(SHA256.hash(data: content)))]),
        ]
    }

    /// An octet string in DER.
    static func octets(_ content: Data) throws(AppToolsError) -> Data {
        try Data(der: ASN1OctetString(contentBytes: Array(content)[...]))
    }

    /// The property list of shortened hashes, one a directory.
    static func list(_ directories: [(hashType: UInt8, blob: Data)]) -> Data {
        let short = directories.compactMap { directory in
            CodeHash(rawValue: directory.hashType).map {
                PropertyListValue.data(Data($0.hash(directory.blob).prefix(20)))
            }
        }
        return XMLPropertyListWriter().document(.dictionary(["cdhashes": .array(short)]))
    }

    /// Hash function and full hash, one a directory.
    static func hashes(_ directories: [(hashType: UInt8, blob: Data)]) throws(AppToolsError) -> [Data] {
        var all: [Data] = []
        for directory in directories {
            guard let hash = CodeHash(rawValue: directory.hashType), let identifier = hash.identifier else { continue }
            all.append(
                try Data(der: { coder in
                    try coder.appendConstructedNode(identifier: .sequence) { coder in
                        try coder.serialize(identifier)
                        try coder.serialize(ASN1OctetString(contentBytes: Array(hash.hash(directory.blob))[...]))
                    }
                }))
        }
        return all
    }

    /// A time in DER: until 2049 with two digits for the year (RFC 5652, section 11.3).
    private static func time(_ date: Date) throws(AppToolsError) -> Data {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute, .second], from: date)
        let (year, month, day) = (parts.year ?? 0, parts.month ?? 0, parts.day ?? 0)
        let (hours, minutes, seconds) = (parts.hour ?? 0, parts.minute ?? 0, parts.second ?? 0)
        return try Data(der: { coder in
            if (1950..<2050).contains(year) {
                try coder.serialize(
                    UTCTime(year: year, month: month, day: day, hours: hours, minutes: minutes, seconds: seconds))
            } else {
                try coder.serialize(
                    GeneralizedTime(
                        year: year, month: month, day: day, hours: hours, minutes: minutes, seconds: seconds,
                        fractionalSeconds: 0))
            }
        })
    }
}
