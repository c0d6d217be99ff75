import CordonTestSupport
import Foundation
import Testing

@testable import CordonAppTools

@Suite(.enabled(if: MachOLab.isAvailable, MachOLab.needs))
struct CodeSignerTests {
    static let entitlements = Data(
        """
        <plist version="1.0"><dict><key>get-task-allow</key><true/><key>list</key><array><string>a</string></array>
        <key>number</key><integer>300</integer></dict></plist>
        """.utf8)

    private func errors(_ url: URL) throws -> [String] {
        try SignatureVerifier().findings(url).filter { $0.severity == .error }.map(\.code)
    }

    @Test func `the linker's own signature verifies`() throws {
        let lab = try MachOLab.get()
        for file in [lab.library, lab.simulatorLibrary, lab.executable, lab.fat] { #expect(try errors(file) == []) }
    }

    @Test func `a signed app verifies, and signing it again changes nothing`() throws {
        let scratch = try Scratch()
        let app = try FrameworkPatcherTests.app(in: scratch)
        _ = try scratch.file("App.app/de.lproj/a.strings", "x")
        _ = try scratch.file("App.app/PkgInfo", "APPL????")
        var options = CodeSigner.Options()
        options.entitlements = Self.entitlements
        try AtomicWriter.write(CodeSigner(options).plan(app).changes)
        #expect(try errors(app) == [])
        #expect(try AtomicWriter.write(CodeSigner(CodeSigner.Options()).plan(app).changes) == [])
    }

    @Test func `code whose signature was taken out is signed, whatever stayed behind its load commands`() throws {
        let lab = try MachOLab.get()
        let scratch = try Scratch()
        var data = try lab.data(lab.executable)
        let image = try MachOImage(data)
        let last = try #require(image.commands.last)
        #expect(last.kind == LoadCommand.codeSignature, "the lab's linker writes it last")
        // The command is counted no more, and its bytes stay.
        data.replaceSubrange(
            16..<24,
            with: UInt32(image.commands.count - 1).littleBytes + UInt32(image.commandsSize - last.size).littleBytes)
        let file = try scratch.file("code", data)
        #expect(try errors(file).contains("SG-UNSIGNED"))
        try AtomicWriter.write(CodeSigner(CodeSigner.Options()).plan(file).changes)
        #expect(try errors(file) == [])
    }

    @Test(arguments: [
        ("App", "SG-CODE"), ("Info.plist", "SG-SLOT"), ("_CodeSignature/CodeResources", "SG-SLOT"),
        ("Frameworks/Demo.framework/Info.plist", "SG-CHANGED"), ("text", "SG-CHANGED"),
    ])
    func `a changed byte anywhere is noticed`(path: String, code: String) throws {
        let scratch = try Scratch()
        let app = try FrameworkPatcherTests.app(in: scratch)
        _ = try scratch.file("App.app/text", "some text")
        try AtomicWriter.write(CodeSigner(CodeSigner.Options()).plan(app).changes)
        let file = app.appendingPathComponent(path)
        var data = try Data(contentsOf: file)
        // A space inside a tag name's neighbourhood keeps property lists readable.
        if path == "App" { data[20000] ^= 1 } else { data.append(0x0A) }
        try data.write(to: file)
        #expect(try errors(app).contains(code))
    }

    @Test func `an executable that says it holds debug symbols is an error, however it is signed`() throws {
        let scratch = try Scratch()
        let app = try FrameworkPatcherTests.app(in: scratch)
        try AtomicWriter.write(CodeSigner(CodeSigner.Options()).plan(app).changes)
        let file = app.appendingPathComponent("App")
        var data = try Data(contentsOf: file)
        data.replaceSubrange(12..<16, with: UInt32(10).littleBytes)
        try data.write(to: file)
        #expect(try errors(app) == ["SG-EXECUTABLE", "SG-CODE"])
        let content = ImageSigner.Content(
            identifier: "example.test.App", info: try Data(contentsOf: app.appendingPathComponent("Info.plist")),
            resources: try Data(contentsOf: app.appendingPathComponent("_CodeSignature/CodeResources")))
        try ImageSigner(image: MachOImage(data), content: content, identity: nil).signed().reduce(Data(), +)
            .write(to: file)
        #expect(try errors(app) == ["SG-EXECUTABLE"])
        try MachOLab.get().data(MachOLab.get().deviceSymbols).write(to: file)
        #expect(try errors(app) == ["SG-EXECUTABLE", "SG-UNSIGNED"])
    }

    @Test(arguments: [
        ("text", "SG-CHANGED"), ("Info.plist", "SG-CHANGED"), ("Frameworks/Demo.framework/Demo", "SG-LINK"),
        ("App", "SG-LINK"), ("_CodeSignature/CodeResources", "SG-LINK"),
    ])
    func `a file that became a link is noticed, though it leads to the same bytes`(path: String, code: String) throws {
        let scratch = try Scratch()
        let app = try FrameworkPatcherTests.app(in: scratch)
        _ = try scratch.file("App.app/text", "some text")
        try AtomicWriter.write(CodeSigner(CodeSigner.Options()).plan(app).changes)
        let file = app.appendingPathComponent(path)
        let outside = scratch.folder.appendingPathComponent("outside")
        try FileManager.default.moveItem(at: file, to: outside)
        try FileManager.default.createSymbolicLink(at: file, withDestinationURL: outside)
        #expect(try errors(app).contains(code))
    }

    @Test func `an app whose property list is a link, which no seal covers, is not signed`() throws {
        let scratch = try Scratch()
        let app = try FrameworkPatcherTests.app(in: scratch)
        let info = app.appendingPathComponent("Info.plist")
        try FileManager.default.moveItem(at: info, to: app.appendingPathComponent("real.plist"))
        try FileManager.default.createSymbolicLink(atPath: info.path, withDestinationPath: "real.plist")
        #expect(throws: AppToolsError(.refused, "")) { try CodeSigner(CodeSigner.Options()).plan(app) }
    }

    @Test func `an executable is found by the other form of its accents, as devices do`() throws {
        let lab = try MachOLab.get()
        let scratch = try Scratch()
        _ = try scratch.file(
            "A.app/Info.plist", "<plist><dict><key>CFBundleExecutable</key><string>\u{c4}</string></dict></plist>")
        let file = try scratch.file("A.app/A\u{308}", lab.data(lab.executable))
        let app = scratch.folder.appendingPathComponent("A.app")
        try AtomicWriter.write(CodeSigner(CodeSigner.Options()).plan(app).changes)
        #expect(try errors(app) == [])
        #expect(try errors(file) == [])
        try FileManager.default.removeItem(at: file)
        for path in [file.path, app.appendingPathComponent("\u{c4}").path] {
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "gone")
            #expect(try AppBundle(app).executable == nil, "a link to nothing is none")
            try FileManager.default.removeItem(atPath: path)
        }
    }

    @Test func `a part of a signature that is of another kind is an error`() throws {
        let lab = try MachOLab.get()
        let scratch = try Scratch()
        let file = try scratch.file("code", lab.data(lab.executable))
        var options = CodeSigner.Options()
        options.entitlements = Self.entitlements
        try AtomicWriter.write(CodeSigner(options).plan(file).changes)
        let good = try Data(contentsOf: file)
        // Nothing but its kind says that this is the place of a certificate's signature.
        let place = try #require(good.range(of: SuperBlob.Magic.cms.bigBytes, options: .backwards)).lowerBound
        var bad = good
        bad[place + 3] ^= 1
        #expect(try errors(scratch.file("code", bad)) == ["SG-FORMAT"])
    }

    @Test(.enabled(if: geteuid() != 0, "root reads every folder"))
    func `a folder that cannot be read is told, and not taken for an empty one`() throws {
        let scratch = try Scratch()
        let app = try FrameworkPatcherTests.app(in: scratch)
        try AtomicWriter.write(CodeSigner(CodeSigner.Options()).plan(app).changes)
        _ = try scratch.file("App.app/closed/added", "x")
        let closed = app.appendingPathComponent("closed").path
        try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: closed)
        defer { try? FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: closed) }
        #expect(throws: AppToolsError(.missing, "")) { try SignatureVerifier().findings(app) }
    }

    @Test func `bytes that no signature covers are noticed, and not dropped by signing again`() throws {
        let lab = try MachOLab.get()
        let scratch = try Scratch()
        var data = try lab.data(lab.executable)
        data.append(0)
        let file = try scratch.file("code", data)
        #expect(try errors(file) == ["SG-LIMIT"])
        #expect(throws: AppToolsError(.refused, "")) { try CodeSigner(CodeSigner.Options()).plan(file) }
        for source in [lab.fat, lab.fat64] {
            let good = try lab.data(source)
            let first = try #require(MachOFile(good).slices.map(\.offset).min())
            for place in [first - 1, good.count] {
                var data = good
                if place < good.count { data[place] = 1 } else { data.append(1) }
                #expect(try errors(scratch.file("code", data)) == ["SG-LIMIT"])
                #expect(throws: AppToolsError(.refused, "")) { try CodeSigner(CodeSigner.Options()).plan(file) }
            }
        }
    }

    @Test func `added, removed and renamed files are noticed`() throws {
        let scratch = try Scratch()
        let app = try FrameworkPatcherTests.app(in: scratch)
        for name in ["gone", "Case", "de.lproj/optional"] { _ = try scratch.file("App.app/\(name)", "x") }
        try AtomicWriter.write(CodeSigner(CodeSigner.Options()).plan(app).changes)
        for name in ["gone", "Case", "de.lproj/optional"] {
            try FileManager.default.removeItem(at: app.appendingPathComponent(name))
        }
        for name in ["case", "\u{301}added"] { _ = try scratch.file("App.app/\(name)", "x") }
        #expect(try errors(app).sorted() == ["SG-MISSING", "SG-MISSING", "SG-UNSEALED", "SG-UNSEALED"])
        let other = try SignatureVerifier().findings(app).first { $0.code == "SG-UNSEALED" }
        #expect(other?.message == "is sealed as Case: only the case differs")
    }

    @Test func `bytes of a signature may be damaged without a trap`() throws {
        let lab = try MachOLab.get()
        let good = try lab.data(lab.executable)
        let image = try MachOImage(good)
        let range = try #require(image.signature)
        for position in range.filter({ $0 < range.lowerBound + 120 || $0 % 37 == 0 }) {
            var bad = good
            bad[position] ^= 0xFF
            _ = ImageSignatureCheck(image: try MachOImage(bad), info: nil, resources: nil).problems()
        }
    }

    @Test(.enabled(if: Program.python != nil, "needs python3"))
    func `an independent program recomputes every hash`() throws {
        let scratch = try Scratch()
        let app = try FrameworkPatcherTests.app(in: scratch)
        var options = CodeSigner.Options()
        options.entitlements = Self.entitlements
        try AtomicWriter.write(CodeSigner(options).plan(app).changes)
        let output = try Program.python(
            CodeSignatureChecker.script,
            ["App", "Frameworks/Demo.framework/Demo", "PlugIns/Share.appex/Share"].map {
                app.appendingPathComponent($0).path
            })
        #expect(output.split(separator: "\n").allSatisfy { $0.hasSuffix("ok") }, "\(output)")
        #expect(output.split(separator: "\n").count == 4)
        let objdump = try #require(MachOLab.objdump)
        let listing = try Program.succeed(
            objdump, ["--macho", "--private-headers", app.appendingPathComponent("App").path])
        #expect(listing.text.contains("LC_CODE_SIGNATURE"))
    }

    @Test(.enabled(if: Program.python != nil, "needs python3"))
    func `the seal is what plistlib would write`() throws {
        let scratch = try Scratch()
        let app = try FrameworkPatcherTests.app(in: scratch)
        try AtomicWriter.write(CodeSigner(CodeSigner.Options()).plan(app).changes)
        let output = try Program.python(
            """
            import plistlib, sys
            raw = open(sys.argv[1], 'rb').read(); v = plistlib.loads(raw)
            print(plistlib.dumps(v, sort_keys=True) == raw.replace(b'<real>20</real>', b'<real>20.0</real>')
                .replace(b'<real>1000</real>', b'<real>1000.0</real>').replace(b'<real>1010</real>', b'<real>1010.0</real>')
                .replace(b'<real>1100</real>', b'<real>1100.0</real>').replace(b'<real>2000</real>', b'<real>2000.0</real>')
                .replace(b'<real>11</real>', b'<real>11.0</real>'), sorted(v))
            """, [app.appendingPathComponent("_CodeSignature/CodeResources").path])
        #expect(output == "True ['files', 'files2', 'rules', 'rules2']\n")
    }

    @Test func `an unsigned image gets the load command, or is refused without room`() throws {
        let lab = try MachOLab.get()
        let scratch = try Scratch()
        let linker = try #require(MachOLab.linker)
        let file = scratch.folder.appendingPathComponent("bare")
        try Program.succeed(
            linker,
            [
                "-arch", "arm64", "-platform_version", "ios", "16.0", "17.0", "-no_adhoc_codesign", "-o", file.path,
                "main-dev.o", "Demo.dev", "libSystem.tbd",
            ], in: lab.folder)
        #expect(try errors(file) == ["SG-UNSIGNED"])
        try AtomicWriter.write(CodeSigner(CodeSigner.Options()).plan(file).changes)
        #expect(try errors(file) == [])
        let image = try MachOImage(Data(contentsOf: file))
        #expect(ImageInvariants.violations(image) == [])
        // A simulator's image may end its load commands where its code begins.
        let tight = scratch.folder.appendingPathComponent("tight")
        try Program.succeed(
            linker,
            [
                "-arch", "arm64", "-platform_version", "ios-simulator", "16.0", "17.0", "-no_adhoc_codesign",
                "-headerpad", "0", "-o", tight.path, "main-armsim.o", "Demo.armsim", "libSystem.tbd",
            ], in: lab.folder)
        let before = try Data(contentsOf: tight)
        try #require(MachOImage(before).padding < 16)
        #expect(throws: AppToolsError(.refused, "")) { try CodeSigner(CodeSigner.Options()).plan(tight) }
    }

    @Test func `the older form of entitlements in DER is read, and noted`() throws {
        let scratch = try Scratch()
        let app = try FrameworkPatcherTests.app(in: scratch)
        var options = CodeSigner.Options()
        options.entitlements = Self.entitlements
        try AtomicWriter.write(CodeSigner(options).plan(app).changes)
        let file = app.appendingPathComponent("App")
        var data = try Data(contentsOf: file)
        let blob = try #require(data.firstRange(of: SuperBlob.Magic.derEntitlements.bigBytes))
        // A plain SET where newer tools write a tag of the application's.
        data[blob.lowerBound + 8] = 0x31
        try data.write(to: file)
        let codes = try SignatureVerifier().findings(file).map(\.code)
        #expect(codes.contains("SG-OLDDER") && !codes.contains("SG-ENTITLEMENTS"), "\(codes)")
    }

    @Test func `the seal lists what its rules say`() throws {
        let scratch = try Scratch()
        let app = try FrameworkPatcherTests.app(in: scratch)
        for name in [
            "en.lproj/a.strings", "Base.lproj/b.nib", "en.lproj/locversion.plist", ".DS_Store", "PkgInfo",
            "version.plist",
        ] { _ = try scratch.file("App.app/\(name)", "x") }
        try AtomicWriter.write(CodeSigner(CodeSigner.Options()).plan(app).changes)
        let seal = try PropertyList(contentsOf: app.appendingPathComponent("_CodeSignature/CodeResources")).value
        let (old, new) = (seal["files"]?.dictionary ?? [:], seal["files2"]?.dictionary ?? [:])
        for name in ["Info.plist", "PkgInfo", ".DS_Store"] { #expect(old[name] != nil && new[name] == nil, "\(name)") }
        for name in ["en.lproj/locversion.plist", "App", "_CodeSignature/CodeResources"] {
            #expect(old[name] == nil && new[name] == nil, "\(name)")
        }
        #expect(new["en.lproj/a.strings"]?["optional"]?.boolean == true && new["Base.lproj/b.nib"]?["optional"] == nil)
        for name in ["Base.lproj/b.nib", "version.plist", "Frameworks/Demo.framework/_CodeSignature/CodeResources"] {
            #expect(old[name]?.data?.count == 20 && new[name]?["hash2"]?.data?.count == 32, "\(name)")
        }
    }

    @Test func `entitlements are encoded as DER in key order`() throws {
        let value = try PropertyList(reading: Self.entitlements).value
        let hex = try EntitlementsDER.encode(value).map { String(format: "%02x", $0) }.joined()
        #expect(hex.hasPrefix("70"))
        #expect(hex.contains("0c0e6765742d7461736b2d616c6c6f770101ff"))
        #expect(hex.contains("0c066e756d6265720202012c"))
        #expect(throws: AppToolsError(.unsupported, "")) {
            try EntitlementsDER.encode(.dictionary(["a": .real(1)]))
        }
    }
}
