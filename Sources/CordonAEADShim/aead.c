#include "CordonAEADShim.h"

#if defined(__linux__)

// Prototypes of the functions as swift-crypto 4.5.2 names them. They are not a product of that package: the version is
// pinned, and every vector runs through the public API as well.
typedef struct evp_aead_st EVP_AEAD;
extern const EVP_AEAD *CCryptoBoringSSL_EVP_aead_aes_256_gcm(void);
extern cordon_aead *CCryptoBoringSSL_EVP_AEAD_CTX_new(const EVP_AEAD *, const uint8_t *, size_t, size_t);
extern void CCryptoBoringSSL_EVP_AEAD_CTX_free(cordon_aead *);
extern int CCryptoBoringSSL_EVP_AEAD_CTX_seal_scatter(const cordon_aead *, uint8_t *, uint8_t *, size_t *, size_t,
                                                      const uint8_t *, size_t, const uint8_t *, size_t,
                                                      const uint8_t *, size_t, const uint8_t *, size_t);
extern int CCryptoBoringSSL_EVP_AEAD_CTX_open_gather(const cordon_aead *, uint8_t *, const uint8_t *, size_t,
                                                     const uint8_t *, size_t, const uint8_t *, size_t,
                                                     const uint8_t *, size_t);

int cordon_aead_is_available(void) { return 1; }

cordon_aead *cordon_aead_new(const uint8_t *key) {
    return CCryptoBoringSSL_EVP_AEAD_CTX_new(CCryptoBoringSSL_EVP_aead_aes_256_gcm(), key, 32, 16);
}

void cordon_aead_free(cordon_aead *aead) {
    if (aead) CCryptoBoringSSL_EVP_AEAD_CTX_free(aead);
}

int cordon_aead_seal(const cordon_aead *aead, uint8_t *out, uint8_t *tag, const uint8_t *nonce, const uint8_t *in,
                     size_t count, const uint8_t *context, size_t context_count) {
    size_t written = 0;
    return CCryptoBoringSSL_EVP_AEAD_CTX_seal_scatter(aead, out, tag, &written, 16, nonce, 12, in, count, NULL, 0,
                                                      context, context_count) &&
           written == 16;
}

int cordon_aead_open(const cordon_aead *aead, uint8_t *out, const uint8_t *tag, const uint8_t *nonce, const uint8_t *in,
                     size_t count, const uint8_t *context, size_t context_count) {
    return CCryptoBoringSSL_EVP_AEAD_CTX_open_gather(aead, out, nonce, 12, in, count, tag, 16, context, context_count);
}

#else

int cordon_aead_is_available(void) { return 0; }
cordon_aead *cordon_aead_new(const uint8_t *key) { (void)key; return NULL; }
void cordon_aead_free(cordon_aead *aead) { (void)aead; }

int cordon_aead_seal(const cordon_aead *aead, uint8_t *out, uint8_t *tag, const uint8_t *nonce, const uint8_t *in,
                     size_t count, const uint8_t *context, size_t context_count) {
    (void)aead; (void)out; (void)tag; (void)nonce; (void)in; (void)count; (void)context; (void)context_count;
    return 0;
}

int cordon_aead_open(const cordon_aead *aead, uint8_t *out, const uint8_t *tag, const uint8_t *nonce, const uint8_t *in,
                     size_t count, const uint8_t *context, size_t context_count) {
    (void)aead; (void)out; (void)tag; (void)nonce; (void)in; (void)count; (void)context; (void)context_count;
    return 0;
}

#endif
