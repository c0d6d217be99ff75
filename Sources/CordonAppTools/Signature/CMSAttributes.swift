import Crypto
import Foundation

/// The attributes that a code signature's CMS part signs (TL-MO-28).
struct CMSAttributes {
    static let sha256 = DER.sequence(DER.identifier(2, 16, 840, 1, 101, 3, 4, 2, 1))
    static let contentType = DER.identifier(1, 2, 840, 113549, 1, 9, 3)
    static let messageDigest = DER.identifier(1, 2, 840, 113549, 1, 9, 4)
    static let signingTime = DER.identifier(1, 2, 840, 113549, 1, 9, 5)
    static let hashList = DER.identifier(1, 2, 840, 113635, 100, 9, 1)
    static let hashes = DER.identifier(1, 2, 840, 113635, 100, 9, 2)

    let members: [Data]

    init(directories: [(hashType: UInt8, blob: Data)], time: Date) throws(AppToolsError) {
        guard let first = directories.first else { throw AppToolsError(.usage, "there is no code directory to sign") }
        members =
            Self.common(first.blob, time) + [
                Self.attribute(Self.hashList, [DER.octets(Self.list(directories))]),
                Self.attribute(Self.hashes, Self.hashes(directories)),
            ]
    }

    /// The attributes of any signed content.
    init(content: Data, time: Date) {
        members = Self.common(content, time)
    }

    private static func common(_ content: Data, _ time: Date) -> [Data] {
        [
            attribute(contentType, [DER.identifier(1, 2, 840, 113549, 1, 7, 1)]),
            attribute(signingTime, [Self.time(time)]),
            attribute(messageDigest, [DER.octets(Data(SHA256.hash(data: content)))]),
        ]
    }

    private static func attribute(_ type: Data, _ values: [Data]) -> Data { DER.sequence(type, DER.set(values)) }

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
    static func hashes(_ directories: [(hashType: UInt8, blob: Data)]) -> [Data] {
        directories.compactMap { directory in
            switch CodeHash(rawValue: directory.hashType) {
            case .sha1?:
                DER.sequence(DER.identifier(1, 3, 14, 3, 2, 26), DER.octets(CodeHash.sha1.hash(directory.blob)))
            case .sha256?:
                DER.sequence(
                    DER.identifier(2, 16, 840, 1, 101, 3, 4, 2, 1), DER.octets(CodeHash.sha256.hash(directory.blob)))
            default: nil
            }
        }
    }

    private static func time(_ date: Date) -> Data {
        let digits = PropertyListText.text(date).filter(\.isNumber)
        // Until 2049 times have two digits for the year.
        return Int(digits.prefix(4)) ?? 0 < 2050
            ? DER.element(0x17, Data((digits.dropFirst(2) + "Z").utf8)) : DER.element(0x18, Data((digits + "Z").utf8))
    }
}
