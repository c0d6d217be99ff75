import CordonTestSupport
import Crypto
import Foundation
import Testing

@testable import CordonAppTools

@Suite(.enabled(if: Program.find("openssl") != nil, "needs openssl"))
struct PKCS12Tests {
    private static let openssl = Program.find("openssl") ?? "openssl"

    /// A file that openssl wrote, with a key, its certificate and the certificate that issued it.
    private func file(_ kind: [String], password: String, _ flags: [String] = [], in scratch: Scratch) throws -> Data {
        for (name, subject) in [("root", "/CN=Root"), ("leaf", "/CN=Apple Development: Example/OU=ABCDE12345")] {
            try Program.succeed(
                Self.openssl,
                ["req", "-x509", "-newkey"] + kind + [
                    "-nodes", "-keyout", "\(name).key", "-out", "\(name).pem", "-days", "9", "-subj", subject,
                ], in: scratch.folder)
        }
        try Program.succeed(
            Self.openssl,
            [
                "pkcs12", "-export", "-inkey", "leaf.key", "-in", "leaf.pem", "-certfile", "root.pem", "-out", "id.p12",
                "-passout", "pass:\(password)",
            ] + flags, in: scratch.folder)
        return try Data(contentsOf: scratch.folder.appendingPathComponent("id.p12"))
    }

    private static let kinds = [["rsa:2048"], ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"]]

    @Test(arguments: kinds, ["", "pass wörd"])
    func `a file of openssl signs as its PEM parts do`(kind: [String], password: String) throws {
        let scratch = try Scratch()
        let identity = try CertificateIdentity(pkcs12: file(kind, password: password, in: scratch), password: password)
        #expect(identity.team == "ABCDE12345")
        let signed = try scratch.file("signed", identity.envelope(Data("content".utf8)))
        let result = try Program.run(
            Self.openssl,
            [
                "cms", "-inform", "DER", "-verify", "-in", signed.path, "-binary", "-purpose", "any", "-CAfile",
                scratch.folder.appendingPathComponent("leaf.pem").path, "-out", "/dev/null",
            ])
        #expect(result.status == 0, "\(result.everything)")
    }

    @Test(arguments: [
        ["-certpbe", "AES-128-CBC", "-keypbe", "AES-192-CBC", "-macalg", "sha1"], ["-certpbe", "NONE"],
        ["-macalg", "sha512", "-iter", "5000"], ["-certpbe", "NONE", "-keypbe", "NONE"],
    ])
    func `other ways to protect it are understood`(flags: [String]) throws {
        let scratch = try Scratch()
        let data = try file(Self.kinds[1], password: "secret", flags, in: scratch)
        #expect(try CertificateIdentity(pkcs12: data, password: "secret").team == "ABCDE12345")
    }

    @Test func `a wrong password and a changed file are refused alike`() throws {
        let scratch = try Scratch()
        var data = try file(Self.kinds[1], password: "secret", in: scratch)
        #expect(throws: AppToolsError(.refused, "")) { try PKCS12(data, password: "Secret") }
        data[data.count / 2] ^= 1
        #expect(throws: AppToolsError.self) { try PKCS12(data, password: "secret") }
    }

    @Test func `the encryption of older tools is named, with the way out`() throws {
        let scratch = try Scratch()
        let data = try file(
            Self.kinds[1], password: "secret", ["-certpbe", "PBE-SHA1-3DES", "-keypbe", "PBE-SHA1-3DES"], in: scratch)
        let error = #expect(throws: AppToolsError(.unsupported, "")) { try PKCS12(data, password: "secret") }
        #expect(error?.hint?.contains("openssl pkcs12") == true)
    }

    @Test func `the parts of a file share the rounds that it may ask for`() throws {
        let scratch = try Scratch()
        var data = try file(Self.kinds[1], password: "", ["-certpbe", "NONE", "-iter", "32768"], in: scratch)
        let fields = try DERNode(data).children()
        var content = try fields[1].child(1).child(0).octets()
        let mac = try (digest: fields[2].child(0).child(1).content, salt: fields[2].child(1).content)
        let place = try #require(data.range(of: content))
        // As many for the key as a file may ask for, behind those of the MAC, which has to fit.
        let rounds = try #require(content.range(of: Data([2, 3, 0, 0x80, 0])))
        content.replaceSubrange(rounds, with: [2, 3, 0x98, 0x96, 0x80])
        data.replaceSubrange(place, with: content)
        var key = Data(repeating: 3, count: 64)
        while key.count < 128 { key += mac.salt }
        key += Data(count: 64)
        for _ in 0..<32768 { key = Data(SHA256.hash(data: key)) }
        let code = Data(HMAC<SHA256>.authenticationCode(for: content, using: SymmetricKey(data: key)))
        data.replaceSubrange(try #require(data.range(of: mac.digest)), with: code)
        let error = #expect(throws: AppToolsError(.unsupported, "")) { try PKCS12(data, password: "") }
        #expect(error?.reason.contains("rounds") == true)
    }

    @Test func `a file without a password's protection is not trusted`() throws {
        let scratch = try Scratch()
        let data = try file(Self.kinds[1], password: "", ["-nomac"], in: scratch)
        #expect(throws: AppToolsError(.unsupported, "")) { try PKCS12(data, password: "") }
    }

    @Test func `damaged files never trap`() throws {
        let scratch = try Scratch()
        let good = try file(Self.kinds[1], password: "", ["-certpbe", "NONE", "-keypbe", "NONE"], in: scratch)
        for position in good.indices {
            for value in [UInt8(0), 0x84, 0xFF] {
                var bad = good
                bad[position] = value
                _ = try? PKCS12(bad, password: "")
            }
        }
    }
}
