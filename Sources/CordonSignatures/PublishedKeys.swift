internal import CordonBase
package import Foundation

/// The usable keys of a JWK set that another party publishes (RFC 7517 §5), in its order.
package struct PublishedKeys: Sendable {
    /// The most keys that are read from one document.
    package static let most = 100

    private let keys: [VerificationKey]

    /// Reads a document. Keys of other kinds, for other uses or for algorithms that the profile does not allow are left out
    /// without hiding the others, and so are keys without an id where the profile wants one.
    ///
    /// - Returns: nil for anything but a JWK set, such as a proxy's error page.
    package init?(_ document: Data, for profile: SignatureProfile) {
        var reader = JSONReader(document)
        guard case .object? = try? reader.next() else { return nil }
        var found: [JWK]?
        var names: Set<String> = []
        do {
            while let name = try reader.member(isFirst: names.isEmpty) {
                guard names.insert(name).inserted else { return nil }
                if name == "keys" { found = try Self.list(&reader) } else { _ = try reader.content() }
            }
            try reader.finish()
        } catch { return nil }
        guard let found else { return nil }
        keys = found.compactMap(VerificationKey.init).filter { key in
            (key.id != nil || profile.key == .namedOrOnly) && profile.algorithms.contains(where: key.accepts)
        }
    }

    private static func list(_ reader: inout JSONReader) throws(TextFlaw) -> [JWK]? {
        guard case .array = try reader.next() else { return nil }
        var (keys, count) = ([JWK](), 0)
        while try reader.hasElement(isFirst: count == 0) {
            count += 1
            if case .object(let members) = try reader.content(), count <= most, let key = JWK(members) {
                keys.append(key)
            }
        }
        return keys
    }

    /// The ids of the keys.
    package var ids: [String] { keys.compactMap(\.id) }

    /// The first key with an id: of two, neither is trusted more.
    package subscript(id: String) -> VerificationKey? { keys.first { $0.id == id } }

    /// The keys with an id, or all where the id is nil, in the document's order.
    package func keys(named id: String?) -> [VerificationKey] { id == nil ? keys : keys.filter { $0.id == id } }

    /// Whether there is a key with the id; nil asks for any.
    package func contains(_ id: String?) -> Bool { keys.contains { id == nil || $0.id == id } }

    /// The one key that fits what a text says of its key; nil where several do.
    package func key(for text: SignedText) -> VerificationKey? {
        let fitting = keys.filter { (text.keyID == nil || $0.id == text.keyID) && $0.accepts(text.algorithm) }
        return fitting.count == 1 ? fitting.first : nil
    }
}
