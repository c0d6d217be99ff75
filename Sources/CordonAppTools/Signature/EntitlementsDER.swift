import Foundation

/// Entitlements as the DER that newer systems read beside the XML (TL-MO-29).
enum EntitlementsDER {
    /// The encoded entitlements.
    /// - Throws: ``AppToolsError`` `unsupported` for data, dates and reals, which the form has no place for.
    static func encode(_ value: PropertyListValue) throws(AppToolsError) -> Data {
        guard case .dictionary(let entries) = value else {
            throw AppToolsError(.malformed, "entitlements are not a dictionary")
        }
        return DER.element(0x70, DER.integer(1) + (try dictionary(entries)))
    }

    private static func encoded(_ value: PropertyListValue) throws(AppToolsError) -> Data {
        switch value {
        case .string(let text): return DER.element(0x0C, Data(text.utf8))
        case .boolean(let truth): return DER.element(0x01, Data([truth ? 0xFF : 0]))
        case .integer(let number): return DER.integer(number)
        case .array(let values):
            var content = Data()
            for value in values { content += try encoded(value) }
            return DER.element(0x30, content)
        case .dictionary(let entries): return try dictionary(entries)
        case .real, .date, .data:
            throw AppToolsError(.unsupported, "an entitlement is a \(value.kind), which signatures cannot hold")
        }
    }

    private static func dictionary(_ entries: PropertyListDictionary) throws(AppToolsError) -> Data {
        var content = Data()
        for (key, value) in entries.sorted.entries {
            content += DER.element(0x30, DER.element(0x0C, Data(key.utf8)) + (try encoded(value)))
        }
        return DER.element(0xB0, content)
    }
}
