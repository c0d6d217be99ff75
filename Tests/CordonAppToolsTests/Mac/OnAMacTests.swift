import CordonTestSupport
import Foundation
import Testing

@testable import CordonAppTools

/// What only Apple's own programs can show. Each test is skipped where they are missing, and says what it needs.
struct OnAMacTests {
    private static let xcrun = Program.find("xcrun") ?? "xcrun"
    private static let hasXcode = Program.find("xcrun") != nil
    /// The closed tools' configurator, on the Mac of a person who accepted its licence; only what it wrote is compared.
    private static let original = ProcessInfo.processInfo.environment["CORDON_ORIGINAL_CONFIGURATOR"]
    /// A folder of bundles that Apple's tools sealed, such as an unpacked archive of Xcode's.
    private static let sealed = ProcessInfo.processInfo.environment["CORDON_SEALED_BUNDLES"]

    /// A program and a framework for the simulator, built by Xcode, in an app.
    private func simulatorApp(in scratch: Scratch) throws -> URL {
        _ = try scratch.file("main.c", "int main(void) { return 42; }")
        _ = try scratch.file("lib.c", "int sdk(void) { return 1; }")
        let clang = ["--sdk", "iphonesimulator", "clang", "-target", "arm64-apple-ios16.0-simulator"]
        let app = "App.app/Frameworks/IntuneMAM.framework"
        for (path, name) in [("App.app", "App"), (app, "IntuneMAM")] {
            _ = try scratch.file(
                "\(path)/Info.plist",
                "<plist><dict><key>CFBundleExecutable</key><string>\(name)</string><key>CFBundleIdentifier</key><string>example.test.\(name)</string><key>CFBundleVersion</key><string>1</string><key>MinimumOSVersion</key><string>16.0</string></dict></plist>"
            )
        }
        try Program.succeed(
            Self.xcrun,
            clang + [
                "main.c", "-o", "App.app/App", "-Wl,-rpath,@executable_path/Frameworks", "-Wl,-headerpad,0x1000",
            ], in: scratch.folder)
        try Program.succeed(
            Self.xcrun,
            clang + [
                "-dynamiclib", "lib.c", "-o", "\(app)/IntuneMAM", "-install_name",
                "@rpath/IntuneMAM.framework/IntuneMAM",
            ], in: scratch.folder)
        return scratch.folder.appendingPathComponent("App.app")
    }

    @Test(.enabled(if: hasXcode, "needs a Mac with Xcode and a simulator: xcrun simctl boot 'iPhone 16'"))
    func `the loader starts a patched and signed program`() throws {
        let scratch = try Scratch()
        let app = try simulatorApp(in: scratch)
        let patcher = FrameworkPatcher(names: .intuneCompatible)
        let plan = try patcher.resigned(patcher.plan(.install, app), app, options: CodeSigner.Options())
        try AtomicWriter.write(plan.changes)
        let program = app.appendingPathComponent("App").path
        #expect(try Program.run(Self.xcrun, ["simctl", "spawn", "booted", program]).status == 42)
        // Without the framework the loader refuses: so the command is one that it follows.
        try FileManager.default.removeItem(at: app.appendingPathComponent("Frameworks"))
        #expect(try Program.run(Self.xcrun, ["simctl", "spawn", "booted", program]).status != 42)
    }

    @Test(.enabled(if: hasXcode, "needs a Mac with Xcode and a simulator: xcrun simctl install booted App.app"))
    func `a simulator installs a patched and signed app`() throws {
        let scratch = try Scratch()
        let app = try simulatorApp(in: scratch)
        let patcher = FrameworkPatcher(names: .intuneCompatible)
        let plan = try patcher.resigned(patcher.plan(.install, app), app, options: CodeSigner.Options())
        try AtomicWriter.write(plan.changes)
        try Program.succeed("/usr/bin/codesign", ["--verify", "--deep", "--strict", "--verbose=4", app.path])
        try Program.succeed(Self.xcrun, ["simctl", "install", "booted", app.path])
        try Program.succeed(Self.xcrun, ["simctl", "uninstall", "booted", "example.test.App"])
    }

    /// `NSPredicate` is what the share sheet reads rules with; an operator for types is its own.
    private static let evaluation = """
        import Foundation
        let rules = CommandLine.arguments.dropFirst()
        for rule in rules {
            let predicate = NSPredicate(format: rule)
            for types in [["public.jpeg"], ["public.png"], ["public.plain-text"], ["com.microsoft.intune.mam.public.jpeg"], []] {
                let attachment = ["registeredTypeIdentifiers": types]
                let context: [String: Any] = ["extensionItems": [["attachments": [attachment]]]]
                print(predicate.evaluate(with: context))
            }
        }
        """

    @Test(.enabled(if: hasXcode, "needs a Mac with Xcode: xcrun swift rules.swift RULE"))
    func `the system's own parser accepts and judges rules as the tools do`() throws {
        let scratch = try Scratch()
        let script = try scratch.file("rules.swift", Self.evaluation)
        let rules = try [
            "SUBQUERY(extensionItems, $i, SUBQUERY($i.attachments, $a, ANY $a.registeredTypeIdentifiers UTI-CONFORMS-TO \"public.image\").@count == 1).@count == 1",
            "SUBQUERY(extensionItems, $i, SUBQUERY($i.attachments, $a, ANY $a.registeredTypeIdentifiers UTI-EQUALS \"public.plain-text\").@count >= 1).@count >= 1",
        ].flatMap { text in
            let rule = try ActivationRule(text)
            return [rule, try rule.canonical(), try rule.addingManagedTypes(.intuneCompatible)]
        }
        let output = try Program.succeed(Self.xcrun, ["swift", script.path] + rules.map(\.description)).text
        let theirs = output.split(separator: "\n").map(String.init)
        let types = [
            ["public.jpeg"], ["public.png"], ["public.plain-text"], ["com.microsoft.intune.mam.public.jpeg"], [],
        ]
        let ours = try rules.flatMap { rule in
            try types.map { try String(rule.accepts([SharedItem(attachments: [$0])])) }
        }
        #expect(theirs == ours)
    }

    @Test(
        .enabled(
            if: original != nil,
            "needs a Mac with the closed configurator: CORDON_ORIGINAL_CONFIGURATOR=/path/IntuneMAMConfigurator"))
    func `what the closed configurator adds is added`() throws {
        let scratch = try Scratch()
        let text =
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<plist version=\"1.0\">\n<dict>\n\t<key>CFBundleIdentifier</key>\n\t<string>example.test.App</string>\n\t<key>LSApplicationQueriesSchemes</key>\n\t<array>\n\t\t<string>https</string>\n\t</array>\n</dict>\n</plist>\n"
        let info = try scratch.file("Info.plist", text)
        let entitlements = try scratch.file("App.entitlements", "<plist version=\"1.0\"><dict/></plist>")
        try Program.succeed(Self.original ?? "", ["-i", info.path, "-e", entitlements.path])
        let theirs = try PropertyList(contentsOf: info).value
        let ours = try Configurator(ConfiguratorOptions(names: .intuneCompatible)).configure(
            info: (Data(text.utf8), "Info.plist"))
        let mine = ours.info.value
        for key in ["LSApplicationQueriesSchemes", "CFBundleURLTypes", "UTExportedTypeDeclarations"] {
            let wanted = Set(theirs[key]?.strings ?? [])
            #expect(wanted.isSubset(of: Set(mine[key]?.strings ?? [])), "\(key)")
        }
        #expect(theirs["CFBundleURLTypes"] == nil || mine["CFBundleURLTypes"] != nil)
    }

    @Test(
        .enabled(
            if: sealed != nil,
            "needs bundles that Apple's tools sealed, which may not lie here: CORDON_SEALED_BUNDLES=/path/to/a/folder"))
    func `the seal of a bundle of Apple's tools is made again to the byte`() throws {
        let root = URL(fileURLWithPath: Self.sealed ?? "")
        let bundles = (FileManager.default.subpaths(atPath: root.path) ?? []).map(root.appendingPathComponent).filter {
            AppBundle.kind(of: $0) != nil
                && InputFile.kind(of: $0.appendingPathComponent("_CodeSignature/CodeResources")).exists
        }
        #expect(!bundles.isEmpty)
        for url in bundles {
            let tree = CodeResources.Tree(root: url, planned: [:])
            let made = try CodeResources.generate(tree, executable: AppBundle(url).executable?.lastPathComponent)
            let present = try Data(contentsOf: url.appendingPathComponent("_CodeSignature/CodeResources"))
            #expect(made == present, "\(url.path)")
        }
    }

    @Test(
        .enabled(if: MachOLab.isAvailable, MachOLab.needs),
        .enabled(if: Program.find("codesign") != nil, "needs macOS: codesign --force --sign - App.app"))
    func `codesign seals the sample app to the same bytes`() throws {
        let scratch = try Scratch()
        let app = try FrameworkPatcherTests.app(in: scratch)
        for name in ["en.lproj/A.strings", "Base.lproj/M.nib", "text & more.txt"] {
            _ = try scratch.file("App.app/\(name)", name)
        }
        try AtomicWriter.write(CodeSigner(CodeSigner.Options()).plan(app).changes)
        let seal = app.appendingPathComponent("_CodeSignature/CodeResources")
        let ours = try Data(contentsOf: seal)
        try Program.succeed("/usr/bin/codesign", ["--force", "--sign", "-", app.path])
        #expect(try Data(contentsOf: seal) == ours)
    }
}
