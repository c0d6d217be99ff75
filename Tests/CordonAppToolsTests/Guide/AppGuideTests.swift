import CordonTestSupport
import Foundation
import Testing

@testable import CordonAppTools

struct AppGuideTests {
    @Test(.enabled(if: MachOLab.isAvailable, MachOLab.needs))
    func `an app's guide lists what is open, and nothing of it once it is done`() throws {
        let lab = try MachOLab.get()
        let scratch = try Scratch()
        let app = try FrameworkPatcherTests.app(in: scratch)
        let before = try AppGuide(app, names: .intuneCompatible)
        let open = before.steps.filter { $0.state == .open }.map(\.title)
        #expect(open.contains("Configure the property list") && open.contains("Drop simulator code"))
        #expect(open.contains("Make the app load IntuneMAM"))
        #expect(before.steps.flatMap(\.commands).contains("cordon thin \(app.path) --keep device"))

        try AtomicWriter.write(Thinner.plan(app, ThinRequest(side: .device)).changes)
        _ = try scratch.file("App.app/Frameworks/Demo.framework/Demo", lab.data(lab.executable))
        try AtomicWriter.write(FrameworkPatcher(names: .intuneCompatible).plan(.install, app).changes)
        try AtomicWriter.write(CodeSigner(CodeSigner.Options()).plan(app).changes)
        let after = try AppGuide(app, names: .intuneCompatible).steps
        for title in ["Drop simulator code", "Make the app load IntuneMAM", "Sign"] {
            #expect(after.first { $0.title == title }?.state == .done, "\(title)")
        }
    }

    @Test(.enabled(if: MachOLab.isAvailable, MachOLab.needs))
    func `what an app calls itself is one word of a command line`() throws {
        let scratch = try Scratch()
        let app = try FrameworkPatcherTests.app(in: scratch)
        func info(_ identifier: String, _ rest: String = "") -> String {
            "<plist><dict><key>CFBundleIdentifier</key><string>\(identifier)</string>\(rest)</dict></plist>"
        }
        let rule = "<string>ANY registeredTypeIdentifiers == 'a'</string>"
        _ = try scratch.file(
            "App.app/Info.plist", info("a; touch b", "<key>CFBundleExecutable</key><string>App</string>"))
        _ = try scratch.file(
            "App.app/PlugIns/Share.appex/Info.plist",
            info(
                "a.share",
                "<key>CFBundleExecutable</key><string>Share</string><key>NSExtension</key><dict><key>NSExtensionAttributes</key>"
                    + "<dict><key>NSExtensionActivationRule</key>\(rule)</dict></dict>"))
        let commands = try AppGuide(app, names: .intuneCompatible).steps.flatMap(\.commands)
        #expect(commands.contains { $0.hasSuffix(" --containing-app 'a; touch b' --activation-rule") })
        // Of an archive no command names a path inside.
        let packed = try AppGuide(app, shownAs: "a.ipa", names: .intuneCompatible).steps.flatMap(\.commands)
        #expect(packed.contains("cordon activation-rule a.ipa --names intune-compatible --in-place"))
        #expect(!packed.contains { $0.contains("a.ipa/") })
    }

    @Test func `a project's guide names its files, and a folder without one is refused`() throws {
        let scratch = try Scratch()
        _ = try scratch.file("Demo.xcodeproj/project.pbxproj", "")
        _ = try scratch.file(
            "App/Info.plist", "<plist><dict><key>CFBundleIdentifier</key><string>a</string></dict></plist>")
        _ = try scratch.file(
            "App/Info.Dev.plist", "<plist><dict><key>CFBundleIdentifier</key><string>a.dev</string></dict></plist>")
        _ = try scratch.file("Share it/Info.plist", "<plist><dict><key>NSExtension</key><dict/></dict></plist>")
        _ = try scratch.file("App/App.entitlements", "<plist><dict/></plist>")
        _ = try scratch.file(
            "Pods/Other/Info.plist", "<plist><dict><key>CFBundleIdentifier</key><string>b</string></dict></plist>")
        let commands = try AppGuide(scratch.folder, names: .cordon).steps.flatMap(\.commands)
        #expect(
            commands.contains(
                "cordon configure App/Info.plist --entitlements App/App.entitlements --write-entitlements"))
        #expect(commands.contains { $0.hasPrefix("cordon configure 'Share it/Info.plist' --containing-app") })
        #expect(commands.contains { $0.hasPrefix("cordon configure App/Info.Dev.plist ") })
        #expect(!commands.contains { $0.contains("Pods") })
        let empty = try Scratch()
        #expect(throws: AppToolsError(.unsupported, "")) { try AppGuide(empty.folder, names: .cordon) }
    }
}
