public import Cordon
public import Foundation

/// How a ``ClipboardItem`` lies on a pasteboard that every app reads: sealed text under a type of Cordon's own, plain text only where the
/// rules let it go to every app.
public enum PasteboardCodec {
    /// The type of sealed text.
    public static let sealedType = "org.cordon.sealed-text"
    /// The type that says whose an item is, as the app that wrote it says.
    public static let ownerType = "org.cordon.owner"
    /// The system's type of plain text.
    public static let textType = "public.utf8-plain-text"
    /// How many bytes of one type are read; more is no item of Cordon's.
    static let largest = 32 << 20

    /// The representations of an item by their type.
    public static func representations(of item: ClipboardItem) -> [String: Data] {
        var found: [String: Data] = [:]
        found[ownerType] = item.owner.map { Data($0.rawValue.utf8) }
        found[textType] = item.text.map { Data($0.utf8) }
        found[sealedType] = item.sealed
        return found
    }

    /// The item that a pasteboard's first entry holds; nil for one without text, and for one that is too large.
    ///
    /// What it says of its owner is the writer's word; only the seal proves it.
    public static func item(from representations: [String: Data]) -> ClipboardItem? {
        guard representations.values.allSatisfy({ $0.count <= largest }) else { return nil }
        let sealed = representations[sealedType]
        let text = representations[textType].flatMap { String(data: $0, encoding: .utf8) }
        guard sealed != nil || text != nil else { return nil }
        let owner = representations[ownerType].flatMap { String(data: $0, encoding: .utf8) }
        return ClipboardItem(owner: owner.flatMap { $0.isEmpty ? nil : AccountID($0) }, text: text, sealed: sealed)
    }

    /// How far an item may travel: only what every app may read leaves this device by the system's shared pasteboard.
    public static func isLocalOnly(_ item: ClipboardItem) -> Bool { item.owner != nil && item.text == nil }
}
