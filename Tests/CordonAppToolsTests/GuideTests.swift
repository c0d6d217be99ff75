import CordonTestSupport
import Foundation
import Testing

@testable import CordonAppTools

/// The steps of docs/prepare-an-app.md on a sample app.
@Suite(.enabled(if: MachOLab.isAvailable, MachOLab.needs))
struct GuideTests {
    @Test func `a sample app goes from nothing to verified`() throws {
        let lab = try MachOLab.get()
        let scratch = try Scratch()
        let names = NamingProfile.intuneCompatible
        let app = try FrameworkPatcherTests.app(in: scratch)
        // A fat framework whose slices have room: an executable's slice serves for the device.
        let fat = scratch.folder.appendingPathComponent("fat")
        try Program.succeed(
            MachOLab.lipo ?? "", ["-create", lab.executable.path, lab.simulatorLibrary.path, "-output", fat.path])
        try FileManager.default.removeItem(at: app.appendingPathComponent("Frameworks/Demo.framework/Demo"))
        try FileManager.default.moveItem(at: fat, to: app.appendingPathComponent("Frameworks/Demo.framework/Demo"))

        var options = ConfiguratorOptions(names: names)
        options.settings = [("ADALClientId", .string("1")), ("ADALRedirectUri", .string("msauth.demo://auth"))]
        options.ensuredScheme = "demo"
        options.writesEntitlements = true
        let info = app.appendingPathComponent("Info.plist")
        let entitlements = try scratch.file("a.entitlements", "<plist>\n<dict>\n</dict>\n</plist>\n")
        let configured = try Configurator(options).configure(
            info: (Data(contentsOf: info), info.path),
            entitlements: (Data(contentsOf: entitlements), entitlements.path))
        #expect(configured.findings.filter { $0.severity > .note } == [])
        let granted = try #require(configured.entitlements)
        try AtomicWriter.write([FileChange(info, configured.info.data), FileChange(entitlements, granted.data)])

        try AtomicWriter.write(Thinner.plan(app, ThinRequest(side: .device)).changes)
        let patcher = FrameworkPatcher(names: names)
        try AtomicWriter.write(patcher.plan(.install, app).changes)
        #expect(try patcher.plan(.verify, app).isProtected)

        var signing = CodeSigner.Options()
        signing.entitlements = granted.data
        signing.defines = ["AppIdentifierPrefix": "ABCDE12345."]
        try AtomicWriter.write(CodeSigner(signing).plan(app).changes)
        #expect(try SignatureVerifier().findings(app).filter { $0.severity == .error } == [])

        let files = try FileManager.default.subpathsOfDirectory(atPath: app.path)
        #expect(files.contains("_CodeSignature/CodeResources"))
        let again = try Configurator(options).configure(info: (Data(contentsOf: info), info.path))
        #expect(!again.info.isChanged)
        #expect(try Thinner.plan(app, ThinRequest(side: .device)).changes.isEmpty)
        #expect(try patcher.plan(.install, app).changes.isEmpty)
        #expect(try AtomicWriter.write(CodeSigner(signing).plan(app).changes).isEmpty)
    }
}
