internal import CordonVault

extension SettingKey {
    /// Every setting there is (SDK-ST-01…35).
    static let all: [SettingKey] = [
        .text("ClientID", "ADALClientId", \.clientID),
        .address("Authority", "ADALAuthority", \.authority),
        .address("RedirectURI", "ADALRedirectUri", \.redirectURI),
        .text("RedirectScheme", "ADALRedirectScheme", \.redirectScheme),
        .flag("SignInLogOverrideDisabled", "ADALLogOverrideDisabled", \.keepsSignInLogsApart),
        .text("TokenCacheKeychainGroup", "ADALCacheKeychainGroupOverride", \.tokenCacheKeychainGroup),
        .list("AppGroupIdentifiers", \.appGroups),
        .text("ContainingAppBundleId", nil, \.containingBundleID),
        .flag("AutoEnrollOnLaunch", nil, \.enrollsAtLaunch),
        .flag("PolicyRequired", "MAMPolicyRequired", \.requiresPolicy),
        .flag("PolicyWarnAbsent", "MAMPolicyWarnAbsent", \.warnsWithoutPolicy),
        .flag("DebugSettingsEnabled", nil, \.allowsDebugPolicies),
        .withoutEffect("MainNibFile", mainInterface), .withoutEffect("MainNibFile~ipad", mainInterface),
        .withoutEffect("MainStoryboardFile", mainInterface),
        .withoutEffect("MainStoryboardFile~ipad", mainInterface),
        .flag("MultiIdentity", nil, \.holdsSeveralIdentities),
        .flag("MultiIdentityCancelDisabled", nil, \.hidesCancel),
        .flag("BrowserSignInAllowed", "SafariViewControllerBlockedOverride", \.allowsBrowserSignIn),
        .flag("MultiManagedIdentities", nil, \.holdsSeveralManagedIdentities),
        .text("SplashIconFile", nil, \.theme.splashIcon), splashIconOfPad, splashDuration,
        .color("BackgroundColor", \.theme.background), .color("ForegroundColor", \.theme.foreground),
        .color("AccentColor", \.theme.accent),
        .color("SecondaryBackgroundColor", \.theme.secondaryBackground),
        .color("SecondaryForegroundColor", \.theme.secondaryForeground),
        .flag("SupportsDarkMode", nil, \.theme.supportsDarkMode),
        .flag("TelemetryDisabled", "MAMTelemetryDisabled", \.telemetryDisabled),
        .flag("TelemetryUseTestService", "MAMTelemetryUsePPE", \.telemetryUsesTestService),
        fileProtection,
        .flag("OpenInActionExtension", nil, \.isOpenInExtension),
        .flag("TreatAllWebViewsAsUnmanaged", nil, \.treatsWebViewsAsUnmanaged),
        .list("WebViewHandledURLSchemes", \.webViewSchemes),
        .text("DocumentBrowserFileCachePath", nil, \.documentCachePath),
        .flag("VerboseLoggingEnabled", nil, \.logsVerbosely),
        .flag("FinishLaunchingAtStartup", nil, \.finishesLaunchingAtStart),
        .list("ValuesToScrubFromLogging", \.scrubbedKeys),
    ]

    /// The settings by every spelling.
    static let byName = Dictionary(all.flatMap { key in key.names.map { ($0, key) } }) { first, _ in first }

    private static let mainInterface = "Cordon needs not be loaded before the app's main interface"

    /// Which device it is, is not known here: the icon of all counts where there is one.
    private static let splashIconOfPad = SettingKey("SplashIconFile~ipad", nil) { value, settings in
        guard settings.theme.splashIcon == nil else { return "has no effect beside SplashIconFile" }
        return text("SplashIconFile~ipad", nil, \.theme.splashIcon).read(value, &settings)
    }

    private static let splashDuration = SettingKey("SplashDuration", nil) { value, settings in
        let seconds: Double
        switch value {
        case .integer(let number): seconds = Double(number)
        case .real(let number): seconds = number
        default: return "is \(value.kind), a number of seconds is needed"
        }
        guard (0...60).contains(seconds) else { return "is not between 0 and 60 seconds" }
        settings.theme.splashDuration = .milliseconds(Int64(seconds * 1000))
        return nil
    }

    private static let fileProtection = SettingKey("MaxFileProtectionLevel", nil) { value, settings in
        guard case .text(let text) = value, let limit = FileProtectionLevel(rawValue: text) else {
            return "is not one of "
                + FileProtectionLevel.allCases.map(\.rawValue).joined(separator: ", ")
        }
        settings.maximumFileProtection = limit
        return nil
    }
}
