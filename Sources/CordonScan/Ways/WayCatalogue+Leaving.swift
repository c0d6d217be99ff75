/// What hands data to another app, device or person.
extension WayCatalogue {
    mutating func addLeaving() {
        addClipboard()
        addSharing()
        addDocuments()
        addLinks()
        addDevices()
    }

    private mutating func addClipboard() {
        // The pasteboard itself is strict: every member that is not known to be harmless counts (see `harmless` and `readers`).
        add(["copyable", "cuttable", "onCopyCommand", "onCutCommand"], .pasteboard, .method(nil), swiftOnly: true)
        add(["textSelection"], .pasteboard, .method(nil), when: .isOn, swiftOnly: true)
        add(["copy", "cut"], .pasteboard, .callback, labels: ["sender"])
        add(["PasteButton", "UIPasteControl"], .paste, .make, .warning)
        add(["onPasteCommand", "pasteDestination"], .paste, .method(nil), .warning, swiftOnly: true)
        add(["paste"], .paste, .callback, .warning, labels: ["sender", "itemProviders"])
    }

    private mutating func addSharing() {
        add(
            [
                "UIActivityViewController", "ShareLink", "NSSharingServicePicker", "NSSharingService",
                "UICloudSharingController",
            ], .share, .make)
        add(["sharingServiceNamed"], .share, .method(nil), swiftOnly: false)
        // `.init(activityItems:applicationActivities:)`, where the type stands elsewhere.
        add(["init"], .share, .method(nil), labels: ["activityItems"], swiftOnly: true)
        // In Objective-C the class may be a value.
        add(["initWithActivityItems"], .share, .method(nil), when: .namesNoClass, swiftOnly: false)
        add(["SLComposeViewController", "SHSheet", "LPLinkView"], .share, .make)
        // What an action extension gives back to the app that showed it.
        add(
            ["completeRequest"], .share, .method(nil), .warning, labels: ["returningItems"], when: .givesItems,
            swiftOnly: true)
        add(["completeRequestReturningItems"], .share, .method(nil), .warning, when: .givesItems, swiftOnly: false)
        add(["activityItemsConfiguration"], .share, .assign(nil))
        add(["activityItemsConfiguration"], .share, .assignOwn)
        add(["UIActivityItemsConfiguration"], .share, .make)
        add(["exportsItemProviders", "shareLink"], .share, .method(nil), swiftOnly: true)
        add(
            ["presentFromRect", "presentFromBarButtonItem", "presentAnimated", "printToPrinter"], .print,
            .method(.printController),
            swiftOnly: false)
        add(
            ["printingItem", "printingItems", "printFormatter", "printPageRenderer"], .print, .assign(.printController))
        add(["present", "print"], .print, .method(.printController), swiftOnly: true)
        add(["NSPrintOperation"], .print, .make)
        add(["MFMailComposeViewController", "MFMessageComposeViewController"], .mail, .make)
    }

    private mutating func addDocuments() {
        add(
            ["UIDocumentPickerViewController"], .export, .make,
            labels: ["forExporting", "urls", "url", "initForExportingURLs", "initWithURL", "initWithURLs", "asCopy"])
        add(["init"], .export, .method(nil), labels: ["forExporting"], swiftOnly: true)
        add(
            ["UIDocumentPickerViewController"], .open, .make, .warning,
            labels: ["forOpeningContentTypes", "documentTypes", "initForOpeningContentTypes", "initWithDocumentTypes"])
        add(["init"], .open, .method(nil), .warning, labels: ["forOpeningContentTypes"], swiftOnly: true)
        add(["initForExportingURLs"], .export, .method(nil), swiftOnly: false)
        add(["initForOpeningContentTypes", "initWithDocumentTypes"], .open, .method(nil), .warning, swiftOnly: false)
        add(["NSSavePanel"], .export, .make)
        add(["NSOpenPanel"], .open, .make, .warning)
        add(["UIDocumentBrowserViewController", "DocumentGroup", "DocumentGroupLaunchScene"], .export, .make)
        add(["fileExporter", "fileMover"], .export, .method(nil), swiftOnly: true)
        add(["PKAddPassesViewController"], .export, .make)
        add(["addPasses"], .export, .method(nil))
        add(["fileImporter", "importsItemProviders"], .open, .method(nil), .warning, swiftOnly: true)
        add(
            [
                "presentOptionsMenu", "presentOpenInMenu", "presentPreview", "presentOptionsMenuFromRect",
                "presentOpenInMenuFromRect",
                "presentOptionsMenuFromBarButtonItem", "presentOpenInMenuFromBarButtonItem", "presentPreviewAnimated",
            ],
            .preview, .method(nil))
        add(["QLPreviewController", "QLPreviewPanel"], .preview, .make)
        add(["quickLookPreview"], .preview, .method(nil), swiftOnly: true)
        add(["draggable", "onDrag", "itemProvider", "dragContainer"], .drag, .method(nil), swiftOnly: true)
        add(["UIDragItem"], .drag, .make)
        add(["dropDestination", "onDrop"], .drop, .method(nil), .warning, swiftOnly: true)
        add(
            ["dropInteraction", "tableView", "collectionView"], .drop, .callback, .warning,
            labels: ["performDrop", "performDropWith", "performDropWithCoordinator"])
        add(["UIImageWriteToSavedPhotosAlbum", "UISaveVideoAtPathToSavedPhotosAlbum"], .photos, .call)
        add(
            [
                "creationRequestForAsset", "creationRequestForAssetFromImage",
                "creationRequestForAssetFromImageAtFileURL",
                "creationRequestForAssetFromVideoAtFileURL", "creationRequestForAssetFromVideo", "addResourceWithType",
            ],
            .photos, .method(nil))
        add(["addResource"], .photos, .method(nil), labels: ["with"])
        add(
            ["writeImageToSavedPhotosAlbum", "writeVideoAtPathToSavedPhotosAlbum", "writeImageDataToSavedPhotosAlbum"],
            .photos, .method(nil))
    }

    private mutating func addLinks() {
        add(["open", "openURL"], .link, .method(.application), when: .leavesApp)
        add(["open", "openURL"], .link, .method(.scene), when: .leavesApp)
        add(["open", "openURL"], .link, .method(.extensionContext), when: .leavesApp)
        add(["open"], .link, .method(nil), labels: ["completionHandler", "options"], when: .leavesApp, swiftOnly: true)
        add(["openURL"], .link, .method(nil), when: .leavesApp, swiftOnly: false)
        add(["Link"], .link, .make, labels: ["destination"], when: .leavesApp, swiftOnly: true)
        add(["SFSafariViewController"], .link, .make)
        add(
            ["openInMaps", "openMaps", "openInMapsWithLaunchOptions", "openMapsWithItems"], .link, .method(nil))
        add(["callAsFunction"], .link, .method(.openURL), when: .leavesApp, swiftOnly: true)
        add(
            [
                "load", "loadHTMLString", "loadFileURL", "loadFileRequest", "loadSimulatedRequest", "loadRequest",
                "loadData",
            ], .web,
            .method(.webView))
        add(["WebView"], .web, .make, labels: ["url"], swiftOnly: true)
    }

    private mutating func addDevices() {
        add(
            ["send", "sendResource", "startStream", "sendData", "sendResourceAtURL", "startStreamWithName"], .nearby,
            .method(.peerSession))
        add(
            [
                "sendMessage", "sendMessageData", "transferFile", "transferUserInfo", "updateApplicationContext",
                "transferCurrentComplicationUserInfo",
            ],
            .nearby, .method(nil))
        add(["send"], .nearby, .method(.messenger), swiftOnly: true)
        add(["writeNDEF"], .nearby, .method(nil))
        add(["updateValue"], .nearby, .method(nil), .warning, labels: ["onSubscribedCentrals", "forCharacteristic"])
        add(["allowsExternalPlayback"], .nearby, .assign(nil), .warning, when: .isOn)
        add(["AVRoutePickerView"], .nearby, .make, .warning)
        add(["writeValue"], .nearby, .method(nil), .warning, labels: ["type", "forCharacteristic"])
        add(
            [
                "startRecording", "startCapture", "startClipBuffering", "startRecordingWithHandler",
                "startCaptureWithHandler",
            ], .capture, .method(.screenRecorder))
        add(
            ["RPPreviewViewController", "RPBroadcastActivityViewController", "RPSystemBroadcastPickerView"], .capture,
            .make)
        // A screenshot of the whole document, beside the picture of the screen.
        add(
            ["screenshotService"], .capture, .callback, .warning,
            labels: ["generatePDFRepresentationWithCompletion"])
        add(["screenshotServiceGeneratePDFRepresentation"], .capture, .callback, .warning, swiftOnly: true)
        add(["drawHierarchy", "drawViewHierarchyInRect"], .capture, .method(nil), .note)
        add(["speak", "speakUtterance", "write"], .speech, .method(.speech), .warning)
        add(["SFSpeechURLRecognitionRequest", "SFSpeechAudioBufferRecognitionRequest"], .speech, .make, .warning)
    }
}
