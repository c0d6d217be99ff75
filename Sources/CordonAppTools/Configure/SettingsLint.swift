import CordonBase
import Foundation

extension ConfigurationRun {
    /// What is known of a setting's value, by Cordon's spelling.
    private enum Kind: String {
        case text, boolean, number, texts, colour, protection
    }

    private static let kinds: [String: Kind] = {
        let texts = [
            "ClientID", "Authority", "RedirectURI", "RedirectScheme", "TokenCacheKeychainGroup",
            "ContainingAppBundleId", "SplashIconFile", "SplashIconFile~ipad", "DocumentBrowserFileCachePath",
            "MainStoryboardFile", "MainStoryboardFile~ipad", "MainNibFile", "MainNibFile~ipad",
        ]
        let booleans = [
            "SignInLogOverrideDisabled", "AutoEnrollOnLaunch", "PolicyRequired", "PolicyWarnAbsent", "MultiIdentity",
            "MultiIdentityCancelDisabled", "MultiManagedIdentities", "BrowserSignInAllowed", "SupportsDarkMode",
            "TelemetryDisabled", "TelemetryUseTestService", "OpenInActionExtension", "TreatAllWebViewsAsUnmanaged",
            "VerboseLoggingEnabled", "FinishLaunchingAtStartup", "DebugSettingsEnabled",
        ]
        let colours = [
            "BackgroundColor", "ForegroundColor", "AccentColor", "SecondaryBackgroundColor",
            "SecondaryForegroundColor",
        ]
        var kinds: [String: Kind] = ["SplashDuration": .number, "MaxFileProtectionLevel": .protection]
        for key in texts { kinds[key] = .text }
        for key in booleans { kinds[key] = .boolean }
        for key in colours { kinds[key] = .colour }
        for key in ["AppGroupIdentifiers", "WebViewHandledURLSchemes", "ValuesToScrubFromLogging"] {
            kinds[key] = .texts
        }
        return kinds
    }()

    private static let protectionLevels = [
        "NSFileProtectionNone", "NSFileProtectionComplete", "NSFileProtectionCompleteUnlessOpen",
        "NSFileProtectionCompleteUntilFirstUserAuthentication",
    ]

    /// Types, required values and combinations (TL-CF-25 to 27).
    mutating func lintSettings() {
        let entries = settings?.dictionary?.entries ?? []
        for (key, value) in entries {
            guard let kind = Self.kinds[SettingSpelling.own[key] ?? key] else {
                let known = Self.kinds.keys.flatMap { SettingSpelling.all(of: $0) }.sorted()
                let letters = Array(key.lowercased().prefix(64))
                let near = known.map { ($0, EditDistance.between(Array($0.lowercased()), letters)) }.min {
                    $0.1 < $1.1
                }?.0
                note(.note, "CF-UNKNOWN", "the setting \(key) is not known; did you mean \(near ?? "another")?")
                continue
            }
            if !Self.fits(value, kind) {
                note(.error, "CF-TYPE", "the setting \(key) is a \(value.kind) and should be a \(kind.rawValue)")
            }
        }
        lintRequired()
        lintCombinations()
    }

    private mutating func lintRequired() {
        let severity: Finding.Severity = options.isStrict ? .error : .warning
        guard !isExtension else { return }
        func usual(_ name: String) -> String { SettingSpelling.usual(name, in: names) }
        let client = setting("ClientID")?.string ?? ""
        if client.isEmpty {
            let name = usual("ClientID")
            note(severity, "CF-REQUIRED", "the setting \(name) is missing; --set \(name)=… writes it")
        } else if names.givesUUIDs, !BuildVariables.isIn(client), UUID(uuidString: client) == nil {
            note(
                .note, "CF-CLIENT", "the setting \(usual("ClientID")) is not a UUID, as client ids of this provider are"
            )
        }
        if let address = setting("RedirectURI")?.string, !BuildVariables.isIn(address),
            URLComponents(string: address)?.scheme == nil
        {
            note(.note, "CF-REDIRECT", "the setting \(usual("RedirectURI")) is not an address with a scheme")
        }
        if setting("RedirectURI") == nil, setting("RedirectScheme") == nil {
            let (address, scheme) = (usual("RedirectURI"), usual("RedirectScheme"))
            note(severity, "CF-REQUIRED", "one of the settings \(address) and \(scheme) is needed")
        }
    }

    private mutating func lintCombinations() {
        func isOn(_ key: String) -> Bool { setting(key)?.boolean == true }
        func usual(_ name: String) -> String { SettingSpelling.usual(name, in: names) }
        let required = usual("PolicyRequired")
        if isOn("PolicyRequired") {
            if !isOn("AutoEnrollOnLaunch") {
                note(.error, "CF-ENROL", "\(required) without AutoEnrollOnLaunch leaves no one able to use the app")
            }
            note(.warning, "CF-STORE", "\(required) is not accepted by the App Store")
        }
        if isOn("PolicyWarnAbsent") {
            note(.warning, "CF-STORE", "\(usual("PolicyWarnAbsent")) was not accepted by the App Store in the past")
        }
        if isOn("DebugSettingsEnabled") {
            note(.warning, "CF-DEBUG", "DebugSettingsEnabled is for debug builds only")
        }
        if isOn("TelemetryUseTestService"), options.isRelease {
            let name = usual("TelemetryUseTestService")
            note(.warning, "CF-TELEMETRY", "\(name) sends a release build's telemetry to the test service")
        }
        if info.value["BGTaskSchedulerPermittedIdentifiers"] != nil, !isOn("FinishLaunchingAtStartup") {
            note(.warning, "CF-BACKGROUND", "background tasks want the setting FinishLaunchingAtStartup")
        }
    }

    private static func fits(_ value: PropertyListValue, _ kind: Kind) -> Bool {
        switch (kind, value) {
        case (.text, .string), (.boolean, .boolean), (.number, .integer), (.number, .real): true
        case (.texts, .array(let values)): values.allSatisfy { $0.string != nil }
        case (.colour, .string(let text)):
            (text.hasPrefix("#") ? text.dropFirst() : text[...]).count == 6
                && text.drop { $0 == "#" }.allSatisfy(\.isHexDigit)
        case (.protection, .string(let text)): protectionLevels.contains(text)
        default: false
        }
    }
}
