// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Foundation

@available(iOS 8.0, *)
public struct NSFileProviderItemIdentifier: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(_ rawValue: String) { self.rawValue = rawValue }
    public init(rawValue: String) { self.rawValue = rawValue }
    @available(iOS 11.0, *)
    public static let rootContainer = NSFileProviderItemIdentifier("NSFileProviderRootContainerItemIdentifier")
}
@available(iOS 11.0, *)
public protocol NSFileProviderItemProtocol: NSObjectProtocol {
    var itemIdentifier: NSFileProviderItemIdentifier { get }
    var parentItemIdentifier: NSFileProviderItemIdentifier { get }
    var filename: String { get }
}
public typealias NSFileProviderItem = NSFileProviderItemProtocol
@available(iOS 11.0, *)
public struct NSFileProviderPage: RawRepresentable, Hashable, Sendable {
    public let rawValue: Data
    public init(_ rawValue: Data) { self.rawValue = rawValue }
    public init(rawValue: Data) { self.rawValue = rawValue }
}
@available(iOS 11.0, *)
public struct NSFileProviderSyncAnchor: RawRepresentable, Hashable, Sendable {
    public let rawValue: Data
    public init(_ rawValue: Data) { self.rawValue = rawValue }
    public init(rawValue: Data) { self.rawValue = rawValue }
}
@available(iOS 11.0, *)
public let NSFileProviderErrorDomain = "NSFileProviderErrorDomain"
@available(iOS 11.0, *)
public struct NSFileProviderError {
    public enum Code: Int, Sendable {
        case notAuthenticated = -1000
        case syncAnchorExpired = -1002
        case noSuchItem = -1005
        @available(iOS 16.0, *)
        case cannotSynchronize = -2005
    }
}
@available(iOS 11.0, *)
open class NSFileProviderDomain: NSObject {}
@available(iOS 11.0, *)
open class NSFileProviderRequest: NSObject {}
@available(iOS 16.0, *)
open class NSFileProviderItemVersion: NSObject {}
@available(iOS 16.0, *)
public struct NSFileProviderItemFields: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let contents = NSFileProviderItemFields(rawValue: 1)
}
@available(iOS 16.0, *)
public struct NSFileProviderCreateItemOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
}
@available(iOS 16.0, *)
public struct NSFileProviderModifyItemOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
}
@available(iOS 16.0, *)
public struct NSFileProviderDeleteItemOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
}
@available(iOS 11.0, *)
public protocol NSFileProviderEnumerationObserver: NSObjectProtocol {
    func didEnumerate(_ updatedItems: [any NSFileProviderItemProtocol])
    func finishEnumerating(upTo nextPage: NSFileProviderPage?)
    func finishEnumeratingWithError(_ error: any Error)
}
@available(iOS 11.0, *)
public protocol NSFileProviderChangeObserver: NSObjectProtocol {
    func didUpdate(_ updatedItems: [any NSFileProviderItemProtocol])
    func didDeleteItems(withIdentifiers deletedItemIdentifiers: [NSFileProviderItemIdentifier])
    func finishEnumeratingChanges(upTo anchor: NSFileProviderSyncAnchor, moreComing: Bool)
    func finishEnumeratingWithError(_ error: any Error)
}
@available(iOS 11.0, *)
public protocol NSFileProviderEnumerator: NSObjectProtocol {
    func invalidate()
    func enumerateItems(for observer: any NSFileProviderEnumerationObserver, startingAt page: NSFileProviderPage)
    // The system's are optional, which Swift has in protocols of Objective-C alone.
    func enumerateChanges(for observer: any NSFileProviderChangeObserver, from syncAnchor: NSFileProviderSyncAnchor)
    func currentSyncAnchor(completionHandler: @escaping (NSFileProviderSyncAnchor?) -> Void)
}
@available(iOS 16.0, *)
public protocol NSFileProviderEnumerating: NSObjectProtocol {
    func enumerator(
        for containerItemIdentifier: NSFileProviderItemIdentifier, request: NSFileProviderRequest
    ) throws -> any NSFileProviderEnumerator
}
@available(iOS 16.0, *)
public protocol NSFileProviderReplicatedExtension: NSFileProviderEnumerating {
    init(domain: NSFileProviderDomain)
    func invalidate()
    func item(
        for identifier: NSFileProviderItemIdentifier, request: NSFileProviderRequest,
        completionHandler: @escaping (NSFileProviderItem?, (any Error)?) -> Void
    ) -> Progress
    func fetchContents(
        for itemIdentifier: NSFileProviderItemIdentifier, version requestedVersion: NSFileProviderItemVersion?,
        request: NSFileProviderRequest, completionHandler: @escaping (URL?, NSFileProviderItem?, (any Error)?) -> Void
    ) -> Progress
    func createItem(
        basedOn itemTemplate: NSFileProviderItem, fields: NSFileProviderItemFields, contents url: URL?,
        options: NSFileProviderCreateItemOptions, request: NSFileProviderRequest,
        completionHandler: @escaping (NSFileProviderItem?, NSFileProviderItemFields, Bool, (any Error)?) -> Void
    ) -> Progress
    func modifyItem(
        _ item: NSFileProviderItem, baseVersion version: NSFileProviderItemVersion,
        changedFields: NSFileProviderItemFields, contents newContents: URL?, options: NSFileProviderModifyItemOptions,
        request: NSFileProviderRequest,
        completionHandler: @escaping (NSFileProviderItem?, NSFileProviderItemFields, Bool, (any Error)?) -> Void
    ) -> Progress
    func deleteItem(
        identifier: NSFileProviderItemIdentifier, baseVersion version: NSFileProviderItemVersion,
        options: NSFileProviderDeleteItemOptions, request: NSFileProviderRequest,
        completionHandler: @escaping ((any Error)?) -> Void
    ) -> Progress
}
