import Foundation
import SwiftASN1

/// The requirement that names code signed with an Apple certificate (TL-SG-06), in the compiled form systems read.
struct DesignatedRequirement {
    private static let magic: UInt32 = 0xFADE_0C00
    /// The type of requirement that says which code counts as the same.
    private static let designated: UInt32 = 3

    private enum Operation: UInt32 {
        case identifier = 2
        case and = 6
        case certificateField = 11
        case certificateExtension = 14
        case appleGenericAnchor = 15
    }

    private enum Match: UInt32 {
        case exists = 0
        case equals = 1
    }

    /// The extension of Apple's intermediate certificates for developers.
    private static let developer: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 2, 1]

    private let expression: Data

    /// Nil for certificates that Apple did not issue.
    init?(identifier: String, leaf: SigningCertificate) {
        guard leaf.isIssuedByApple, let name = leaf.name, let marker = try? DERNode(Data(der: Self.developer)).content
        else { return nil }
        let isCode = Self.code(.identifier) + Self.text(Data(identifier.utf8))
        let isNamed =
            Self.code(.certificateField) + UInt32(0).bigBytes + Self.text(Data("subject.CN".utf8))
            + Match.equals.rawValue.bigBytes + Self.text(Data(name.utf8))
        // The issuing certificate is one of the intermediates for developers.
        let isDeveloper =
            Self.code(.certificateExtension) + UInt32(1).bigBytes
            + Self.text(marker) + Match.exists.rawValue.bigBytes
        expression =
            Self.code(.and) + isCode + Self.code(.and) + Self.code(.appleGenericAnchor) + Self.code(.and) + isNamed
            + isDeveloper
    }

    /// The blob for the requirements slot, with this as its only member.
    var requirements: Data {
        let requirement = SuperBlob.blob(Self.magic, UInt32(1).bigBytes + expression)
        return SuperBlob.blob(
            SuperBlob.Magic.requirements,
            UInt32(1).bigBytes + Self.designated.bigBytes + UInt32(20).bigBytes + requirement)
    }

    private static func code(_ operation: Operation) -> Data { operation.rawValue.bigBytes }

    /// Length, bytes, and zeros up to the next multiple of four.
    private static func text(_ bytes: Data) -> Data {
        UInt32(bytes.count).bigBytes + bytes + Data(count: (4 - bytes.count % 4) % 4)
    }
}
