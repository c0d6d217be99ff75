import CordonTestSupport
import Foundation
import Testing

@testable import CordonAppTools

/// Writes messages as Apple's services do: with indefinite lengths, strings in pieces.
enum IndefiniteForm {
    /// The outer elements without lengths, certificates and signers as they are.
    static func outer(_ message: Data, piece: Int = 100) throws -> Data {
        let top = try DERNode(message)
        let signedData = try top.child(1).child(0).children()
        let carried = signedData[2]
        var fields = Data()
        for field in signedData {
            fields += field.whole == carried.whole ? try everywhere(carried, piece: piece) : field.whole
        }
        return element(0x30, try top.child(0).whole + element(0xA0, element(0x30, fields)))
    }

    /// Every element but certificates without its length.
    static func everywhere(_ node: DERNode, piece: Int = 100, reversesAttributes: Bool = false) throws -> Data {
        if node.tag == 0x04 { return pieces(of: node.content, piece) }
        guard node.tag & 0x20 != 0 else { return node.whole }
        var parts: [Data] = []
        for child in try node.children() {
            // A certificate begins with a sequence that begins with its version.
            let isCertificate = child.tag == 0x30 && (try? child.child(0).child(0).tag) == 0xA0
            parts.append(
                isCertificate
                    ? child.whole : try everywhere(child, piece: piece, reversesAttributes: reversesAttributes))
        }
        let isAttributes = node.tag == 0xA0 && parts.count > 2
        if isAttributes, reversesAttributes { parts.reverse() }
        return element(node.tag, parts.reduce(Data(), +))
    }

    static func element(_ tag: UInt8, _ content: Data) -> Data { Data([tag, 0x80]) + content + Data([0, 0]) }

    private static func pieces(of content: Data, _ size: Int) -> Data {
        let parts = stride(from: 0, to: content.count, by: size).map {
            DER.octets(Data(content.dropFirst($0).prefix(size)))
        }
        return element(0x24, parts.reduce(Data(), +))
    }
}

/// An identity whose messages or team a test changes.
struct ChangedIdentity: SigningIdentity {
    let identity: CertificateIdentity
    var team: String?
    let change: @Sendable (Data) throws -> Data

    init(
        _ identity: CertificateIdentity, team: String? = nil, change: @escaping @Sendable (Data) throws -> Data = { $0 }
    ) {
        self.identity = identity
        self.team = team ?? identity.team
        self.change = change
    }

    func sign(_ directories: [(hashType: UInt8, blob: Data)]) throws(AppToolsError) -> Data {
        let message = try identity.sign(directories)
        do { return try change(message) } catch { throw AppToolsError(.unsupported, "\(error)") }
    }

    func designatedRequirement(of identifier: String) -> Data? { nil }
}

@Suite(
    .enabled(if: MachOLab.isAvailable, MachOLab.needs),
    .enabled(if: Program.find("openssl") != nil, "needs openssl"))
struct BERSignatureTests {
    static let openssl = Program.find("openssl") ?? "openssl"

    /// A key and a self-signed certificate of openssl's, `key.pem` and `cert.pem` in the folder.
    static func identity(
        in scratch: Scratch, subject: String = "/CN=Apple Development: Example/OU=ABCDE12345/O=Example"
    ) throws -> CertificateIdentity {
        try Program.succeed(
            openssl,
            [
                "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out", "cert.pem", "-days",
                "30", "-subj", subject,
            ], in: scratch.folder)
        func text(_ name: String) throws -> String {
            try String(contentsOf: scratch.folder.appendingPathComponent(name), encoding: .utf8)
        }
        return try CertificateIdentity(key: text("key.pem"), certificates: text("cert.pem"))
    }

    private func errors(_ url: URL) throws -> [String] {
        try SignatureVerifier().findings(url).filter { $0.severity == .error }.map(\.message)
    }

    private func sign(_ file: URL, _ identity: any SigningIdentity) throws {
        var options = CodeSigner.Options()
        options.identity = identity
        try AtomicWriter.write(CodeSigner(options).plan(file).changes)
    }

    enum Form: CaseIterable {
        case outer, everywhere, reversed

        func apply(_ message: Data) throws -> Data {
            switch self {
            case .outer: try IndefiniteForm.outer(message)
            case .everywhere: try IndefiniteForm.everywhere(DERNode(message))
            case .reversed: try IndefiniteForm.everywhere(DERNode(message), reversesAttributes: true)
            }
        }
    }

    @Test(arguments: Form.allCases)
    func `a signature without lengths, as Apple's services write it, verifies`(form: Form) throws {
        let scratch = try Scratch()
        let file = try scratch.file("App", MachOLab.get().data(MachOLab.get().executable))
        let identity = try Self.identity(in: scratch)
        try sign(file, ChangedIdentity(identity, change: form.apply))
        let image = try MachOImage(Data(contentsOf: file))
        let signature = try #require(try ImageSignatureCheck.signature(image))
        let message = try #require(signature.content(SuperBlob.Slot.cms))
        #expect(message.starts(with: [0x30, 0x80]))
        #expect(try errors(file) == [])
        #expect(CMSCheck.chain(of: image) != nil)
        var damaged = Data(message)
        let last = try #require(damaged.lastIndex { $0 != 0 })
        damaged[last] ^= 1
        let blobs = signature.blobs.map {
            $0.slot == SuperBlob.Slot.cms ? ($0.slot, SuperBlob.blob(SuperBlob.Magic.cms, damaged)) : $0
        }
        #expect(try CMSCheck(signature: SuperBlob(blobs)).problems().count == 1)
        // Inside attributes OpenSSL judges the bytes as they stand, the standard their DER.
        guard form == .outer else { return }
        let cms = try scratch.file("cms", message)
        let code = try scratch.file("code", #require(signature.codeDirectories.first))
        try Program.succeed(
            Self.openssl,
            [
                "cms", "-inform", "DER", "-in", cms.path, "-verify", "-content", code.path, "-binary", "-CAfile",
                "cert.pem", "-purpose", "any", "-out", "/dev/null",
            ], in: scratch.folder)
    }

    @Test func `a message without lengths gives back its content, which stands in pieces`() throws {
        let scratch = try Scratch()
        let content = Data((0..<1000).map { UInt8(truncatingIfNeeded: $0) })
        let message = try IndefiniteForm.outer(Self.identity(in: scratch).envelope(content))
        #expect(try CMSEnvelope.content(of: message) == content)
        let file = try scratch.file("message", message)
        let output = scratch.folder.appendingPathComponent("out")
        try Program.succeed(
            Self.openssl,
            [
                "cms", "-inform", "DER", "-in", file.path, "-verify", "-binary", "-CAfile", "cert.pem", "-purpose",
                "any", "-out", output.path,
            ], in: scratch.folder)
        #expect(try Data(contentsOf: output) == content)
    }

    @Test func `elements without lengths need an end, a constructed form and a bounded depth`() throws {
        let nested = Data((0..<20_000).flatMap { _ in [0x30, 0x80] as [UInt8] })
        for bad in [
            nested + Data(count: 40_000), nested, Data([0x30, 0x80]), Data([0x30, 0x80, 0]), Data([0x04, 0x80, 0, 0]),
            Data([0x30, 0x80, 0, 0, 0]), Data([0x30, 2, 0, 0]), Data([0, 0]), Data([0x30, 0xFF]), Data(),
            Data(count: 9 << 20),
        ] {
            #expect(throws: AppToolsError(.malformed, "")) { try DERNode(bad) }
        }
        #expect(try DERNode(Data([0x30, 0x80, 0x30, 0x80, 0, 0, 0x05, 0, 0, 0])).children().count == 2)
    }

    @Test func `damaged messages without lengths never trap`() throws {
        let scratch = try Scratch()
        let message = try Self.identity(in: scratch).sign([(2, Data(count: 88))])
        for form in Form.allCases {
            let good = try form.apply(message)
            for position in stride(from: 0, to: good.count, by: 5) {
                for value in [UInt8(0), 0x80, 0xFF] {
                    var bad = good
                    bad[position] = value
                    _ = try? CMSParts(bad)
                    _ = try? CMSEnvelope.content(of: bad)
                }
            }
        }
    }

    @Test func `a signer who signs no attributes signs the code directory itself`() throws {
        let scratch = try Scratch()
        let lab = try MachOLab.get()
        let file = try scratch.file("App", lab.data(lab.executable))
        let folder = scratch.folder
        let identity = try Self.identity(in: scratch)
        struct Bare: SigningIdentity {
            let team: String?
            let folder: URL
            let digest: String

            func sign(_ directories: [(hashType: UInt8, blob: Data)]) throws(AppToolsError) -> Data {
                let output = folder.appendingPathComponent("bare")
                do {
                    try directories[0].blob.write(to: folder.appendingPathComponent("code"))
                    try Program.succeed(
                        BERSignatureTests.openssl,
                        [
                            "cms", "-sign", "-noattr", "-binary", "-in", "code", "-signer", "cert.pem", "-inkey",
                            "key.pem", "-md", digest, "-outform", "DER", "-out", "bare",
                        ], in: folder)
                    return try Data(contentsOf: output)
                } catch { throw AppToolsError(.unsupported, "\(error)") }
            }

            func designatedRequirement(of identifier: String) -> Data? { nil }
        }
        for digest in ["sha1", "sha256", "sha512"] {
            try sign(file, Bare(team: identity.team, folder: folder, digest: digest))
            #expect(try errors(file) == [])
            let signature = try #require(try ImageSignatureCheck.signature(MachOImage(Data(contentsOf: file))))
            var blobs = signature.blobs
            let last = blobs[0].data.index(before: blobs[0].data.endIndex)
            blobs[0].data[last] ^= 1
            #expect(
                try CMSCheck(signature: SuperBlob(blobs)).problems().map(\.message) == [
                    "the certificate did not make this signature over the code directory"
                ])
        }
    }

    @Test func `only Apple's own certificates may sign for a team that they do not name`() throws {
        let scratch = try Scratch()
        let lab = try MachOLab.get()
        let file = try scratch.file("App", lab.data(lab.executable))
        func errors(_ subject: String) throws -> [String] {
            let identity = try Self.identity(in: scratch, subject: subject)
            try sign(file, ChangedIdentity(identity, team: "59GAB85EFG"))
            return try self.errors(file)
        }
        #expect(try errors("/CN=Software Signing/OU=Apple Software/O=Apple Inc.") == [])
        #expect(
            try errors("/CN=Developer/OU=ABCDE12345/O=Apple Inc.") == [
                "arm64: the code names team 59GAB85EFG, the certificate ABCDE12345"
            ])
        #expect(
            try errors("/CN=Software Signing/OU=Apple Software/O=Example") == [
                "arm64: the code names team 59GAB85EFG, the certificate Apple Software"
            ])
    }
}
