import CordonBase
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonSignIn
import Foundation
import Logging
import Testing

@testable import Cordon

/// Every setting that is taken does something, or says that it does not (SDK-ST-01…35).
@Suite(.timeLimit(.minutes(10))) struct SettingEffectTests {
    /// What reads each setting outside of `Settings`: a piece of code that stands in no other row.
    private static let readers: [String: String] = [
        "AutoEnrollOnLaunch": "settings.enrollsAtLaunch", "PolicyRequired": "settings.requiresPolicy",
        "PolicyWarnAbsent": "settings.warnsWithoutPolicy", "DebugSettingsEnabled": "settings.allowsDebugPolicies",
        "MultiIdentity": "settings.holdsSeveralIdentities", "MultiIdentityCancelDisabled": "settings.hidesCancel",
        "MultiManagedIdentities": "settings.holdsSeveralManagedIdentities",
        "TelemetryDisabled": "settings.telemetryDisabled", "SignInLogOverrideDisabled": "settings.keepsSignInLogsApart",
        "TreatAllWebViewsAsUnmanaged": "settings.treatsWebViewsAsUnmanaged",
        "VerboseLoggingEnabled": "settings.logsVerbosely", "ValuesToScrubFromLogging": "settings.scrubbedKeys",
        "AppGroupIdentifiers": "appGroups.isEmpty && configuration.sharingGroup", "SplashIconFile": "theme.splashIcon",
        "SplashIconFile~ipad": "theme.splashIcon", "SplashDuration": "theme.splashDuration",
        "BackgroundColor": "theme.background", "ForegroundColor": "theme.foreground", "AccentColor": "theme.accent",
        "SecondaryBackgroundColor": "theme.secondaryBackground",
        "SecondaryForegroundColor": "theme.secondaryForeground", "SupportsDarkMode": "theme.supportsDarkMode",
        // Read by the part of `Settings` that turns them into something else; the tests below show what.
        "ClientID": "let clientID else", "Authority": "let authority else", "RedirectURI": "redirectURI ??",
        "RedirectScheme": "redirectScheme.map", "ContainingAppBundleId": "let host = settings.containingBundleID",
        "OpenInActionExtension": "settings.isOpenInExtension",
    ]

    /// Settings that are given alone, each with a value.
    private static let given: [String: String] = [
        "TokenCacheKeychainGroup": "<string>example.group</string>",
        "AppGroupIdentifiers": "<array><string>group.example</string></array>", "BrowserSignInAllowed": "<true/>",
        "TelemetryUseTestService": "<true/>", "WebViewHandledURLSchemes": "<array><string>https</string></array>",
        "MaxFileProtectionLevel": "<string>NSFileProtectionNone</string>",
        "DocumentBrowserFileCachePath": "<string>Cache</string>", "FinishLaunchingAtStartup": "<true/>",
        "MainNibFile": "<string>Main</string>", "MainNibFile~ipad": "<string>Main</string>",
        "MainStoryboardFile": "<string>Main</string>", "MainStoryboardFile~ipad": "<string>Main</string>",
    ]

    private static func sources() throws -> String {
        let here = URL(filePath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
        var text = ""
        let files = try ["Cordon", "CordonTerminal"].flatMap { part in
            let root = here.appending(path: "../../../Sources/\(part)").standardized
            return try #require(FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)).allObjects
        }
        for case let file as URL in files where file.pathExtension == "swift" {
            guard
                !["SettingKey+Table.swift", "SettingOverrides.swift", "ProtectionSettings.swift"].contains(
                    file.lastPathComponent)
            else {
                continue
            }
            text += try String(contentsOf: file, encoding: .utf8)
        }
        return text
    }

    private func reading(_ settings: [String: String]) -> SettingsReading {
        let members = settings.map { "<key>\($0.key)</key>\($0.value)" }.joined()
        return ProtectionSettings.read(
            Data("<plist><dict><key>CordonSettings</key><dict>\(members)</dict></dict></plist>".utf8))
    }

    @Test func `every setting has a reader, or is refused with a reason when it is given`() async throws {
        let sources = try Self.sources()
        for name in SettingKey.all.compactMap(\.names.first) {
            if let reader = Self.readers[name] {
                #expect(sources.contains(reader), "nothing reads \(name)")
                if Self.given[name] == nil { continue }
            }
            let value = try #require(Self.given[name], "\(name) has neither reader nor refusal")
            let reading = reading([name: value])
            let device = try Device()
            let protection = try await device.start { $0.settings = reading.settings }
            let events = EventCatch(protection)
            let isRefusedAtOnce = reading.problems.contains { $0.message.hasPrefix("has no effect: ") }
            let event =
                isRefusedAtOnce ? nil : await events.first { if case .settingRefused = $0 { true } else { false } }
            if case .settingRefused(let reason)? = event {
                #expect(reason.hasPrefix("\(name) has no effect: "))
            } else {
                #expect(isRefusedAtOnce, "\(name) is taken in silence")
            }
        }
    }

    @Test func `what is wrong in the Info.plist is told when the app starts, though only the settings were taken`()
        async throws
    {
        let reading = reading(["PolicyRequired": "<string>YES</string>", "Unheard": "<true/>"])
        let device = try Device()
        let events = EventCatch(try await device.start { $0.settings = reading.settings })
        #expect(await events.has(.settingRefused(reason: "PolicyRequired is text, a truth value is needed.")))
        #expect(await events.has(.settingRefused(reason: "Unheard is not a setting.")))
    }

    @Test func `sign-in is made from the settings, and what is missing is named`() throws {
        var settings = ProtectionSettings()
        func missing() -> String? {
            do {
                _ = try settings.signInConfiguration(bundleID: "example.notes")
                return nil
            } catch { return error.reason }
        }
        #expect(missing() == "the setting ClientID is missing")
        settings.clientID = "client"
        #expect(missing() == "the setting Authority is missing")
        settings.authority = "https://login.example"
        #expect(missing() == "the setting RedirectURI is missing")
        settings.redirectScheme = "notes"
        let scheme = try settings.signInConfiguration(bundleID: "example.notes")
        #expect(scheme.issuer == "https://login.example" && scheme.clientID == "client")
        #expect(scheme.capabilities == ["protapp"])
        #expect(scheme.redirect == .application(try #require(URL(string: "notes://example.notes"))))
        settings.redirectURI = "http://127.0.0.1:8400/back"
        let loopback = try settings.signInConfiguration(bundleID: "example.notes")
        #expect(loopback.redirect == .loopback(path: "/back", ports: [8400]))
    }

    @Test func `providers are tried in the documented order, each once`() async throws {
        let device = try Device()
        defer { withExtendedLifetime(device) {} }
        let protection = try await device.start { $0.settings.authority = "https://plist.example" }
        let cached = ["https://cache.example", "https://plist.example"]
        #expect(await protection.settings.authorities(cached: cached) == cached)
        try await protection.settings.change { $0.authority = "https://now.example" }
        #expect(
            await protection.settings.authorities(cached: cached)
                == ["https://now.example", "https://cache.example", "https://plist.example"])
    }

    @Test func `the telemetry setting counts, in the Info.plist and at run time`() async throws {
        let device = try Device()
        defer { withExtendedLifetime(device) {} }
        #expect(try await device.start { $0.settings.telemetryDisabled = true }.telemetry.isEnabled == false)
        let protection = try await device.start()
        #expect(protection.telemetry.isEnabled)
        try await protection.settings.change { $0.telemetryDisabled = true }
        #expect(!protection.telemetry.isEnabled)
    }

    @Test func `an extension reads the rules of the app around it, and enrols no account`() async throws {
        let device = try Device()
        let app = try await device.enrolled()
        #expect(!device.mayPrint(app))
        let inside = try await device.start {
            $0.application.bundleID = "example.notes.share"
            $0.settings.containingBundleID = "example.notes"
        }
        #expect(!device.mayPrint(inside) && inside.rules.policy(of: .managed("oid-a")) != nil)
        #expect(await inside.enroll(device.account) == .unsupportedCall)
        let stub = try await device.start { $0.settings.isOpenInExtension = true }
        #expect(await stub.enroll(device.account) == .unsupportedCall)
    }

    @Test func `web views count as unmanaged by the setting, unless one has a policy of its own (SDK-WV-03)`()
        async throws
    {
        let device = try Device()
        try await device.publish(["allowedOutboundClipboardSharingLevel": .string("managedApps")])
        for treatsAll in [true, false] {
            let reading = reading(["TreatAllWebViewsAsUnmanaged": treatsAll ? "<true/>" : "<false/>"])
            let protection = try await device.start { $0.settings = reading.settings }
            await protection.enroll(device.account)
            var question = Question(.webPaste, owner: .managed(device.account.id))
            #expect(protection.decision(for: question).verdict.permits == !treatsAll)
            question.viewer = .currentIdentity
            #expect(protection.decision(for: question).verdict.permits)
            question.viewer = .unmanaged
            #expect(!protection.decision(for: question).verdict.permits)
        }
    }

    /// Sessions that note whether they were given a log.
    private final class TalkativeSessions: AccountSessions {
        let isHeard = Locked(false)
        func accessToken(
            for account: AccountID, resource: String, scopes: [String]
        ) async throws(SignInError) -> AccessToken {
            throw SignInError(.interactionRequired, .invalidGrant, "no account is signed in")
        }
        func signer(for account: AccountID) async throws(SignInError) -> any MessageSigner { SoftwareSigningKey() }
        func end(_ account: AccountID) {}
        func log(to logger: Logger) { isHeard.withLock { $0 = true } }
    }

    @Test(arguments: [true, false]) func `sign-in writes to the app's log, unless the setting keeps the logs apart`(
        isApart: Bool
    ) async throws {
        let device = try Device()
        let sessions = TalkativeSessions()
        let reading = reading(["SignInLogOverrideDisabled": isApart ? "<true/>" : "<false/>"])
        _ = try await device.start {
            $0.settings = reading.settings
            $0.sessions = sessions
        }
        #expect(sessions.isHeard.withLock { $0 } == !isApart)
    }
}
