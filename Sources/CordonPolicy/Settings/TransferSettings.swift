extension Setting {
    static let transferSettings: [Setting] = [
        Setting("allowedInboundDataTransferSources", .transfer, \.transfer.inbound, .member),
        Setting("allowedOutboundDataTransferDestinations", .transfer, \.transfer.outbound, .member),
        Setting("allowedOutboundClipboardSharingLevel", .transfer, \.transfer.clipboard, .member),
        Setting(
            "allowedOutboundClipboardSharingExceptionLength", .transfer, \.transfer.clipboardExceptionLength,
            in: 0...65535, stricter: .lower),
        Setting("saveAsBlocked", .transfer, \.transfer.saveAsBlocked, .flag(stricter: true)),
        Setting("allowedDataStorageLocations", .transfer, \.transfer.storageLocations, .places),
        Setting(
            "blockDataIngestionIntoOrganizationDocuments", .transfer, \.transfer.ingestionBlocked,
            .flag(stricter: true)),
        Setting("allowedDataIngestionLocations", .transfer, \.transfer.ingestionLocations, .places),
        Setting("contactSyncBlocked", .transfer, \.transfer.contactSyncBlocked, .flag(stricter: true)),
        Setting("printBlocked", .transfer, \.transfer.printBlocked, .flag(stricter: true)),
        Setting("notificationRestriction", .transfer, \.transfer.notifications, .member),
        Setting("dialerRestrictionLevel", .transfer, \.transfer.dialer, .member),
        Setting("customDialerAppProtocol", .transfer, \.transfer.customDialerScheme, .text),
        Setting("protectedMessagingRedirectAppType", .transfer, \.transfer.messaging, .member),
        Setting("messagingRedirectAppUrlScheme", .transfer, \.transfer.messagingScheme, .text),
        Setting(
            "managedBrowserToOpenLinksRequired", .transfer, \.transfer.managedBrowserRequired, .flag(stricter: true)),
        Setting("managedBrowser", .transfer, \.transfer.managedBrowser, .flags),
        Setting("customBrowserProtocol", .transfer, \.transfer.customBrowserScheme, .text),
        Setting("allowWidgetContentSync", .transfer, \.transfer.widgetContentAllowed, .flag(stricter: false)),
        Setting("exemptedAppProtocols", .transfer, \.transfer.exemptSchemes, .schemes),
        Setting("exemptedUniversalLinks", .transfer, \.transfer.exemptUniversalLinks, .links(fewer: true)),
        Setting("managedUniversalLinks", .transfer, \.transfer.managedUniversalLinks, .links(fewer: false)),
        Setting("thirdPartyKeyboardsBlocked", .transfer, \.transfer.thirdPartyKeyboardsBlocked, .flag(stricter: true)),
        Setting("filterOpenInToOnlyManagedApps", .transfer, \.transfer.openInFiltered, .flag(stricter: true)),
        Setting(
            "disableProtectionOfManagedOutboundOpenInData", .transfer, \.transfer.openInProtectionDisabled,
            .flag(stricter: false)),
        Setting(
            "protectInboundDataFromUnknownSources", .transfer, \.transfer.unknownInboundProtected, .flag(stricter: true)
        ),
        Setting("screenCaptureConfigurationState", .transfer, \.transfer.screenCapture, .capture),
        Setting("genmojiConfigurationState", .transfer, \.transfer.genmoji, .member),
        Setting("writingToolsConfigurationState", .transfer, \.transfer.writingTools, .member),
        Setting("purviewContentEvaluationRequired", .transfer, \.transfer.contentEvaluation, .member),
    ]
}
