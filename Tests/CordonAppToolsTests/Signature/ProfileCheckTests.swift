import CordonTestSupport
import Foundation
import Testing

@testable import CordonAppTools

@Suite(
    .enabled(if: MachOLab.isAvailable, MachOLab.needs),
    .enabled(if: Program.find("openssl") != nil, "needs openssl"))
struct ProfileCheckTests {
    private static let openssl = Program.find("openssl") ?? "openssl"

    /// An app signed by a certificate that a root issued, with a provisioning profile for that certificate.
    private func app(
        in scratch: Scratch, lists certificate: String = "leaf.der", expires: String = "2099-01-01T00:00:00Z",
        days: String = "30", purpose: String = "codeSigning"
    ) throws -> URL {
        let run = { (arguments: [String]) in _ = try Program.succeed(Self.openssl, arguments, in: scratch.folder) }
        let curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
        try run(
            ["req", "-x509"] + curve + ["-keyout", "root.key", "-out", "root.pem", "-days", "99", "-subj", "/CN=Root"])
        try run(
            ["req", "-new"] + curve + [
                "-keyout", "leaf.key", "-out", "leaf.csr", "-subj", "/CN=Developer/OU=ABCDE12345",
            ])
        _ = try scratch.file("leaf.ext", "extendedKeyUsage=critical,\(purpose)\nkeyUsage=critical,digitalSignature\n")
        try run([
            "x509", "-req", "-in", "leaf.csr", "-CA", "root.pem", "-CAkey", "root.key", "-CAcreateserial", "-days",
            days,
            "-extfile", "leaf.ext", "-out", "leaf.pem",
        ])
        for name in ["leaf", "root"] {
            try run(["x509", "-in", "\(name).pem", "-outform", "DER", "-out", "\(name).der"])
        }
        let listed = try Data(contentsOf: scratch.folder.appendingPathComponent(certificate)).base64EncodedString()
        _ = try scratch.file(
            "content",
            """
            <plist><dict><key>Entitlements</key><dict><key>application-identifier</key><string>ABCDE12345.*</string>
            <key>keychain-access-groups</key><array><string>ABCDE12345.*</string></array>
            <key>get-task-allow</key><true/></dict><key>TeamIdentifier</key><array><string>ABCDE12345</string></array>
            <key>ExpirationDate</key><date>\(expires)</date>
            <key>DeveloperCertificates</key><array><data>\(listed)</data></array></dict></plist>
            """)
        let app = try FrameworkPatcherTests.app(in: scratch)
        try run([
            "cms", "-sign", "-nodetach", "-binary", "-in", "content", "-signer", "root.pem", "-inkey", "root.key",
            "-outform", "DER", "-out", app.appendingPathComponent("embedded.mobileprovision").path,
        ])
        return app
    }

    private func sign(_ app: URL, in scratch: Scratch, entitlements: String, roots: Int = 0) throws {
        var options = CodeSigner.Options()
        func text(_ name: String) throws -> String {
            try String(contentsOf: scratch.folder.appendingPathComponent(name), encoding: .utf8)
        }
        options.identity = try CertificateIdentity(
            key: text("leaf.key"), certificates: text("leaf.pem") + String(repeating: text("root.pem"), count: roots))
        options.entitlements = Data("<plist><dict>\(entitlements)</dict></plist>".utf8)
        try AtomicWriter.write(CodeSigner(options).plan(app).changes)
    }

    private static let allowed = """
        <key>application-identifier</key><string>ABCDE12345.example.test.App</string>
        <key>get-task-allow</key><false/>
        <key>keychain-access-groups</key><array><string>ABCDE12345.group</string></array>
        """

    private func errors(_ app: URL, now: Date = Date()) throws -> [String] {
        try SignatureVerifier(now: now).findings(app).filter { $0.severity == .error }.map(\.message)
    }

    @Test func `an app that keeps to its profile is valid`() throws {
        let scratch = try Scratch()
        let app = try app(in: scratch)
        try sign(app, in: scratch, entitlements: Self.allowed)
        #expect(try errors(app) == [])
        let file = app.appendingPathComponent("embedded.mobileprovision")
        var profile = try Data(contentsOf: file)
        profile.replaceSubrange(try #require(profile.range(of: Data("2099-".utf8))), with: Data("2098-".utf8))
        try profile.write(to: file)
        try sign(app, in: scratch, entitlements: Self.allowed)
        #expect(try errors(app) == ["its content changed after it was signed"])
    }

    @Test func `an entitlement beyond the profile is named`() throws {
        let scratch = try Scratch()
        let app = try app(in: scratch)
        let more = "<key>com.apple.developer.associated-domains</key><array><string>a</string></array>"
        try sign(app, in: scratch, entitlements: Self.allowed + more)
        #expect(
            try errors(app) == [
                "arm64: embedded.mobileprovision does not allow the entitlement com.apple.developer.associated-domains"
            ])
    }

    @Test func `a certificate that the profile does not list is named`() throws {
        let scratch = try Scratch()
        let app = try app(in: scratch, lists: "root.der")
        try sign(app, in: scratch, entitlements: Self.allowed)
        #expect(try errors(app) == ["arm64: the certificate is not listed in embedded.mobileprovision"])
    }

    @Test func `an expired profile is an error, an expired certificate a warning`() throws {
        let scratch = try Scratch()
        let app = try app(in: scratch, expires: "2020-01-01T00:00:00Z")
        try sign(app, in: scratch, entitlements: Self.allowed)
        #expect(try errors(app) == ["expired on 2020-01-01T00:00:00Z"])
        let later = Date(timeIntervalSinceNow: 31 * 86_400)
        let codes = try SignatureVerifier(now: later).findings(app).filter { $0.severity == .warning }.map(\.code)
        #expect(codes.count == 6 && Set(codes) == ["SG-DATE"])
    }

    @Test func `a certificate for TLS servers is not trusted with code`() async throws {
        let scratch = try Scratch()
        let app = try app(in: scratch, purpose: "serverAuth")
        try sign(app, in: scratch, entitlements: Self.allowed)
        let root = try String(contentsOf: scratch.folder.appendingPathComponent("root.pem"), encoding: .utf8)
        let found = try await SignatureTrust(anchors: root).findings(app)
        #expect(found.count == 6 && found.allSatisfy { $0.message.contains("is not for signing code") })
    }

    @Test func `trust needs a chain to one of the anchors`() async throws {
        let scratch = try Scratch()
        let app = try app(in: scratch)
        try sign(app, in: scratch, entitlements: Self.allowed)
        func anchors(_ name: String) throws -> String {
            try String(contentsOf: scratch.folder.appendingPathComponent(name), encoding: .utf8)
        }
        #expect(try await SignatureTrust(anchors: anchors("root.pem")).findings(app) == [])
        let stranger = try Scratch()
        try Program.succeed(
            Self.openssl,
            ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "k", "-out", "c", "-subj", "/CN=Root"],
            in: stranger.folder)
        let other = try String(contentsOf: stranger.folder.appendingPathComponent("c"), encoding: .utf8)
        let found = try await SignatureTrust(anchors: other).findings(app)
        #expect(found.count == 6 && found.allSatisfy { $0.message.hasSuffix("does not lead to a trusted root") })
        #expect(throws: AppToolsError(.malformed, "")) { try SignatureTrust(anchors: "nothing") }
        // To try every order of many certificates would take forever.
        try sign(app, in: scratch, entitlements: Self.allowed, roots: 4)
        #expect(try await SignatureTrust(anchors: anchors("root.pem")).findings(app) == [])
        try sign(app, in: scratch, entitlements: Self.allowed, roots: 5)
        let many = try await SignatureTrust(anchors: anchors("root.pem")).findings(app)
        #expect(many.count == 6 && many.allSatisfy { $0.message.hasSuffix("more certificates than a chain has") })
        let lab = try MachOLab.get()
        let adHoc = try scratch.file("adhoc", lab.data(lab.library))
        let unsigned = try await SignatureTrust(anchors: anchors("root.pem")).findings(adHoc)
        #expect(unsigned.map(\.message) == ["arm64: carries no certificate"])
    }
}
