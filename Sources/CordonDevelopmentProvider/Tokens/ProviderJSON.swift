import Foundation

/// JSON as this provider writes it: sorted keys, dates never encoded as such.
enum ProviderJSON {
    static func encode(_ value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(value)
    }
}
