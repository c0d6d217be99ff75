import Cordon
import CordonIdentity
import CordonVault
import Foundation
import Testing

/// SDK-ST-01…36, SDK-AU-06: settings from an Info.plist, in code, and changed at run time.
@Suite(.timeLimit(.minutes(10))) struct SettingsTests {
    private func plist(_ settings: [String: Any], in dictionary: String = "CordonSettings") throws -> Data {
        try PropertyListSerialization.data(
            fromPropertyList: ["CFBundleIdentifier": "example.notes", dictionary: settings], format: .xml, options: 0)
    }

    private static var everything: [String: Any] {
        [
            "ADALClientId": "client", "ADALAuthority": "https://login.example", "ADALRedirectUri": "notes://back",
            "ADALRedirectScheme": "notes", "ADALLogOverrideDisabled": true,
            "ADALCacheKeychainGroupOverride": "example.group",
            "AppGroupIdentifiers": ["group.example"], "ContainingAppBundleId": "example.host",
            "AutoEnrollOnLaunch": true,
            "MAMPolicyRequired": true, "DebugSettingsEnabled": true, "MultiIdentity": true,
            "MultiIdentityCancelDisabled": true, "SafariViewControllerBlockedOverride": true,
            "MultiManagedIdentities": true, "SplashIconFile": "logo.png", "SplashDuration": 2.5,
            "BackgroundColor": "#102030", "ForegroundColor": "AABBCC", "AccentColor": "#FFFFFF",
            "SecondaryBackgroundColor": "#000000", "SecondaryForegroundColor": "#111111", "SupportsDarkMode": false,
            "MAMTelemetryDisabled": true, "MAMTelemetryUsePPE": true,
            "MaxFileProtectionLevel": "NSFileProtectionCompleteUnlessOpen", "OpenInActionExtension": true,
            "TreatAllWebViewsAsUnmanaged": true, "WebViewHandledURLSchemes": ["https"],
            "DocumentBrowserFileCachePath": "Cache", "VerboseLoggingEnabled": true, "FinishLaunchingAtStartup": true,
            "ValuesToScrubFromLogging": ["secret"],
        ]
    }

    @Test(arguments: [PropertyListSerialization.PropertyListFormat.xml, .binary])
    func `every key of an app prepared for Intune is read`(
        _ format: PropertyListSerialization.PropertyListFormat
    ) throws {
        let data = try PropertyListSerialization.data(
            fromPropertyList: ["IntuneMAMSettings": Self.everything], format: format, options: 0)
        let reading = ProtectionSettings.read(data)
        #expect(reading.problems.isEmpty)
        let settings = reading.settings
        #expect(settings.clientID == "client" && settings.authority == "https://login.example")
        #expect(settings.redirectURI == "notes://back" && settings.redirectScheme == "notes")
        #expect(settings.keepsSignInLogsApart && settings.tokenCacheKeychainGroup == "example.group")
        #expect(settings.appGroups == ["group.example"] && settings.containingBundleID == "example.host")
        #expect(settings.enrollsAtLaunch && settings.requiresPolicy && settings.allowsDebugPolicies)
        #expect(settings.holdsSeveralIdentities && settings.hidesCancel && settings.allowsBrowserSignIn)
        #expect(settings.holdsSeveralManagedIdentities && settings.theme.splashIcon == "logo.png")
        #expect(settings.theme.splashDuration == .milliseconds(2500))
        #expect(settings.theme.background == ProtectionTheme.Color(red: 16, green: 32, blue: 48))
        #expect(settings.theme.foreground == ProtectionTheme.Color(red: 170, green: 187, blue: 204))
        #expect(settings.theme.accent != nil && settings.theme.secondaryBackground != nil)
        #expect(settings.theme.secondaryForeground != nil && !settings.theme.supportsDarkMode)
        #expect(settings.telemetryDisabled && settings.telemetryUsesTestService)
        #expect(settings.maximumFileProtection == .completeUnlessOpen && settings.isOpenInExtension)
        #expect(settings.treatsWebViewsAsUnmanaged && settings.webViewSchemes == ["https"])
        #expect(settings.documentCachePath == "Cache" && settings.logsVerbosely && settings.finishesLaunchingAtStart)
        #expect(settings.scrubbedKeys == ["secret"])
    }

    @Test func `nothing given leaves the usual values`() throws {
        let reading = ProtectionSettings.read(try plist([:]))
        #expect(reading.settings == ProtectionSettings())
        #expect(reading.problems.isEmpty)
        #expect(ProtectionSettings().theme.splashDuration == .milliseconds(1500))
        #expect(ProtectionSettings().theme.supportsDarkMode)
    }

    @Test func `every mistake has a message, and what is right is taken`() throws {
        let reading = ProtectionSettings.read(
            try plist([
                "PolicyRequired": 1, "Authority": "no address", "SplashDuration": 61, "AccentColor": "#12345g",
                "AppGroupIdentifiers": ["a", 2], "MaxFileProtectionLevel": "NSFileProtectionSome",
                "MultiIdentity": true,
                "Unheard": true, "ClientID": "", "MainNibFile": "Main", "ValuesToScrubFromLogging": "secret",
            ]))
        #expect(
            reading.problems.map(\.key) == [
                "AccentColor", "AppGroupIdentifiers", "Authority", "ClientID", "MainNibFile", "MaxFileProtectionLevel",
                "PolicyRequired", "SplashDuration", "Unheard", "ValuesToScrubFromLogging",
            ])
        #expect(
            reading.problems.first { $0.key == "PolicyRequired" }?.description
                == "PolicyRequired is a number, a truth value is needed.")
        #expect(reading.problems.first { $0.key == "Unheard" }?.message == "is not a setting")
        #expect(reading.settings.holdsSeveralIdentities)
        #expect(!reading.settings.requiresPolicy && reading.settings.theme.accent == nil)
    }

    @Test func `two spellings may stand side by side, and a difference is a mistake`() throws {
        let same = ProtectionSettings.read(
            try plist(["TelemetryDisabled": true, "MAMTelemetryDisabled": true]))
        #expect(same.problems.isEmpty && same.settings.telemetryDisabled)
        let other = ProtectionSettings.read(
            try plist(["TelemetryDisabled": true, "MAMTelemetryDisabled": false]))
        #expect(other.settings.telemetryDisabled, "Cordon's own spelling wins")
        #expect(
            other.problems.map(\.description) == ["MAMTelemetryDisabled says something else than TelemetryDisabled."])
    }

    @Test func `the splash icon of all devices counts, and that of the iPad where there is no other`() throws {
        let both = ProtectionSettings.read(try plist(["SplashIconFile": "logo", "SplashIconFile~ipad": "large"]))
        #expect(both.settings.theme.splashIcon == "logo")
        #expect(both.problems.map(\.description) == ["SplashIconFile~ipad has no effect beside SplashIconFile."])
        let one = ProtectionSettings.read(try plist(["SplashIconFile~ipad": "large"]))
        #expect(one.settings.theme.splashIcon == "large" && one.problems.isEmpty)
    }

    @Test func `values that contradict each other are mistakes`() throws {
        let reading = ProtectionSettings.read(
            try plist(["PolicyRequired": true, "PolicyWarnAbsent": true, "MultiManagedIdentities": true]))
        #expect(reading.problems.map(\.key) == ["MultiManagedIdentities", "PolicyRequired", "PolicyWarnAbsent"])
    }

    @Test func `what is no property list is a mistake, and so is the old form`() {
        for text in ["", "{ a = b; }", "just text", "<html></html>"] {
            #expect(ProtectionSettings.read(Data(text.utf8)).problems.count == 1)
        }
    }

    @Test func `a change at run time wins, survives a relaunch, and a wrong one changes nothing`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.start { $0.settings.theme.accent = ProtectionTheme.Color("#000001") }
        let problems = try await protection.settings.change { change in
            change.accentColor = "#00FF00"
            change.telemetryDisabled = true
            change.backgroundColor = "green"
        }
        #expect(problems.map(\.key) == ["BackgroundColor"])
        #expect(protection.settings.current.theme.accent == ProtectionTheme.Color("#00FF00"))

        let restarted = try await house.start { $0.settings.theme.accent = ProtectionTheme.Color("#000001") }
        #expect(restarted.settings.current.theme.accent == ProtectionTheme.Color("#00FF00"))
        #expect(restarted.settings.current.telemetryDisabled && restarted.settings.current.theme.background == nil)
        let refused = try await restarted.settings.change { $0.accentColor = "nonsense" }
        #expect(refused.count == 1)
        #expect(restarted.settings.current.theme.accent == ProtectionTheme.Color("#00FF00"), "the one before stays")
        try await restarted.settings.change { change in
            change.accentColor = ""
            change.telemetryDisabled = nil
        }
        #expect(restarted.settings.current.theme.accent == ProtectionTheme.Color("#000001"))
        #expect(!restarted.settings.current.telemetryDisabled)
    }

    @Test func `what one process of the app changes stays when another one changes something else`() async throws {
        let house = try await Gatehouse()
        let (first, second) = (try await house.start(), try await house.start())
        try await first.settings.change { change in
            change.telemetryDisabled = true
            change.scrubbedKeys = ["costCentre"]
        }
        try await second.settings.change { $0.accentColor = "#00FF00" }
        let third = try await house.start()
        for protection in [second, third] {
            #expect(protection.settings.current.telemetryDisabled)
            #expect(protection.settings.current.scrubbedKeys == ["costCentre"])
            #expect(protection.settings.current.theme.accent == ProtectionTheme.Color("#00FF00"))
        }
    }

    @Test func `a process takes up what another one has changed before it tells or does what is due`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.enrolled()
        let other = try await house.start()
        try await other.settings.change { $0.telemetryDisabled = true }
        await protection.performDueWork()
        #expect(!protection.telemetry.isEnabled)
        #expect(await house.device.service.telemetry.isEmpty)
    }

    @Test(arguments: [true, false])
    func `an account that leaves in one process takes no settings of another one along`(wiping: Bool) async throws {
        let house = try await Gatehouse()
        let protection = try await house.enrolled()
        try await protection.settings.change { $0.authority = "https://tenant.example" }
        let other = try await house.start()
        try await other.settings.change { $0.telemetryDisabled = true }
        await protection.unenroll(house.account, wiping: wiping)
        let restarted = try await house.start()
        #expect(restarted.settings.current.authority == nil)
        #expect(restarted.settings.current.telemetryDisabled)
    }

    @Test(arguments: [true, false])
    func `what was changed of signing in ends with the last enrolment, colours stay`(wiping: Bool) async throws {
        let house = try await Gatehouse()
        let protection = try await house.enrolled()
        try await protection.settings.change { change in
            change.authority = "https://tenant.example"
            change.accentColor = "#00FF00"
        }
        #expect(protection.settings.current.authority == "https://tenant.example")
        await protection.unenroll(house.account, wiping: wiping)
        #expect(protection.settings.current.authority == nil)
        #expect(protection.settings.current.theme.accent == ProtectionTheme.Color("#00FF00"))
    }

    @Test func `the look reaches the interface once, and what it refuses is told`() async throws {
        let house = try await Gatehouse()
        await house.person.set { $0.refuses = ["There is no splash here."] }
        let protection = try await house.opened { $0.settings.theme.splashIcon = "logo.png" }
        #expect(await house.person.theme?.splashIcon == "logo.png")
        #expect(protection.settings.refusedTheme == ["There is no splash here."])
        try await protection.settings.change { $0.accentColor = "#123456" }
        await protection.launch(house.account)
        #expect(await house.person.theme?.accent == ProtectionTheme.Color("#123456"))
    }
}
