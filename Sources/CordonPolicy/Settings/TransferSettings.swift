extension Setting {
    static let transferSettings: [Setting] = [
        Setting("allowedInboundDataTransferSources", .transfer, { $1(&$0.transfer.inbound) }, .member),
        Setting("allowedOutboundDataTransferDestinations", .transfer, { $1(&$0.transfer.outbound) }, .member),
        Setting("allowedOutboundClipboardSharingLevel", .transfer, { $1(&$0.transfer.clipboard) }, .member),
        Setting(
            "allowedOutboundClipboardSharingExceptionLength", .transfer, { $1(&$0.transfer.clipboardExceptionLength) },
            in: 0...65535, stricter: .lower),
        Setting("saveAsBlocked", .transfer, { $1(&$0.transfer.saveAsBlocked) }, .flag(stricter: true)),
        Setting("allowedDataStorageLocations", .transfer, { $1(&$0.transfer.storageLocations) }, .places),
        Setting(
            "blockDataIngestionIntoOrganizationDocuments", .transfer, { $1(&$0.transfer.ingestionBlocked) },
            .flag(stricter: true)),
        Setting("allowedDataIngestionLocations", .transfer, { $1(&$0.transfer.ingestionLocations) }, .places),
        Setting("contactSyncBlocked", .transfer, { $1(&$0.transfer.contactSyncBlocked) }, .flag(stricter: true)),
        Setting("printBlocked", .transfer, { $1(&$0.transfer.printBlocked) }, .flag(stricter: true)),
        Setting("notificationRestriction", .transfer, { $1(&$0.transfer.notifications) }, .member),
        Setting("dialerRestrictionLevel", .transfer, { $1(&$0.transfer.dialer) }, .member),
        Setting("customDialerAppProtocol", .transfer, { $1(&$0.transfer.customDialerScheme) }, .text),
        Setting("protectedMessagingRedirectAppType", .transfer, { $1(&$0.transfer.messaging) }, .member),
        Setting("messagingRedirectAppUrlScheme", .transfer, { $1(&$0.transfer.messagingScheme) }, .text),
        Setting(
            "managedBrowserToOpenLinksRequired", .transfer, { $1(&$0.transfer.managedBrowserRequired) },
            .flag(stricter: true)),
        Setting("managedBrowser", .transfer, { $1(&$0.transfer.managedBrowser) }, .flags),
        Setting("customBrowserProtocol", .transfer, { $1(&$0.transfer.customBrowserScheme) }, .text),
        Setting("allowWidgetContentSync", .transfer, { $1(&$0.transfer.widgetContentAllowed) }, .flag(stricter: false)),
        Setting("exemptedAppProtocols", .transfer, { $1(&$0.transfer.exemptSchemes) }, .schemes),
        Setting("exemptedUniversalLinks", .transfer, { $1(&$0.transfer.exemptUniversalLinks) }, .links(fewer: true)),
        Setting("managedUniversalLinks", .transfer, { $1(&$0.transfer.managedUniversalLinks) }, .links(fewer: false)),
        Setting(
            "thirdPartyKeyboardsBlocked", .transfer, { $1(&$0.transfer.thirdPartyKeyboardsBlocked) },
            .flag(stricter: true)),
        Setting("filterOpenInToOnlyManagedApps", .transfer, { $1(&$0.transfer.openInFiltered) }, .flag(stricter: true)),
        Setting(
            "disableProtectionOfManagedOutboundOpenInData", .transfer, { $1(&$0.transfer.openInProtectionDisabled) },
            .flag(stricter: false)),
        Setting(
            "protectInboundDataFromUnknownSources", .transfer, { $1(&$0.transfer.unknownInboundProtected) },
            .flag(stricter: true)
        ),
        Setting("screenCaptureConfigurationState", .transfer, { $1(&$0.transfer.screenCapture) }, .capture),
        Setting("genmojiConfigurationState", .transfer, { $1(&$0.transfer.genmoji) }, .member),
        Setting("writingToolsConfigurationState", .transfer, { $1(&$0.transfer.writingTools) }, .member),
        Setting("purviewContentEvaluationRequired", .transfer, { $1(&$0.transfer.contentEvaluation) }, .member),
    ]
}
