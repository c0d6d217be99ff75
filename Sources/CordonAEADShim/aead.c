#include "CordonAEADShim.h"

#if defined(__linux__)

#include <pthread.h>
#include <string.h>

// Functions that swift-crypto links but does not offer. They are weak: a version of swift-crypto that names them otherwise
// links as before, and the vault then uses the public API. `check` decides which it is.
#define WEAK __attribute__((weak))
typedef struct evp_aead_st EVP_AEAD;
extern const EVP_AEAD *CCryptoBoringSSL_EVP_aead_aes_256_gcm(void) WEAK;
extern int CCryptoBoringSSL_EVP_AEAD_CTX_init(cordon_aead *, const EVP_AEAD *, const uint8_t *, size_t, size_t, void *) WEAK;
extern void CCryptoBoringSSL_EVP_AEAD_CTX_cleanup(cordon_aead *) WEAK;
extern int CCryptoBoringSSL_EVP_AEAD_CTX_seal_scatter(const cordon_aead *, uint8_t *, uint8_t *, size_t *, size_t,
                                                      const uint8_t *, size_t, const uint8_t *, size_t,
                                                      const uint8_t *, size_t, const uint8_t *, size_t) WEAK;
extern int CCryptoBoringSSL_EVP_AEAD_CTX_open_gather(const cordon_aead *, uint8_t *, const uint8_t *, size_t,
                                                     const uint8_t *, size_t, const uint8_t *, size_t,
                                                     const uint8_t *, size_t) WEAK;

// Each expanded key has a page of its own. The library's context has about 600 bytes, all of it in the context itself; behind it stands what is
// needed to give the page back.
#define PAGE_NOTE 2048

static cordon_aead *expand(const uint8_t *key) {
    cordon_guarded_page page = cordon_guarded_take();
    if (!page.bytes) return NULL;
    if (CCryptoBoringSSL_EVP_AEAD_CTX_init(page.bytes, CCryptoBoringSSL_EVP_aead_aes_256_gcm(), key, 32, 16, NULL)) {
        memcpy((uint8_t *)page.bytes + PAGE_NOTE, &page, sizeof page);
        return page.bytes;
    }
    cordon_guarded_give_back(page);
    return NULL;
}

static void give_back(cordon_aead *aead) {
    cordon_guarded_page page;
    memcpy(&page, (uint8_t *)aead + PAGE_NOTE, sizeof page);
    CCryptoBoringSSL_EVP_AEAD_CTX_cleanup(aead);
    cordon_guarded_give_back(page);
}

// Test case 16 of the GCM specification (McGrew and Viega, 2005).
static const uint8_t known_key[32] = {0xfe, 0xff, 0xe9, 0x92, 0x86, 0x65, 0x73, 0x1c, 0x6d, 0x6a, 0x8f,
                                      0x94, 0x67, 0x30, 0x83, 0x08, 0xfe, 0xff, 0xe9, 0x92, 0x86, 0x65,
                                      0x73, 0x1c, 0x6d, 0x6a, 0x8f, 0x94, 0x67, 0x30, 0x83, 0x08};
static const uint8_t known_nonce[12] = {0xca, 0xfe, 0xba, 0xbe, 0xfa, 0xce, 0xdb, 0xad, 0xde, 0xca, 0xf8, 0x88};
static const uint8_t known_context[20] = {0xfe, 0xed, 0xfa, 0xce, 0xde, 0xad, 0xbe, 0xef, 0xfe, 0xed,
                                          0xfa, 0xce, 0xde, 0xad, 0xbe, 0xef, 0xab, 0xad, 0xda, 0xd2};
static const uint8_t known_plain[60] = {
    0xd9, 0x31, 0x32, 0x25, 0xf8, 0x84, 0x06, 0xe5, 0xa5, 0x59, 0x09, 0xc5, 0xaf, 0xf5, 0x26, 0x9a, 0x86, 0xa7, 0xa9, 0x53,
    0x15, 0x34, 0xf7, 0xda, 0x2e, 0x4c, 0x30, 0x3d, 0x8a, 0x31, 0x8a, 0x72, 0x1c, 0x3c, 0x0c, 0x95, 0x95, 0x68, 0x09, 0x53,
    0x2f, 0xcf, 0x0e, 0x24, 0x49, 0xa6, 0xb5, 0x25, 0xb1, 0x6a, 0xed, 0xf5, 0xaa, 0x0d, 0xe6, 0x57, 0xba, 0x63, 0x7b, 0x39};
static const uint8_t known_sealed[60] = {
    0x52, 0x2d, 0xc1, 0xf0, 0x99, 0x56, 0x7d, 0x07, 0xf4, 0x7f, 0x37, 0xa3, 0x2a, 0x84, 0x42, 0x7d, 0x64, 0x3a, 0x8c, 0xdc,
    0xbf, 0xe5, 0xc0, 0xc9, 0x75, 0x98, 0xa2, 0xbd, 0x25, 0x55, 0xd1, 0xaa, 0x8c, 0xb0, 0x8e, 0x48, 0x59, 0x0d, 0xbb, 0x3d,
    0xa7, 0xb0, 0x8b, 0x10, 0x56, 0x82, 0x88, 0x38, 0xc5, 0xf6, 0x1e, 0x63, 0x93, 0xba, 0x7a, 0x0a, 0xbc, 0xc9, 0xf6, 0x62};
static const uint8_t known_tag[16] = {0x76, 0xfc, 0x6e, 0xce, 0x0f, 0x4e, 0x17, 0x68,
                                      0xcd, 0xdf, 0x88, 0x53, 0xbb, 0x2d, 0x55, 0x1b};

// Whether an expanded key gives the known answer, opens it again, and refuses it with one bit changed.
static int answers(const cordon_aead *aead) {
    uint8_t bytes[60], tag[16];
    if (!cordon_aead_seal(aead, bytes, tag, known_nonce, known_plain, 60, known_context, 20) ||
        memcmp(bytes, known_sealed, 60) != 0 || memcmp(tag, known_tag, 16) != 0)
        return 0;
    if (!cordon_aead_open(aead, bytes, tag, known_nonce, bytes, 60, known_context, 20) ||
        memcmp(bytes, known_plain, 60) != 0)
        return 0;
    tag[15] ^= 1;
    return !cordon_aead_open(aead, bytes, tag, known_nonce, known_sealed, 60, known_context, 20);
}

static int is_available;
static pthread_once_t checked = PTHREAD_ONCE_INIT;

static void check(void) {
    if (!CCryptoBoringSSL_EVP_aead_aes_256_gcm || !CCryptoBoringSSL_EVP_AEAD_CTX_init ||
        !CCryptoBoringSSL_EVP_AEAD_CTX_cleanup || !CCryptoBoringSSL_EVP_AEAD_CTX_seal_scatter ||
        !CCryptoBoringSSL_EVP_AEAD_CTX_open_gather)
        return;
    // In memory of its own, since a known key is no secret: a process that had no memory just then would do without for good.
    static _Alignas(64) uint8_t room[PAGE_NOTE];
    cordon_aead *aead = (cordon_aead *)room;
    if (!CCryptoBoringSSL_EVP_AEAD_CTX_init(aead, CCryptoBoringSSL_EVP_aead_aes_256_gcm(), known_key, 32, 16, NULL)) return;
    is_available = answers(aead);
    CCryptoBoringSSL_EVP_AEAD_CTX_cleanup(aead);
}

int cordon_aead_is_available(void) {
    (void)pthread_once(&checked, check);
    return is_available;
}

cordon_aead *cordon_aead_new(const uint8_t *key) { return cordon_aead_is_available() ? expand(key) : NULL; }

void cordon_aead_free(cordon_aead *aead) {
    if (aead) give_back(aead);
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
