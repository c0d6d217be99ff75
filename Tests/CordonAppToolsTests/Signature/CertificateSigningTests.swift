import CordonTestSupport
import Crypto
import Foundation
import Testing

@testable import CordonAppTools

@Suite(
    .enabled(if: MachOLab.isAvailable, MachOLab.needs),
    .enabled(if: Program.find("openssl") != nil, "needs openssl"))
struct CertificateSigningTests {
    static let openssl = Program.find("openssl") ?? "openssl"

    /// A key and a self-signed certificate that openssl makes.
    private func identity(
        _ kind: [String], team: String = "ABCDE12345", in scratch: Scratch
    ) throws -> CertificateIdentity {
        try Program.succeed(
            Self.openssl,
            ["req", "-x509", "-newkey"] + kind + [
                "-nodes", "-keyout", "key.pem", "-out", "cert.pem", "-days", "30", "-subj",
                "/CN=Apple Development: Example/OU=\(team)/O=Example",
            ], in: scratch.folder)
        return try CertificateIdentity(
            key: String(contentsOf: scratch.folder.appendingPathComponent("key.pem"), encoding: .utf8),
            certificates: String(contentsOf: scratch.folder.appendingPathComponent("cert.pem"), encoding: .utf8))
    }

    private static let kinds = [["rsa:2048"], ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"]]

    @Test(arguments: kinds)
    func `openssl verifies the signature over the code directory`(kind: [String]) throws {
        let scratch = try Scratch()
        let app = try FrameworkPatcherTests.app(in: scratch)
        var options = CodeSigner.Options()
        options.identity = try identity(kind, in: scratch)
        options.entitlements = CodeSignerTests.entitlements
        try AtomicWriter.write(CodeSigner(options).plan(app).changes)
        #expect(try SignatureVerifier().findings(app).filter { $0.severity == .error } == [])
        let image = try #require(
            try MachOFile(Data(contentsOf: app.appendingPathComponent("App"))).slices.first?.image)
        let signature = try #require(try ImageSignatureCheck.signature(image))
        let directory = try CodeDirectory(#require(signature.codeDirectories.first))
        #expect(directory.team == "ABCDE12345")
        #expect(directory.flags & CodeDirectory.Flag.adHoc == 0)
        let cms = try scratch.file("cms.der", #require(signature.content(SuperBlob.Slot.cms)))
        let code = try scratch.file("cd.bin", directory.blob)
        let result = try Program.run(
            Self.openssl,
            [
                "cms", "-inform", "DER", "-in", cms.path, "-verify", "-content", code.path, "-binary", "-CAfile",
                scratch.folder.appendingPathComponent("cert.pem").path, "-purpose", "any", "-out", "/dev/null",
            ])
        #expect(result.status == 0, "\(result.everything)")
        let output = try Program.python(
            CodeSignatureChecker.script, [app.appendingPathComponent("Frameworks/Demo.framework/Demo").path])
        #expect(output.split(separator: "\n").allSatisfy { $0.hasSuffix("ok") }, "\(output)")
    }

    @Test func `a directory swapped under the certificate's signature is noticed`() throws {
        let scratch = try Scratch()
        let lab = try MachOLab.get()
        let file = try scratch.file("App", lab.data(lab.executable))
        var options = CodeSigner.Options()
        options.identity = try identity(Self.kinds[1], in: scratch)
        try AtomicWriter.write(CodeSigner(options).plan(file).changes)
        let image = try MachOImage(Data(contentsOf: file))
        let signature = try #require(try ImageSignatureCheck.signature(image))
        var blobs = signature.blobs
        blobs[0].data[blobs[0].data.count - 1 + blobs[0].data.startIndex] ^= 1
        let problems = try CMSCheck(signature: SuperBlob(blobs)).problems()
        #expect(problems.count == 3)
        var cms = Data(try #require(signature.content(SuperBlob.Slot.cms)))
        cms[cms.count - 1] ^= 1
        blobs = signature.blobs.map {
            $0.slot == SuperBlob.Slot.cms ? ($0.slot, SuperBlob.blob(SuperBlob.Magic.cms, cms)) : $0
        }
        #expect(
            try CMSCheck(signature: SuperBlob(blobs)).problems().map(\.message) == [
                "the certificate did not make this signature"
            ])
    }

    /// Signs with nothing in particular, and demands something of later versions.
    private struct Demanding: SigningIdentity {
        let team: String? = nil

        func sign(_ directories: [(hashType: UInt8, blob: Data)]) throws(AppToolsError) -> Data { Data([1]) }

        func designatedRequirement(of identifier: String) -> Data? {
            SuperBlob.blob(SuperBlob.Magic.requirements, UInt32(0).bigBytes + Data("more".utf8))
        }
    }

    @Test func `an ad-hoc signature keeps no requirement that the certificate's was to meet`() throws {
        let scratch = try Scratch()
        let lab = try MachOLab.get()
        let file = try scratch.file("App", lab.data(lab.executable))
        func requirements() throws -> Data? {
            try ImageSignatureCheck.signature(MachOImage(Data(contentsOf: file)))?[SuperBlob.Slot.requirements]
        }
        var options = CodeSigner.Options()
        options.identity = Demanding()
        try AtomicWriter.write(CodeSigner(options).plan(file).changes)
        #expect(try requirements() == Demanding().designatedRequirement(of: ""))
        options.identity = nil
        options.allowsDowngrade = true
        try AtomicWriter.write(CodeSigner(options).plan(file).changes)
        #expect(try requirements() == SignatureForm.requirements)
    }

    /// Names no team, as the certificates of the system's vendor do.
    private struct Teamless: SigningIdentity {
        let team: String? = nil
        let identity: CertificateIdentity

        func sign(_ directories: [(hashType: UInt8, blob: Data)]) throws(AppToolsError) -> Data {
            try identity.sign(directories)
        }

        func designatedRequirement(of identifier: String) -> Data? { nil }
    }

    /// Names a team and signs nothing.
    private struct Claimed: SigningIdentity {
        let team: String? = "ABCDE12345"

        func sign(_ directories: [(hashType: UInt8, blob: Data)]) throws(AppToolsError) -> Data { Data() }

        func designatedRequirement(of identifier: String) -> Data? { nil }
    }

    @Test func `code of another team than the app's is noticed`() throws {
        let scratch = try Scratch()
        let app = try FrameworkPatcherTests.app(in: scratch)
        var options = CodeSigner.Options()
        options.identity = try identity(Self.kinds[1], in: scratch)
        try AtomicWriter.write(CodeSigner(options).plan(app).changes)
        func strangers() throws -> [String] {
            try SignatureVerifier().findings(app).filter { $0.code == "SG-TEAM" }.map(\.message)
        }
        #expect(try strangers() == [])
        let library = app.appendingPathComponent("Frameworks/libswiftCore.dylib")
        var forced = CodeSigner.Options()
        forced.allowsDowngrade = true
        for (other, signer) in [
            (nil, "no team"), (try identity(Self.kinds[1], team: "FGHIJ67890", in: scratch), "FGHIJ67890"),
        ] {
            forced.identity = other
            try AtomicWriter.write(CodeSigner(forced).plan(library).changes)
            #expect(try strangers() == ["is signed by \(signer), and the app by ABCDE12345"])
        }
        forced.identity = Teamless(identity: try identity(Self.kinds[1], in: scratch))
        try AtomicWriter.write(CodeSigner(forced).plan(library).changes)
        var data = try Data(contentsOf: library)
        let directory = try #require(data.range(of: SuperBlob.Magic.codeDirectory.bigBytes, options: .backwards))
        data[directory.lowerBound + 38] = 1
        try data.write(to: library)
        #expect(try strangers() == ["is signed by the system's vendor, as it says, and the app by ABCDE12345"])
        #expect(try SignatureVerifier().findings(app).contains { $0.code == "SG-TEAM" && $0.severity == .warning })
        let lab = try MachOLab.get()
        let content = ImageSigner.Content(identifier: "a", flags: CodeDirectory.Flag.adHoc)
        let claimed = try ImageSigner(image: MachOImage(lab.data(lab.library)), content: content, identity: Claimed())
        try claimed.signed().reduce(Data(), +).write(to: library)
        #expect(try SignatureVerifier().findings(library).filter { $0.severity == .error } == [], "the control")
        #expect(try strangers() == ["is signed by no team, and the app by ABCDE12345"])
        try lab.data(lab.simulatorLibrary).write(to: library)
        #expect(try strangers() == [], "simulators load it")
    }

    @Test func `of two code directories the certificate has to have signed both`() throws {
        let scratch = try Scratch()
        let identity = try identity(Self.kinds[1], in: scratch)
        let code = Data(count: 8192)
        let old = DirectoryForm(hash: .sha1, flags: 0).blob(over: code)
        let new = DirectoryForm(flags: 0).blob(over: code)
        for (message, problems) in [
            (try identity.sign([(1, old), (2, new)]), []),
            (try identity.envelope(old), ["the certificate signed one of 2 code directories only"]),
        ] {
            let signature = SuperBlob([
                (SuperBlob.Slot.codeDirectory, old), (SuperBlob.Slot.alternates.lowerBound, new),
                (SuperBlob.Slot.cms, SuperBlob.blob(SuperBlob.Magic.cms, message)),
            ])
            #expect(try CMSCheck(signature: signature).problems().map(\.message) == problems)
        }
    }

    @Test func `a certificate's signature is never replaced by an ad-hoc one unasked`() throws {
        let scratch = try Scratch()
        let lab = try MachOLab.get()
        let file = try scratch.file("App", lab.data(lab.executable))
        var options = CodeSigner.Options()
        options.identity = try identity(Self.kinds[1], in: scratch)
        try AtomicWriter.write(CodeSigner(options).plan(file).changes)
        #expect(throws: AppToolsError(.refused, "")) { try CodeSigner(CodeSigner.Options()).plan(file) }
        var forced = CodeSigner.Options()
        forced.allowsDowngrade = true
        try AtomicWriter.write(CodeSigner(forced).plan(file).changes)
        #expect(try SignatureVerifier().findings(file).filter { $0.severity == .error } == [])
    }

    @Test func `a key that does not belong to the certificate is refused`() throws {
        let scratch = try Scratch()
        _ = try identity(Self.kinds[1], in: scratch)
        let certificate = try String(contentsOf: scratch.folder.appendingPathComponent("cert.pem"), encoding: .utf8)
        #expect(throws: AppToolsError(.malformed, "")) {
            try CertificateIdentity(key: P256.Signing.PrivateKey().pemRepresentation, certificates: certificate)
        }
        #expect(throws: AppToolsError(.malformed, "")) { try CertificateIdentity(key: "x", certificates: certificate) }
        #expect(throws: AppToolsError(.malformed, "")) { try CertificateIdentity(key: "x", certificates: "") }
    }

    @Test(.enabled(if: Program.hasPython(with: "cryptography"), "needs Python's cryptography"))
    func `a chain that has expired is told from one that leads nowhere`() async throws {
        let scratch = try Scratch()
        let lab = try MachOLab.get()
        let file = try scratch.file("App", lab.data(lab.executable))
        _ = try Program.python(
            """
            import sys, datetime
            from cryptography import x509
            from cryptography.x509.oid import NameOID
            from cryptography.hazmat.primitives import hashes, serialization
            from cryptography.hazmat.primitives.asymmetric import ec
            key = ec.generate_private_key(ec.SECP256R1()); now = datetime.datetime.now(datetime.timezone.utc)
            name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, 'Apple Development: Example'),
                              x509.NameAttribute(NameOID.ORGANIZATIONAL_UNIT_NAME, 'ABCDE12345')])
            made = (x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
                .serial_number(7).not_valid_before(now - datetime.timedelta(days=9))
                .not_valid_after(now - datetime.timedelta(days=1))
                .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
                .sign(key, hashes.SHA256()))
            pem = serialization.Encoding.PEM
            open(sys.argv[1] + '/old-cert.pem', 'wb').write(made.public_bytes(pem))
            open(sys.argv[1] + '/old.pem', 'wb').write(key.private_bytes(
                pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
            """, [scratch.folder.path])
        func text(_ name: String) throws -> String {
            try String(contentsOf: scratch.folder.appendingPathComponent(name), encoding: .utf8)
        }
        var options = CodeSigner.Options()
        options.identity = try CertificateIdentity(key: text("old.pem"), certificates: text("old-cert.pem"))
        let plan = try CodeSigner(options).plan(file)
        #expect(plan.findings.contains { $0.code == "SG-DATE" && $0.severity == .warning }, "who signs is told")
        try AtomicWriter.write(plan.changes)
        let expired = try await SignatureTrust(anchors: text("old-cert.pem")).findings(file)
        #expect(expired.first?.message.contains("has expired") == true)
    }

    @Test func `an image with two directories tells of a changed page once`() throws {
        let scratch = try Scratch()
        let lab = try MachOLab.get()
        let file = scratch.folder.appendingPathComponent("old")
        try Program.succeed(
            try #require(MachOLab.linker),
            [
                "-arch", "arm64", "-platform_version", "ios", "10.0", "12.0", "-adhoc_codesign", "-headerpad", "0x400",
                "-o", file.path, "main-dev.o", "Demo.dev", "libSystem.tbd",
            ], in: lab.folder)
        try AtomicWriter.write(CodeSigner(CodeSigner.Options()).plan(file).changes)
        var data = try Data(contentsOf: file)
        data[20000] ^= 1
        try data.write(to: file)
        #expect(try SignatureVerifier().findings(file).filter { $0.code == "SG-CODE" }.count == 1)
    }

    @Test func `an old deployment target gets a SHA-1 directory too`() throws {
        let scratch = try Scratch()
        let lab = try MachOLab.get()
        let file = scratch.folder.appendingPathComponent("old")
        try Program.succeed(
            try #require(MachOLab.linker),
            [
                "-arch", "arm64", "-platform_version", "ios", "10.0", "12.0", "-adhoc_codesign", "-headerpad", "0x400",
                "-o", file.path, "main-dev.o", "Demo.dev", "libSystem.tbd",
            ], in: lab.folder)
        try AtomicWriter.write(CodeSigner(CodeSigner.Options()).plan(file).changes)
        let signature = try #require(try ImageSignatureCheck.signature(MachOImage(Data(contentsOf: file))))
        let hashes = try signature.codeDirectories.map { try CodeDirectory($0).hash }
        #expect(hashes == [.sha1, .sha256])
        #expect(try SignatureVerifier().findings(file).filter { $0.severity == .error } == [])
        var data = try Data(contentsOf: file)
        let second = try #require(
            data.range(of: SuperBlob.Magic.codeDirectory.bigBytes, options: .backwards)
        ).lowerBound
        data[second + Int(try ByteReader(data).big32(at: second + 20))] ^= 1
        let other = try scratch.file("other", data)
        #expect(
            try SignatureVerifier().findings(other).filter { $0.severity == .error }.map(\.code) == ["SG-DIRECTORY"])
    }

    @Test func `openssl verifies a signed profile and gives its content back`() throws {
        let scratch = try Scratch()
        let identity = try identity(Self.kinds[0], in: scratch)
        let profile = try ConfigurationProfile(
            ConfigurationProfile.SignOn(identifier: "org.example"), names: .intuneCompatible)
        let file = try scratch.file("signed.mobileconfig", identity.envelope(profile.data))
        let output = scratch.folder.appendingPathComponent("out")
        try Program.succeed(
            Self.openssl,
            [
                "cms", "-inform", "DER", "-verify", "-in", file.path, "-binary", "-purpose", "any", "-CAfile",
                scratch.folder.appendingPathComponent("cert.pem").path, "-out", output.path,
            ])
        #expect(try Data(contentsOf: output) == profile.data)
        var signed = try Data(contentsOf: file)
        #expect(try CMSEnvelope.content(of: signed) == profile.data)
        let read = try ProfileLint.read(file, path: "p")
        #expect(read.profile == profile.value && read.findings.map(\.severity) == [.note])
        let name = try #require(signed.range(of: Data("org.example".utf8)))
        signed.replaceSubrange(name, with: Data("org.exchange".utf8.prefix(name.count)))
        let changed = try scratch.file("changed.mobileconfig", signed)
        #expect(try ProfileLint.read(changed, path: "p").findings.map(\.severity) == [.error])
    }

    @Test func `a provisioning profile that openssl signed tells which groups it covers`() throws {
        let scratch = try Scratch()
        _ = try identity(Self.kinds[0], in: scratch)
        let content = try scratch.file(
            "content",
            """
            <plist><dict><key>Entitlements</key><dict><key>keychain-access-groups</key><array>
            <string>ABCDE12345.*</string></array><key>com.apple.security.application-groups</key><array>
            <string>group.one</string></array></dict></dict></plist>
            """)
        let signed = scratch.folder.appendingPathComponent("embedded.mobileprovision")
        try Program.succeed(
            Self.openssl,
            [
                "cms", "-sign", "-nodetach", "-binary", "-in", content.path, "-signer", "cert.pem", "-inkey", "key.pem",
                "-outform", "DER", "-out", signed.path,
            ], in: scratch.folder)
        let entitlements: PropertyListValue = .dictionary([
            "keychain-access-groups": .array([
                .string("$(AppIdentifierPrefix)com.contoso"), .string("ZZZZZ12345.com.contoso"),
            ]),
            "com.apple.security.application-groups": .array([.string("group.one"), .string("group.two")]),
        ])
        let findings = try ProvisioningProfile(Data(contentsOf: signed)).findings(entitlements, path: "e")
        #expect(findings.map(\.code) == ["CF-PROFILE", "CF-PROFILE"])
        #expect(findings.first?.message.contains("ZZZZZ12345.com.contoso") == true)
        #expect(findings.last?.message.contains("group.two") == true)
    }

    @Test func `damaged messages never trap`() throws {
        let scratch = try Scratch()
        let good = try identity(Self.kinds[1], in: scratch).sign([(2, Data(count: 88))])
        for position in stride(from: 0, to: good.count, by: 3) {
            for value in [UInt8(0), 0x84, 0xFF] {
                var bad = good
                bad[position] = value
                let blob = SuperBlob([
                    (0, Data(count: 8)), (SuperBlob.Slot.cms, SuperBlob.blob(SuperBlob.Magic.cms, bad)),
                ])
                _ = try? CMSCheck(signature: blob).problems()
            }
        }
    }
}
