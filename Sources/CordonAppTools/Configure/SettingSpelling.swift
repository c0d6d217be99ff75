/// The two spellings of a setting: Cordon's own, and that of apps prepared for Intune. `Cordon` reads both, in either
/// dictionary.
enum SettingSpelling {
    /// The vendor's spelling of each setting that Cordon spells otherwise.
    private static let vendor = [
        "ClientID": "ADALClientId", "Authority": "ADALAuthority", "RedirectURI": "ADALRedirectUri",
        "RedirectScheme": "ADALRedirectScheme", "SignInLogOverrideDisabled": "ADALLogOverrideDisabled",
        "TokenCacheKeychainGroup": "ADALCacheKeychainGroupOverride", "PolicyRequired": "MAMPolicyRequired",
        "PolicyWarnAbsent": "MAMPolicyWarnAbsent", "BrowserSignInAllowed": "SafariViewControllerBlockedOverride",
        "TelemetryDisabled": "MAMTelemetryDisabled", "TelemetryUseTestService": "MAMTelemetryUsePPE",
    ]

    /// Cordon's spelling of every setting with another.
    static let own = Dictionary(vendor.map { ($0.value, $0.key) }) { first, _ in first }

    /// Every spelling of a setting, given by Cordon's.
    static func all(of name: String) -> [String] { [name] + (vendor[name].map { [$0] } ?? []) }

    /// How a profile spells a setting.
    static func usual(_ name: String, in names: NamingProfile) -> String {
        names == .cordon ? name : vendor[name] ?? name
    }
}

extension ConfigurationRun {
    /// A setting's value by whichever spelling it has, given by Cordon's.
    func setting(_ name: String) -> PropertyListValue? {
        SettingSpelling.all(of: name).lazy.compactMap { settings?[$0] }.first
    }
}
