import Foundation
import Testing

@testable import CordonAppTools

struct ConfiguratorTests {
    static let info = """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0">
        <dict>
        \t<!-- the app -->
        \t<key>CFBundleIdentifier</key>
        \t<string>com.contoso.notes</string>
        \t<key>CFBundleURLTypes</key>
        \t<array>
        \t\t<dict>
        \t\t\t<key>CFBundleURLSchemes</key>
        \t\t\t<array>
        \t\t\t\t<string>notes</string>
        \t\t\t\t<string>msauth.com.contoso.notes</string>
        \t\t\t\t<string>$(REDIRECT)</string>
        \t\t\t</array>
        \t\t</dict>
        \t</array>
        \t<key>LSApplicationQueriesSchemes</key>
        \t<array>
        \t\t<string>mailto</string>
        \t\t<string>fabrikam</string>
        \t\t<string>msauthv2</string>
        \t\t<string>msauthv3</string>
        \t</array>
        \t<key>DTSDKName</key>
        \t<string>iphoneos17.0</string>
        </dict>
        </plist>

        """
    static let entitlements = """
        <plist version="1.0"><dict>
        <key>com.apple.security.application-groups</key>
        <array>
          <string>group.com.contoso</string>
        </array>
        </dict></plist>
        """

    private func configure(
        _ info: String = info, _ change: (inout ConfiguratorOptions) -> Void = { _ in }
    ) throws -> Configurator.Result {
        var options = ConfiguratorOptions(names: .intuneCompatible)
        options.settings = [
            ("ADALClientId", .string("00000000-0000-0000-0000-000000000001")),
            ("ADALRedirectUri", .string("msauth.com.contoso.notes://auth")),
        ]
        options.writesEntitlements = true
        change(&options)
        return try Configurator(options).configure(
            info: (Data(info.utf8), "Info.plist"), entitlements: (Data(Self.entitlements.utf8), "a.entitlements"))
    }

    @Test func `schemes get their twins beside them, callbacks and variables do not`() throws {
        let result = try configure()
        let schemes = result.info.value["CFBundleURLTypes"]?.array?.first?["CFBundleURLSchemes"]?.strings
        #expect(schemes == ["notes", "notes-intunemam", "msauth.com.contoso.notes", "$(REDIRECT)"])
        #expect(result.findings.map(\.code) == ["CF-VARIABLE"])
    }

    @Test func `a variable that holds an address is an error once it is known`() throws {
        let result = try configure { $0.defines["REDIRECT"] = "msauth.x://auth" }
        #expect(result.findings.map(\.code) == ["CF-SCHEME"])
        let scheme = try configure { $0.defines["REDIRECT"] = "work" }
        let schemes = scheme.info.value["CFBundleURLTypes"]?.array?.first?["CFBundleURLSchemes"]?.strings
        #expect(schemes?.last == "$(REDIRECT)-intunemam")
    }

    @Test func `queries get twins and the standard list`() throws {
        let queries = try configure().info.value["LSApplicationQueriesSchemes"]?.strings ?? []
        // As documented (TL-CF-15), not as the tool has them.
        let standard = [
            "http-intunemam", "https-intunemam", "microsoft-edge-http-intunemam", "microsoft-edge-https-intunemam",
            "intunemam-mtd", "smart-ns", "zips", "lacoonsecurity", "wandera", "lookoutwork-ase", "skycure",
            "betteractiveshield", "smsec", "mvisionmobile", "scmx",
        ]
        let expected =
            ["mailto", "fabrikam", "msauthv2", "msauthv3", "mailto-intunemam", "fabrikam-intunemam"] + standard
            + ["ms-outlook-intunemam"]
        #expect(queries == expected)
    }

    @Test func `files and lists as no app has them are refused before any work on them`() throws {
        func list(_ content: String, _ key: String) -> String {
            "<plist><dict><key>\(key)</key>\(content)</dict></plist>"
        }
        func schemes(_ count: Int, _ twin: String = "") -> String {
            "<array>\((0..<count).map { "<string>a\($0)\(twin)</string>" }.joined())</array>"
        }
        func types(_ schemes: String) -> String {
            list("<array><dict><key>CFBundleURLSchemes</key>\(schemes)</dict></array>", "CFBundleURLTypes")
        }
        for info in [
            list(schemes(501), "LSApplicationQueriesSchemes"), types(schemes(501)),
            types(schemes(2_000, NamingProfile.intuneCompatible.schemeSuffix)),
            list("<string>\(String(repeating: "x", count: 1 << 20))</string>", "NSFaceIDUsageDescription"),
        ] {
            #expect(throws: AppToolsError(.malformed, "")) { try configure(info) }
        }
        // With their twins these are more than it takes without.
        for info in [list(schemes(300), "LSApplicationQueriesSchemes"), types(schemes(300))] {
            let once = try configure(info).info.data
            #expect(try configure(String(decoding: once, as: UTF8.self)).info.data == once)
        }
    }

    @Test(arguments: [(17, 15, false), (17, 40, true), (27, 6, true), (27, 5, false)])
    func `too many queries for the SDK are an error`(sdk: Int, own: Int, fails: Bool) throws {
        let list = (0..<own).map { "<string>app\($0)</string>" }.joined()
        let plist =
            "<plist><dict><key>CFBundleIdentifier</key><string>a</string><key>LSApplicationQueriesSchemes</key><array>\(list)</array></dict></plist>"
        let result = try configure(plist) { $0.sdkVersion = sdk }
        let errors = result.findings.filter { $0.severity == .error }
        // Each own scheme brings a twin, and fifteen are always there.
        #expect((own * 2 + 15 > (sdk == 27 ? 25 : 50)) == !errors.isEmpty)
        #expect(fails == !errors.isEmpty)
    }

    @Test func `what a client registration has to look like is noted, and the broker's schemes`() throws {
        let info = Self.info.replacingOccurrences(of: "fabrikam", with: "ms-outlook")
            .replacingOccurrences(of: "<string>msauthv2</string>", with: "")
        let found = try configure(info) {
            $0.settings = [("ADALClientId", .string("id")), ("ADALRedirectUri", .string("Insert_Redirect_URI"))]
        }
        let schemes = found.info.value["LSApplicationQueriesSchemes"]?.strings ?? []
        #expect(schemes.contains("ms-outlook-intunemam"))
        let notes = found.findings.filter { $0.severity == .note }
        for code in ["CF-CLIENT", "CF-REDIRECT", "CF-BROKER"] {
            #expect(notes.contains { $0.code == code }, "\(code)")
        }
        #expect(notes.first { $0.code == "CF-BROKER" }?.message.contains("lacks msauthv2, ") == true)
        #expect(!(try configure()).findings.contains { ["CF-CLIENT", "CF-REDIRECT", "CF-BROKER"].contains($0.code) })
    }

    @Test func `a part of a property list that a build merges is told from a whole one`() throws {
        let part = try configure("<plist><dict><key>CFBundleVersion</key><string>1</string></dict></plist>")
        #expect(part.findings.contains { $0.code == "CF-FRAGMENT" && $0.severity == .note })
        #expect(!(try configure()).findings.contains { $0.code == "CF-FRAGMENT" })
    }

    @Test func `only lines are added, and a second run adds none`() throws {
        let first = try configure()
        let text = String(decoding: first.info.data, as: UTF8.self)
        var rest = text.split(separator: "\n", omittingEmptySubsequences: false)[...]
        for line in Self.info.split(separator: "\n", omittingEmptySubsequences: false) {
            let place = try #require(rest.firstIndex(of: line), "\(line) was changed")
            rest = rest[(place + 1)...]
        }
        let second = try configure(text)
        #expect(second.info.data == first.info.data)
        #expect(!second.info.isChanged)
        let entitled = try #require(first.entitlements)
        var options = ConfiguratorOptions(names: .intuneCompatible)
        options.writesEntitlements = true
        let again = try Configurator(options).configure(
            info: (first.info.data, "i"), entitlements: (entitled.data, "e"))
        #expect(again.entitlements?.data == entitled.data)
    }

    @Test func `keychain groups stand in their order`() throws {
        let groups = try configure().entitlements?.value["keychain-access-groups"]?.strings
        let prefix = "$(AppIdentifierPrefix)"
        #expect(
            groups == [
                prefix + "com.contoso.notes", prefix + "com.microsoft.intune.mam", prefix + "com.microsoft.adalcache",
            ])
        #expect(
            try configure().info.value["IntuneMAMSettings"]?["AppGroupIdentifiers"]
                == .array([.string("group.com.contoso")]))
    }

    @Test func `a cache group of the organisation's own takes the place of the usual one, and gets its prefix`() throws
    {
        let own = ("ADALCacheKeychainGroupOverride", PropertyListValue.string("com.contoso.tokens"))
        let groups = try configure { $0.settings.append(own) }.entitlements?.value["keychain-access-groups"]?.strings
        #expect(
            groups
                == ["com.contoso.notes", "com.microsoft.intune.mam", "com.contoso.tokens"].map {
                    "$(AppIdentifierPrefix)" + $0
                })
    }

    @Test func `the shared group first is an error, and is put right when asked`() throws {
        let shared =
            "<plist><dict><key>keychain-access-groups</key><array><string>ABCDE12345.com.microsoft.intune.mam</string><string>$(AppIdentifierPrefix)com.contoso.notes</string></array></dict></plist>"
        func run(_ writes: Bool) throws -> Configurator.Result {
            var options = ConfiguratorOptions(names: .intuneCompatible)
            options.writesEntitlements = writes
            return try Configurator(options).configure(
                info: (Data(Self.info.utf8), "i"), entitlements: (Data(shared.utf8), "e"))
        }
        #expect(try run(false).findings.contains { $0.code == "CF-KEYCHAIN" && $0.severity == .error })
        #expect(try run(false).entitlements?.isChanged == false)
        #expect(
            try run(true).entitlements?.value["keychain-access-groups"]?.strings == [
                "$(AppIdentifierPrefix)com.contoso.notes", "ABCDE12345.com.microsoft.intune.mam",
                "$(AppIdentifierPrefix)com.microsoft.adalcache",
            ])
    }

    @Test func `an extension names its app, and its rule is rewritten`() throws {
        let plist = """
            <plist><dict><key>CFBundleIdentifier</key><string>com.contoso.notes.share</string>
            <key>NSExtension</key><dict><key>NSExtensionAttributes</key><dict><key>NSExtensionActivationRule</key>
            <string>ANY registeredTypeIdentifiers == "a" &amp;&amp; extensionItems.@count &lt;= 2</string></dict></dict>
            </dict></plist>
            """
        let bare = try configure(plist)
        #expect(bare.findings.map(\.code) == ["CF-CONTAINER"])
        let full = try configure(plist) {
            $0.containingApp = "com.contoso.notes"
            $0.isOpenIn = true
            $0.openInName = "Notes"
            $0.rewritesActivationRule = true
        }
        #expect(full.findings.allSatisfy { $0.severity == .note })
        #expect(full.info.value["CFBundleDisplayName"]?.string == "Open in Notes")
        #expect(full.info.value["IntuneMAMSettings"]?["OpenInActionExtension"] == .boolean(true))
        #expect(bare.info.value["IntuneMAMSettings"]?["OpenInActionExtension"] == nil)
        let rule = full.info.value["NSExtension"]?["NSExtensionAttributes"]?["NSExtensionActivationRule"]?.string
        #expect(
            rule?.hasPrefix(
                "(ANY registeredTypeIdentifiers == \"a\" || ANY registeredTypeIdentifiers == \"com.microsoft.intune.mam.a\") &&"
            ) == true)
        let foreign = try configure(plist) { $0.containingApp = "com.fabrikam" }
        #expect(foreign.findings.map(\.code) == ["CF-CONTAINER"])
    }

    @Test func `a rule that is always true is kept and told`() throws {
        let plist = """
            <plist><dict><key>CFBundleIdentifier</key><string>com.contoso.notes.share</string>
            <key>NSExtension</key><dict><key>NSExtensionAttributes</key><dict><key>NSExtensionActivationRule</key>
            <string>TRUEPREDICATE</string></dict></dict></dict></plist>
            """
        let made = try configure(plist) {
            $0.containingApp = "com.contoso.notes"
            $0.rewritesActivationRule = true
        }
        #expect(made.findings.contains { $0.code == "AR-TRUE" && $0.severity == .warning })
        let rule = made.info.value["NSExtension"]?["NSExtensionAttributes"]?["NSExtensionActivationRule"]?.string
        #expect(rule == "TRUEPREDICATE")
    }

    @Test func `restore and move are each other's inverse`() throws {
        let plist =
            "<plist><dict><key>CFBundleIdentifier</key><string>a</string><key>UIMainStoryboardFile</key><string>Main</string></dict></plist>"
        let moved = try configure(plist) { $0.mainInterface = .move }
        #expect(moved.info.value["UIMainStoryboardFile"] == nil)
        #expect(moved.info.value["IntuneMAMSettings"]?["MainStoryboardFile"]?.string == "Main")
        let text = String(decoding: moved.info.data, as: UTF8.self)
        let restored = try configure(text) { $0.mainInterface = .restore }
        #expect(restored.info.value["UIMainStoryboardFile"]?.string == "Main")
        let again = try configure(String(decoding: restored.info.data, as: UTF8.self)) { $0.mainInterface = .move }
        #expect(again.info.value == moved.info.value)
    }

    @Test func `settings of the wrong type and risky combinations are found`() throws {
        let result = try configure {
            $0.settings += [
                ("MAMPolicyRequired", .boolean(true)), ("MultiIdentity", .string("YES")),
                ("AccentColor", .string("#12345")), ("MaxFileProtectionLevel", .string("NSFileProtectionComplete")),
                ("AutoEnrolOnLaunch", .boolean(true)),
            ]
        }
        #expect(
            result.findings.map(\.code).sorted() == [
                "CF-ENROL", "CF-STORE", "CF-TYPE", "CF-TYPE", "CF-UNKNOWN", "CF-VARIABLE",
            ])
        #expect(result.findings.first { $0.code == "CF-UNKNOWN" }?.message.contains("AutoEnrollOnLaunch") == true)
    }

    @Test func `a setting that warns of a missing policy is a warning before an upload to the store`() throws {
        let findings = try configure { $0.settings += [("MAMPolicyWarnAbsent", .boolean(true))] }.findings
        let finding = try #require(findings.first { $0.code == "CF-STORE" })
        #expect(finding.severity == .warning && finding.message.contains("WarnAbsent"))
        let off = try configure { $0.settings += [("MAMPolicyWarnAbsent", .boolean(false))] }.findings
        #expect(!off.contains { $0.code == "CF-STORE" })
    }

    @Test func `an app with an Open-In extension needs a scheme of its own, and the extension a group in common`()
        throws
    {
        let bare = "<plist><dict><key>CFBundleIdentifier</key><string>com.contoso.notes</string></dict></plist>"
        let app = try configure(bare) {
            $0.isOpenIn = true
            $0.settings = []
        }
        let missing = try #require(app.findings.first { $0.code == "CF-NOSCHEME" })
        #expect(missing.severity == .error && missing.message.contains("launch-com.contoso.notes"))
        let mended = try configure(bare) {
            $0.isOpenIn = true
            $0.settings = []
            $0.ensuredScheme = "launch-com.contoso.notes"
        }
        #expect(!mended.findings.contains { $0.code == "CF-NOSCHEME" })

        let part = """
            <plist><dict><key>CFBundleIdentifier</key><string>com.contoso.notes.open</string>
            <key>NSExtension</key><dict/></dict></plist>
            """
        func openIn(_ entitlements: String) throws -> [Finding] {
            var options = ConfiguratorOptions(names: .intuneCompatible)
            options.isOpenIn = true
            options.containingApp = "com.contoso.notes"
            return try Configurator(options).configure(
                info: (Data(part.utf8), "i"), entitlements: (Data(entitlements.utf8), "e")
            ).findings
        }
        let alone = try #require(openIn("<plist><dict/></plist>").first { $0.code == "CF-OPENIN" })
        #expect(alone.severity == .error)
        #expect(try !openIn(Self.entitlements).contains { $0.code == "CF-OPENIN" })
    }

    @Test func `the text for Face ID is added where there is none, and the app's own stays`() throws {
        let key = "NSFaceIDUsageDescription"
        #expect(try configure().info.value[key]?.string == "Face ID confirms that it is you before work data is shown.")
        let own = Self.info.replacingOccurrences(
            of: "\t<key>DTSDKName", with: "\t<key>\(key)</key>\n\t<string>To unlock notes.</string>\n\t<key>DTSDKName")
        #expect(try configure(own).info.value[key]?.string == "To unlock notes.")
    }

    @Test func `a group that the settings list and the app was not granted is found`() throws {
        let listed = """
            <plist><dict><key>CFBundleIdentifier</key><string>com.contoso.notes</string>
            <key>IntuneMAMSettings</key><dict><key>AppGroupIdentifiers</key>
            <array><string>group.com.contoso</string><string>group.com.absent</string></array></dict></dict></plist>
            """
        let found = try configure(listed).findings.filter { $0.code == "CF-GROUP" }
        #expect(found.map(\.severity) == [.warning])
        #expect(found.first?.message.contains("group.com.absent") == true)
    }

    @Test func `the minimal query list leaves out the twins of apps that are known to be managed`() throws {
        let names = NamingProfile.intuneCompatible
        let known = ["ms-word", "msteams"]
        let list = (known + ["fabrikam"]).map { "<string>\($0)</string>" }.joined()
        let plist =
            "<plist><dict><key>CFBundleIdentifier</key><string>a</string><key>LSApplicationQueriesSchemes</key><array>\(list)</array></dict></plist>"
        func queries(minimal: Bool) throws -> ([String], [String]) {
            let result = try configure(plist) { $0.hasMinimalQueries = minimal }
            return (
                result.info.value["LSApplicationQueriesSchemes"]?.strings ?? [],
                result.findings.filter { $0.code == "CF-MINIMAL" }.map(\.message)
            )
        }
        let (all, none) = try queries(minimal: false)
        #expect(known.allSatisfy { all.contains($0 + names.schemeSuffix) } && none.isEmpty)
        let (few, told) = try queries(minimal: true)
        #expect(few.count == all.count - known.count)
        #expect(known.allSatisfy { few.contains($0) && !few.contains($0 + names.schemeSuffix) })
        #expect(few.contains("fabrikam" + names.schemeSuffix))
        #expect(told.count == known.count)
    }

    @Test(arguments: [NamingProfile.cordon, .intuneCompatible])
    func `every setting is known by both of its spellings, whatever the profile`(names: NamingProfile) throws {
        let client = "00000000-0000-0000-0000-000000000001"
        for settings in [
            [
                "ClientID": client, "RedirectURI": "msauth.com.contoso.notes://auth",
                "Authority": "https://login.example",
            ],
            [
                "ADALClientId": client, "ADALRedirectUri": "msauth.com.contoso.notes://auth",
                "ADALAuthority": "https://login.example",
            ],
        ] {
            let result = try configure {
                $0.names = names
                $0.settings =
                    settings.map { ($0.key, .string($0.value)) } + [
                        ("MultiManagedIdentities", .boolean(true)), ("TelemetryDisabled", .boolean(true)),
                        ("PolicyRequired", .boolean(true)),
                    ]
            }
            // Which broker is asked for differs by profile.
            let codes = result.findings.map(\.code).filter { $0 != "CF-BROKER" }
            #expect(codes.sorted() == ["CF-ENROL", "CF-STORE", "CF-VARIABLE"])
            let schemes = result.info.value["CFBundleURLTypes"]?.array?.first?["CFBundleURLSchemes"]?.strings
            #expect(schemes == ["notes", "notes" + names.schemeSuffix, "msauth.com.contoso.notes", "$(REDIRECT)"])
        }
    }

    @Test func `what is missing is named as the profile spells it`() throws {
        let result = try configure {
            $0.names = .cordon
            $0.settings = []
        }
        let messages = result.findings.filter { $0.code == "CF-REQUIRED" }.map(\.message)
        #expect(messages.count == 2 && messages.allSatisfy { !$0.contains("ADAL") })
    }

    @Test func `scenes are reported, and written when asked`() throws {
        let plist =
            "<plist><dict><key>CFBundleIdentifier</key><string>a</string><key>UIApplicationSceneManifest</key><dict/></dict></plist>"
        #expect(try configure(plist).findings.contains { $0.code == "CF-SCENE" })
        let fixed = try configure(plist) { $0.fixesScenes = true }
        #expect(
            fixed.info.value["UIApplicationSceneManifest"]?["UISceneConfigurations"]?[
                "UIWindowSceneSessionRoleApplication"]?.array?.count == 1)
        #expect(!fixed.findings.contains { $0.code == "CF-SCENE" })
    }

    @Test func `a binary plist stays binary and equals the XML's content`() throws {
        let binary = BinaryPropertyListWriter.document(try PropertyList(reading: Data(Self.info.utf8)).value)
        let options = ConfiguratorOptions(names: .intuneCompatible)
        let result = try Configurator(options).configure(info: (binary, "b"))
        #expect(result.info.data.starts(with: Data("bplist00".utf8)))
        let xml = try Configurator(options).configure(info: (Data(Self.info.utf8), "x"))
        #expect(result.info.value == xml.info.value)
    }
}
