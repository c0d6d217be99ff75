import CordonTestSupport
import Foundation
import Testing

@testable import CordonAppTools

struct ConfigurationProfileTests {
    private func signOn(_ change: (inout ConfigurationProfile.SignOn) -> Void = { _ in }) throws -> ConfigurationProfile
    {
        var request = ConfigurationProfile.SignOn(identifier: "org.example.sign-on")
        change(&request)
        return try ConfigurationProfile(request, names: .intuneCompatible)
    }

    @Test func `the documented single sign-on profile is made, the same every time`() throws {
        let profile = try signOn()
        let payload = try #require(profile.value["PayloadContent"]?.array?.first)
        #expect(payload["PayloadType"]?.string == "com.apple.extensiblesso")
        #expect(payload["Type"]?.string == "Redirect")
        #expect(payload["ExtensionIdentifier"]?.string == "com.microsoft.azureauthenticator.ssoextension")
        #expect(payload["ExtensionData"]?["sharedDeviceMode"] == .boolean(true))
        let hosts = [
            "login.microsoftonline.com", "login.microsoft.com", "sts.windows.net",
            "login.partner.microsoftonline.cn", "login.chinacloudapi.cn", "login.microsoftonline.de",
            "login.microsoftonline.us", "login.usgovcloudapi.net", "login-us.microsoftonline.com",
        ]
        #expect(payload["URLs"]?.strings == hosts.map { "https://" + $0 })
        #expect(payload["TeamIdentifier"] == nil)
        #expect(ProfileLint.findings(profile.value, path: "p").isEmpty)
        #expect(try signOn().data == profile.data)
        #expect(try signOn { $0.isShared = false }.value["PayloadUUID"] != profile.value["PayloadUUID"])
        #expect(try signOn { $0.uuid = "X" }.value["PayloadUUID"] == .string("X"))
    }

    @Test(.enabled(if: Program.python != nil, "needs python3"))
    func `the UUIDs are name-based and plistlib reads the profile`() throws {
        let scratch = try Scratch()
        let file = try scratch.file("p.mobileconfig", signOn().data)
        let output = try Program.python(
            "import plistlib, sys, uuid; v = plistlib.load(open(sys.argv[1], 'rb')); u = uuid.UUID(v['PayloadUUID']); print(u.version, u.variant == uuid.RFC_4122, str(u).upper() == v['PayloadUUID'], v['PayloadContent'][0]['ExtensionData'])",
            [file.path])
        #expect(output == "5 True True {'sharedDeviceMode': True}\n")
    }

    @Test(arguments: ["ftp://a.test", "https://", "https://a.test/?q", "https://a.test/#f", "a.test"])
    func `an address that breaks the rules is refused`(url: String) {
        #expect(throws: AppToolsError(.usage, "")) { try signOn { $0.urls = [url] } }
    }

    @Test func `the frequent mistakes are found`() throws {
        var payload = try #require(try signOn().value["PayloadContent"]?.array?.first?.dictionary)
        payload["URLs"] = .array([.string("https://A.test/x"), .string("https://a.test/x")])
        payload["Hosts"] = .array([.string("a")])
        payload["ScreenLockedBehavior"] = .string("Wait")
        payload["PayloadVersion"] = .string("1")
        payload["PayloadUUID"] = nil
        let profile: PropertyListValue = .dictionary([
            "PayloadType": .string("Configuration"), "PayloadVersion": .integer(1), "PayloadIdentifier": .string("a"),
            "PayloadUUID": .string("u"), "PayloadContent": .array([.dictionary(payload)]), "Extra": .boolean(true),
        ])
        let codes = ProfileLint.findings(profile, path: "p").map(\.code).sorted()
        #expect(codes == ["MC-REQUIRED", "MC-UNKNOWN", "MC-URLS", "MC-URLS", "MC-VALUE", "MC-VALUE"])
        let provisioning: PropertyListValue = .dictionary(["Entitlements": .dictionary([:])])
        #expect(ProfileLint.findings(provisioning, path: "p").map(\.code) == ["MC-FORM"])
    }

    @Test func `app configuration is typed and takes template variables`() {
        let made = ConfigurationProfile(
            configurationOf: "com.contoso.notes", entries: [("sharedDeviceMode", .boolean(true))], delivery: .settings,
            includesUser: true, names: .intuneCompatible)
        #expect(made.value["Item"]?.string == "ApplicationConfiguration")
        #expect(made.value["Identifier"]?.string == "com.contoso.notes")
        #expect(made.value["Configuration"]?["sharedDeviceMode"] == .boolean(true))
        #expect(made.value["Configuration"]?["IntuneMAMUPN"]?.string == "{{userprincipalname}}")
    }

    /// What the findings are about: key and code.
    private func findings(_ data: PropertyListDictionary, type: String = "Redirect") throws -> [String] {
        var payload = try #require(try signOn().value["PayloadContent"]?.array?.first?.dictionary)
        payload["ExtensionData"] = .dictionary(data)
        payload["Type"] = .string(type)
        let profile: PropertyListValue = .dictionary([
            "PayloadType": .string("Configuration"), "PayloadVersion": .integer(1), "PayloadIdentifier": .string("a"),
            "PayloadUUID": .string("u"), "PayloadContent": .array([.dictionary(payload)]),
        ])
        return ProfileLint.findings(profile, path: "p").map { "\($0.severity.rawValue) \($0.message)" }.sorted()
    }

    @Test func `the extension's own keys are checked, each listed`() throws {
        let good: PropertyListDictionary = [
            "sharedDeviceMode": .boolean(true), "Enable_SSO_On_All_ManagedApps": .integer(1),
            "AppAllowList": .string("a.b"), "AppBlockList": .string("a.c"), "AppPrefixAllowList": .string("a."),
            "AppCookieSSOAllowList": .string("a."), "browser_sso_interaction_enabled": .integer(1),
            "disable_explicit_app_prompt": .integer(1), "disable_explicit_app_prompt_and_autologin": .integer(0),
            "disable_explicit_native_app_prompt": .integer(1),
            "disable_explicit_native_app_prompt_and_autologin": .integer(0), "disable_inapp_sso_signin": .integer(0),
            "device_registration": .string("{{DEVICEREGISTRATION}}"), "admin_debug_mode_enabled": .integer(0),
        ]
        #expect(try findings(good).isEmpty)
        #expect(
            try findings(["sharedDeviceMode": .integer(1)]) == [
                "error sharedDeviceMode in ExtensionData is a integer and should be a boolean"
            ])
        #expect(
            try findings(["sharedDeviceMode": .string("true"), "AppAllowList": .array([.string("a")])]) == [
                "error AppAllowList in ExtensionData is a array and should be a string",
                "error sharedDeviceMode in ExtensionData is a string and should be a boolean",
            ])
        #expect(
            try findings(["shareddevicemode": .boolean(true), "colour": .string("red")]) == [
                "note colour is not known in ExtensionData",
                "note shareddevicemode is not known in ExtensionData; sharedDeviceMode is, keys compare with case",
            ])
        #expect(try findings(["device_registration": .string("abc")]).first?.hasPrefix("warning ") == true)
        #expect(
            try findings(["sharedDeviceMode": .boolean(true)], type: "Credential") == [
                "error sharedDeviceMode needs Type Redirect, and Type is Credential"
            ])
    }

    @Test func `a profile carries team, lock, denied apps and the extension's data`() throws {
        let made = try signOn {
            $0.team = "UBF8T346G9"
            $0.screenLocked = "DoNotHandle"
            $0.denied = ["com.contoso.games"]
            $0.data = [
                ("Enable_SSO_On_All_ManagedApps", "1"), ("AppAllowList", "com.contoso.notes"),
                ("device_registration", "{{DEVICEREGISTRATION}}"),
            ]
        }
        let payload = try #require(made.value["PayloadContent"]?.array?.first)
        #expect(payload["TeamIdentifier"]?.string == "UBF8T346G9")
        #expect(payload["ScreenLockedBehavior"]?.string == "DoNotHandle")
        #expect(payload["DeniedBundleIdentifiers"]?.strings == ["com.contoso.games"])
        #expect(payload["ExtensionData"]?["Enable_SSO_On_All_ManagedApps"] == .integer(1))
        #expect(payload["ExtensionData"]?["sharedDeviceMode"] == .boolean(true))
        #expect(ProfileLint.findings(made.value, path: "p", platform: .macOS).isEmpty)
        let plain = try signOn().value
        #expect(ProfileLint.findings(plain, path: "p", platform: .macOS).map(\.code) == ["MC-REQUIRED"])
        for (key, value) in [("Enable_SSO_On_All_ManagedApps", "yes"), ("sharedDeviceMode", "true")] {
            #expect(throws: AppToolsError(.usage, "")) { try signOn { $0.data = [(key, value)] } }
        }
        #expect(throws: AppToolsError(.usage, "")) { try signOn { $0.screenLocked = "Wait" } }
    }

    @Test func `another broker's profile differs in extension and addresses alone`() throws {
        let other = try signOn {
            $0.extensionIdentifier = "org.example.broker.sign-on"
            $0.urls = ["https://id.contoso.example"]
        }
        let payloads = try [signOn(), other].map { try #require($0.value["PayloadContent"]?.array?.first?.dictionary) }
        let keys = Set(payloads.flatMap { $0.entries.map(\.0) })
        let different = keys.filter { payloads[0][$0] != payloads[1][$0] }
        #expect(different == ["ExtensionIdentifier", "URLs", "PayloadUUID"])
    }

    @Test func `for an install command only the configuration is written`() {
        let made = ConfigurationProfile(
            configurationOf: "com.contoso.notes", entries: [("sharedDeviceMode", .boolean(true))], delivery: .install,
            includesUser: false, names: .intuneCompatible)
        #expect(made.value == .dictionary(["sharedDeviceMode": .boolean(true)]))
    }
}
