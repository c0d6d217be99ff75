import CordonTestSupport
import Foundation
import Testing

@testable import CordonAppTools

@Suite(
    .enabled(if: Program.find("openssl") != nil, "needs openssl"),
    .enabled(if: Program.python != nil, "needs python3"))
struct DesignatedRequirementTests {
    /// Reads the compiled form by the published numbers of operations, and prints it as requirements are written.
    private static let reader = """
        import struct, sys
        d = open(sys.argv[1], 'rb').read(); p = 0
        def u():
            global p; p += 4; return struct.unpack('>I', d[p-4:p])[0]
        def s():
            global p; n = u(); v = d[p:p+n]; p += (n + 3) // 4 * 4; return v
        def oid(b):
            out = [b[0] // 40, b[0] % 40] if b[0] < 80 else [2, b[0] - 80]; n = 0
            for x in b[1:]:
                n = n << 7 | x & 127
                if x < 128: out.append(n); n = 0
            return '.'.join(map(str, out))
        def match():
            return {0: lambda: ' exists', 1: lambda: ' = "%s"' % s().decode()}[u()]()
        def expr():
            op = u()
            if op == 2: return 'identifier "%s"' % s().decode()
            if op == 6: return '%s and %s' % (expr(), expr())
            if op == 11: return 'certificate %d[%s]%s' % (u(), s().decode(), match())
            if op == 14: return 'certificate %d[field.%s]%s' % (u(), oid(s()), match())
            if op == 15: return 'anchor apple generic'
            raise SystemExit('operation %d' % op)
        assert (u(), u(), u(), u(), u()) == (0xfade0c01, len(d), 1, 3, 20)
        assert (u(), u(), u()) == (0xfade0c00, len(d) - 20, 1)
        print(expr()); assert p == len(d)
        """

    private func identity(marked: Bool, issuer: String, in scratch: Scratch) throws -> CertificateIdentity {
        let openssl = Program.find("openssl") ?? ""
        let run = { (arguments: [String]) in _ = try Program.succeed(openssl, arguments, in: scratch.folder) }
        let curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
        try run(["req", "-x509"] + curve + ["-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=Test/O=\(issuer)"])
        try run(
            ["req", "-new"] + curve + ["-keyout", "key.pem", "-out", "csr", "-subj", "/CN=Apple Development: A/OU=T1"])
        _ = try scratch.file(
            "ext", marked ? "1.2.840.113635.100.6.1.2=critical,DER:0500\n" : "keyUsage=digitalSignature\n")
        try run([
            "x509", "-req", "-in", "csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-extfile", "ext",
            "-out", "cert.pem",
        ])
        func text(_ name: String) throws -> String {
            try String(contentsOf: scratch.folder.appendingPathComponent(name), encoding: .utf8)
        }
        return try CertificateIdentity(key: text("key.pem"), certificates: text("cert.pem"))
    }

    @Test func `an Apple certificate gets the requirement that its tools write`() throws {
        let scratch = try Scratch()
        let identity = try identity(marked: true, issuer: "Apple Inc.", in: scratch)
        let blob = try #require(identity.designatedRequirement(of: "example.test.app"))
        let file = try scratch.file("requirements", blob)
        let text = try Program.python(Self.reader, [file.path])
        #expect(
            text == """
                identifier "example.test.app" and anchor apple generic and certificate 0[subject.CN] = "Apple \
                Development: A" and certificate 1[field.1.2.840.113635.100.6.2.1] exists

                """)
    }

    @Test func `no other certificate gets one`() throws {
        #expect(try identity(marked: false, issuer: "Apple Inc.", in: Scratch()).designatedRequirement(of: "a") == nil)
        #expect(try identity(marked: true, issuer: "Other", in: Scratch()).designatedRequirement(of: "a") == nil)
    }
}
