import CordonTestSupport
import Foundation
import Testing

@testable import CordonAppTools

/// An app in a shape that real ones have, made from the sample app.
struct CorpusEntry: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// Whether it can be signed at all.
    var isSound = true
    let make: @Sendable (_ app: URL, _ lab: MachOLab) throws -> Void

    private init(
        _ name: String, isSound: Bool = true, _ make: @escaping @Sendable (_ app: URL, _ lab: MachOLab) throws -> Void
    ) {
        (testDescription, self.isSound, self.make) = (name, isSound, make)
    }

    private static func write(_ data: Data, _ path: String, in app: URL) throws {
        let url = app.appendingPathComponent(path)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try data.write(to: url)
    }

    private static func info(_ name: String) -> Data {
        XMLPropertyListWriter().document(
            .dictionary([
                "CFBundleExecutable": .string(name), "CFBundleIdentifier": .string("example.test.\(name)"),
            ]))
    }

    private static func bundle(_ path: String, _ name: String, _ code: URL, in app: URL) throws {
        try write(info(name), "\(path)/Info.plist", in: app)
        try write(Data(contentsOf: code), "\(path)/\(name)", in: app)
    }

    static let all: [CorpusEntry] = sound + unsound

    private static let sound: [CorpusEntry] = [
        CorpusEntry("as it is") { _, _ in },
        CorpusEntry("a binary property list") { app, _ in
            let list = try PropertyList(reading: Self.info("App")).value
            try write(BinaryPropertyListWriter.document(list), "Info.plist", in: app)
        },
        CorpusEntry("an executable's name with a space and an umlaut") { app, lab in
            try write(info("My Äpp"), "Info.plist", in: app)
            try FileManager.default.moveItem(
                at: app.appendingPathComponent("App"), to: app.appendingPathComponent("My Äpp"))
        },
        CorpusEntry("no CFBundleExecutable, so that the bundle's name counts") { app, _ in
            let list = XMLPropertyListWriter().document(
                .dictionary(["CFBundleIdentifier": .string("example.test.App")]))
            try write(list, "Info.plist", in: app)
        },
        CorpusEntry("a framework in a framework") { app, lab in
            try bundle("Frameworks/Demo.framework/Frameworks/Inner.framework", "Inner", lab.library, in: app)
        },
        CorpusEntry("a Watch app with its own extension") { app, lab in
            try bundle("Watch/Watch.app", "Watch", lab.executable, in: app)
            try bundle("Watch/Watch.app/PlugIns/Face.appex", "Face", lab.extensionExecutable, in: app)
        },
        CorpusEntry("an App Clip") { app, lab in try bundle("AppClips/Clip.app", "Clip", lab.executable, in: app) },
        CorpusEntry("an extension of ExtensionKit") { app, lab in
            try bundle("Extensions/Kit.appex", "Kit", lab.extensionExecutable, in: app)
        },
        CorpusEntry("loose libraries and a helper") { app, lab in
            for name in ["libloose.dylib", "Helper", "Assets/plugin.bin"] {
                try write(lab.data(lab.library), name, in: app)
            }
        },
        CorpusEntry("a bundle of resources without code") { app, _ in
            let list = XMLPropertyListWriter().document(
                .dictionary(["CFBundleIdentifier": .string("example.test.res")]))
            try write(list, "Res.bundle/Info.plist", in: app)
            try write(Data("x".utf8), "Res.bundle/x.txt", in: app)
        },
        CorpusEntry("a bundle sealed by detached files") { app, _ in
            for name in ["CodeDirectory", "CodeRequirements", "CodeResources", "CodeSignature"] {
                try write(Data("of old".utf8), "Res.bundle/_CodeSignature/\(name)", in: app)
            }
        },
        CorpusEntry("debug symbols in the app") { app, lab in
            try write(lab.data(lab.symbols), "Demo.dSYM/Contents/Resources/DWARF/Demo", in: app)
        },
        CorpusEntry("data that begins like code") { app, _ in
            try write(Data([0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 0x34]) + Data(count: 60), "Main.class", in: app)
            try write(Data([0xCA, 0xFE, 0xBA, 0xBE, 0, 3, 0, 45]), "Old.class", in: app)
            try write(Data([0xFE, 0xED]), "short", in: app)
        },
        CorpusEntry("files of languages, marks of the Finder, names of every kind") { app, _ in
            for name in [
                "en.lproj/A.strings", "Base.lproj/M.nib", "en.lproj/locversion.plist", ".DS_Store", "a&b<c>.txt",
                "né.txt", "two\nlines", "Case.txt", "case.txt", "empty",
            ] { try write(Data(name.utf8.prefix(name == "empty" ? 0 : 9)), name, in: app) }
        },
        CorpusEntry("links inside, to nothing and in a circle") { app, _ in
            for (name, target) in [
                ("file", "Info.plist"), ("folder", "Frameworks"), ("none", "gone"), ("loop", "loop"),
            ] {
                try FileManager.default.createSymbolicLink(
                    atPath: app.appendingPathComponent(name).path, withDestinationPath: target)
            }
        },
        CorpusEntry("the older kind of fixups") { app, lab in try write(lab.data(lab.opcodeExecutable), "App", in: app)
        },
        CorpusEntry("a simulator's executable without padding") { app, lab in
            try write(lab.data(lab.tightExecutable), "App", in: app)
        },
        CorpusEntry("a fat file with arm64e beside arm64") { app, lab in
            try write(fat(lab, .fat), "Frameworks/libboth.dylib", in: app)
        },
        CorpusEntry("a fat file with a 64-bit header") { app, lab in
            try write(lab.data(lab.fat64), "Frameworks/Demo.framework/Demo", in: app)
            try write(fat(lab, .fat64), "Frameworks/libboth.dylib", in: app)
        },
        CorpusEntry("an extension in a framework") { app, lab in
            let place = "Frameworks/Demo.framework/PlugIns/In.appex"
            try bundle(place, "In", lab.extensionExecutable, in: app)
            // The extension's search path leads into its framework.
            try write(lab.data(lab.library), "Frameworks/Demo.framework/Frameworks/Demo.framework/Demo", in: app)
            try write(info("Demo"), "Frameworks/Demo.framework/Frameworks/Demo.framework/Info.plist", in: app)
        },
        CorpusEntry("code that is loaded from a bundle, and a service of its own") { app, lab in
            try bundle("PlugIns/Load.bundle", "Load", lab.library, in: app)
            try bundle("XPCServices/Serve.xpc", "Serve", lab.extensionExecutable, in: app)
        },
        CorpusEntry("a framework with folders of headers, modules and versions") { app, lab in
            for name in ["Headers/Demo.h", "Modules/module.modulemap", "Versions/A/Resources/x.txt"] {
                try write(Data("x".utf8), "Frameworks/Demo.framework/\(name)", in: app)
            }
        },
        CorpusEntry("names in decomposed form, and very long ones") { app, _ in
            for name in ["A\u{308}pfel.txt", "\u{1F469}\u{200D}\u{1F680}.txt", String(repeating: "n", count: 250)] {
                try write(Data("x".utf8), name, in: app)
            }
        },
        CorpusEntry("libraries that were signed in other forms") { app, lab in
            for (index, form) in SignatureFormTests.cases.filter(\.errors.isEmpty).enumerated() {
                try write(form.form().applied(to: lab.data(lab.library)), "Frameworks/libform\(index).dylib", in: app)
            }
        },
        CorpusEntry("a file of test data named as a bundle") { app, _ in
            try write(Data("x".utf8), "Fake.framework", in: app)
        },
    ]

    /// The device library for both processors, with the bits that arm64e has in its subtype.
    private static func fat(_ lab: MachOLab, _ container: MachOFile.Container) throws -> Data {
        let plain = try lab.data(lab.library)
        var authenticated = plain
        authenticated.replaceSubrange(8..<12, with: UInt32(0x8000_0002).littleBytes)
        let cpu = CPUType(type: 0x0100_000C, subtype: 2)
        let slices = [
            (try MachOSlice(thin: plain), [plain]),
            (
                try MachOSlice(cpu: cpu, rawSubtype: 0x8000_0002, offset: 0, alignment: 14, data: authenticated),
                [authenticated]
            ),
        ]
        return try FatWriter.pieces(slices, as: container).reduce(Data(), +)
    }

    /// An archive with one member, as `ar` writes it.
    private static func archive(_ member: Data) -> Data {
        let head =
            "member.o".padding(toLength: 16, withPad: " ", startingAt: 0)
            + "0           0     0     100644  " + "\(member.count)".padding(toLength: 10, withPad: " ", startingAt: 0)
        return Data(("!<arch>\n" + head + "`\n").utf8) + member + Data(count: member.count % 2)
    }

    private static let unsound: [CorpusEntry] = [
        CorpusEntry("a framework that is a static library", isSound: false) { app, lab in
            let object = try Data(contentsOf: lab.folder.appendingPathComponent("lib-dev.o"))
            try write(info("Static"), "Frameworks/Static.framework/Info.plist", in: app)
            try write(archive(object), "Frameworks/Static.framework/Static", in: app)
        },
        CorpusEntry("a framework that is a relocatable object", isSound: false) { app, lab in
            try bundle("Frameworks/Object.framework", "Object", lab.folder.appendingPathComponent("lib-dev.o"), in: app)
        },
        CorpusEntry("two names that a device takes for one", isSound: false) { app, _ in
            for name in ["e\u{301}.txt", "\u{e9}.txt"] { try write(Data(name.utf8), name, in: app) }
        },
        CorpusEntry("an executable that is a link to another file of the app", isSound: false) { app, _ in
            let executable = app.appendingPathComponent("App")
            try FileManager.default.moveItem(at: executable, to: app.appendingPathComponent("Real"))
            try FileManager.default.createSymbolicLink(atPath: executable.path, withDestinationPath: "Real")
        },
        CorpusEntry("an executable that is not there", isSound: false) { app, _ in
            try FileManager.default.removeItem(at: app.appendingPathComponent("App"))
        },
        CorpusEntry("an executable that is a folder", isSound: false) { app, _ in
            try FileManager.default.removeItem(at: app.appendingPathComponent("App"))
            try FileManager.default.createDirectory(
                at: app.appendingPathComponent("App"), withIntermediateDirectories: false)
        },
        CorpusEntry("an executable elsewhere", isSound: false) { app, _ in
            try write(info("../App"), "Info.plist", in: app)
        },
        CorpusEntry("a pipe among the files", isSound: false) { app, _ in
            try Program.succeed("/usr/bin/mkfifo", [app.appendingPathComponent("pipe").path])
        },
        CorpusEntry("a framework without a property list", isSound: false) { app, _ in
            try FileManager.default.removeItem(at: app.appendingPathComponent("Frameworks/Demo.framework/Info.plist"))
        },
        CorpusEntry("a property list that is cut off", isSound: false) { app, _ in
            try write(Data("<plist><dict>".utf8), "PlugIns/Share.appex/Info.plist", in: app)
        },
        CorpusEntry("code that is cut off", isSound: false) { app, lab in
            try write(lab.data(lab.library).prefix(900), "Frameworks/libcut.dylib", in: app)
        },
        CorpusEntry("a library that is a link out of the app", isSound: false) { app, lab in
            try FileManager.default.createSymbolicLink(
                at: app.appendingPathComponent("Frameworks/libout.dylib"), withDestinationURL: lab.library)
        },
    ]
}

/// The line that the guide gives for a build phase, `patch --install APP --resign` with an identity, on every shape of app.
@Suite(
    .enabled(if: MachOLab.isAvailable, MachOLab.needs),
    .enabled(if: Program.find("openssl") != nil, "needs openssl"),
    .enabled(if: Program.find("mkfifo") != nil, "needs mkfifo"))
struct CorpusTests {
    private func errors(_ app: URL) -> [String]? {
        try? SignatureVerifier().findings(app).filter { $0.severity == .error }.map(\.description)
    }

    /// One identity for all entries, as a key takes its time.
    private static let identity = Result { try BERSignatureTests.identity(in: Scratch()) }

    private func options() throws -> CodeSigner.Options {
        var options = CodeSigner.Options()
        options.identity = try Self.identity.get()
        return options
    }

    /// Every regular file of a folder with its bytes.
    private func content(_ folder: URL) -> [String: Data] {
        var content: [String: Data] = [:]
        for path in FileManager.default.subpaths(atPath: folder.path) ?? [] {
            content[path] = try? InputFile.map(folder.appendingPathComponent(path))
        }
        return content
    }

    @Test(arguments: CorpusEntry.all)
    func `the guide's line leaves a valid app or changes nothing, and what cannot be signed is not called valid`(
        entry: CorpusEntry
    ) throws {
        let lab = try MachOLab.get()
        let scratch = try Scratch()
        let app = try FrameworkPatcherTests.app(in: scratch)
        let options = try options()
        try entry.make(app, lab)
        let patcher = FrameworkPatcher(names: .intuneCompatible)
        let signed = Result { try AtomicWriter.write(CodeSigner(options).plan(app).changes) }
        guard entry.isSound else {
            #expect(throws: AppToolsError.self) { try signed.get() }
            #expect(errors(app)?.isEmpty != true, "what cannot be signed is not called valid")
            let before = content(app)
            let patched = Result {
                try AtomicWriter.write(patcher.resigned(patcher.plan(.install, app), app, options: options).changes)
            }
            #expect(throws: AppToolsError.self) { try patched.get() }
            #expect(content(app) == before)
            #expect(errors(app)?.isEmpty != true)
            return
        }
        _ = try signed.get()
        #expect(errors(app) == [])
        let before = content(app)
        do {
            try AtomicWriter.write(patcher.resigned(patcher.plan(.install, app), app, options: options).changes)
        } catch {
            #expect(entry.testDescription.contains("without padding"), "\(error)")
            #expect(content(app) == before && errors(app) == [])
            return
        }
        #expect(errors(app) == [])
        // A reader that shares nothing with the code under test.
        let code = CodeFiles.all(in: app).filter { !$0.path.contains(".dSYM/") }.map(\.path)
        let output = try Program.python(CodeSignatureChecker.script, code)
        #expect(output.split(separator: "\n").allSatisfy { $0.hasSuffix("ok") }, "\(output)")
        #expect(try patcher.resigned(patcher.plan(.install, app), app, options: options).changes.isEmpty)
    }

    /// What a build phase meets before the build signs: code that only the linker signed.
    @Test(arguments: CorpusEntry.all, [false, true])
    func `the guide's line for a build phase leaves a valid app or ends with an error`(
        entry: CorpusEntry, hasKey: Bool
    ) throws {
        let scratch = try Scratch()
        let app = try FrameworkPatcherTests.app(in: scratch)
        try entry.make(app, MachOLab.get())
        let patcher = FrameworkPatcher(names: .intuneCompatible)
        let options = hasKey ? try options() : CodeSigner.Options()
        let before = content(app)
        do {
            let plan = try patcher.resigned(patcher.plan(.install, app), app, options: options)
            try AtomicWriter.write(plan.changes)
        } catch {
            #expect(!entry.isSound || entry.testDescription.contains("without padding"), "\(error)")
            #expect(content(app) == before)
            return
        }
        #expect(errors(app) == [])
        #expect(try patcher.plan(.verify, app).isProtected)
    }

    @Test(arguments: ["two words.app", "Mein \u{c4}pp\nzwei.app", "A\u{308}.app", "-i.app", "a%20b#?.app"])
    func `an app of any name is patched, signed and verified`(name: String) throws {
        let scratch = try Scratch()
        let app = scratch.folder.appendingPathComponent(name)
        try FileManager.default.moveItem(at: FrameworkPatcherTests.app(in: scratch), to: app)
        let patcher = FrameworkPatcher(names: .intuneCompatible)
        let plan = try patcher.resigned(patcher.plan(.install, app), app, options: CodeSigner.Options())
        try AtomicWriter.write(plan.changes)
        #expect(errors(app) == [])
        #expect(try patcher.plan(.verify, app).isProtected)
        let names = try FileManager.default.contentsOfDirectory(atPath: scratch.folder.path)
        #expect(names.count == 1)
    }

    @Test func `a bundle sealed by detached files is kept as it is, with its files in the seal around it`() throws {
        let lab = try MachOLab.get()
        let scratch = try Scratch()
        let app = try FrameworkPatcherTests.app(in: scratch)
        try CorpusEntry.all.first { $0.testDescription.contains("detached") }?.make(app, lab)
        let before = content(app.appendingPathComponent("Res.bundle"))
        #expect(before.count == 4)
        try AtomicWriter.write(CodeSigner(options()).plan(app).changes)
        #expect(content(app.appendingPathComponent("Res.bundle")) == before && errors(app) == [])
        let seal = try PropertyList(contentsOf: app.appendingPathComponent("_CodeSignature/CodeResources")).value
        #expect(seal["files2"]?["Res.bundle/_CodeSignature/CodeDirectory"] != nil)
        _ = try scratch.file("App.app/Res.bundle/_CodeSignature/CodeDirectory", "of another")
        #expect(errors(app)?.contains { $0.contains("Res.bundle/_CodeSignature/CodeDirectory") } == true)
    }

    @Test func `a framework that is a static archive is not called valid`() throws {
        let scratch = try Scratch()
        let app = try FrameworkPatcherTests.app(in: scratch)
        try AtomicWriter.write(CodeSigner(options()).plan(app).changes)
        _ = try scratch.file("App.app/Frameworks/Demo.framework/Demo", "!<arch>\n")
        #expect(errors(app)?.isEmpty != true)
    }
}

/// Archives with damage of every kind, unpacked to a folder as the tools do.
@Suite(.enabled(if: Program.python != nil, "needs python3"))
struct ArchiveDamageTests {
    @Test(.seeded) func `a damaged package is an error or a package, and nothing of it stays or gets out`() throws {
        let scratch = try Scratch()
        let good = try ZipArchiveTests.archive(
            """
            put('Payload/', mode=0o40755); put('Payload/A.app/Info.plist', b'<plist><dict/></plist>' * 9)
            put('Payload/A.app/A', bytes(range(256)) * 40); put('Payload/A.app/l', b'A', mode=0o120777)
            put('Payload/A.app/en.lproj/t', b'text', packed=False); put('SwiftSupport/x', b'1')
            """, in: scratch)
        let place = scratch.folder.appendingPathComponent("unpacked")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
        var random = SeededGenerator()
        var opened = 0
        for round in 0..<1500 {
            let file = try scratch.file("a.ipa", Self.damaged(good, &random))
            if let package = try? AppPackage(opening: file, in: place) {
                opened += 1
                for bundle in package.bundles { _ = try? AppBundle.insideOut(bundle) }
                try? package.save()
                package.close()
            }
            let left = try FileManager.default.contentsOfDirectory(atPath: place.path)
            #expect(left.isEmpty, "round \(round)")
        }
        #expect(opened > 0, "some damage does no harm")
        let names = try FileManager.default.contentsOfDirectory(atPath: scratch.folder.path).sorted()
        #expect(names == ["a.ipa", "made.zip", "unpacked"])
    }

    /// Bytes changed, cut out, doubled or moved; numbers at their ends.
    static func damaged(_ good: Data, _ random: inout SeededGenerator) -> Data {
        var bytes = [UInt8](good)
        for _ in 0..<Int.random(in: 1...4, using: &random) where bytes.count > 8 {
            let place = Int.random(in: 0..<bytes.count - 4, using: &random)
            let length = min(Int.random(in: 1...64, using: &random), bytes.count - place)
            switch Int.random(in: 0..<6, using: &random) {
            case 0: bytes[place] = .random(in: 0...255, using: &random)
            case 1: bytes[place] ^= 1 << UInt8.random(in: 0...7, using: &random)
            case 2: bytes.removeSubrange(place..<place + length)
            case 3: bytes.insert(contentsOf: bytes[place..<place + length], at: place)
            case 4:
                let value: [UInt8] = Bool.random(using: &random) ? [0xFF, 0xFF, 0xFF, 0xFF] : [0, 0, 0, 0x80]
                bytes.replaceSubrange(place..<place + 4, with: value)
            default: bytes = Array(bytes.prefix(place))
            }
        }
        return Data(bytes)
    }
}

/// Messages and rules with damage of every kind.
@Suite(.enabled(if: Program.find("openssl") != nil, "needs openssl"))
struct ParserDamageTests {
    @Test(.seeded) func `damaged messages, certificates' files and rules never trap`() throws {
        let scratch = try Scratch()
        let content = try scratch.file("content", "<plist><dict/></plist>")
        _ = try BERSignatureTests.identity(in: scratch)
        var messages: [Data] = []
        for form in [[], ["-stream", "-indef"]] {
            let output = scratch.folder.appendingPathComponent("message")
            try Program.succeed(
                BERSignatureTests.openssl,
                [
                    "cms", "-sign", "-in", content.path, "-signer", "cert.pem", "-inkey", "key.pem", "-outform", "DER",
                    "-nodetach", "-binary", "-out", output.path,
                ] + form, in: scratch.folder)
            messages.append(try Data(contentsOf: output))
            #expect(try CMSEnvelope.content(of: messages[messages.count - 1]) == Data(contentsOf: content))
        }
        var random = SeededGenerator()
        let rule = Data(
            "SUBQUERY(extensionItems, $i, SUBQUERY($i.attachments, $a, ANY $a.registeredTypeIdentifiers UTI-CONFORMS-TO \"public.image\").@count >= 1).@count == 1"
                .utf8)
        var read = [0, 0]
        for _ in 0..<2500 {
            let message = ArchiveDamageTests.damaged(messages[Int.random(in: 0...1, using: &random)], &random)
            if (try? CMSEnvelope.content(of: message)) != nil { read[0] += 1 }
            if let parts = try? CMSParts(message), let certificate = parts.certificate {
                _ = parts.isSignature(by: certificate, over: message)
            }
            _ = try? ProvisioningProfile(message)
            _ = try? PKCS12(message, password: "")
            let text = String(decoding: ArchiveDamageTests.damaged(rule, &random), as: UTF8.self)
            if let rule = try? ActivationRule(text), let managed = try? rule.addingManagedTypes(.intuneCompatible) {
                read[1] += 1
                #expect((try? managed.addingManagedTypes(.intuneCompatible)) == managed, "\(text)")
            }
        }
        #expect(read.allSatisfy { $0 > 0 }, "\(read)")
    }
}
