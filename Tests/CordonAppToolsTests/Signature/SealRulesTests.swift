import CordonTestSupport
import Foundation
import Testing

@testable import CordonAppTools

@Suite(.enabled(if: MachOLab.isAvailable, MachOLab.needs))
struct SealRulesTests {
    private static func seal(_ rules: String) throws -> PropertyListValue {
        try PropertyList(
            reading: Data(
                "<plist><dict><key>files2</key><dict/><key>rules2</key><dict>\(rules)</dict></dict></plist>".utf8)
        )
        .value
    }

    private static func rule(_ pattern: String, _ value: String) -> String { "<key>\(pattern)</key>\(value)" }

    @Test func `the heaviest rule that matches decides, and what none matches is left out`() throws {
        let rules = try #require(
            try SealRules(
                Self.seal(
                    Self.rule("^.*\\.txt$", "<true/>")
                        + Self.rule("^doc/", "<dict><key>omit</key><true/><key>weight</key><real>10</real></dict>")
                        + Self.rule("^doc/keep", "<dict><key>weight</key><integer>20</integer></dict>")
                        + Self.rule("^no", "<false/>"))))
        for (path, isOmitted) in [
            ("a.txt", false), ("doc/a.txt", true), ("doc/keep.txt", false), ("doc/keep", false), ("a.bin", true),
            ("no", true), ("no.txt", true),
        ] { #expect(rules.omits(path) == isOmitted, "\(path)") }
        #expect(try SealRules(PropertyList(reading: Data("<plist><dict/></plist>".utf8)).value) == nil)
    }

    @Test(arguments: [
        "^(.*)\\1$", "(a{1000}){1000}", "(", String(repeating: "a", count: 300), "^[",
        "^.*a" + String(repeating: ".", count: 45), "^(.*)\\1\u{301}$", "^(a*)*(a|aa)*b$", "a++",
        String(repeating: "(", count: 10) + "aa" + String(repeating: ")+", count: 10),
    ])
    func `a rule that cannot be read, or would take long, is an error`(pattern: String) throws {
        #expect(throws: AppToolsError(.malformed, "")) { try SealRules(Self.seal(Self.rule(pattern, "<true/>"))) }
    }

    @Test func `slow expressions are quick`() throws {
        let rules = try #require(try SealRules(Self.seal(Self.rule("^(.*/)?a*\\)*a*(a|aa)?b$", "<true/>"))))
        #expect(rules.omits(String(repeating: "a", count: 4000)))
        // The rule with the most operators among those of Apple's tools.
        let places = "(Frameworks|SharedFrameworks|PlugIns|Plug-ins|XPCServices|Helpers|MacOS|"
        let longest = "^\(places)Library/(Automator|Spotlight|LoginItems))/"
        #expect(try SealRules(Self.seal(Self.rule(longest, "<true/>")))?.omits("Helpers/a") == false)
    }

    private func findings(_ app: URL) throws -> [Finding] { try SignatureVerifier().findings(app) }

    /// Signs an app's executable again around another seal.
    private func seal(_ app: URL, _ change: (inout PropertyListDictionary) -> Void) throws {
        let file = app.appendingPathComponent("_CodeSignature/CodeResources")
        var seal = try #require(try PropertyList(contentsOf: file).value.dictionary)
        change(&seal)
        let data = XMLPropertyListWriter().document(.dictionary(seal))
        try data.write(to: file)
        let executable = app.appendingPathComponent("App")
        let content = ImageSigner.Content(
            identifier: "example.test.App", info: try Data(contentsOf: app.appendingPathComponent("Info.plist")),
            resources: data)
        let pieces = try ImageSigner(image: MachOImage(Data(contentsOf: executable)), content: content, identity: nil)
            .signed()
        try pieces.reduce(Data(), +).write(to: executable)
    }

    private func signedApp(in scratch: Scratch) throws -> URL {
        let app = try FrameworkPatcherTests.app(in: scratch)
        _ = try scratch.file("App.app/cache/a", "x")
        try AtomicWriter.write(CodeSigner(CodeSigner.Options()).plan(app).changes)
        return app
    }

    @Test func `a file that a seal's own rules leave out is a warning, any other an error`() throws {
        let scratch = try Scratch()
        let app = try signedApp(in: scratch)
        try seal(app) { seal in
            for (list, rules) in [("files", "rules"), ("files2", "rules2")] {
                var entries = seal[list]?.dictionary ?? [:]
                entries["cache/a"] = nil
                seal[list] = .dictionary(entries)
                var all = seal[rules]?.dictionary ?? [:]
                all["^cache/"] = .dictionary(["omit": .boolean(true), "weight": .real(3000)])
                seal[rules] = .dictionary(all)
            }
        }
        #expect(try findings(app).filter { $0.severity != .note }.map(\.code) == ["SG-OMITTED"])
        _ = try scratch.file("App.app/_CodeSignature/more", "x")
        let omitted = try findings(app).filter { $0.code == "SG-OMITTED" }
        #expect(omitted.map { URL(fileURLWithPath: $0.path).lastPathComponent }.sorted() == ["a", "more"])
        _ = try scratch.file("App.app/cached", "x")
        #expect(try findings(app).filter { $0.severity == .error }.map(\.code) == ["SG-UNSEALED"])
    }

    @Test func `a file that the older list of a seal alone has is not sealed`() throws {
        let scratch = try Scratch()
        let app = try signedApp(in: scratch)
        try seal(app) { seal in
            var entries = seal["files2"]?.dictionary ?? [:]
            entries["cache/a"] = nil
            seal["files2"] = .dictionary(entries)
        }
        #expect(try findings(app).filter { $0.severity == .error }.map(\.code) == ["SG-UNSEALED"])
    }

    @Test func `rules that cannot be read make the seal invalid`() throws {
        let scratch = try Scratch()
        let app = try signedApp(in: scratch)
        try seal(app) { $0["rules2"] = .dictionary(["(": .boolean(true)]) }
        #expect(try findings(app).filter { $0.severity == .error }.map(\.code) == ["SG-SEAL"])
    }

    @Test func `nested code that a seal names by its hash has that hash, or is an error`() throws {
        let scratch = try Scratch()
        let app = try signedApp(in: scratch)
        let inner = app.appendingPathComponent("Frameworks/Demo.framework")
        let image = try #require(
            try MachOFile(Data(contentsOf: inner.appendingPathComponent("Demo"))).slices.first?.image)
        let signature = try #require(try ImageSignatureCheck.signature(image))
        let hash = try CodeDirectory(signature.codeDirectories[0]).codeHash
        let info = inner.appendingPathComponent("Info.plist")
        for (named, errors) in [(Data(count: 20), ["SG-CHANGED"]), (hash, []), (hash, ["SG-CHANGED"])] {
            // At the end the code is gone, and nothing says that there was any.
            if named == hash, !errors.isEmpty {
                try FileManager.default.removeItem(at: inner.appendingPathComponent("Demo"))
                try Data("<plist><dict/></plist>".utf8).write(to: info)
            }
            try seal(app) { seal in
                for list in ["files", "files2"] {
                    var entries = seal[list]?.dictionary ?? [:]
                    for path in entries.keys where path.hasPrefix("Frameworks/Demo.framework") { entries[path] = nil }
                    if list == "files2" {
                        entries["Frameworks/Demo.framework"] = .dictionary([
                            "cdhash": .data(named), "requirement": .string("x"),
                        ])
                    }
                    seal[list] = .dictionary(entries)
                }
            }
            let found = try findings(app)
            #expect(found.filter { $0.severity == .error }.map(\.code) == errors)
            // The framework has another slice, whose hash is not in the seal.
            let open = found.filter { $0.path == inner.path && $0.severity == .warning }
            #expect(open.map(\.code) == (named == hash && errors.isEmpty ? ["SG-OMITTED"] : []))
        }
    }

    @Test(arguments: [
        ("out", "/etc/hosts", true), ("out", "../../x", true), ("inner/out", "../../x", true),
        ("inner/in", "../text", false), ("in", "./inner/../text", false), ("in", "..text", false),
    ])
    func `a link that leads out of the bundle is named`(name: String, target: String, leaves: Bool) throws {
        let scratch = try Scratch()
        let app = try FrameworkPatcherTests.app(in: scratch)
        _ = try scratch.file("App.app/inner/kept", "x")
        try FileManager.default.createSymbolicLink(
            atPath: app.appendingPathComponent(name).path, withDestinationPath: target)
        try AtomicWriter.write(CodeSigner(CodeSigner.Options()).plan(app).changes)
        #expect(try findings(app).contains { $0.code == "SG-LINK" && $0.severity == .warning } == leaves)
        #expect(try !findings(app).contains { $0.severity == .error })
    }

    @Test func `a file whose name begins with an accent lies in its folder like any other`() throws {
        let scratch = try Scratch()
        let app = try FrameworkPatcherTests.app(in: scratch)
        for path in ["de.lproj/\u{301}a", "_CodeSignature/\u{301}b"] { _ = try scratch.file("App.app/\(path)", "x") }
        try AtomicWriter.write(CodeSigner(CodeSigner.Options()).plan(app).changes)
        let seal = try PropertyList(contentsOf: app.appendingPathComponent("_CodeSignature/CodeResources")).value
        #expect(seal["files2"]?["de.lproj/\u{301}a"]?["optional"]?.boolean == true)
        #expect(seal["files2"]?["_CodeSignature/\u{301}b"] == nil)
        let added = FileChange(app.appendingPathComponent("\u{301}c"), Data([1]))
        #expect(throws: Never.self) { try PatchReceipt(before: [added], in: app) }
    }

    @Test func `two names that a device takes for one are refused and found`() throws {
        let scratch = try Scratch()
        let app = try signedApp(in: scratch)
        _ = try scratch.file("App.app/e\u{301}.txt", "x")
        #expect(try findings(app).contains { $0.code == "SG-UNSEALED" })
        try AtomicWriter.write(CodeSigner(CodeSigner.Options()).plan(app).changes)
        #expect(try !findings(app).contains { $0.severity == .error })
        _ = try scratch.file("App.app/\u{e9}.txt", "x")
        #expect(try findings(app).filter { $0.severity == .error }.map(\.code).contains("SG-NAME"))
        #expect(throws: AppToolsError(.refused, "")) { try CodeSigner(CodeSigner.Options()).plan(app) }
    }
}
