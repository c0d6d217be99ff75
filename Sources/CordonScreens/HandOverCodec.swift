public import Cordon
public import Foundation

/// How a ``SharedItem`` travels from one app to another through the system: as one piece of data under a type of Cordon's own, which other apps
/// do not know. What is an organisation's is sealed in it.
public enum HandOverCodec {
    /// The type of an item on its way.
    public static let itemType = "org.cordon.handed-over"
    /// How many bytes are read; more is refused unread.
    public static let largest = 64 << 20

    /// The bytes of an item.
    ///
    /// - Throws: ``ProtectionError`` with code `outletFailed` where it is larger than an app would read.
    public static func data(of item: SharedItem) throws(ProtectionError) -> Data {
        guard let data = try? JSONEncoder().encode(item), data.count <= largest else {
            throw ProtectionError(.outletFailed, "this is too large to be handed to another app")
        }
        return data
    }

    /// The item that another app handed over; nil for data that is not one.
    ///
    /// What it says of owner and sender is the sender's word; only the seal inside proves it.
    public static func item(from data: Data) -> SharedItem? {
        guard data.count <= largest else { return nil }
        return try? JSONDecoder().decode(SharedItem.self, from: data)
    }

    /// A file that an app without Cordon handed over, as an item without an owner.
    public static func item(plain contents: Data, named name: String?) -> SharedItem {
        SharedItem(owner: nil, senderBundleID: "", name: name ?? "", contents: contents)
    }
}
