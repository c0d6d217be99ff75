extension ConfigurationRun {
    /// What is known of a setting's value.
    private enum Kind: String {
        case text, boolean, number, texts, colour, protection
    }

    private static let kinds: [String: Kind] = {
        let texts = [
            "ADALClientId", "ADALAuthority", "ADALRedirectUri", "ADALRedirectScheme", "ADALCacheKeychainGroupOverride",
            "ContainingAppBundleId", "SplashIconFile", "SplashIconFile~ipad", "DocumentBrowserFileCachePath",
            "MainStoryboardFile", "MainStoryboardFile~ipad", "MainNibFile", "MainNibFile~ipad",
        ]
        let booleans = [
            "ADALLogOverrideDisabled", "AutoEnrollOnLaunch", "MAMPolicyRequired", "MAMPolicyWarnAbsent",
            "MultiIdentity", "MultiIdentityCancelDisabled", "SafariViewControllerBlockedOverride", "SupportsDarkMode",
            "MAMTelemetryDisabled", "MAMTelemetryUsePPE", "OpenInActionExtension", "TreatAllWebViewsAsUnmanaged",
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
            guard let kind = Self.kinds[key] else {
                let near = Self.kinds.keys.sorted().min { Self.distance($0, key) < Self.distance($1, key) }
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
        if (settings?["ADALClientId"]?.string ?? "").isEmpty {
            note(severity, "CF-REQUIRED", "the setting ADALClientId is missing; --set ADALClientId=… writes it")
        }
        if settings?["ADALRedirectUri"] == nil, settings?["ADALRedirectScheme"] == nil {
            note(severity, "CF-REQUIRED", "one of the settings ADALRedirectUri and ADALRedirectScheme is needed")
        }
    }

    private mutating func lintCombinations() {
        func isOn(_ key: String) -> Bool { settings?[key]?.boolean == true }
        if isOn("MAMPolicyRequired") {
            if !isOn("AutoEnrollOnLaunch") {
                note(
                    .error, "CF-ENROL", "MAMPolicyRequired without AutoEnrollOnLaunch leaves nobody able to use the app"
                )
            }
            note(.warning, "CF-STORE", "MAMPolicyRequired is not accepted by the App Store")
        }
        if isOn("DebugSettingsEnabled") {
            note(.warning, "CF-DEBUG", "DebugSettingsEnabled is for debug builds only")
        }
        if isOn("MAMTelemetryUsePPE"), options.isRelease {
            note(.warning, "CF-TELEMETRY", "MAMTelemetryUsePPE sends a release build's telemetry to the test service")
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

    /// Number of single-character edits between two names.
    static func distance(_ left: String, _ right: String) -> Int {
        let right = Array(right.lowercased().prefix(64))
        var row = Array(0...right.count)
        for (index, character) in left.lowercased().prefix(64).enumerated() {
            var next = [index + 1]
            for (place, other) in right.enumerated() {
                next.append(min(row[place] + (character == other ? 0 : 1), row[place + 1] + 1, next[place] + 1))
            }
            row = next
        }
        return row[right.count]
    }
}
