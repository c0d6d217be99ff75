import CordonProtocol
import CordonSignIn
import Foundation
import Testing

@testable import CordonBroker

/// Files that administrators write, and the mistakes in them.
@Suite struct ConfigurationTests {
    private func read(_ text: String) throws -> BrokerConfiguration {
        try BrokerConfiguration(json: Data(text.utf8), place: "broker.json")
    }

    @Test func `a whole file is read`() throws {
        let configuration = try read(
            """
            {"issuer": "https://id.contoso.example", "clientID": "kiosk", "sharedDeviceMode": true, "maxIdleSeconds": 900,
             "maxSessionSeconds": 28800, "cleanUpSeconds": 5, "joinRoles": ["x"], "redirectPorts": [8901],
             "apps": [{"name": "FieldNotes", "path": "/opt/fieldnotes", "clientIDs": ["fieldnotes"]}]}
            """)
        #expect(configuration.signIn.clientID == "kiosk")
        #expect(configuration.signIn.redirect == .loopback(ports: [8901]))
        #expect(configuration.managedConfigurationSaysShared && !configuration.profileSaysShared)
        #expect(configuration.maximumIdle == .seconds(900))
        #expect(configuration.apps.map(\.path) == ["/opt/fieldnotes"])
    }

    @Test(arguments: [
        "[]", "{}", #"{"issuer": 1}"#, #"{"issuer": "https://x", "sharedDeviceMode": "true"}"#,
        #"{"issuer": "https://x", "sharedDevicemode": true}"#, #"{"issuer": "https://x", "maxIdleSeconds": 0}"#,
        #"{"issuer": "https://x", "cleanUpSeconds": 9223372036854775807}"#,
        #"{"issuer": "https://x", "reportSeconds": 315360001}"#,
        #"{"issuer": "https://x", "apps": [{"name": "a", "path": "relative", "clientIDs": ["a"]}]}"#,
        #"{"issuer": "https://x", "apps": [{"name": "a", "path": "/a", "clientIDs": []}]}"#,
        #"{"issuer": "https://x", "apps": [{"name": "a", "path": "/a", "clientIDs": ["a"]}, {"name": "a", "path": "/b", "clientIDs": ["b"]}]}"#,
        #"{"issuer": "https://x", "apps": [{"name": "a", "path": "/a", "clientIDs": ["a"], "sha256": "abc"}]}"#,
        #"{"issuer": "https://x", "apps": [{"name": "a\nb", "path": "/a", "clientIDs": ["a"]}]}"#,
        #"{"issuer": "https://x", "apps": [{"name": "a", "path": "/a", "clientIDs": ["a"], "sha265": "abc"}]}"#,
        #"{"issuer": "https://x", "apps": [{"name": "a", "path": "/a", "clientIDs": ["a"], "origins": ["http://b"]}]}"#,
        #"{"issuer": "https://x", "apps": [{"name": "a", "path": "/a", "clientIDs": ["a"], "origins": ["https://b/c"]}]}"#,
    ])
    func `a mistake is refused, not guessed at`(text: String) {
        #expect(throws: ProgramError(.configurationInvalid, reason: "", place: "", hint: "")) { _ = try read(text) }
    }

    @Test func `a list is warned about where it lets in more than it says, or an app cannot work by it`() throws {
        func warnings(
            _ path: String, _ more: String = #""bundleID": "b", "origins": ["https://a.example"]"#,
            group: String = #""group": "a","#
        ) throws -> [String] {
            try read(
                #"{"issuer": "https://x", "apps": [{"name": "a", "path": "\#(path)", "clientIDs": ["a"], \#(group)\#(more)}]}"#
            ).warnings
        }
        #expect(try warnings("/opt/a/bin/notes").isEmpty)
        #expect(try warnings("/opt/a/bin/notes", group: "").first?.contains("group of its own") == true)
        #expect(
            try warnings("/opt/a/bin/notes", group: #""label": "snap.notes.notes","#).last?.contains("the label")
                == true)
        for path in [
            "/usr/bin/python3.11", "/usr/bin/node", "/bin/sh", "/opt/electron28", "/lib64/ld-linux-x86-64.so.2",
        ] {
            #expect(try warnings(path).count == 1 && warnings(path)[0].contains("script"), "\(path)")
        }
        #expect(try warnings("/opt/a", #""origins": ["https://a.example"]"#).first?.contains("bundleID") == true)
        #expect(try warnings("/opt/a", #""bundleID": "b""#).first?.contains("origins") == true)
        #expect(try warnings("/opt/a", #""bundleID": "b", "resources": ["https://a.example/x"]"#).isEmpty)
    }

    private func profile(_ data: String, type: String = "Redirect") -> Data {
        Data(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <plist version="1.0"><dict><key>PayloadContent</key><array><dict>
            <key>PayloadType</key><string>com.apple.extensiblesso</string><key>Type</key><string>\(type)</string>
            <key>ExtensionData</key><dict>\(data)</dict></dict></array></dict></plist>
            """.utf8)
    }

    private func applied(_ bytes: Data) throws -> (BrokerConfiguration, [String]) {
        var configuration = try read(#"{"issuer": "https://id.contoso.example"}"#)
        let remarks = try configuration.apply(profile: bytes, place: "x.mobileconfig")
        return (configuration, remarks)
    }

    @Test func `a profile turns the mode on and brings its lists`() throws {
        let (configuration, remarks) = try applied(
            profile(
                """
                <key>sharedDeviceMode</key><true/><key>AppAllowList</key><string>example.notes, example.board</string>
                <key>AppBlockList</key><string>example.board</string><key>Nonsense</key><true/>
                <key>disable_inapp_sso_signin</key><integer>1</integer>
                """))
        #expect(configuration.profileSaysShared)
        #expect(configuration.profileApps.permits("example.notes"))
        #expect(!configuration.profileApps.permits("example.board"))
        #expect(!configuration.profileApps.permits("example.other"))
        #expect(remarks == ["Nonsense is not known", "disable_inapp_sso_signin has no effect on this system"])
    }

    @Test func `a profile with every key is read, and each key is used, ignored with a reason, or unknown`() throws {
        let (configuration, remarks) = try applied(
            profile(
                """
                <key>sharedDeviceMode</key><true/><key>Enable_SSO_On_All_ManagedApps</key><integer>0</integer>
                <key>AppAllowList</key><string>example.notes,example.board</string>
                <key>AppPrefixAllowList</key><string>com.contoso., com.fabrikam.</string>
                <key>AppBlockList</key><string>com.contoso.games</string>
                <key>AppCookieSSOAllowList</key><string>example.cookies</string>
                <key>browser_sso_interaction_enabled</key><integer>1</integer>
                <key>disable_explicit_app_prompt</key><integer>1</integer>
                <key>disable_explicit_app_prompt_and_autologin</key><integer>1</integer>
                <key>disable_explicit_native_app_prompt</key><integer>1</integer>
                <key>disable_explicit_native_app_prompt_and_autologin</key><integer>1</integer>
                <key>disable_inapp_sso_signin</key><integer>1</integer>
                <key>device_registration</key><string>{{DEVICEREGISTRATION}}</string>
                <key>admin_debug_mode_enabled</key><integer>1</integer>
                <key>a_key_of_tomorrow</key><string>x</string>
                """))
        #expect(configuration.profileSaysShared)
        let apps = [
            "example.notes": true, "com.contoso.mail": true, "com.fabrikam.x": true, "com.contoso.games": false,
            "example.cookies": false, "com.other": false,
        ]
        for (app, isPermitted) in apps { #expect(configuration.profileApps.permits(app) == isPermitted, "\(app)") }
        #expect(
            remarks == [
                "AppCookieSSOAllowList has no effect on this system", "a_key_of_tomorrow is not known",
                "admin_debug_mode_enabled has no effect on this system",
                "browser_sso_interaction_enabled has no effect on this system",
                "device_registration has no effect on this system",
                "disable_explicit_app_prompt has no effect on this system",
                "disable_explicit_app_prompt_and_autologin has no effect on this system",
                "disable_explicit_native_app_prompt has no effect on this system",
                "disable_explicit_native_app_prompt_and_autologin has no effect on this system",
                "disable_inapp_sso_signin has no effect on this system",
            ])
    }

    @Test func `all managed apps means all but the blocked ones`() throws {
        let (configuration, _) = try applied(
            profile(
                """
                <key>AppAllowList</key><string>a</string><key>AppBlockList</key><string>b</string>
                <key>Enable_SSO_On_All_ManagedApps</key><integer>1</integer>
                """))
        #expect(configuration.profileApps.permits("c") && !configuration.profileApps.permits("b"))
        #expect(!configuration.profileSaysShared, "silence is not consent")
    }

    @Test(arguments: ["<integer>1</integer>", "<string>true</string>"])
    func `a mode that is not a Boolean is refused`(value: String) {
        #expect(throws: ProgramError.self) { try applied(profile("<key>sharedDeviceMode</key>\(value)")) }
    }

    @Test func `another payload, another type or no property list is refused`() {
        #expect(throws: ProgramError.self) { try applied(profile("", type: "Credential")) }
        #expect(throws: ProgramError.self) { try applied(Data("{ PayloadContent = (); }".utf8)) }
        #expect(throws: ProgramError.self) { try applied(Data("bplist00".utf8)) }
    }
}
