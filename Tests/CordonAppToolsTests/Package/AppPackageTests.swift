import CordonTestSupport
import Foundation
import Testing

@testable import CordonAppTools

@Suite(.enabled(if: MachOLab.isAvailable && Program.python != nil, MachOLab.needs))
struct AppPackageTests {
    /// Packs a folder as exports do: folders first, links as links, beside `Payload` what belongs to the build.
    private func ipa(of app: URL, in scratch: Scratch) throws -> URL {
        let file = scratch.folder.appendingPathComponent("Demo.ipa")
        _ = try Program.python(
            """
            import os, sys, zipfile
            z = zipfile.ZipFile(sys.argv[1], 'w', zipfile.ZIP_DEFLATED)
            def put(name, data, mode):
                i = zipfile.ZipInfo(name, (2024, 5, 6, 7, 8, 10)); i.external_attr = mode << 16; i.create_system = 3
                i.compress_type = zipfile.ZIP_STORED if name.endswith('text') else zipfile.ZIP_DEFLATED
                z.writestr(i, data)
            put('SwiftSupport/iphoneos/libswiftCore.dylib', b'swift' * 1000, 0o100755)
            root = sys.argv[2]
            for folder, folders, files in os.walk(root):
                folders.sort()
                inner = 'Payload/Demo.app' + folder[len(root):]
                put(inner + '/', b'', 0o40755)
                for name in sorted(files):
                    path = os.path.join(folder, name)
                    put(inner + '/' + name, open(path, 'rb').read(), 0o100755 if name == 'App' else 0o100644)
            put('Payload/Demo.app/link', b'text', 0o120755)
            put('Symbols/a.symbols', b'symbols', 0o100644)
            """, [file.path, app.path])
        return file
    }

    /// Name, mode, packing, checksum and where it comes, of every entry.
    private func listing(_ file: URL) throws -> [String] {
        try Program.python(
            """
            import sys, zipfile
            z = zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None
            for i in z.infolist(): print(i.filename, oct(i.external_attr >> 16), i.compress_type, hex(i.CRC), i.date_time)
            """, [file.path]
        ).split(separator: "\n").map(String.init)
    }

    private func app(in scratch: Scratch) throws -> URL {
        let app = try FrameworkPatcherTests.app(in: scratch)
        _ = try scratch.file("App.app/text", "some text")
        return app
    }

    @Test(arguments: ["", "not an archive", "#!/bin/sh\nPK\u{3}\u{4}"])
    func `a file that is called an archive and is none is refused as a damaged archive`(contents: String) throws {
        let scratch = try Scratch()
        let file = try scratch.file("Demo.ipa", contents)
        let error = #expect(throws: AppToolsError(.malformed, "")) { try AppPackage(opening: file) }
        #expect(error?.reason.contains("zip") == true)
    }

    @Test func `an ipa that is signed keeps its entries, permissions, links and order`() throws {
        let scratch = try Scratch()
        let file = try ipa(of: app(in: scratch), in: scratch)
        let before = try listing(file)
        let package = try AppPackage(opening: file)
        #expect(package.bundles.map(\.lastPathComponent) == ["Demo.app"])
        for bundle in package.bundles {
            try AtomicWriter.write(CodeSigner(CodeSigner.Options()).plan(bundle).changes)
        }
        try package.save()
        package.close()
        #expect(!FileManager.default.fileExists(atPath: package.bundles[0].path))
        let after = try listing(file)
        func names(_ lines: [String]) -> [Substring] { lines.compactMap { $0.split(separator: " ").first } }
        #expect(Array(names(after).prefix(before.count)) == names(before))
        #expect(names(after).dropFirst(before.count).allSatisfy { $0.hasSuffix("_CodeSignature/CodeResources") })
        // Executables changed, everything else is as it was, with its times.
        let changed = zip(before, after).filter { $0 != $1 }.map { $0.0.split(separator: " ")[0] }
        #expect(
            changed.allSatisfy {
                ["App", "Demo", "Share", "IntuneMAM", "libswiftCore.dylib"].contains($0.split(separator: "/").last)
            })
        #expect(!changed.isEmpty && !changed.contains { $0.hasPrefix("SwiftSupport") })
        #expect(zip(before, after).allSatisfy { $0.split(separator: " ")[1] == $1.split(separator: " ")[1] })

        let again = try AppPackage(opening: file)
        defer { again.close() }
        #expect(try SignatureVerifier().findings(again.bundles[0]).filter { $0.severity == .error } == [])
        #expect(
            try FileManager.default.destinationOfSymbolicLink(
                atPath: again.bundles[0].appendingPathComponent("link").path) == "text")
        let bytes = try Data(contentsOf: file)
        try again.save()
        #expect(try Data(contentsOf: file) == bytes)
        #expect(again.shown(again.bundles[0].path + "/App") == file.path + "/Payload/Demo.app/App")
    }

    @Test func `what a tool removed is gone from the ipa`() throws {
        let scratch = try Scratch()
        let app = try app(in: scratch)
        _ = try scratch.file("App.app/Frameworks/Demo.framework/Headers/a.h", "int a;")
        let file = try ipa(of: app, in: scratch)
        _ = try Program.python(
            """
            import sys, zipfile
            z = zipfile.ZipFile(sys.argv[1], 'a')
            i = zipfile.ZipInfo('Payload/Demo.app/Frameworks/Demo.framework/Headers/link')
            i.external_attr = 0o120755 << 16; i.create_system = 3
            z.writestr(i, b'a.h'); z.close()
            """, [file.path])
        #expect(try listing(file).contains { $0.contains("/Headers/link") })
        let package = try AppPackage(opening: file)
        defer { package.close() }
        var request = ThinRequest(side: .device)
        request.cleans = true
        let plan = try Thinner.plan(package.bundles[0], request)
        try AtomicWriter.write(plan.changes)
        for url in plan.removals { try FileManager.default.removeItem(at: url) }
        try package.save()
        #expect(try listing(file).allSatisfy { !$0.contains("/Headers") })
    }

    @Test func `an xcarchive and an xcframework give the bundles inside`() throws {
        let lab = try MachOLab.get()
        let scratch = try Scratch()
        let app = try app(in: scratch)
        let archive = scratch.folder.appendingPathComponent("Demo.xcarchive")
        let place = archive.appendingPathComponent("Products/Applications")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        try FileManager.default.moveItem(at: app, to: place.appendingPathComponent("App.app"))
        #expect(try AppPackage(opening: archive).bundles.map(\.lastPathComponent) == ["App.app"])

        let info = XMLPropertyListWriter().document(
            .dictionary([
                "AvailableLibraries": .array([
                    .dictionary([
                        "LibraryIdentifier": .string("ios-arm64"), "LibraryPath": .string("Demo.framework"),
                        "SupportedArchitectures": .array([.string("arm64")]), "SupportedPlatform": .string("ios"),
                    ])
                ])
            ]))
        _ = try scratch.file("Demo.xcframework/Info.plist", info)
        _ = try scratch.file("Demo.xcframework/ios-arm64/Demo.framework/Demo", lab.data(lab.library))
        let framework = scratch.folder.appendingPathComponent("Demo.xcframework")
        #expect(try AppPackage(opening: framework).bundles.map(\.lastPathComponent) == ["Demo.framework"])
    }

    @Test func `what is no package says what it is instead`() throws {
        let scratch = try Scratch()
        _ = try scratch.file("Mac.app/Contents/Info.plist", "<plist><dict/></plist>")
        _ = try scratch.file("Empty.xcarchive/Info.plist", "<plist><dict/></plist>")
        _ = try scratch.file("Mac.framework/Versions/A/Resources/Info.plist", "<plist><dict/></plist>")
        for (name, code) in [
            ("Mac.app", AppToolsError.Code.unsupported), ("Mac.framework", .unsupported),
            ("Empty.xcarchive", .malformed),
            ("none", .missing),
        ] {
            #expect(throws: AppToolsError(code, "")) {
                try AppPackage(opening: scratch.folder.appendingPathComponent(name))
            }
        }
        let zip = try scratch.file("a.ipa", ZipArchiveTests.archive("put('a', b'1')", in: scratch))
        #expect(throws: AppToolsError(.malformed, "")) { try AppPackage(opening: zip) }
        let linked = try ZipArchiveTests.archive(
            "put('Payload/Real/Info.plist', b'x'); put('Payload/A.app', b'Real', mode=0o120755)", in: scratch)
        let file = try scratch.file("b.ipa", linked)
        #expect(throws: AppToolsError(.refused, "")) { try AppPackage(opening: file) }
    }

    /// Archives as other programs write them, each as a script that fills the stream `out` from the list `files`.
    private static let forms: [(name: String, script: String)] = [
        (
            "sizes behind the content",
            """
            class Pipe:
                def __init__(self, f): self.f = f
                def write(self, b): return self.f.write(b)
                def flush(self): self.f.flush()
            z = zipfile.ZipFile(Pipe(out), 'w', zipfile.ZIP_DEFLATED)
            for name, data, mode in files: z.writestr(info(name, mode), data)
            z.close()
            """
        ),
        (
            "extra fields, and comments of files and of the archive",
            """
            z = zipfile.ZipFile(out, 'w', zipfile.ZIP_DEFLATED)
            for name, data, mode in files:
                i = info(name, mode); i.comment = b'of a file'
                i.extra = struct.pack('<HHBI', 0x5455, 5, 1, 1700000000) + struct.pack('<HHBBIBI', 0x7875, 11, 1, 4, 501, 4, 20)
                z.writestr(i, data)
            z.comment = b'made by another program'
            z.close()
            """
        ),
        (
            "folders and everything else stored, without modes",
            """
            z = zipfile.ZipFile(out, 'w')
            for name, data, mode in files:
                i = info(name, mode); i.compress_type = zipfile.ZIP_STORED; i.create_system = 0; i.external_attr = 0
                z.writestr(i, data)
            z.close()
            """
        ),
        (
            "64-bit numbers",
            """
            zipfile.ZIP64_LIMIT = 10
            z = zipfile.ZipFile(out, 'w', zipfile.ZIP_DEFLATED)
            for name, data, mode in files:
                with z.open(info(name, mode), 'w', force_zip64=True) as f: f.write(data)
            z.close()
            """
        ),
        (
            "resource forks beside, names that differ in case",
            """
            z = zipfile.ZipFile(out, 'w', zipfile.ZIP_DEFLATED)
            for name, data, mode in files: z.writestr(info(name, mode), data)
            z.writestr('__MACOSX/Payload/._Demo.app', b'fork')
            for name in ['README', 'readme']: z.writestr('Payload/Demo.app/' + name, name)
            z.close()
            """
        ),
    ]

    @Test(arguments: 0..<5)
    func `an ipa of any program is patched, signed and kept in what did not change`(form: Int) throws {
        let scratch = try Scratch()
        let app = try app(in: scratch)
        let file = scratch.folder.appendingPathComponent("Demo.ipa")
        _ = try Program.python(
            """
            import os, struct, sys, zipfile
            root = sys.argv[2]; files = []
            def info(name, mode):
                i = zipfile.ZipInfo(name, (2024, 5, 6, 7, 8, 10)); i.external_attr = mode << 16; i.create_system = 3
                i.compress_type = zipfile.ZIP_STORED if name.endswith('/') else zipfile.ZIP_DEFLATED
                return i
            for folder, folders, names in os.walk(root):
                folders.sort()
                inner = 'Payload/Demo.app' + folder[len(root):] + '/'
                files.append((inner, b'', 0o40755))
                for name in sorted(names):
                    files.append((inner + name, open(os.path.join(folder, name), 'rb').read(), 0o100644))
            out = open(sys.argv[1], 'wb')

            """ + Self.forms[form].script, [file.path, app.path])
        let before = try listing(file)
        let package = try AppPackage(opening: file)
        defer { package.close() }
        let patcher = FrameworkPatcher(names: .intuneCompatible)
        for bundle in package.bundles {
            let plan = try patcher.resigned(patcher.plan(.install, bundle), bundle, options: CodeSigner.Options())
            try AtomicWriter.write(plan.changes)
        }
        try package.save()
        let after = try listing(file)
        let kept = before.filter { !$0.contains("/Frameworks/") && !$0.contains("/PlugIns/") && !$0.contains("/App ") }
        #expect(kept.allSatisfy(after.contains), "\(Self.forms[form].name): \(before) \(after)")
        let again = try AppPackage(opening: file)
        defer { again.close() }
        #expect(try SignatureVerifier().findings(again.bundles[0]).filter { $0.severity == .error } == [])
        let comment = try Program.python(
            "import sys, zipfile; print(len(zipfile.ZipFile(sys.argv[1]).comment))", [file.path])
        #expect(comment == (form == 1 ? "23\n" : "0\n"))
    }
}
