import Foundation
import Testing

@testable import CordonAppTools

struct AppDoctorTests {
    private func codes(_ app: URL) throws -> Set<String> {
        let doctor = AppDoctor(ConfiguratorOptions(names: .intuneCompatible))
        return Set(try doctor.examine(app).findings.map(\.code))
    }

    @Test(.enabled(if: MachOLab.isAvailable, MachOLab.needs))
    func `an unprepared app is told what it lacks, a prepared one nothing of that`() throws {
        let lab = try MachOLab.get()
        let scratch = try Scratch()
        let app = try FrameworkPatcherTests.app(in: scratch)
        #expect(try codes(app).isSuperset(of: ["DR-LINK", "DR-CONFIGURE", "DR-SIMULATOR", "DR-SIGN"]))
        _ = try scratch.file("App.app/Frameworks/Demo.framework/Demo", lab.data(lab.executable))
        let names = NamingProfile.intuneCompatible
        // The extension's identifier must begin with the app's.
        var share = try PropertyListEditor(
            reading: Data(contentsOf: app.appendingPathComponent("PlugIns/Share.appex/Info.plist")))
        try share.set(.string("example.test.App.Share"), at: ["CFBundleIdentifier"])
        try share.set(.dictionary([:]), at: ["NSExtension"])
        try share.data.write(to: app.appendingPathComponent("PlugIns/Share.appex/Info.plist"))
        let doctor = AppDoctor(ConfiguratorOptions(names: names))
        try AtomicWriter.write(doctor.examine(app).changes)
        try AtomicWriter.write(FrameworkPatcher(names: names).plan(.install, app).changes)
        try AtomicWriter.write(CodeSigner(CodeSigner.Options()).plan(app).changes)
        #expect(try codes(app) == ["CF-BROKER", "CF-REQUIRED"])
        #expect(try doctor.examine(app).changes.isEmpty)
    }

    @Test func `the debug settings bundle is written once and found right`() throws {
        let scratch = try Scratch()
        let bundle = DebugSettingsBundle(
            scratch.folder.appendingPathComponent("Settings.bundle"), names: .intuneCompatible)
        #expect(try AtomicWriter.write(bundle.changes()).count == 2)
        #expect(try bundle.findings() == [])
        #expect(try AtomicWriter.write(bundle.changes()) == [])
        let root = try PropertyList(contentsOf: scratch.folder.appendingPathComponent("Settings.bundle/Root.plist"))
            .value
        let link = root["PreferenceSpecifiers"]?.array?.first
        #expect(link?["Type"]?.string == "PSChildPaneSpecifier")
        #expect(link?["Title"]?.string == "MDM Debug Settings")
        #expect(link?["Key"]?.string == "MAMDebugSettings")
        #expect(link?["File"]?.string == "MAMDebugSettings")
    }

    @Test func `a page of one's own is kept and a missing link found`() throws {
        let scratch = try Scratch()
        let text =
            "<plist>\n<dict>\n  <key>PreferenceSpecifiers</key>\n  <array>\n    <!-- mine -->\n    <dict><key>Type</key><string>PSGroupSpecifier</string></dict>\n  </array>\n</dict>\n</plist>\n"
        _ = try scratch.file("Settings.bundle/Root.plist", text)
        let bundle = DebugSettingsBundle(
            scratch.folder.appendingPathComponent("Settings.bundle"), names: .intuneCompatible)
        #expect(try bundle.findings().map(\.code) == ["DB-LINK", "DB-PANE"])
        try AtomicWriter.write(bundle.changes())
        let after = try String(
            contentsOf: scratch.folder.appendingPathComponent("Settings.bundle/Root.plist"), encoding: .utf8)
        #expect(after.contains("<!-- mine -->"))
        #expect(try bundle.findings() == [])
    }
}
