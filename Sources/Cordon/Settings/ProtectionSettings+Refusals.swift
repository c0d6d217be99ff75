internal import CordonProtocol
internal import CordonVault

extension ProtectionSettings {
    /// The settings that are set and have nothing to act on, with the reason: Cordon takes them, so that an Info.plist of an
    /// older app can stay as it is, and says so rather than keep silent.
    func withoutEffect(in configuration: ProtectionConfiguration) -> [SettingProblem] {
        var problems: [SettingProblem] = []
        func refuse(_ isSet: Bool, _ key: String, _ why: String) {
            if isSet { problems.append(SettingProblem(key: key, message: "has no effect: \(why)")) }
        }
        #if !canImport(Security)
            refuse(tokenCacheKeychainGroup != nil, "TokenCacheKeychainGroup", "there is no Keychain here")
        #endif
        #if !canImport(Darwin)
            refuse(
                maximumFileProtection != .complete, "MaxFileProtectionLevel",
                "this system has no file protection classes")
        #endif
        refuse(
            !appGroups.isEmpty && configuration.sharingGroup == nil, "AppGroupIdentifiers",
            "the configuration names no sharing group")
        refuse(
            allowsBrowserSignIn, "BrowserSignInAllowed", "Cordon never takes the browser away from sign-in")
        refuse(
            telemetryUsesTestService, "TelemetryUseTestService", "telemetry goes to the service of the configuration")
        refuse(!webViewSchemes.isEmpty, "WebViewHandledURLSchemes", "Cordon does not step between an app and its links")
        refuse(documentCachePath != nil, "DocumentBrowserFileCachePath", "Cordon keeps no decrypted copies")
        refuse(finishesLaunchingAtStart, "FinishLaunchingAtStartup", "Cordon does not delay the app's launch")
        refuse(
            enrollsAtLaunch && configuration.isExtension, "AutoEnrollOnLaunch", "an extension enrols no account")
        return problems
    }
}

extension ProtectionConfiguration {
    /// The configuration as the settings of an extension complete it: it enrols no account, and the rules it reads are those of
    /// the app around it (SDK-ST-08, SDK-ST-29, SDK-EN-23).
    func followingSettings() -> ProtectionConfiguration {
        var configuration = self
        if let host = settings.containingBundleID {
            configuration.isExtension = true
            configuration.application.bundleID = host
        }
        if settings.isOpenInExtension { configuration.isExtension = true }
        return configuration
    }
}
