import CordonTestSupport
import Foundation
import Testing

@testable import CordonAppTools

/// Signatures in the forms that other tools write, or wrote once.
@Suite(.enabled(if: MachOLab.isAvailable, MachOLab.needs))
struct SignatureFormTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// The codes of the errors that are found.
        let errors: Set<String>
        let form: @Sendable () -> SignatureForm

        init(_ name: String, _ errors: Set<String> = [], _ form: @escaping @Sendable () -> SignatureForm) {
            (testDescription, self.errors, self.form) = (name, errors, form)
        }

        init(_ name: String, _ errors: Set<String> = [], _ directories: @escaping @Sendable () -> [DirectoryForm]) {
            self.init(name, errors) { SignatureForm(directories: directories()) }
        }
    }

    private static let constraint = SuperBlob.blob(0xFADE_8181, Data("constraint".utf8))
    private static let other = SuperBlob.blob(0xFADE_8181, Data("another one".utf8))

    private static let oldText = SuperBlob.blob(SuperBlob.Magic.entitlements, Data("{ task = YES; }".utf8))

    private static func constrained(_ slot: UInt32, signed: Data?, carried: Data?) -> SignatureForm {
        SignatureForm(
            directories: [DirectoryForm(special: signed.map { [Int(slot): $0] } ?? [:])],
            blobs: carried.map { [(slot, $0)] } ?? [])
    }

    static let cases: [Case] = [
        Case("SHA-1 alone") { [DirectoryForm(hash: .sha1)] },
        Case("SHA-1 with SHA-256 beside it") { [DirectoryForm(hash: .sha1), DirectoryForm()] },
        Case("SHA-256 with three others") {
            [
                DirectoryForm(), DirectoryForm(hash: .sha384), DirectoryForm(hash: .truncatedSHA256),
                DirectoryForm(hash: .sha1),
            ]
        },
        Case("pages of 16 KiB") { [DirectoryForm(pagePower: 14)] },
        Case("one page over all") { [DirectoryForm(pagePower: 0)] },
        Case("the oldest version") { [DirectoryForm(version: 0x20001)] },
        Case("a version with a team and none") { [DirectoryForm(version: 0x20200)] },
        Case("the hardened runtime") {
            [DirectoryForm(version: 0x20500, flags: 0x12002, runtime: 0x000E_0000)]
        },
        Case("scattered code", ["SG-FORMAT"]) { [DirectoryForm(scatter: 100)] },
        Case("a version to come", ["SG-FORMAT"]) { [DirectoryForm(version: 0x30000)] },
        Case("no certificate and no word of that", ["SG-CMS"]) { [DirectoryForm(flags: 0)] },
        Case("a launch constraint") { constrained(8, signed: constraint, carried: constraint) },
        Case("a constraint on libraries") { constrained(11, signed: constraint, carried: constraint) },
        Case("a launch constraint that was exchanged", ["SG-SLOT"]) {
            constrained(8, signed: constraint, carried: other)
        },
        Case("a launch constraint that was taken out", ["SG-SLOT"]) {
            constrained(9, signed: constraint, carried: nil)
        },
        Case("a constraint that nothing covers", ["SG-SLOT"]) { constrained(11, signed: nil, carried: constraint) },
        Case("something unknown that nothing covers", ["SG-SLOT"]) { constrained(40, signed: nil, carried: other) },
        Case("entitlements that are no property list", ["SG-ENTITLEMENTS"]) {
            SignatureForm(directories: [DirectoryForm(special: [5: oldText])], blobs: [(5, oldText)])
        },
        Case("the ticket of a notary") { SignatureForm(blobs: [(0x10002, other)]) },
    ]

    private func errors(_ url: URL) throws -> Set<String> {
        Set(try SignatureVerifier().findings(url).filter { $0.severity == .error }.map(\.code))
    }

    @Test(arguments: cases)
    func `a signature is judged by what it says, in whatever form`(form: Case) throws {
        let scratch = try Scratch()
        let data = try form.form().applied(to: MachOLab.get().data(MachOLab.get().library))
        let file = try scratch.file("code", data)
        #expect(try errors(file) == form.errors)
        // A changed byte of code is noticed by every form that can be read.
        var changed = data
        changed[20000] ^= 1
        _ = try scratch.file("code", changed)
        #expect(try !errors(file).isEmpty)
        // And what does not fit is not signed again in passing.
        let patcher = FrameworkPatcher(names: .intuneCompatible)
        #expect(throws: AppToolsError(.refused, "")) {
            try patcher.resigned(patcher.plan(.install, file), file, options: CodeSigner.Options())
        }
        _ = try scratch.file("code", data)
        let plan = Result { try patcher.resigned(patcher.plan(.install, file), file, options: CodeSigner.Options()) }
        guard form.errors.isEmpty else {
            #expect(throws: AppToolsError(.refused, "")) { try plan.get() }
            return
        }
        try AtomicWriter.write(plan.get().changes)
        #expect(try errors(file) == [])
    }

    @Test func `one of two directories that does not fit is an error`() throws {
        let scratch = try Scratch()
        let lab = try MachOLab.get()
        var data = try SignatureForm(directories: [DirectoryForm(), DirectoryForm(hash: .sha1)])
            .applied(to: lab.data(lab.library))
        let signature = try #require(try ImageSignatureCheck.signature(MachOImage(data)))
        let place = try #require(data.firstRange(of: signature.codeDirectories[1])).upperBound - 1
        data[place] ^= 1
        #expect(try errors(scratch.file("code", data)) == ["SG-CODE"])
    }

    @Test func `what the code asked for stays when it is signed again`() throws {
        let scratch = try Scratch()
        let lab = try MachOLab.get()
        let form = SignatureForm(
            directories: [
                DirectoryForm(
                    version: 0x20500, flags: 0x12302, runtime: 0x000E_0100,
                    special: [8: Self.constraint, 11: Self.other])
            ], blobs: [(8, Self.constraint), (11, Self.other)])
        let file = try scratch.file("code", form.applied(to: lab.data(lab.executable)))
        #expect(try errors(file) == [])
        try AtomicWriter.write(CodeSigner(CodeSigner.Options()).plan(file).changes)
        #expect(try errors(file) == [])
        let signature = try #require(try ImageSignatureCheck.signature(MachOImage(Data(contentsOf: file))))
        let directory = try CodeDirectory(signature.codeDirectories[0])
        #expect(directory.flags == 0x12302 && directory.runtime == 0x000E_0100)
        #expect(directory.identifier == "example.form")
        #expect(signature[8] == Self.constraint && signature[11] == Self.other)
        if Program.python != nil {
            let output = try Program.python(CodeSignatureChecker.script, [file.path])
            #expect(output.hasSuffix("ok\n"), "\(output)")
        }
    }

    @Test func `entitlements that are empty stay empty, and those in DER alone are not lost`() throws {
        let scratch = try Scratch()
        let lab = try MachOLab.get()
        let empty = SuperBlob.blob(SuperBlob.Magic.entitlements, Data())
        let file = try scratch.file(
            "code",
            SignatureForm(directories: [DirectoryForm(special: [5: empty])], blobs: [(5, empty)])
                .applied(to: lab.data(lab.executable)))
        #expect(try errors(file) == [])
        try AtomicWriter.write(CodeSigner(CodeSigner.Options()).plan(file).changes)
        #expect(try errors(file) == [])
        var options = CodeSigner.Options()
        options.entitlements = Data("<plist version=\"1.0\"><dict/></plist>".utf8)
        try AtomicWriter.write(CodeSigner(options).plan(file).changes)
        #expect(try errors(file) == [])
        #expect(try CodeSigner(CodeSigner.Options()).plan(file).changes.allSatisfy(\.isInPlace))
        let binary = SuperBlob.blob(
            SuperBlob.Magic.derEntitlements, try EntitlementsDER.encode(.dictionary(["a": .boolean(true)])))
        let form = SignatureForm(directories: [DirectoryForm(special: [7: binary])], blobs: [(7, binary)])
        _ = try scratch.file("code", form.applied(to: lab.data(lab.executable)))
        #expect(try errors(file) == ["SG-ENTITLEMENTS"], "they would be compared with nothing")
        let error = #expect(throws: AppToolsError(.refused, "")) { try CodeSigner(CodeSigner.Options()).plan(file) }
        #expect(error?.hint?.contains("--entitlements") == true)
        try AtomicWriter.write(CodeSigner(options).plan(file).changes)
        #expect(try errors(file) == [])
    }

    @Test func `an app that could not verify is not signed`() throws {
        let scratch = try Scratch()
        let app = try FrameworkPatcherTests.app(in: scratch)
        // The executable is sealed as a file, too, where it is a link to another.
        let executable = app.appendingPathComponent("App")
        try FileManager.default.moveItem(at: executable, to: app.appendingPathComponent("Real"))
        try FileManager.default.createSymbolicLink(atPath: executable.path, withDestinationPath: "Real")
        let before = try Data(contentsOf: app.appendingPathComponent("Real"))
        #expect(throws: AppToolsError(.refused, "")) { try CodeSigner(CodeSigner.Options()).plan(app) }
        #expect(try Data(contentsOf: app.appendingPathComponent("Real")) == before)
    }
}
