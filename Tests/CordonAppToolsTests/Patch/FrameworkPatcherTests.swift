import CordonTestSupport
import Foundation
import Testing

@testable import CordonAppTools

@Suite(.enabled(if: MachOLab.isAvailable, MachOLab.needs))
struct FrameworkPatcherTests {
    let patcher = FrameworkPatcher(names: .intuneCompatible)

    /// An app with an executable, a fat framework, a library of Swift, an extension, and the SDK.
    static func app(in scratch: Scratch) throws -> URL {
        let lab = try MachOLab.get()
        func info(_ name: String) -> Data {
            XMLPropertyListWriter().document(
                .dictionary([
                    "CFBundleExecutable": .string(name), "CFBundleIdentifier": .string("example.test.\(name)"),
                ]))
        }
        for (path, name, code) in [
            ("App.app", "App", lab.executable), ("App.app/Frameworks/Demo.framework", "Demo", lab.fat),
            ("App.app/PlugIns/Share.appex", "Share", lab.extensionExecutable),
            ("App.app/Frameworks/IntuneMAM.framework", "IntuneMAM", lab.sdkLibrary),
        ] {
            _ = try scratch.file("\(path)/Info.plist", info(name))
            _ = try scratch.file("\(path)/\(name)", lab.data(code))
        }
        _ = try scratch.file("App.app/Frameworks/libswiftCore.dylib", lab.data(lab.library))
        return scratch.folder.appendingPathComponent("App.app")
    }

    @Test func `install then remove gives the first bytes back`() throws {
        let lab = try MachOLab.get()
        for source in [lab.executable, lab.opcodeExecutable, lab.library, lab.simulatorLibrary, lab.fat, lab.fat64] {
            let scratch = try Scratch()
            let original = try lab.data(source)
            let file = try scratch.file("code", original)
            let plan = try patcher.plan(.install, file)
            #expect(try AtomicWriter.write(plan.changes).count == 1)
            #expect(try Data(contentsOf: file) != original)
            #expect(try patcher.plan(.verify, file).images.allSatisfy { $0.state == "patched" })
            try AtomicWriter.write(patcher.plan(.remove, file).changes)
            #expect(try Data(contentsOf: file) == original)
        }
    }

    @Test func `the load command is last, and only the load commands differ`() throws {
        let lab = try MachOLab.get()
        let scratch = try Scratch()
        let file = try scratch.file("App", lab.data(lab.executable))
        try AtomicWriter.write(patcher.plan(.install, file).changes)
        let listed = try Program.succeed(MachOLab.otool ?? "", ["-L", file.path]).text
        #expect(listed.split(separator: "\n").last?.contains("@rpath/IntuneMAM.framework/IntuneMAM (compat") == true)
        let before = try lab.data(lab.executable)
        let after = try Data(contentsOf: file)
        let image = try #require(try MachOFile(after).slices.first?.image)
        let end = image.headerSize + image.commandsSize
        #expect(before.count == after.count)
        #expect(before.dropFirst(end) == after.dropFirst(end))
        let objdump = try #require(MachOLab.objdump)
        func bindings(_ url: URL) throws -> [Substring] {
            try Program.succeed(objdump, ["--macho", "--dyld-info", url.path]).text.split(separator: "\n").dropFirst()
                .map { $0 }
        }
        #expect(try bindings(file) == bindings(lab.executable))
    }

    static let hasLIEF = (try? Program.python("import lief")) != nil

    @Test(.enabled(if: hasLIEF, "needs Python's lief"))
    func `LIEF finds the layout valid and every binding where it was`() throws {
        let lab = try MachOLab.get()
        let scratch = try Scratch()
        let file = try scratch.file("App", lab.data(lab.executable))
        let plan = try patcher.plan(.install, file)
        try AtomicWriter.write(CodeSigner(CodeSigner.Options()).plan(file, over: plan.changes).changes)
        let output = try Program.python(
            """
            import lief, sys
            lief.logging.disable()
            def look(path):
                b = lief.MachO.parse(path).at(0)
                return lief.MachO.check_layout(b)[0], sorted((x.symbol.name, x.library.name) for x in b.bindings), [l.name for l in b.libraries]
            a, b = look(sys.argv[1]), look(sys.argv[2])
            print(a[0], b[0], a[1] == b[1], len(a[1]) > 0, b[2][:-1] == a[2], b[2][-1])
            """, [lab.executable.path, file.path])
        #expect(output == "True True True True True @rpath/IntuneMAM.framework/IntuneMAM\n")
    }

    @Test func `short padding is refused with the linker flag`() throws {
        let lab = try MachOLab.get()
        let scratch = try Scratch()
        let file = try scratch.file("App", lab.data(lab.tightExecutable))
        #expect {
            try patcher.plan(.install, file)
        } throws: { error in
            (error as? AppToolsError)?.code == .refused
                && (error as? AppToolsError)?.hint?.contains("headerpad") == true
        }
    }

    @Test func `superfluous commands give way when asked, and the receipt brings them back`() throws {
        let lab = try MachOLab.get()
        let scratch = try Scratch()
        let file = scratch.folder.appendingPathComponent("App")
        // Room for all but a few bytes of the new command.
        try Program.succeed(
            try #require(MachOLab.linker),
            [
                "-arch", "arm64", "-platform_version", "ios-simulator", "16.0", "17.0", "-adhoc_codesign", "-headerpad",
                "0x58", "-add_source_version", "-o", file.path, "main-armsim.o", "Demo.armsim", "libSystem.tbd",
            ], in: lab.folder)
        let original = try Data(contentsOf: file)
        let error = #expect(throws: AppToolsError(.refused, "")) { try patcher.plan(.install, file) }
        #expect(error?.hint?.contains("--reuse") == true)
        let plan = try FrameworkPatcher(names: .intuneCompatible, reusesCommands: true).plan(.install, file)
        let receipt = scratch.folder.appendingPathComponent("receipt.json")
        try AtomicWriter.write([PatchReceipt(before: plan.changes, in: file).change(at: receipt, outside: file)])
        try AtomicWriter.write(plan.changes)
        #expect(plan.images.first?.explanation.contains { $0.hasSuffix("given up") } == true)
        #expect(try patcher.plan(.verify, file).images.map(\.state) == ["patched"])
        let listed = try Program.succeed(MachOLab.otool ?? "", ["-l", file.path]).text
        #expect(listed.contains("IntuneMAM.framework") && !listed.contains("LC_SOURCE_VERSION"))
        try AtomicWriter.write(PatchReceipt(contentsOf: receipt).restoration(of: file).changes)
        #expect(try Data(contentsOf: file) == original)
    }

    @Test func `a library path that leads to no file is an error`() throws {
        let scratch = try Scratch()
        let app = try Self.app(in: scratch)
        try FileManager.default.removeItem(at: app.appendingPathComponent("PlugIns"))
        #expect(try patcher.plan(.verify, app).findings.filter { $0.code == "FP-PATH" } == [])
        let framework = app.appendingPathComponent("Frameworks/Demo.framework")
        func messages() throws -> [String] {
            try patcher.plan(.verify, app).findings.filter { $0.code == "FP-PATH" }.map(\.message)
        }
        // Beside the app is not in it.
        let outside = scratch.folder.appendingPathComponent("Outside")
        try FileManager.default.createDirectory(at: outside, withIntermediateDirectories: false)
        try FileManager.default.moveItem(at: framework, to: outside.appendingPathComponent("Demo.framework"))
        let missing = ["arm64: @rpath/Demo.framework/Demo leads to no file in the app"]
        #expect(try messages() == missing)
        try FileManager.default.createDirectory(at: framework, withIntermediateDirectories: false)
        try FileManager.default.copyItem(
            at: outside.appendingPathComponent("Demo.framework/Info.plist"),
            to: framework.appendingPathComponent("Info.plist"))
        try FileManager.default.createSymbolicLink(
            atPath: framework.appendingPathComponent("Demo").path,
            withDestinationPath: "../../../Outside/Demo.framework/Demo")
        #expect(try messages().contains(missing[0]))
        try FileManager.default.removeItem(at: framework)
        let executable = app.appendingPathComponent("App")
        var code = try Data(contentsOf: executable)
        let path = try #require(code.firstRange(of: Data("@executable_path/Frameworks".utf8)))
        code.replaceSubrange(path, with: Data("@executable_path/../Outside".utf8))
        try code.write(to: executable)
        #expect(try messages() == missing)
    }

    @Test func `padding that holds something is refused`() throws {
        let lab = try MachOLab.get()
        let scratch = try Scratch()
        var data = try lab.data(lab.executable)
        let image = try #require(try MachOFile(data).slices.first?.image)
        data[image.headerSize + image.commandsSize + 5] = 1
        let file = try scratch.file("App", data)
        #expect(throws: AppToolsError(.refused, "")) { try patcher.plan(.install, file) }
    }

    @Test func `a whole app is patched but for the SDK and Swift's libraries`() throws {
        let scratch = try Scratch()
        let app = try Self.app(in: scratch)
        let lab = try MachOLab.get()
        // The lab's SDK has device code only, so the framework must not have more.
        _ = try scratch.file("App.app/Frameworks/Demo.framework/Demo", lab.data(lab.executable))
        let plan = try patcher.plan(.install, app)
        #expect(plan.changes.map(\.url.lastPathComponent).sorted() == ["App", "Demo", "Share"])
        try AtomicWriter.write(plan.changes)
        let check = try patcher.plan(.verify, app)
        #expect(check.isProtected)
        #expect(check.images.allSatisfy { $0.state == "patched" })
        #expect(try patcher.plan(.install, app).changes.isEmpty)
    }

    @Test func `one refusal in an app means nothing is written`() throws {
        let scratch = try Scratch()
        let app = try Self.app(in: scratch)
        let lab = try MachOLab.get()
        _ = try scratch.file("App.app/Frameworks/Demo.framework/Demo", lab.data(lab.tightExecutable))
        #expect(throws: AppToolsError(.refused, "")) { try patcher.plan(.install, app) }
    }

    @Test func `patching with new signatures leaves a valid app`() throws {
        let scratch = try Scratch()
        let app = try Self.app(in: scratch)
        let plain = try patcher.plan(.install, app)
        let unsigned = try patcher.resigned(plain, app, options: CodeSigner.Options())
        #expect(unsigned.findings.contains { $0.code == "FP-RESIGN" })
        try AtomicWriter.write(CodeSigner(CodeSigner.Options()).plan(app).changes)
        let plan = try patcher.resigned(patcher.plan(.install, app), app, options: CodeSigner.Options())
        try AtomicWriter.write(plan.changes)
        #expect(try SignatureVerifier().findings(app).filter { $0.severity == .error } == [])
        #expect(try patcher.plan(.verify, app).images.allSatisfy { $0.state == "patched" })
    }

    @Test(arguments: [true, false])
    func `a receipt undoes even new signatures to the byte`(isSigned: Bool) throws {
        let scratch = try Scratch()
        let app = try Self.app(in: scratch)
        var first = CodeSigner.Options()
        first.entitlements = CodeSignerTests.entitlements
        if isSigned { try AtomicWriter.write(CodeSigner(first).plan(app).changes) }
        func content() throws -> [String: Data] {
            let names = try FileManager.default.subpathsOfDirectory(atPath: app.path)
            return try names.reduce(into: [:]) { result, name in
                let url = app.appendingPathComponent(name)
                if !InputFile.kind(of: url).isFolder { result[name] = try Data(contentsOf: url) }
            }
        }
        let before = try content()
        // Signing everything, also what was not signed, changes and creates the most files.
        let changes = try CodeSigner(CodeSigner.Options()).plan(app, over: patcher.plan(.install, app).changes).changes
        let receipt = scratch.folder.appendingPathComponent("receipt.json")
        let note = try PatchReceipt(before: changes, in: app)
        try AtomicWriter.write([note.change(at: receipt, outside: app)])
        #expect(throws: AppToolsError(.refused, "")) {
            try note.change(at: app.appendingPathComponent("receipt"), outside: app)
        }
        try AtomicWriter.write(changes)
        #expect(try content() != before)
        #expect(throws: AppToolsError(.refused, "")) { try note.change(at: receipt, outside: app) }
        let restoration = try PatchReceipt(contentsOf: receipt).restoration(of: app)
        try AtomicWriter.write(restoration.changes)
        for url in restoration.removals { try FileManager.default.removeItem(at: url) }
        #expect(try content() == before)
        #expect(throws: AppToolsError.self) { try PatchReceipt(contentsOf: receipt).restoration(of: app) }
    }

    @Test func `a second receipt keeps what the first says of files that are still patched`() throws {
        let scratch = try Scratch()
        let app = try Self.app(in: scratch)
        let receipt = scratch.folder.appendingPathComponent("receipt.json")
        let files = ["App", "Frameworks/Demo.framework/Demo"].map(app.appendingPathComponent)
        let before = try files.map { try Data(contentsOf: $0) }
        for _ in 1...2 {
            // As a build does that links the executable anew and leaves the framework as it is.
            try before[0].write(to: files[0])
            let changes = try patcher.plan(.install, app).changes
            try AtomicWriter.write([PatchReceipt(before: changes, in: app).change(at: receipt, outside: app)])
            try AtomicWriter.write(changes)
        }
        let other = scratch.folder.appendingPathComponent("Other.app")
        #expect(throws: AppToolsError(.refused, "")) {
            try PatchReceipt(before: [], in: other).change(at: receipt, outside: other)
        }
        try AtomicWriter.write(PatchReceipt(contentsOf: receipt).restoration(of: app).changes)
        #expect(try files.map { try Data(contentsOf: $0) } == before)
    }

    @Test func `an app without the SDK is reported`() throws {
        let scratch = try Scratch()
        let app = try Self.app(in: scratch)
        try FileManager.default.removeItem(at: app.appendingPathComponent("Frameworks/IntuneMAM.framework"))
        let check = try patcher.plan(.verify, app)
        #expect(check.findings.map(\.code) == ["FP-MISSING"])
        // A build may embed it after patching, but what is checked must start.
        #expect(check.findings.map(\.severity) == [.error])
        #expect(try patcher.plan(.install, app).findings.map(\.severity) == [.warning])
    }

    @Test func `an app that cannot start is not protected`() throws {
        let lab = try MachOLab.get()
        let scratch = try Scratch()
        let app = try Self.app(in: scratch)
        _ = try scratch.file("App.app/Frameworks/Demo.framework/Demo", lab.data(lab.executable))
        try AtomicWriter.write(patcher.plan(.install, app).changes)
        #expect(try patcher.plan(.verify, app).isProtected)
        try FileManager.default.removeItem(at: app.appendingPathComponent("Frameworks/IntuneMAM.framework"))
        #expect(try !patcher.plan(.verify, app).isProtected)
    }

    @Test func `another of the vendor's frameworks counts as linked, and must be there`() throws {
        let lab = try MachOLab.get()
        let scratch = try Scratch()
        let app = try Self.app(in: scratch)
        for path in ["Frameworks/IntuneMAM.framework", "PlugIns"] {
            try FileManager.default.removeItem(at: app.appendingPathComponent(path))
        }
        _ = try scratch.file("App.app/Frameworks/Demo.framework/Demo", lab.data(lab.library))
        let names = NamingProfile.demo(frameworkName: "Other", linked: ["Demo"])
        let plan = try FrameworkPatcher(names: names).plan(.install, app)
        #expect(plan.changes.isEmpty && plan.findings.isEmpty)
        #expect(plan.images.map(\.state) == ["linked"])
        #expect(try FrameworkPatcher(names: names).plan(.verify, app).isProtected)
        // Code that is not linked with it would load a framework that the app does not have.
        let other = try scratch.file("App.app/Frameworks/libOther.dylib", lab.data(lab.executable))
        var unlinked = try Data(contentsOf: other)
        while let place = unlinked.firstRange(of: Data("/Demo.framework/Demo".utf8)) {
            unlinked.replaceSubrange(place, with: Data("/Loop.framework/Loop".utf8))
        }
        try unlinked.write(to: other)
        #expect(throws: AppToolsError(.refused, "")) { try FrameworkPatcher(names: names).plan(.install, app) }
        try FileManager.default.removeItem(at: other)
        try FileManager.default.removeItem(at: app.appendingPathComponent("Frameworks/Demo.framework"))
        let missing = try FrameworkPatcher(names: names).plan(.verify, app)
        #expect(missing.findings.map(\.code) == ["FP-MISSING"])
        #expect(!missing.isProtected)
    }

    @Test(arguments: [("17.0", true), ("26.0", false)])
    func `a search path that is listed twice is refused from SDK 26 on only`(sdk: String, isAccepted: Bool) throws {
        let lab = try MachOLab.get()
        let scratch = try Scratch()
        let file = scratch.folder.appendingPathComponent("App")
        // The linker lists a path once, so one that differs by a letter becomes the same.
        try Program.succeed(
            try #require(MachOLab.linker),
            [
                "-arch", "arm64", "-platform_version", "ios", "16.0", sdk, "-adhoc_codesign", "-headerpad", "0x400",
                "-rpath", "@executable_path/Frameworks", "-rpath", "@executable_path/frameworks", "-o", file.path,
                "main-dev.o", "Demo.dev", "libSystem.tbd",
            ], in: lab.folder)
        var data = try Data(contentsOf: file)
        let letter = try #require(data.firstRange(of: Data("/frameworks".utf8))).lowerBound + 1
        data[letter] = UInt8(ascii: "F")
        try data.write(to: file)
        guard isAccepted else {
            #expect(throws: AppToolsError(.refused, "")) { try patcher.plan(.install, file) }
            #expect(try patcher.plan(.verify, file).findings.map(\.severity) == [.error])
            return
        }
        #expect(try patcher.plan(.install, file).changes.count == 1)
        let findings = try patcher.plan(.verify, file).findings
        #expect(findings.map(\.severity) == [.note])
        #expect(findings.first?.message.contains("is listed twice") == true)
    }

    @Test func `what the loader rejects is named, by the SDK that the image was built with`() throws {
        let lab = try MachOLab.get()
        let sound = try lab.data(lab.executable)
        let image = try MachOImage(sound)
        #expect(ImageInvariants.violations(image) == [])
        func command(_ kind: UInt32) throws -> Int { try #require(image.commands.first { $0.kind == kind }).offset }
        let version = try command(LoadCommand.buildVersion)
        let constants = try #require(image.segment("__DATA_CONST")).command.offset
        let libraries = image.commands.filter { $0.kind == LoadCommand.loadDylib }
        func violations(sdk: UInt32, _ edit: (inout Data) -> Void) throws -> [String] {
            var data = sound
            data.replaceSubrange(version + 16..<version + 20, with: sdk.littleBytes)
            edit(&data)
            return ImageInvariants.violations(try MachOImage(data))
        }
        let (old, new): (UInt32, UInt32) = (0x0011_0000, 0x001A_0000)
        func expect(_ word: String, from sdk: UInt32?, _ edit: (inout Data) -> Void) throws {
            #expect(try violations(sdk: new, edit).contains { $0.contains(word) }, "\(word)")
            #expect(try violations(sdk: old, edit).contains { $0.contains(word) } == (sdk == nil), "\(word)")
        }
        #expect(try violations(sdk: new) { _ in } == [])
        // The flags of a segment are its last field.
        try expect("__DATA_CONST is not read-only", from: new) { $0[constants + 68] = 0 }
        try expect("segment __TEXT exists twice", from: nil) {
            $0.replaceSubrange(constants + 8..<constants + 24, with: Data("__TEXT".utf8) + Data(count: 10))
        }
        let uuid = try command(LoadCommand.uuid)
        // A command that no loader looks at takes the place of the UUID's.
        try expect("no UUID", from: new) { $0.replaceSubrange(uuid..<uuid + 4, with: UInt32(0x2A).littleBytes) }
        try #require(libraries.count > 1 && libraries[0].size >= libraries[1].size)
        let (first, second) = (libraries[0], libraries[1])
        try expect("is loaded twice", from: new) { data in
            let name = Data(data[second.offset + 24..<second.offset + second.size])
            data.replaceSubrange(first.offset + 24..<first.offset + 24 + name.count, with: name)
        }
    }

    @Test func `an older version command tells the platform by the processor`() throws {
        let lab = try MachOLab.get()
        for (url, platform) in [(lab.executable, MachOPlatform.iOS), (lab.simulatorLibrary, .iOSSimulator)] {
            var data = try lab.data(url)
            let command = try #require(MachOImage(data).commands.first { $0.kind == LoadCommand.buildVersion })
            data.replaceSubrange(
                command.offset..<command.offset + 4, with: LoadCommand.versionMinimumIPhone.littleBytes)
            #expect(try MachOImage(data).platform == platform)
        }
    }

    @Test func `a framework of another platform, or for a newer system, is an error`() throws {
        let lab = try MachOLab.get()
        let scratch = try Scratch()
        let app = try Self.app(in: scratch)
        _ = try scratch.file("App.app/Frameworks/Demo.framework/Demo", lab.data(lab.executable))
        func codes() throws -> Set<String> { Set(try patcher.plan(.verify, app).findings.map(\.code)) }
        try AtomicWriter.write(patcher.plan(.install, app).changes)
        let sound = try codes()
        #expect(!sound.contains("FP-SLICE") && !sound.contains("FP-MINIMUM"))
        let place = "App.app/Frameworks/IntuneMAM.framework/IntuneMAM"
        _ = try scratch.file(place, lab.data(lab.armSimulatorLibrary))
        #expect(try codes().contains("FP-SLICE"))
        var newer = try lab.data(lab.sdkLibrary)
        let version = try #require(MachOImage(newer).commands.first { $0.kind == LoadCommand.buildVersion }).offset
        newer.replaceSubrange(version + 12..<version + 16, with: UInt32(0x0020_0000).littleBytes)
        _ = try scratch.file(place, newer)
        #expect(try codes().contains("FP-MINIMUM"))
        // Taking the command out is the way back, and nothing is installed that would not start.
        let removal = try patcher.plan(.remove, app)
        #expect(!removal.findings.contains { $0.severity == .error })
        try AtomicWriter.write(removal.changes)
        for unfit in [newer, try lab.data(lab.armSimulatorLibrary)] {
            _ = try scratch.file(place, unfit)
            #expect(throws: AppToolsError(.refused, "")) { try patcher.plan(.install, app) }
        }
    }

    @Test func `an image that the store encrypted is neither patched nor signed`() throws {
        let lab = try MachOLab.get()
        let scratch = try Scratch()
        var data = try lab.data(lab.executable)
        let image = try #require(MachOFile(data).slices.first?.image)
        let command = try #require(
            image.commands.first { [LoadCommand.encryptionInfo, LoadCommand.encryptionInfo64].contains($0.kind) })
        data[command.offset + 16] = 1
        let file = try scratch.file("App", data)
        #expect(throws: AppToolsError(.refused, "")) { try patcher.plan(.install, file) }
        #expect(throws: AppToolsError(.refused, "")) { try CodeSigner(CodeSigner.Options()).plan(file) }
        #expect(try Data(contentsOf: file) == data)
    }

    @Test func `load commands changed after patching cannot be removed blindly`() throws {
        let lab = try MachOLab.get()
        let scratch = try Scratch()
        let file = try scratch.file("App", lab.data(lab.executable))
        try AtomicWriter.write(patcher.plan(.install, file).changes)
        var data = try Data(contentsOf: file)
        let uuid = try #require(try MachOFile(data).slices.first?.image?.commands.first { $0.kind == LoadCommand.uuid })
        data[uuid.offset + 9] ^= 1
        try data.write(to: file)
        #expect(throws: AppToolsError(.refused, "")) { try patcher.plan(.remove, file) }
        #expect(try patcher.plan(.verify, file).images.map(\.state) == ["damaged"])
    }

    @Test func `an image linked with the SDK is left alone`() throws {
        let lab = try MachOLab.get()
        let scratch = try Scratch()
        let file = try scratch.file("App", lab.data(lab.executable))
        let plan = try FrameworkPatcher(names: .demo).plan(.install, file)
        #expect(plan.changes.isEmpty)
        #expect(plan.images.map(\.state) == ["linked"])
    }
}

extension NamingProfile {
    /// The framework that the lab's executable was really linked with.
    static let demo = demo(frameworkName: "Demo", linked: ["Demo"])

    static func demo(frameworkName: String, linked: [String]) -> NamingProfile {
        NamingProfile(
            name: "demo", settingsKey: "D", schemeSuffix: "-d", managedTypePrefix: "d.", sharedKeychainGroup: "d",
            tokenCacheKeychainGroup: "t", withdrawnKeychainGroup: "w", frameworkName: frameworkName,
            linkedFrameworks: linked, requiredQueries: [], mailQuery: "m", plainQueries: [], brokerQueries: [],
            givesUUIDs: false, managedAppQueries: [],
            callbackSchemePrefix: "c.", signOnExtension: "e", signOnHosts: [], debugPane: "p",
            configurationUserKeys: [])
    }
}
