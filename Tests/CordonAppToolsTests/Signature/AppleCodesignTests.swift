import CordonTestSupport
import Foundation
import Testing

@testable import CordonAppTools

@Suite(.enabled(if: MachOLab.isAvailable, MachOLab.needs))
struct AppleCodesignTests {
    @Test func `nested code comes first and keeps what it has`() throws {
        let scratch = try Scratch()
        let app = try FrameworkPatcherTests.app(in: scratch)
        let codesign = AppleCodesign(identity: "Apple Development", identifier: "a.b", entitlements: "e.plist")
        let items = try codesign.items(app)
        #expect(
            items.map(\.lastPathComponent) == [
                "Demo.framework", "IntuneMAM.framework", "Share.appex", "libswiftCore.dylib", "App.app",
            ])
        #expect(
            codesign.arguments(for: items[0], isOutermost: false, entitlements: "e.plist") == [
                "--force", "--sign", "Apple Development", "--preserve-metadata=entitlements,identifier,flags",
                items[0].path,
            ])
        #expect(
            codesign.arguments(for: app, isOutermost: true, entitlements: "e.plist") == [
                "--force", "--sign", "Apple Development", "--identifier", "a.b", "--entitlements", "e.plist", app.path,
            ])
    }

    @Test(arguments: ["_CodeSignature", "App", "Frameworks/libswiftCore.dylib"])
    func `codesign is not started where a link leads out of the app`(path: String) throws {
        let scratch = try Scratch()
        let app = try FrameworkPatcherTests.app(in: scratch)
        let codesign = AppleCodesign(identity: nil)
        try codesign.checkLinks(in: app)
        let outside = try scratch.file("outside", "victim")
        let place = app.appendingPathComponent(path)
        try? FileManager.default.removeItem(at: place)
        try FileManager.default.createSymbolicLink(at: place, withDestinationURL: outside)
        #expect(throws: AppToolsError(.refused, "")) { try codesign.checkLinks(in: app) }
    }

    @Test(.enabled(if: Program.find("codesign") != nil, "needs macOS"))
    func `codesign agrees with a patched and signed app`() throws {
        let scratch = try Scratch()
        let app = try FrameworkPatcherTests.app(in: scratch)
        try AtomicWriter.write(FrameworkPatcher(names: .intuneCompatible).plan(.install, app).changes)
        try AtomicWriter.write(CodeSigner(CodeSigner.Options()).plan(app).changes)
        try Program.succeed(
            Program.find("codesign") ?? "codesign", ["--verify", "--deep", "--strict", "--verbose=4", app.path])
    }

    #if os(Linux)
        @Test func `without codesign the error says what to use`() throws {
            let scratch = try Scratch()
            let app = try FrameworkPatcherTests.app(in: scratch)
            let error = #expect(throws: AppToolsError(.unsupported, "")) { try AppleCodesign(identity: nil).sign(app) }
            #expect(error?.hint == "--engine native")
        }
    #endif
}
