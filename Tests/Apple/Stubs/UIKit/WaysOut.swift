// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// UIKit's ways out of an app and into it. What a protocol there makes optional and an adapter has is required here, so that a wrong name is
// found.

public import Foundation
public import UniformTypeIdentifiers

@MainActor open class UIPasteboard: NSObject {
    public struct OptionsKey: Sendable, Hashable {
        let name: String
        public static let localOnly = OptionsKey(name: "local")
        public static let expirationDate = OptionsKey(name: "expires")
    }
    public static let general = UIPasteboard()
    open var items: [[String: Any]] = []
    open var string: String? {
        get { (items.first?["public.utf8-plain-text"] as? Data).map { String(decoding: $0, as: UTF8.self) } }
        set { items = newValue.map { [["public.utf8-plain-text": Data($0.utf8)]] } ?? [] }
    }
    open var numberOfItems: Int { items.count }
    public private(set) var changeCount = 0
    public private(set) var stubOptions: [OptionsKey: Any] = [:]
    open func setItems(_ items: [[String: Any]], options: [OptionsKey: Any] = [:]) {
        changeCount += 1
        self.items = items
        stubOptions = options
    }
    open func data(forPasteboardType pasteboardType: String) -> Data? { items.first?[pasteboardType] as? Data }
    open func contains(pasteboardTypes: [String]) -> Bool {
        items.first.map { item in pasteboardTypes.contains { item[$0] != nil } } ?? false
    }
}

open class UIActivity: NSObject {
    public struct ActivityType: Sendable, Hashable, RawRepresentable {
        public var rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        public static let print = ActivityType(rawValue: "com.apple.UIKit.activity.Print")
        public static let copyToPasteboard = ActivityType(rawValue: "com.apple.UIKit.activity.CopyToPasteboard")
        public static let saveToCameraRoll = ActivityType(rawValue: "com.apple.UIKit.activity.SaveToCameraRoll")
        public static let airDrop = ActivityType(rawValue: "com.apple.UIKit.activity.AirDrop")
        public static let mail = ActivityType(rawValue: "com.apple.UIKit.activity.Mail")
        public static let message = ActivityType(rawValue: "com.apple.UIKit.activity.Message")
        public static let assignToContact = ActivityType(rawValue: "com.apple.UIKit.activity.AssignToContact")
        public static let addToReadingList = ActivityType(rawValue: "com.apple.UIKit.activity.AddToReadingList")
        public static let openInIBooks = ActivityType(rawValue: "com.apple.UIKit.activity.OpenInIBooks")
        public static let markupAsPDF = ActivityType(rawValue: "com.apple.UIKit.activity.MarkupAsPDF")
        public static let collaborationCopyLink = ActivityType(
            rawValue: "com.apple.UIKit.activity.CollaborationCopyLink")
        @available(iOS 16.4, *)
        public static let addToHomeScreen = ActivityType(rawValue: "com.apple.UIKit.activity.AddToHomeScreen")
    }
}
@MainActor open class UIActivityViewController: UIViewController {
    public typealias CompletionWithItemsHandler = (UIActivity.ActivityType?, Bool, [Any]?, (any Error)?) -> Void
    public let stubItems: [Any]
    open var excludedActivityTypes: [UIActivity.ActivityType]?
    open var completionWithItemsHandler: CompletionWithItemsHandler?
    public init(activityItems: [Any], applicationActivities: [UIActivity]?) {
        stubItems = activityItems
        super.init(nibName: nil, bundle: nil)
    }
}

@MainActor public protocol UIDocumentPickerDelegate: NSObjectProtocol {
    func documentPicker(_ controller: UIDocumentPickerViewController, didPickDocumentsAt urls: [URL])
    func documentPickerWasCancelled(_ controller: UIDocumentPickerViewController)
}
@MainActor open class UIDocumentPickerViewController: UIViewController {
    open weak var delegate: (any UIDocumentPickerDelegate)?
    open var allowsMultipleSelection = false
    public init(forExporting urls: [URL], asCopy: Bool) { super.init(nibName: nil, bundle: nil) }
    public init(forOpeningContentTypes contentTypes: [UTType], asCopy: Bool) { super.init(nibName: nil, bundle: nil) }
}

@MainActor open class UIPrintInfo: NSObject {
    public enum OutputType: Int, Sendable { case general, photo, grayscale }
    open var jobName = ""
    open var outputType = OutputType.general
    open class func printInfo() -> UIPrintInfo { UIPrintInfo() }
}
@MainActor open class UIPrintInteractionController: NSObject {
    public typealias CompletionHandler = (UIPrintInteractionController, Bool, (any Error)?) -> Void
    public static let shared = UIPrintInteractionController()
    open class var isPrintingAvailable: Bool { true }
    open class func canPrint(_ data: Data) -> Bool { !data.isEmpty }
    open var printInfo: UIPrintInfo?
    open var printingItem: Any?
    public var stubFinishes = true
    /// How often the end is told.
    public var stubCalls = 1
    @discardableResult
    open func present(animated: Bool, completionHandler: CompletionHandler? = nil) -> Bool {
        for _ in 0..<stubCalls { completionHandler?(self, stubFinishes, nil) }
        return true
    }
}

@MainActor public protocol UIDragSession: AnyObject {
    var items: [UIDragItem] { get }
    var localContext: Any? { get set }
}
@MainActor public protocol UIDropSession: AnyObject {
    var items: [UIDragItem] { get }
    var localDragSession: (any UIDragSession)? { get }
}
@MainActor open class UIDragItem: NSObject {
    public let itemProvider: NSItemProvider
    open var localObject: Any?
    public init(itemProvider: NSItemProvider) { self.itemProvider = itemProvider }
}
@MainActor public protocol UIDragInteractionDelegate: NSObjectProtocol {
    func dragInteraction(_ interaction: UIDragInteraction, itemsForBeginning session: any UIDragSession) -> [UIDragItem]
    func dragInteraction(
        _ interaction: UIDragInteraction, sessionIsRestrictedToDraggingApplication session: any UIDragSession
    ) -> Bool
}
@MainActor open class UIDragInteraction: NSObject, UIInteraction {
    open weak var delegate: (any UIDragInteractionDelegate)?
    open var isEnabled = true
    public init(delegate: any UIDragInteractionDelegate) { self.delegate = delegate }
}
public enum UIDropOperation: UInt, Sendable { case cancel = 0, forbidden = 1, copy = 2, move = 3 }
@MainActor open class UIDropProposal: NSObject {
    public let operation: UIDropOperation
    public init(operation: UIDropOperation) { self.operation = operation }
}
@MainActor public protocol UIDropInteractionDelegate: NSObjectProtocol {
    func dropInteraction(_ interaction: UIDropInteraction, canHandle session: any UIDropSession) -> Bool
    func dropInteraction(_ interaction: UIDropInteraction, sessionDidUpdate session: any UIDropSession)
        -> UIDropProposal
    func dropInteraction(_ interaction: UIDropInteraction, performDrop session: any UIDropSession)
}
extension UIDropInteractionDelegate {
    public func dropInteraction(_ interaction: UIDropInteraction, canHandle session: any UIDropSession) -> Bool { true }
}
@MainActor open class UIDropInteraction: NSObject, UIInteraction {
    open weak var delegate: (any UIDropInteractionDelegate)?
    public init(delegate: any UIDropInteractionDelegate) { self.delegate = delegate }
}

// Foundation's on Apple platforms.
public enum NSItemProviderRepresentationVisibility: Int, Sendable { case all = 0, team = 1, group = 2, ownProcess = 3 }
open class NSItemProvider: NSObject, @unchecked Sendable {
    public private(set) var stubTypes: [String: NSItemProviderRepresentationVisibility] = [:]
    private var loaders: [String: @Sendable (@escaping @Sendable (Data?, (any Error)?) -> Void) -> Progress?] = [:]
    open var suggestedName: String?
    open var registeredTypeIdentifiers: [String] { stubTypes.keys.sorted() }
    public override init() { super.init() }
    open func registerDataRepresentation(
        forTypeIdentifier typeIdentifier: String, visibility: NSItemProviderRepresentationVisibility,
        loadHandler: @escaping @Sendable (@escaping @Sendable (Data?, (any Error)?) -> Void) -> Progress?
    ) {
        stubTypes[typeIdentifier] = visibility
        loaders[typeIdentifier] = loadHandler
    }
    open func hasItemConformingToTypeIdentifier(_ typeIdentifier: String) -> Bool { stubTypes[typeIdentifier] != nil }
    @discardableResult
    open func loadDataRepresentation(
        forTypeIdentifier typeIdentifier: String, completionHandler: @escaping @Sendable (Data?, (any Error)?) -> Void
    ) -> Progress {
        guard let loader = loaders[typeIdentifier] else {
            completionHandler(nil, CocoaError(.featureUnsupported))
            return Progress(totalUnitCount: 1)
        }
        return loader(completionHandler) ?? Progress(totalUnitCount: 1)
    }
}

// Foundation's on Apple platforms.
open class NSExtensionItem: NSObject {
    open var attachments: [NSItemProvider]?
}
open class NSExtensionContext: NSObject {
    open var inputItems: [Any] = []
    /// How the request ended: nil until it has, true where something was taken.
    public private(set) var stubEnded: Bool?
    open func completeRequest(returningItems items: [Any]?, completionHandler: ((Bool) -> Void)? = nil) {
        stubEnded = true
    }
    open func cancelRequest(withError error: any Error) { stubEnded = false }
}
public protocol NSExtensionRequestHandling: NSObjectProtocol {
    func beginRequest(with context: NSExtensionContext)
}
