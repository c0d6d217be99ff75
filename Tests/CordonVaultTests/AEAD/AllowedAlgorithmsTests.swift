import Foundation
import Testing

/// Which algorithms the sources name, against a list of what each part may use (MASVS CRYPTO-1). A new one is added here on
/// purpose or not at all.
struct AllowedAlgorithmsTests {
    private static let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../../Sources").standardizedFileURL

    /// Allowed everywhere.
    private static let common: Set<String> = ["AES.GCM", "HKDF", "HMAC<SHA256>", "P256.Signing", "SHA256"]

    /// What a part may use besides, and why.
    private static let more: [String: Set<String>] = [
        // Passwords and PINs are stretched; what a closed account receives is sealed to its public key (RFC 9180).
        // A TPM hides what it is told and tells by its own form, under a code of its own (AES-128-CFB).
        "Cordon": ["AES._CFB", "Curve25519.KeyAgreement", "HPKE", "KDF.Scrypt"],
        // Administrators' clients that sign with a certificate's key are taken as they are (RFC 7523).
        "CordonDevelopmentProvider": ["KDF.Scrypt", "_RSA.Signing"],
        // Hash of an identity token, of the length that its algorithm asks for.
        "CordonSignIn": ["SHA384", "SHA512"],
        // What identity providers sign their tokens with (RFC 7518, RFC 8037); Cordon's own texts are ES256 alone.
        "CordonSignatures": [
            "Curve25519.Signing", "P384.Signing", "P521.Signing", "SHA384", "SHA512", "_RSA.Signing",
        ],
        // Others' formats: code signatures, certificates, PKCS#12. They protect nothing of the organisation's.
        "CordonAppTools": [
            "AES._CBC", "HMAC<SHA384>", "HMAC<SHA512>", "Insecure.SHA1", "KDF.Insecure", "SHA384", "SHA512",
            "_RSA.Signing",
        ],
        // The one AEAD, called directly.
        "CordonAEADShim": [
            "EVP_aead_aes_256_gcm", "EVP_AEAD", "EVP_AEAD_CTX_init", "EVP_AEAD_CTX_cleanup",
            "EVP_AEAD_CTX_seal_scatter",
            "EVP_AEAD_CTX_open_gather",
        ],
    ]

    private static func names(in text: String) -> Set<String> {
        let pattern =
            #/\b(?:AES\.\w+|ChaChaPoly|HKDF|HMAC<\w+>|SHA(?:1|224|256|384|512|3_\d+)\b|Insecure\.\w+|P(?:256|384|521)\.\w+|Curve25519\.\w+|HPKE|_?RSA\.\w+|MD5|KDF\.\w+|EVP_\w+|CCCrypt\w*|kSecKeyAlgorithm\w+)/#
        // Prefixed symbols are taken by the names they stand for.
        let plain = text.replacingOccurrences(of: "CCryptoBoringSSL_", with: " ")
        return Set(plain.matches(of: pattern.wordBoundaryKind(.simple)).map { String($0.output) })
    }

    /// The parts' names and the names that each uses; comments are left out.
    private static func used() throws -> [String: Set<String>] {
        var found: [String: Set<String>] = [:]
        let walk = FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil)
        while let next = walk?.nextObject() as? URL {
            guard ["swift", "c", "h"].contains(next.pathExtension) else { continue }
            let part = next.standardizedFileURL.pathComponents[sources.pathComponents.count]
            let code = try String(contentsOf: next, encoding: .utf8).split(separator: "\n")
                .filter { !$0.drop { $0 == " " }.hasPrefix("//") }.joined(separator: "\n")
            found[part, default: []].formUnion(names(in: code))
        }
        return found
    }

    @Test func `no part names an algorithm that is not on its list`() throws {
        let used = try Self.used()
        #expect(
            used["CordonVault"]?.isSuperset(of: ["AES.GCM", "HKDF", "SHA256"]) == true, "the sources were not read")
        #expect(used["CordonAEADShim"] == Self.more["CordonAEADShim"])
        for (part, names) in used {
            #expect(names.subtracting(Self.common.union(Self.more[part] ?? [])).isEmpty, "\(part)")
        }
    }

    @Test func `an algorithm that is not on the list would be found`() {
        let planted =
            "let a = Insecure.MD5.hash(data: b); ChaChaPoly.seal(c); CCryptoBoringSSL_EVP_aead_des(); AES._CBC.x"
        #expect(Self.names(in: planted) == ["Insecure.MD5", "ChaChaPoly", "EVP_aead_des", "AES._CBC"])
    }
}
