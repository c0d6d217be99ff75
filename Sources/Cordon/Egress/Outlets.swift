public import CordonIdentity
public import Foundation

/// Where copied text goes: the system's clipboard, or a stand-in. Only ``AppProtection`` writes organisation data to it.
public protocol Clipboard: Sendable {
    /// Replaces what is on the clipboard.
    func write(_ item: ClipboardItem) async throws
    /// What is on the clipboard, nil when nothing is.
    func read() async throws -> ClipboardItem?
}

/// What is on a clipboard: text for every app, or text sealed for the apps that hold the account's key.
public struct ClipboardItem: Sendable, Codable, Equatable {
    /// Whose it is, as its writer says; nil for personal text. Only the seal proves it.
    public var owner: AccountID?
    /// Text that any app may read; nil when it is for the owner's apps alone.
    public var text: String?
    /// The same text sealed, which tells the owner's apps where it is from. Nil for personal text, unreadable after a
    /// wipe of the owner.
    public var sealed: Data?

    /// Makes an item.
    public init(owner: AccountID?, text: String?, sealed: Data?) {
        self.owner = owner
        self.text = text
        self.sealed = sealed
    }
}

/// A printer.
public protocol Printer: Sendable {
    /// Prints a document.
    func print(_ document: Data, title: String) async throws
}

/// A place outside the app that copies are saved to.
public protocol SavePlace: Sendable {
    /// Saves a copy under a name.
    func save(_ copy: Data, named name: String) async throws
}

/// What opens links outside the app: the system, or a stand-in.
public protocol LinkOpener: Sendable {
    /// Opens an address.
    func open(_ address: URL) async throws
}

/// Another app that takes items.
public protocol ReceivingApp: Sendable {
    /// Hands over an item.
    func deliver(_ item: SharedItem) async throws
}

/// An item on its way from one app to another.
public struct SharedItem: Sendable, Codable, Equatable {
    /// Whose it is; nil for personal data.
    public var owner: AccountID?
    /// The app that sends it.
    public var senderBundleID: String
    /// Its name.
    public var name: String
    /// Its contents.
    public var contents: Data

    /// Makes an item.
    public init(owner: AccountID?, senderBundleID: String, name: String, contents: Data) {
        self.owner = owner
        self.senderBundleID = senderBundleID
        self.name = name
        self.contents = contents
    }
}
