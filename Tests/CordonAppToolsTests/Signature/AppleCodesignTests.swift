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

    #if os(Linux)
        @Test func `without codesign the error says what to use`() throws {
            let scratch = try Scratch()
            let app = try FrameworkPatcherTests.app(in: scratch)
            let error = #expect(throws: AppToolsError(.unsupported, "")) { try AppleCodesign(identity: nil).sign(app) }
            #expect(error?.hint == "--engine native")
        }
    #endif
}
