import CordonTestSupport
import Foundation
import Testing

@testable import CordonAppTools

@Suite(
    .enabled(if: MachOLab.isAvailable, MachOLab.needs),
    .enabled(if: Program.find("openssl") != nil, "needs openssl"))
struct SignatureRenewalTests {
    private let patcher = FrameworkPatcher(names: .intuneCompatible)

    private struct Signed {
        let scratch: Scratch
        let app: URL
        var options = CodeSigner.Options()
    }

    /// An app that a certificate signed, in the form of Apple's services.
    private func signedApp() throws -> Signed {
        let scratch = try Scratch()
        let app = try FrameworkPatcherTests.app(in: scratch)
        let identity = try BERSignatureTests.identity(in: scratch)
        var signed = Signed(scratch: scratch, app: app)
        signed.options.identity = ChangedIdentity(identity) { try IndefiniteForm.outer($0) }
        try AtomicWriter.write(CodeSigner(signed.options).plan(app).changes)
        #expect(try errors(app) == [])
        signed.options.identity = identity
        return signed
    }

    private func errors(_ url: URL) throws -> [String] {
        try SignatureVerifier().findings(url).filter { $0.severity == .error }.map(\.code)
    }

    private func resigned(
        _ url: URL, _ action: FrameworkPatcher.Action = .install, _ options: CodeSigner.Options = .init()
    ) throws -> FrameworkPatcher.Plan {
        try patcher.resigned(patcher.plan(action, url), url, options: options)
    }

    @Test func `an app of Apple's services is signed again with a key, and refused without one`() throws {
        let signed = try signedApp()
        #expect(throws: AppToolsError(.refused, "")) { try resigned(signed.app) }
        try AtomicWriter.write(resigned(signed.app, .install, signed.options).changes)
        #expect(try errors(signed.app) == [])
        #expect(try patcher.plan(.verify, signed.app).images.allSatisfy { $0.state == "patched" })
    }

    @Test func `a patch without signing may be signed in a second run`() throws {
        let signed = try signedApp()
        try AtomicWriter.write(patcher.plan(.install, signed.app).changes)
        #expect(try errors(signed.app).contains("SG-CODE"))
        #expect(throws: AppToolsError(.refused, "")) { try resigned(signed.app) }
        try AtomicWriter.write(resigned(signed.app, .install, signed.options).changes)
        #expect(try errors(signed.app) == [])
        #expect(try resigned(signed.app).changes.isEmpty)
    }

    @Test func `removing an unsigned patch brings the first signature back, and no key is needed`() throws {
        let signed = try signedApp()
        let executable = signed.app.appendingPathComponent("App")
        let before = try Data(contentsOf: executable)
        try AtomicWriter.write(patcher.plan(.install, signed.app).changes)
        try AtomicWriter.write(resigned(signed.app, .remove).changes)
        #expect(try Data(contentsOf: executable) == before)
        #expect(try errors(signed.app) == [])
    }

    @Test(arguments: [
        // The certificate's message, the code directory, the container.
        (SuperBlob.Magic.cms, 8), (SuperBlob.Magic.codeDirectory, 8), (SuperBlob.Magic.superBlob, 4),
    ])
    func `a signature that cannot be judged is refused, with a key too`(magic: UInt32, offset: Int) throws {
        let signed = try signedApp()
        let file = signed.app.appendingPathComponent("PlugIns/Share.appex/Share")
        var data = try Data(contentsOf: file)
        let area = try #require(try MachOImage(data).signature)
        let place = try #require(data[area].firstRange(of: magic.bigBytes)).lowerBound + offset
        data[place] = 0x7F
        try data.write(to: file)
        #expect(throws: AppToolsError(.refused, "")) { try resigned(signed.app, .install, signed.options) }
        // Also when there is nothing to patch.
        let linked = FrameworkPatcher(names: .demo)
        #expect(throws: AppToolsError(.refused, "")) {
            try linked.resigned(linked.plan(.remove, file), file, options: signed.options)
        }
    }

    @Test func `what was changed after signing is not signed again`() throws {
        let signed = try signedApp()
        let note = try signed.scratch.file("App.app/note.txt", "new")
        let error = #expect(throws: AppToolsError(.refused, "")) {
            try resigned(signed.app, .install, signed.options)
        }
        #expect(error?.place.hasSuffix("note.txt") == true)
        try FileManager.default.removeItem(at: note)
        let library = signed.app.appendingPathComponent("Frameworks/libswiftCore.dylib")
        var code = try Data(contentsOf: library)
        code[9000] ^= 1
        try code.write(to: library)
        #expect(throws: AppToolsError(.refused, "")) { try resigned(signed.app, .install, signed.options) }
    }

    @Test func `the linker's signature fits the patched code, and the first code again`() throws {
        let lab = try MachOLab.get()
        for source in [lab.executable, lab.fat] {
            let scratch = try Scratch()
            let original = try lab.data(source)
            let file = try scratch.file("code", original)
            let plan = try resigned(file)
            #expect(plan.findings.map(\.code) == ["FP-RESIGN"])
            try AtomicWriter.write(plan.changes)
            #expect(try patcher.plan(.verify, file).images.allSatisfy { $0.state == "patched" })
            #expect(try errors(file) == [])
            try AtomicWriter.write(resigned(file, .remove).changes)
            #expect(try Data(contentsOf: file) == original)
        }
    }

    @Test(arguments: [false, true], [false, true])
    func `an app that only the linker signed, or that is unsigned, becomes a valid one`(hasKey: Bool, isUnsigned: Bool)
        throws
    {
        let scratch = try Scratch()
        let app = try FrameworkPatcherTests.app(in: scratch)
        var options = CodeSigner.Options()
        if hasKey { options.identity = try BERSignatureTests.identity(in: scratch) }
        if isUnsigned {
            try Unsigned.make(app)
            #expect(try errors(app).contains("SG-UNSIGNED"))
        }
        let plan = try resigned(app, .install, options)
        #expect(plan.findings.contains { $0.code == "FP-RESIGN" } == !hasKey)
        try AtomicWriter.write(plan.changes)
        #expect(try errors(app) == [])
        #expect(try patcher.plan(.verify, app).isProtected)
        #expect(try resigned(app, .install, options).changes.isEmpty)
    }

    @Test func `a key that is named signs what was signed ad hoc, also when nothing is left to patch`() throws {
        let scratch = try Scratch()
        let app = try FrameworkPatcherTests.app(in: scratch)
        try AtomicWriter.write(resigned(app).changes)
        var options = CodeSigner.Options()
        options.identity = try BERSignatureTests.identity(in: scratch)
        try AtomicWriter.write(resigned(app, .install, options).changes)
        #expect(try errors(app) == [])
        let code = try MachOFile(Data(contentsOf: app.appendingPathComponent("App")))
        #expect(code.slices.compactMap(\.image).allSatisfy { CMSCheck.certificate(of: $0) != nil })
        #expect(try resigned(app, .install, options).changes.isEmpty)
    }

    @Test func `a signed bundle without its seal is refused`() throws {
        let signed = try signedApp()
        for path in ["App.app/PlugIns/Share.appex/_CodeSignature", "App.app/_CodeSignature"] {
            let place = signed.scratch.folder.appendingPathComponent(path)
            let aside = signed.scratch.folder.appendingPathComponent("aside")
            try FileManager.default.moveItem(at: place, to: aside)
            #expect(throws: AppToolsError(.refused, ""), "\(path)") {
                try resigned(signed.app, .install, signed.options)
            }
            try FileManager.default.moveItem(at: aside, to: place)
        }
        #expect(try !resigned(signed.app, .install, signed.options).changes.isEmpty)
    }

    @Test func `a profile that does not cover what is signed makes no success`() throws {
        let signed = try signedApp()
        _ = try signed.scratch.file(
            "content",
            "<plist><dict><key>Entitlements</key><dict/><key>TeamIdentifier</key><array><string>ANOTHER123</string></array></dict></plist>"
        )
        try Program.succeed(
            BERSignatureTests.openssl,
            [
                "cms", "-sign", "-nodetach", "-binary", "-in", "content", "-signer", "cert.pem", "-inkey", "key.pem",
                "-outform", "DER", "-out", "App.app/embedded.mobileprovision",
            ], in: signed.scratch.folder)
        let plan = try CodeSigner(signed.options).plan(signed.app)
        #expect(plan.findings.contains { $0.code == "SG-PROFILE" && $0.severity == .warning })
        try AtomicWriter.write(plan.changes)
        #expect(try errors(signed.app).contains("SG-PROFILE"))
        #expect(throws: AppToolsError(.refused, "")) { try resigned(signed.app, .install, signed.options) }
    }

    @Test(arguments: ["PlugIns/Share.appex", "Frameworks/libswiftCore.dylib", "Frameworks/Demo.framework/Demo"])
    func `what lies in an app is signed with the app or not at all`(path: String) throws {
        let signed = try signedApp()
        let place = signed.app.appendingPathComponent(path)
        let error = #expect(throws: AppToolsError(.refused, "")) { try resigned(place, .install, signed.options) }
        #expect(error?.hint?.hasSuffix("App.app") == true)
        #expect(try errors(signed.app) == [])
    }

    @Test func `a bundle's executable is signed with the bundle or not at all`() throws {
        let signed = try signedApp()
        let file = signed.app.appendingPathComponent("App")
        let error = #expect(throws: AppToolsError(.refused, "")) { try resigned(file, .install, signed.options) }
        #expect(error?.hint?.hasSuffix("App.app") == true)
    }
}

/// Code without any signature, as a build leaves it that signs at the end.
enum Unsigned {
    /// Takes the signatures of all thin images out: command, blob and seals.
    static func make(_ app: URL) throws {
        for file in CodeFiles.all(in: app) {
            let data = try Data(contentsOf: file)
            guard let image = try MachOFile(data).slices.first?.image, MachOImage.isImage(data),
                let command = image.signatureCommand, let area = image.signature,
                command.offset + command.size == image.headerSize + image.commandsSize,
                let linkEdit = image.segment("__LINKEDIT")
            else { continue }
            var code = Data(data.prefix(area.lowerBound))
            func put(_ bytes: Data, at offset: Int) { code.replaceSubrange(offset..<offset + bytes.count, with: bytes) }
            put(UInt32(image.commands.count - 1).littleBytes, at: 16)
            put(UInt32(image.commandsSize - command.size).littleBytes, at: 20)
            put(Data(count: command.size), at: command.offset)
            put(UInt64(area.lowerBound - linkEdit.fileOffset).littleBytes, at: linkEdit.command.offset + 48)
            try code.write(to: file)
        }
        for path in FileManager.default.subpaths(atPath: app.path) ?? [] where path.hasSuffix("_CodeSignature") {
            try FileManager.default.removeItem(at: app.appendingPathComponent(path))
        }
    }
}
