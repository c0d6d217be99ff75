import CordonTestSupport
import Foundation
import Testing

@testable import CordonAppTools

/// Code in places that builds use beside `Frameworks` and `PlugIns`.
@Suite(.enabled(if: MachOLab.isAvailable, MachOLab.needs))
struct NestedCodeTests {
    /// The sample app with a Watch app, an App Clip with a framework, a loose library and an odd framework.
    private func app(in scratch: Scratch) throws -> URL {
        let lab = try MachOLab.get()
        let app = try FrameworkPatcherTests.app(in: scratch)
        for (path, code) in [
            ("Watch/Wrist.app", lab.watchExecutable), ("AppClips/Clip.app", lab.executable),
            ("AppClips/Clip.app/Frameworks/Kit.framework", lab.library), ("Extra/Odd.framework", lab.library),
        ] {
            let name = URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent
            let info = XMLPropertyListWriter().document(
                .dictionary([
                    "CFBundleExecutable": .string(name), "CFBundleIdentifier": .string("example.test.\(name)"),
                ]))
            _ = try scratch.file("App.app/\(path)/Info.plist", info)
            _ = try scratch.file("App.app/\(path)/\(name)", lab.data(code))
        }
        _ = try scratch.file("App.app/libLoose.dylib", lab.data(lab.library))
        return app
    }

    private func errors(_ url: URL) throws -> [Finding] {
        try SignatureVerifier().findings(url).filter { $0.severity == .error }
    }

    @Test(arguments: [
        "Watch/Wrist.app/Wrist", "AppClips/Clip.app/Clip", "AppClips/Clip.app/Frameworks/Kit.framework/Kit",
        "Extra/Odd.framework/Odd", "libLoose.dylib",
    ])
    func `code anywhere in an app is signed, and a changed byte in it is noticed`(path: String) throws {
        let scratch = try Scratch()
        let app = try app(in: scratch)
        let plan = try CodeSigner(CodeSigner.Options()).plan(app)
        #expect(plan.changes.contains { $0.url.path.hasSuffix(path) })
        try AtomicWriter.write(plan.changes)
        #expect(try errors(app) == [])
        let file = app.appendingPathComponent(path)
        var data = try Data(contentsOf: file)
        let signature = try #require(MachOFile(data).slices.first?.image?.signature)
        data[signature.lowerBound - 1] ^= 1
        try data.write(to: file)
        #expect(try errors(app).contains { $0.path == file.path && $0.code == "SG-CODE" })
    }

    @Test(arguments: [false, true]) func `links in a circle are followed once`(leadOut: Bool) throws {
        let scratch = try Scratch()
        let app = try FrameworkPatcherTests.app(in: scratch)
        let patcher = FrameworkPatcher(names: .intuneCompatible)
        let bundles = try AppBundle.insideOut(app).count
        let images = try patcher.plan(.verify, app).images.count
        let frameworks = app.appendingPathComponent("Frameworks")
        // With a second one the ways would double at each of forty steps.
        try FileManager.default.createSymbolicLink(
            atPath: frameworks.appendingPathComponent("Demo.framework/Frameworks").path, withDestinationPath: "..")
        if leadOut {
            let outside = scratch.folder.appendingPathComponent("outside")
            try FileManager.default.moveItem(at: frameworks, to: outside)
            try FileManager.default.createSymbolicLink(at: frameworks, withDestinationURL: outside)
        }
        #expect(try AppBundle.insideOut(app).count == bundles)
        #expect(try patcher.plan(.verify, app).images.count == images)
    }

    @Test func `bundles that lie deeper in each other than any app has them are refused`() throws {
        let scratch = try Scratch()
        var inner = "App.app"
        for depth in 0..<17 {
            _ = try scratch.file("\(inner)/Info.plist", "<plist><dict/></plist>")
            inner += "/F.framework"
            let app = scratch.folder.appendingPathComponent("App.app")
            if depth < 16 { #expect(try AppBundle.insideOut(app).count == depth + 1) }
        }
        #expect(throws: AppToolsError(.malformed, "")) {
            try AppBundle.insideOut(scratch.folder.appendingPathComponent("App.app"))
        }
        inner = "F.framework"
        let outermost = scratch.folder.appendingPathComponent(inner)
        for depth in 0..<17 {
            _ = try scratch.file("\(inner)/Info.plist", "<plist><dict/></plist>")
            inner += "/Frameworks/F.framework"
            if depth < 16 { #expect(try PatchTarget.all(outermost, names: .intuneCompatible).isEmpty) }
        }
        #expect(throws: AppToolsError(.malformed, "")) { try PatchTarget.all(outermost, names: .intuneCompatible) }
    }

    @Test(arguments: [false, true])
    func `code that is linked from where the system looks is patched once, in its own place`(wholeFolder: Bool) throws {
        let scratch = try Scratch()
        let app = try FrameworkPatcherTests.app(in: scratch)
        let patcher = FrameworkPatcher(names: .intuneCompatible)
        func images() throws -> [String] {
            try patcher.plan(.verify, app).images.map { String($0.path.dropFirst(app.path.count + 1)) }.sorted()
        }
        let before = try images()
        let files = FileManager.default
        let (place, own, target) =
            wholeFolder
            ? ("Frameworks", "Libs", "Libs") : ("Frameworks/Demo.framework", "Demo.framework", "../Demo.framework")
        try files.moveItem(at: app.appendingPathComponent(place), to: app.appendingPathComponent(own))
        try files.createSymbolicLink(
            atPath: app.appendingPathComponent(place).path, withDestinationPath: target)
        // A second way, which an extension has.
        try files.createSymbolicLink(
            atPath: app.appendingPathComponent("PlugIns/Share.appex/Frameworks").path,
            withDestinationPath: "../../Frameworks")
        let demo = "Frameworks/Demo.framework/Demo"
        #expect(
            try images() == before.map { $0 == demo ? demo.replacingOccurrences(of: place, with: own) : $0 }.sorted())
        let share = app.appendingPathComponent("PlugIns/Share.appex")
        #expect(try patcher.plan(.verify, share).images.count == 1, "the app's code is not the extension's")
        try AtomicWriter.write(patcher.plan(.install, app).changes)
        #expect(try patcher.plan(.verify, app).images.allSatisfy { $0.state == "patched" })
    }

    @Test func `a 32-bit image is signed as another program reads it`() throws {
        let lab = try MachOLab.get()
        let scratch = try Scratch()
        let file = try scratch.file("Wrist", lab.data(lab.watchExecutable))
        var options = CodeSigner.Options()
        options.identifier = "example.wrist"
        try AtomicWriter.write(CodeSigner(options).plan(file).changes)
        #expect(try errors(file) == [])
        let image = try #require(MachOFile(Data(contentsOf: file)).slices.first?.image)
        #expect(!image.is64Bit && ImageInvariants.violations(image) == [])
        let listing = try Program.succeed(
            try #require(MachOLab.objdump), ["--macho", "--private-headers", file.path]
        ).text
        #expect(listing.contains("LC_CODE_SIGNATURE"))
    }

    @Test func `patching leaves the apps inside alone, and says so`() throws {
        let scratch = try Scratch()
        let app = try app(in: scratch)
        let plan = try FrameworkPatcher(names: .intuneCompatible).plan(.verify, app)
        #expect(
            plan.findings.filter { $0.code == "FP-COMPANION" }.map { URL(fileURLWithPath: $0.path).lastPathComponent }
                == ["Clip.app", "Wrist.app"])
        #expect(!plan.images.contains { $0.path.contains("/Watch/") || $0.path.contains("/AppClips/") })
    }

    @Test func `a 32-bit slice that is not patched is named with its remedy`() throws {
        let lab = try MachOLab.get()
        let scratch = try Scratch()
        let fat = scratch.folder.appendingPathComponent("App")
        try Program.succeed(
            MachOLab.lipo ?? "",
            ["-create", lab.executable.path, lab.watchExecutable.path, "-output", fat.path])
        let found = try FrameworkPatcher(names: .intuneCompatible).plan(.install, fat).findings
        #expect(found.map(\.code) == ["FP-32BIT"])
        #expect(found.first?.message.hasSuffix("cordon thin --remove-arch arm64_32") == true)
    }

    @Test func `an extension that lies in its app names that app`() throws {
        let scratch = try Scratch()
        let app = try app(in: scratch)
        let share = app.appendingPathComponent("PlugIns/Share.appex")
        let info = """
            <plist><dict><key>CFBundleExecutable</key><string>Share</string>
            <key>CFBundleIdentifier</key><string>example.test.App.Share</string><key>NSExtension</key><dict/></dict></plist>
            """
        _ = try scratch.file("App.app/PlugIns/Share.appex/Info.plist", info)
        let options = ConfiguratorOptions(names: .intuneCompatible)
        let found = try AppDoctor(options).examine(share).findings
        #expect(!found.contains { $0.code == "CF-CONTAINER" })
        try FileManager.default.moveItem(at: share, to: scratch.folder.appendingPathComponent("Share.appex"))
        let alone = try AppDoctor(options).examine(scratch.folder.appendingPathComponent("Share.appex")).findings
        #expect(alone.contains { $0.code == "CF-CONTAINER" && $0.message.contains("--containing-app") })
    }
}
