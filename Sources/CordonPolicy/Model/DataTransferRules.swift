/// Where organisation data may come from and go to (SRV-RS-023…041, 070, 077, 084, 088…099).
public struct DataTransferRules: Sendable, Equatable {
    /// Apps that data is taken from (`allowedInboundDataTransferSources`).
    public var inbound = DataTransferLevel.allApps
    /// Apps that data may go to (`allowedOutboundDataTransferDestinations`).
    public var outbound = DataTransferLevel.allApps
    /// Reach of cut, copy and paste (`allowedOutboundClipboardSharingLevel`).
    public var clipboard = ClipboardLevel.allApps
    /// Characters that may be copied anywhere (`allowedOutboundClipboardSharingExceptionLength`).
    public var clipboardExceptionLength = 0
    /// Copies may be saved only to the listed places (`saveAsBlocked`).
    public var saveAsBlocked = false
    /// The listed places (`allowedDataStorageLocations`).
    public var storageLocations: StorageLocations = []
    /// Data may be brought in only from the listed sources (`blockDataIngestionIntoOrganizationDocuments`).
    public var ingestionBlocked = false
    /// The listed sources (`allowedDataIngestionLocations`).
    public var ingestionLocations: IngestionLocations = [.oneDriveForBusiness, .sharePoint, .camera]
    /// No organisation contacts in the address book (`contactSyncBlocked`).
    public var contactSyncBlocked = false
    /// No printing (`printBlocked`).
    public var printBlocked = false
    /// What notifications show (`notificationRestriction`).
    public var notifications = NotificationLevel.allow
    /// Who dials (`dialerRestrictionLevel`).
    public var dialer = DialerLevel.allApps
    /// The one dialer's URL scheme (`customDialerAppProtocol`).
    public var customDialerScheme: String?
    /// Who sends text messages (`protectedMessagingRedirectAppType`).
    public var messaging = MessagingLevel.anyApp
    /// The one messaging app's URL scheme (`messagingRedirectAppUrlScheme`).
    public var messagingScheme: String?
    /// Web links go to the managed browser (`managedBrowserToOpenLinksRequired`).
    public var managedBrowserRequired = false
    /// Which browser that is (`managedBrowser`).
    public var managedBrowser = ManagedBrowser.notConfigured
    /// URL scheme of a browser of the organisation's choice (`customBrowserProtocol`).
    public var customBrowserScheme: String?
    /// Widgets may show organisation data (`allowWidgetContentSync`).
    public var widgetContentAllowed = false
    /// URL schemes that may receive data although unmanaged, in lower case (`exemptedAppProtocols`).
    public var exemptSchemes = DataTransferRules.defaultExemptSchemes
    /// Universal links that may open an unmanaged app (`exemptedUniversalLinks`).
    public var exemptUniversalLinks = DataTransferRules.defaultExemptUniversalLinks
    /// Universal links that open a managed app instead of the browser (`managedUniversalLinks`).
    public var managedUniversalLinks: Set<String> = []
    /// Keyboards of other makers are refused in the whole app (`thirdPartyKeyboardsBlocked`).
    public var thirdPartyKeyboardsBlocked = false
    /// Share and open-in lists show managed apps only (`filterOpenInToOnlyManagedApps`).
    public var openInFiltered = false
    /// Open-in data is left plain for device-managed apps (`disableProtectionOfManagedOutboundOpenInData`).
    public var openInProtectionDisabled = false
    /// Data without an owner becomes the organisation's (`protectInboundDataFromUnknownSources`).
    public var unknownInboundProtected = false
    /// Screen capture (`screenCaptureConfigurationState`); where it is not said, capture follows ``outbound``: a picture of the
    /// screen could be sent to any app.
    public var screenCapture: FeatureState?
    /// Adaptive image glyphs (`genmojiConfigurationState`).
    public var genmoji = FeatureState.notBlocked
    /// System writing tools (`writingToolsConfigurationState`).
    public var writingTools = FeatureState.notBlocked
    /// An outside evaluator before sharing (`purviewContentEvaluationRequired`).
    public var contentEvaluation = ContentEvaluationRequirement.notRequired

    /// The defaults of a new policy.
    public init() {}

    /// System services that every policy leaves open unless it says otherwise (SRV-RS-088).
    static let defaultExemptSchemes: Set<String> = [
        "skype", "app-settings", "calshow", "itms", "itmss", "itms-apps", "itms-appss", "itms-services",
    ]

    /// Maps and FaceTime, both ways of writing them (SRV-RS-089).
    static let defaultExemptUniversalLinks: Set<String> = [
        "http://maps.apple.com", "https://maps.apple.com", "http://facetime.apple.com", "https://facetime.apple.com",
    ]
}
