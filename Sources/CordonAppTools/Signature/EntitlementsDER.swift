import Foundation
import SwiftASN1

/// Entitlements as the DER that newer systems read beside the XML (TL-MO-29).
enum EntitlementsDER {
    /// The encoded entitlements.
    /// - Throws: ``AppToolsError`` `unsupported` for data, dates and reals, which the form has no place for.
    static func encode(_ value: PropertyListValue) throws(AppToolsError) -> Data {
        guard case .dictionary(let entries) = value else {
            throw AppToolsError(.malformed, "entitlements are not a dictionary")
        }
        return try Data(der: { coder in
            let whole = ASN1Identifier(tagWithNumber: 16, tagClass: .application)
            try coder.appendConstructedNode(identifier: whole) { coder in
                try coder.serialize(1)
                try write(entries, into: &coder)
            }
        })
    }

    private static func write(_ value: PropertyListValue, into coder: inout DER.Serializer) throws {
        switch value {
        case .string(let text): try coder.serialize(ASN1UTF8String(text))
        case .boolean(let truth): try coder.serialize(truth)
        case .integer(let number): try coder.serialize(number)
        case .array(let values):
            try coder.appendConstructedNode(identifier: .sequence) { coder in
                for value in values { try write(value, into: &coder) }
            }
        case .dictionary(let entries): try write(entries, into: &coder)
        case .real, .date, .data:
            throw AppToolsError(.unsupported, "an entitlement is a \(value.kind), which signatures cannot hold")
        }
    }

    private static func write(_ entries: PropertyListDictionary, into coder: inout DER.Serializer) throws {
        let dictionary = ASN1Identifier(tagWithNumber: 16, tagClass: .contextSpecific)
        try coder.appendConstructedNode(identifier: dictionary) { coder in
            for (key, value) in entries.sorted.entries {
                try coder.appendConstructedNode(identifier: .sequence) { coder in
                    try coder.serialize(ASN1UTF8String(key))
                    try write(value, into: &coder)
                }
            }
        }
    }
}
