import CordonTestSupport

#if os(Linux)
    import Foundation
    import Testing

    @testable import CordonVault

    /// The functions behind ``DirectCipher`` are no product of swift-crypto: another version of it may lack them or mean
    /// something else by them.
    struct LinkageTests {
        @Test func `this build uses the functions that swift-crypto links`() {
            #expect(DirectCipher.isAvailable)
            #expect(CipherBackend.preferred == .direct)
        }

        @Test func `without the functions a program links, starts, and offers no direct cipher`() throws {
            #expect(try LinkedShim(linking: nil).availability == "no")
        }

        @Test func `functions that give another answer than AES-256-GCM are not used`() throws {
            let zeros = Self.functions(body: "memset(out, 0, n); memset(tag, 0, 16);")
            #expect(try LinkedShim(linking: zeros).availability == "no")
        }

        @Test func `functions that accept a changed tag are not used`() throws {
            // Answers the known question rightly in both directions, and never refuses.
            let known = "memcpy(out, known_sealed, n); memcpy(tag, known_tag, 16);"
            let accepting = "memcpy(out, known_plain, n); return 1;"
            #expect(try LinkedShim(linking: Self.functions(body: known, opening: accepting)).availability == "no")
            let refusing = "if (tag[15] != known_tag[15]) return 0; memcpy(out, known_plain, n); return 1;"
            #expect(try LinkedShim(linking: Self.functions(body: known, opening: refusing)).availability == "yes")
        }

        /// C code for the functions by their names in swift-crypto, with bodies of the test's own.
        private static func functions(body: String, opening: String = "memset(out, 0, n); return 1;") -> String {
            """
            const EVP_AEAD *CCryptoBoringSSL_EVP_aead_aes_256_gcm(void) { return 0; }
            int CCryptoBoringSSL_EVP_AEAD_CTX_init(cordon_aead *a, const EVP_AEAD *which, const uint8_t *k, size_t kn, size_t t,
                void *engine) { return 1; }
            void CCryptoBoringSSL_EVP_AEAD_CTX_cleanup(cordon_aead *a) {}
            int CCryptoBoringSSL_EVP_AEAD_CTX_seal_scatter(const cordon_aead *a, uint8_t *out, uint8_t *tag, size_t *written,
                size_t most, const uint8_t *nonce, size_t nn, const uint8_t *in, size_t n, const uint8_t *e, size_t en,
                const uint8_t *c, size_t cn) { *written = 16; \(body) return 1; }
            int CCryptoBoringSSL_EVP_AEAD_CTX_open_gather(const cordon_aead *a, uint8_t *out, const uint8_t *nonce, size_t nn,
                const uint8_t *in, size_t n, const uint8_t *tag, size_t tn, const uint8_t *c, size_t cn) { \(opening) }
            """
        }
    }

    /// A program made of the shim alone, without swift-crypto.
    private struct LinkedShim {
        let availability: String

        init(linking functions: String?) throws {
            let folder = try TemporaryFolder.make()
            defer { TemporaryFolder.remove(folder) }
            let source = folder.appending(path: "main.c")
            let shim = URL(filePath: #filePath).deletingLastPathComponent()
                .appending(path: "../../../Sources/CordonAEADShim").standardizedFileURL
            try """
            #include "\(shim.path)/aead.c"
            #include <stdio.h>
            \(functions ?? "")
            int main(void) {
                uint8_t key[32] = {0};
                cordon_aead *aead = cordon_aead_new(key);
                puts(cordon_aead_is_available() ? "yes" : "no");
                return cordon_aead_is_available() == (aead != 0) ? 0 : 1;
            }
            """.write(to: source, atomically: true, encoding: .utf8)
            let program = folder.appending(path: "program").path
            let clang = try #require(Program.find("clang"))
            try Program.succeed(
                clang, ["-I", "\(shim.path)/include", source.path, "\(shim.path)/memory.c", "-o", program, "-lpthread"])
            availability = try Program.succeed(program, []).text.trimmingCharacters(in: .whitespacesAndNewlines)
        }
    }
#endif
