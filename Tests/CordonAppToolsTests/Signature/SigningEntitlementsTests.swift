import CordonTestSupport
import Foundation
import Testing

@testable import CordonAppTools

@Suite(
    .enabled(if: MachOLab.isAvailable, MachOLab.needs),
    .enabled(if: Program.find("openssl") != nil, "needs openssl"))
struct SigningEntitlementsTests {
    private static func entitlements(_ group: String) -> Data {
        Data(
            """
            <plist version="1.0"><dict><key>keychain-access-groups</key><array><string>\(group)</string></array>
            </dict></plist>
            """.utf8)
    }

    private func signed(_ app: URL, _ options: CodeSigner.Options) throws -> [String] {
        try AtomicWriter.write(CodeSigner(options).plan(app).changes)
        let image = try MachOImage(Data(contentsOf: app.appendingPathComponent("App")))
        let xml = try #require(try ImageSignatureCheck.signature(image)?.content(SuperBlob.Slot.entitlements))
        #expect(try SignatureVerifier().findings(app).filter { $0.severity == .error } == [])
        return try PropertyList(reading: xml).value["keychain-access-groups"]?.strings ?? []
    }

    @Test func `build variables become what the certificate and the property list say`() throws {
        let scratch = try Scratch()
        let app = try FrameworkPatcherTests.app(in: scratch)
        var options = CodeSigner.Options()
        options.identity = try BERSignatureTests.identity(in: scratch)
        for (group, expected) in [
            ("$(AppIdentifierPrefix)$(CFBundleIdentifier)", "ABCDE12345.example.test.App"),
            ("${TeamIdentifierPrefix}group", "ABCDE12345.group"), ("price $5", "price $5"),
        ] {
            options.entitlements = Self.entitlements(group)
            #expect(try signed(app, options) == [expected])
        }
    }

    @Test func `a variable that nothing tells is refused, and may be defined`() throws {
        let scratch = try Scratch()
        let app = try FrameworkPatcherTests.app(in: scratch)
        var options = CodeSigner.Options()
        for group in ["$(AppIdentifierPrefix)a", "${OTHER}", "$(AppIdentifierPrefix", "$(OTHER:unknown)"] {
            options.entitlements = Self.entitlements(group)
            let error = #expect(throws: AppToolsError(.refused, "")) { try CodeSigner(options).plan(app) }
            #expect(error?.hint?.contains("--setting") == true)
        }
        options.defines = ["AppIdentifierPrefix": "ZZZZZ12345."]
        options.entitlements = Self.entitlements("$(AppIdentifierPrefix)a")
        #expect(try signed(app, options) == ["ZZZZZ12345.a"])
        options.defines = ["AppIdentifierPrefix": "$(OTHER)"]
        #expect(throws: AppToolsError(.refused, "")) { try CodeSigner(options).plan(app) }
    }

    @Test func `the profile's prefix goes before the certificate's team`() throws {
        let scratch = try Scratch()
        let app = try FrameworkPatcherTests.app(in: scratch)
        let identity = try BERSignatureTests.identity(in: scratch)
        let profile = Data(
            """
            <plist><dict><key>Entitlements</key><dict/><key>ApplicationIdentifierPrefix</key><array>
            <string>OLDER12345</string></array><key>TeamIdentifier</key><array><string>ABCDE12345</string></array>
            </dict></plist>
            """.utf8)
        _ = try scratch.file("App.app/embedded.mobileprovision", identity.envelope(profile))
        let resolved = try SigningEntitlements(bundle: AppBundle(app), team: "ABCDE12345", defines: [:])
            .resolved(Self.entitlements("$(AppIdentifierPrefix)$(TeamIdentifierPrefix)a"))
        #expect(
            try PropertyList(reading: resolved).value["keychain-access-groups"]?.strings == ["OLDER12345.ABCDE12345.a"])
    }

    @Test func `an Info.plist is not taken for entitlements`() throws {
        let scratch = try Scratch()
        let app = try FrameworkPatcherTests.app(in: scratch)
        var options = CodeSigner.Options()
        options.entitlements = try Data(contentsOf: app.appendingPathComponent("Info.plist"))
        #expect(throws: AppToolsError(.refused, "")) { try CodeSigner(options).plan(app) }
    }

    @Test func `a variable inside a signature is an error, and is not signed again`() throws {
        let scratch = try Scratch()
        let lab = try MachOLab.get()
        let content = ImageSigner.Content(identifier: "a", entitlements: Self.entitlements("$(AppIdentifierPrefix)a"))
        let pieces = try ImageSigner(image: MachOImage(lab.data(lab.executable)), content: content, identity: nil)
            .signed()
        let file = try scratch.file("App", pieces.reduce(Data(), +))
        let codes = try SignatureVerifier().findings(file).filter { $0.severity == .error }.map(\.code)
        #expect(codes == ["SG-VARIABLE"])
        #expect(throws: AppToolsError(.refused, "")) { try CodeSigner(CodeSigner.Options()).plan(file) }
        var options = CodeSigner.Options()
        options.defines = ["AppIdentifierPrefix": "ABCDE12345."]
        try AtomicWriter.write(CodeSigner(options).plan(file).changes)
        #expect(try SignatureVerifier().findings(file).filter { $0.severity == .error } == [])
    }

    @Test func `a profile covers no signed variable, and one in a source file`() throws {
        let scratch = try Scratch()
        let content = Data(
            """
            <plist><dict><key>Entitlements</key><dict><key>keychain-access-groups</key><array>
            <string>ABCDE12345.*</string></array></dict></dict></plist>
            """.utf8)
        let profile = try ProvisioningProfile(BERSignatureTests.identity(in: scratch).envelope(content))
        let value = try PropertyList(reading: Self.entitlements("$(AppIdentifierPrefix)a")).value
        #expect(profile.denied(value) == ["keychain-access-groups"])
        #expect(profile.findings(value, path: "e") == [])
    }

    @Test func `a profile allows no list so long that to compare it would take for ever`() throws {
        let scratch = try Scratch()
        func list(_ count: Int) -> String {
            "<dict><key>keychain-access-groups</key><array>\(String(repeating: "<string>a</string>", count: count))</array></dict>"
        }
        let content = Data("<plist><dict><key>Entitlements</key>\(list(1_001))</dict></plist>".utf8)
        let profile = try ProvisioningProfile(BERSignatureTests.identity(in: scratch).envelope(content))
        for (count, denied) in [(900, []), (1_000, ["keychain-access-groups"])] {
            let value = try PropertyList(reading: Data("<plist>\(list(count))</plist>".utf8)).value
            #expect(profile.denied(value) == denied)
            #expect(profile.findings(value, path: "e").isEmpty == denied.isEmpty)
        }
    }

    @Test func `an identifier that is a build variable is refused`() throws {
        let scratch = try Scratch()
        let app = try FrameworkPatcherTests.app(in: scratch)
        _ = try scratch.file(
            "App.app/Info.plist",
            """
            <plist><dict><key>CFBundleExecutable</key><string>App</string><key>CFBundleIdentifier</key>
            <string>$(PRODUCT_BUNDLE_IDENTIFIER)</string></dict></plist>
            """)
        #expect(throws: AppToolsError(.refused, "")) { try CodeSigner(CodeSigner.Options()).plan(app) }
    }

    @Test func `codesign gets no variables either`() throws {
        let scratch = try Scratch()
        let app = try FrameworkPatcherTests.app(in: scratch)
        let file = try scratch.file("a.entitlements", Self.entitlements("$(AppIdentifierPrefix)a"))
        let bare = AppleCodesign(identity: nil, entitlements: file.path)
        #expect(throws: AppToolsError(.refused, "")) { try bare.entitlementsFile(for: app) }
        let told = AppleCodesign(identity: nil, entitlements: file.path, defines: ["AppIdentifierPrefix": "T."])
        let path = try #require(try told.entitlementsFile(for: app))
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(path != file.path)
        let groups = try PropertyList(contentsOf: URL(fileURLWithPath: path)).value["keychain-access-groups"]
        #expect(groups?.strings == ["T.a"])
    }
}
