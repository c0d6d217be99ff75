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
        #expect(payload["URLs"]?.strings?.count == 9)
        #expect(payload["TeamIdentifier"] == nil)
        #expect(ProfileLint.findings(profile.value, path: "p").isEmpty)
        #expect(try signOn().data == profile.data)
        #expect(try signOn { $0.isShared = false }.value["PayloadUUID"] != profile.value["PayloadUUID"])
        #expect(try signOn { $0.uuid = "X" }.value["PayloadUUID"] == .string("X"))
    }

    @Test(.enabled(if: Program.hasPython, "needs python3"))
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
}
