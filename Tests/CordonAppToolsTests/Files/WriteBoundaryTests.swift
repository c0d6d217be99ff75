import Foundation
import Testing

@testable import CordonAppTools

/// Apps whose links lead to a victim outside them.
@Suite(.enabled(if: MachOLab.isAvailable, MachOLab.needs))
struct WriteBoundaryTests {
    /// Moves a file or folder of the app out of it and leaves a link.
    private func moveOut(_ path: String, of app: URL, in scratch: Scratch) throws -> URL {
        let victim = scratch.folder.appendingPathComponent("outside")
        let place = app.appendingPathComponent(path)
        try FileManager.default.moveItem(at: place, to: victim)
        try FileManager.default.createSymbolicLink(at: place, withDestinationURL: victim)
        return victim
    }

    /// Every file outside the app and the app itself.
    private func content(_ scratch: Scratch) throws -> [String: Data] {
        try FileManager.default.subpathsOfDirectory(atPath: scratch.folder.path).reduce(into: [:]) { result, name in
            let url = scratch.folder.appendingPathComponent(name)
            if !InputFile.kind(of: url).isFolder { result[name] = try Data(contentsOf: url) }
        }
    }

    private func expectRefusal(_ scratch: Scratch, _ work: () throws -> Void) throws {
        let before = try content(scratch)
        #expect(throws: AppToolsError(.refused, "")) { try work() }
        #expect(try content(scratch) == before)
    }

    @Test(arguments: [
        "_CodeSignature/CodeResources", "_CodeSignature", "App", "PlugIns/Share.appex/_CodeSignature",
        "Frameworks/Demo.framework",
    ])
    func `signing follows no link out of the app`(path: String) throws {
        let scratch = try Scratch()
        let app = try FrameworkPatcherTests.app(in: scratch)
        var options = CodeSigner.Options()
        try AtomicWriter.write(CodeSigner(options).plan(app).changes)
        _ = try moveOut(path, of: app, in: scratch)
        options.identifier = "example.test.other"
        try expectRefusal(scratch) { try AtomicWriter.write(CodeSigner(options).plan(app).changes) }
    }

    @Test func `signing creates nothing where a link leads, even to nothing`() throws {
        let scratch = try Scratch()
        let app = try FrameworkPatcherTests.app(in: scratch)
        let outside = scratch.folder.appendingPathComponent("outside")
        try FileManager.default.createDirectory(at: outside, withIntermediateDirectories: true)
        let folder = app.appendingPathComponent("_CodeSignature")
        let sign = { _ = try AtomicWriter.write(CodeSigner(CodeSigner.Options()).plan(app).changes) }
        try FileManager.default.createSymbolicLink(at: folder, withDestinationURL: outside)
        try expectRefusal(scratch, sign)
        try FileManager.default.removeItem(at: folder)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            at: folder.appendingPathComponent("CodeResources"),
            withDestinationURL: outside.appendingPathComponent("new"))
        #expect(throws: AppToolsError(.refused, "")) { try sign() }
        #expect(try FileManager.default.contentsOfDirectory(atPath: outside.path) == [])
    }

    @Test(arguments: ["App", "PlugIns/Share.appex/Share", "Frameworks/Demo.framework", "PlugIns"])
    func `patching follows no link out of the app`(path: String) throws {
        let scratch = try Scratch()
        let app = try FrameworkPatcherTests.app(in: scratch)
        _ = try moveOut(path, of: app, in: scratch)
        let patcher = FrameworkPatcher(names: .intuneCompatible)
        try expectRefusal(scratch) { try AtomicWriter.write(patcher.plan(.install, app).changes) }
    }

    @Test func `a receipt gives nothing back through a link`() throws {
        let scratch = try Scratch()
        let app = try FrameworkPatcherTests.app(in: scratch)
        let patcher = FrameworkPatcher(names: .intuneCompatible)
        let changes = try CodeSigner(CodeSigner.Options()).plan(app, over: patcher.plan(.install, app).changes).changes
        let receipt = scratch.folder.appendingPathComponent("receipt")
        try AtomicWriter.write([PatchReceipt(before: changes, in: app).change(at: receipt, outside: app)])
        try AtomicWriter.write(changes)
        _ = try moveOut("_CodeSignature", of: app, in: scratch)
        try expectRefusal(scratch) {
            let plan = try PatchReceipt(contentsOf: receipt).restoration(of: app)
            for url in plan.removals { try FileManager.default.removeItem(at: url) }
        }
    }

    @Test func `the doctor writes no property list outside the app`() throws {
        let scratch = try Scratch()
        let app = try FrameworkPatcherTests.app(in: scratch)
        _ = try moveOut("Info.plist", of: app, in: scratch)
        try expectRefusal(scratch) {
            let diagnosis = try AppDoctor(ConfiguratorOptions(names: .intuneCompatible)).examine(app)
            #expect(!diagnosis.changes.isEmpty)
            try AtomicWriter.write(diagnosis.changes)
        }
        let debug = try Scratch()
        _ = try debug.file(
            "Settings.bundle/Root.plist", "<plist><dict><key>PreferenceSpecifiers</key><array/></dict></plist>")
        let bundle = debug.folder.appendingPathComponent("Settings.bundle")
        _ = try moveOut("Root.plist", of: bundle, in: debug)
        try expectRefusal(debug) {
            try AtomicWriter.write(DebugSettingsBundle(bundle, names: .intuneCompatible).changes())
        }
    }

    @Test(arguments: ["ios-arm64", "Info.plist"])
    func `thinning follows no link out of an xcframework`(path: String) throws {
        let scratch = try Scratch()
        let lab = try MachOLab.get()
        func entry(_ name: String) -> PropertyListValue {
            var entry: PropertyListDictionary = ["LibraryIdentifier": .string(name)]
            if name.hasSuffix("simulator") { entry["SupportedPlatformVariant"] = .string("simulator") }
            return .dictionary(entry)
        }
        let info: PropertyListValue = .dictionary([
            "AvailableLibraries": .array([entry("ios-arm64"), entry("ios-simulator")])
        ])
        _ = try scratch.file("D.xcframework/Info.plist", XMLPropertyListWriter().document(info))
        _ = try scratch.file("D.xcframework/ios-arm64/Demo", lab.data(lab.fat))
        _ = try scratch.file("D.xcframework/ios-simulator/Demo", lab.data(lab.simulatorLibrary))
        let framework = scratch.folder.appendingPathComponent("D.xcframework")
        _ = try moveOut(path, of: framework, in: scratch)
        var request = ThinRequest(side: .device)
        request.slims = true
        try expectRefusal(scratch) { try AtomicWriter.write(Thinner.plan(framework, request).changes) }
    }

    @Test func `a folder whose name has an accent in another spelling is another folder`() throws {
        let scratch = try Scratch()
        let folder = scratch.folder.appendingPathComponent("caf\u{e9}")
        let other = try scratch.file("cafe\u{301}/victim", "mine")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // Some disks take the two for one.
        guard try FileManager.default.contentsOfDirectory(atPath: scratch.folder.path).count == 2 else { return }
        let link = folder.appendingPathComponent("link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: other)
        let boundary = WriteBoundary(folder: folder)
        #expect(throws: AppToolsError(.refused, "")) { try boundary.resolved(link) }
        // A slash and an accent behind it are one character.
        let inside = folder.appendingPathComponent("\u{301}new")
        #expect(try boundary.resolved(inside).lastPathComponent == "\u{301}new")
    }

    @Test func `icons stay in their folder`() throws {
        let scratch = try Scratch()
        let output = scratch.folder.appendingPathComponent("OpenIn")
        try FileManager.default.createDirectory(at: output, withIntermediateDirectories: true)
        _ = try scratch.file("OpenIn/CFBundleIcons.plist", "mine")
        _ = try moveOut("CFBundleIcons.plist", of: output, in: scratch)
        try expectRefusal(scratch) { try AtomicWriter.write(OpenInIcons(symbol: "star", output: output).changes) }
        let fresh = scratch.folder.appendingPathComponent("New/OpenIn")
        #expect(try AtomicWriter.write(OpenInIcons(symbol: "star", output: fresh).changes).count == 1)
    }

    @Test func `links that stay inside, and files that a person names, are written`() throws {
        let scratch = try Scratch()
        let app = try FrameworkPatcherTests.app(in: scratch)
        let library = app.appendingPathComponent("Frameworks/libswiftCore.dylib")
        try FileManager.default.moveItem(at: library, to: app.appendingPathComponent("Frameworks/Real.dylib"))
        try FileManager.default.createSymbolicLink(atPath: library.path, withDestinationPath: "Real.dylib")
        // The way to the app may itself be a link.
        let way = scratch.folder.appendingPathComponent("Way.app")
        try FileManager.default.createSymbolicLink(at: way, withDestinationURL: app)
        let bundle = try AppPackage(opening: way).app()
        let written = try AtomicWriter.write(CodeSigner(CodeSigner.Options()).plan(bundle).changes)
        #expect(written.contains { $0.lastPathComponent == "Real.dylib" })
        #expect(try SignatureVerifier().findings(app).filter { $0.severity == .error } == [])
        let file = try scratch.file("Info.plist", "old")
        let link = scratch.folder.appendingPathComponent("Linked.plist")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
        #expect(WriteBoundary(of: link) == nil)
        try AtomicWriter.write([FileChange(link, Data("new".utf8), inside: WriteBoundary(of: link))])
        #expect(try Data(contentsOf: file) == Data("new".utf8))
        #expect(throws: AppToolsError(.refused, "")) {
            // A bundle inside is not left either, though it was named.
            let linked = app.appendingPathComponent("PlugIns/Other.appex")
            try FileManager.default.createSymbolicLink(at: linked, withDestinationURL: scratch.folder)
            let info = linked.appendingPathComponent("Info.plist")
            _ = try WriteBoundary(of: info)?.resolved(info)
        }
        let inside = try #require(WriteBoundary(of: app.appendingPathComponent("Info.plist")))
        #expect(throws: AppToolsError(.refused, "")) { try inside.resolved(file) }
    }
}
