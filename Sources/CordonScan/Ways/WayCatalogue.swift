/// Every way out that the scan knows, by the word that begins it.
struct WayCatalogue {
    private(set) var rules: [UInt64: [WayRule]] = [:]
    private(set) var handles: [UInt64: Handle] = [:]
    /// Types whose making or subclassing is a way out, so that another name for them counts as they do.
    private(set) var typeNames: Set<UInt64> = []
    /// The names by which `NSClassFromString` and the like find a way out.
    private(set) var namesInTexts: [UInt64: String] = [:]

    static let standard = WayCatalogue()

    private init() {
        for (handle, names) in Self.handleTypes {
            for name in names {
                handles[Word.hash(name)] = handle
                typeNames.insert(Word.hash(name))
            }
        }
        addLeaving()
        addKeeping()
        addSystem()
        for name in Self.textNames + Self.handleTypes.flatMap(\.1)
        where ["UI", "MF", "SL", "WK"].contains(name.prefix(2)) {
            namesInTexts[Word.hash(name)] = name
        }
        for name in Self.selectors { namesInTexts[Word.hash(name)] = name }
    }

    private static let handleTypes: [(Handle, [String])] = [
        (.pasteboard, ["UIPasteboard", "NSPasteboard"]), (.application, ["UIApplication", "NSWorkspace"]),
        (.scene, ["UIScene", "UIWindowScene"]), (.extensionContext, ["NSExtensionContext"]),
        (.defaults, ["UserDefaults", "NSUserDefaults"]),
        (.cloudStore, ["NSUbiquitousKeyValueStore"]), (.fileManager, ["FileManager", "NSFileManager"]),
        (.fileHandle, ["FileHandle", "NSFileHandle"]),
        (.notificationCenter, ["UNUserNotificationCenter"]), (.spotlight, ["CSSearchableIndex"]),
        (.printController, ["UIPrintInteractionController"]), (.webView, ["WKWebView", "UIWebView", "WebPage"]),
        (.photoLibrary, ["PHPhotoLibrary"]),
        (.photoChange, ["PHAssetChangeRequest", "PHAssetCreationRequest"]), (.speech, ["AVSpeechSynthesizer"]),
        (.peerSession, ["MCSession"]), (.watchSession, ["WCSession"]), (.cloudDatabase, ["CKDatabase"]),
        (.cloudContainer, ["CKContainer"]), (.urlSession, ["URLSession", "NSURLSession"]),
        (.contactStore, ["CNContactStore"]),
        (.contactRequest, ["CNSaveRequest"]), (.eventStore, ["EKEventStore"]),
        (.interactionController, ["UIDocumentInteractionController"]), (.openURL, ["OpenURLAction"]),
        (.screenRecorder, ["RPScreenRecorder"]), (.interaction, ["INInteraction"]),
        (.messenger, ["GroupSessionMessenger"]),
    ]

    private static let textNames = [
        "UIActivityViewController", "UIPasteboard", "UIDocumentPickerViewController", "UIPrintInteractionController",
        "MFMailComposeViewController", "MFMessageComposeViewController", "SLComposeViewController", "WKWebView",
        "UIDocumentInteractionController",
    ]

    private static let selectors = [
        "generalPasteboard", "openURL:", "openURL:options:completionHandler:", "_openURL:", "setString:",
        "writeToFile:atomically:",
    ]

    // MARK: Adding

    mutating func add(
        _ names: [String], _ way: WayOut, _ shape: WayRule.Shape, _ severity: ScanFinding.Severity = .error,
        labels: [String] = [], when condition: WayRule.Condition = .none, swiftOnly: Bool? = nil
    ) {
        let rule = WayRule(
            way: way, severity: severity, shape: shape, labels: Set(labels.map { Word.hash($0) }), condition: condition,
            swiftOnly: swiftOnly)
        for name in names {
            rules[Word.hash(name), default: []].append(rule)
            if case .make = shape { typeNames.insert(Word.hash(name)) }
            // Objective-C sets a member by a message, too.
            if case .assign(let handle) = shape {
                let setter = "set" + name.prefix(1).uppercased() + name.dropFirst()
                let sent = WayRule(
                    way: way, severity: severity, shape: .method(handle), labels: [], condition: condition,
                    swiftOnly: false)
                rules[Word.hash(setter), default: []].append(sent)
            }
        }
    }

    /// Members by which a handle's own type gives the handle, so that a chain goes on being one.
    static let keepers: Set<UInt64> = hashes(
        "general", "generalPasteboard", "withUniqueName", "pasteboardWithUniqueName", "pasteboardWithName", "shared",
        "standard",
        "standardUserDefaults", "default", "defaultStore", "defaultManager", "defaultContainer", "defaultSession",
        "defaultSearchableIndex",
        "sharedApplication", "current", "currentNotificationCenter", "sharedPrintController", "sharedPhotoLibrary",
        "sharedRecorder",
        "sharedWorkspace", "sharedURLSession", "sharedSession", "init", "alloc", "new", "self", "local", "localOnly",
        "creationRequest",
        "creationRequestForAsset", "forAsset")

    /// Members that lead from one handle to another.
    static let steps: [UInt64: Handle] = Dictionary(
        uniqueKeysWithValues: [
            ("privateCloudDatabase", Handle.cloudDatabase), ("publicCloudDatabase", .cloudDatabase),
            ("sharedCloudDatabase", .cloudDatabase), ("extensionContext", .extensionContext), ("windowScene", .scene),
        ].map { (Word.hash($0.0), $0.1) })

    /// Members of a strict handle that tell nothing of what it holds and put nothing on it.
    static let harmless: Set<UInt64> = hashes(
        "hasStrings", "hasURLs", "hasImages", "hasColors", "changeCount", "numberOfItems", "types", "contains", "name",
        "isPersistent",
        "changedNotification", "removedNotification", "changedTypesAddedUserInfoKey", "changedTypesRemovedUserInfoKey",
        "Name",
        "remove", "self", "containsPasteboardTypes", "pasteboardTypes", "clearContents", "OptionsKey",
        "DetectionPattern", "isEqual",
        "publisher", "detectPatterns", "detectedPatterns", "PasteboardType", "Type")

    /// Members of a pasteboard that give what is on it.
    static let readers: Set<UInt64> = hashes(
        "string", "strings", "image", "images", "url", "urls", "URL", "URLs", "color", "colors", "items",
        "itemProviders", "data", "value",
        "values", "dataForPasteboardType", "valueForPasteboardType", "detectValues", "stringForType", "dataForType",
        "itemSet", "readObjects", "pasteboardItems", "detectedValues")

    static func hashes(_ names: String...) -> Set<UInt64> { Set(names.map { Word.hash($0) }) }
}
