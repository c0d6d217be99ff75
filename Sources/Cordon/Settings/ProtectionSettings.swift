public import CordonVault

/// An app's own settings: how Cordon looks and behaves in it, apart from any organisation's rules (SDK-ST-01…35).
///
/// Make one in code, or read it from an Info.plist with ``read(_:)``. Every setting begins with its default, and a wipe changes none.
///
/// ```swift
/// var settings = ProtectionSettings()
/// settings.requiresPolicy = true  // the app stays closed until an organisation's rules are in force
/// configuration.settings = settings
/// ```
public struct ProtectionSettings: Sendable, Equatable {
    /// The client id for signing in (`ClientID`, `ADALClientId`).
    public var clientID: String?
    /// The OpenID provider (`Authority`, `ADALAuthority`).
    public var authority: String?
    /// Where the provider sends the person back to (`RedirectURI`, `ADALRedirectUri`).
    public var redirectURI: String?
    /// The scheme of a redirect of the form `scheme://bundle id` (`RedirectScheme`, `ADALRedirectScheme`).
    public var redirectScheme: String?
    /// Whether the sign-in library logs by itself (`SignInLogOverrideDisabled`, `ADALLogOverrideDisabled`).
    public var keepsSignInLogsApart = false
    /// The Keychain group of the token cache, without prefix (`TokenCacheKeychainGroup`,
    /// `ADALCacheKeychainGroupOverride`).
    public var tokenCacheKeychainGroup: String?
    /// The app groups of the entitlements (`AppGroupIdentifiers`).
    public var appGroups: [String] = []
    /// In an extension, the bundle id of the app around it (`ContainingAppBundleId`).
    public var containingBundleID: String?
    /// Whether to enrol a known account at launch (`AutoEnrollOnLaunch`).
    public var enrollsAtLaunch = false
    /// Whether the app stays closed without a policy (`PolicyRequired`, `MAMPolicyRequired`).
    public var requiresPolicy = false
    /// Whether the person is warned without a policy (`PolicyWarnAbsent`, `MAMPolicyWarnAbsent`).
    public var warnsWithoutPolicy = false
    /// Whether debug builds take policies from a property list (`DebugSettingsEnabled`); never in release builds.
    public var allowsDebugPolicies = false
    /// Whether the app reports identities itself (`MultiIdentity`).
    public var holdsSeveralIdentities = false
    /// Whether launch screens cannot be cancelled (`MultiIdentityCancelDisabled`).
    public var hidesCancel = false
    /// Whether sign-in may use a browser that Cordon does not guard (`BrowserSignInAllowed`,
    /// `SafariViewControllerBlockedOverride`).
    public var allowsBrowserSignIn = false
    /// Whether several accounts may be managed at once (`MultiManagedIdentities`).
    public var holdsSeveralManagedIdentities = false
    /// How Cordon's screens look (`SplashIconFile`, `SplashDuration`, the five colours, `SupportsDarkMode`).
    public var theme = ProtectionTheme()
    /// Whether no telemetry leaves the app (`TelemetryDisabled`, `MAMTelemetryDisabled`).
    public var telemetryDisabled = false
    /// Whether telemetry goes to a test service (`TelemetryUseTestService`, `MAMTelemetryUsePPE`).
    public var telemetryUsesTestService = false
    /// The most that a policy may ask of file protection (`MaxFileProtectionLevel`).
    public var maximumFileProtection = FileProtectionLevel.complete
    /// Whether this is the stub extension that takes files in (`OpenInActionExtension`).
    public var isOpenInExtension = false
    /// Whether every web view counts as unmanaged (`TreatAllWebViewsAsUnmanaged`).
    public var treatsWebViewsAsUnmanaged = false
    /// URL schemes that the app's web views handle (`WebViewHandledURLSchemes`).
    public var webViewSchemes: [String] = []
    /// The folder under the app's home for decrypted copies in a document browser (`DocumentBrowserFileCachePath`).
    public var documentCachePath: String?
    /// Whether to log everything (`VerboseLoggingEnabled`).
    public var logsVerbosely = false
    /// Whether background tasks are registered with the scheduler (`FinishLaunchingAtStartup`).
    public var finishesLaunchingAtStart = false
    /// Configuration keys whose values are kept out of logs (`ValuesToScrubFromLogging`).
    public var scrubbedKeys: [String] = []

    /// What was wrong with the property list that they were read from; told when the app starts.
    var mistakes: [SettingProblem] = []

    /// Makes settings with the defaults.
    public init() {}
}
