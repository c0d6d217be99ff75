#define _GNU_SOURCE
#include "failing.h"

// The parts themselves, so that the functions of swift-crypto can be stood in for, and the calls that make a fork known made to fail.
#include "aead.c"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static int no_maps(void) {
    errno = ENOMEM;
    return 0;
}
#define mmap(...) (no_maps() ? NULL : MAP_FAILED)
#define pthread_atfork(...) ENOMEM
#include "memory.c"
#undef mmap
#undef pthread_atfork

// Expanded keys and guarded pages with every allocation failing in turn, from the very first question on, and a fork that neither the
// kernel nor the C library has memory to tell of.

const EVP_AEAD *CCryptoBoringSSL_EVP_aead_aes_256_gcm(void) { return NULL; }
int CCryptoBoringSSL_EVP_AEAD_CTX_init(cordon_aead *aead, const EVP_AEAD *which, const uint8_t *key, size_t count, size_t tag,
                                       void *engine) {
    (void)which; (void)count; (void)tag; (void)engine;
    memcpy(aead, key, 32);
    return 1;
}
void CCryptoBoringSSL_EVP_AEAD_CTX_cleanup(cordon_aead *aead) { memset(aead, 0, 32); }
int CCryptoBoringSSL_EVP_AEAD_CTX_seal_scatter(const cordon_aead *aead, uint8_t *out, uint8_t *tag, size_t *written, size_t most,
                                               const uint8_t *nonce, size_t nonce_count, const uint8_t *in, size_t count,
                                               const uint8_t *extra, size_t extra_count, const uint8_t *context,
                                               size_t context_count) {
    (void)aead; (void)most; (void)nonce; (void)nonce_count; (void)in; (void)extra; (void)extra_count; (void)context;
    (void)context_count;
    memcpy(out, known_sealed, count);
    memcpy(tag, known_tag, 16);
    *written = 16;
    return 1;
}
int CCryptoBoringSSL_EVP_AEAD_CTX_open_gather(const cordon_aead *aead, uint8_t *out, const uint8_t *nonce, size_t nonce_count,
                                              const uint8_t *in, size_t count, const uint8_t *tag, size_t tag_count,
                                              const uint8_t *context, size_t context_count) {
    (void)aead; (void)nonce; (void)nonce_count; (void)in; (void)context; (void)context_count;
    if (memcmp(tag, known_tag, tag_count) != 0) return 0;
    memcpy(out, known_plain, count);
    return 1;
}

enum { keys = 2 * MOST_SPARE };

// More keys at once than there are spare pages; how many there was memory for.
static int expand_many(void) {
    static const uint8_t key[32] = {7};
    cordon_aead *made[keys];
    int count = 0;
    for (int index = 0; index < keys; index++) {
        made[index] = cordon_aead_new(key);
        if (made[index]) count += memcmp(made[index], key, 32) == 0;
    }
    for (int index = 0; index < keys; index++) cordon_aead_free(made[index]);
    return count;
}

static void try_all(int for_good) {
    for (long number = 1;; number++) {
        // Pages that earlier rounds gave back need no memory.
        while (spare_count > 0) {
            cordon_guarded_page page = spare[--spare_count];
            cordon_unguard(page.bytes, cordon_guarded_size());
            free(page.bytes);
        }
        long before = failing_living();
        failing_begin(number, for_good);
        int count = expand_many();
        long failures = failing_end();
        if (count + failures != keys) failing_blame("a key is missing, or was made of nothing", number, for_good);
        if (failing_living() - before != spare_count) failing_blame("memory was lost", number, for_good);
        if (failures == 0) return;
    }
}

int main(void) {
    failing_begin(1, 1);
    int is_there = cordon_aead_is_available();
    cordon_aead *none = cordon_aead_new(known_key);
    if (failing_end() == 0 || none) failing_blame("a key without memory", 1, 1);
    if (!is_there || !cordon_aead_is_available()) failing_blame("the functions count as missing for want of memory", 1, 1);
    try_all(0);
    try_all(1);
    uint64_t here = cordon_fork_generation();
    pid_t child = fork();
    if (child == 0) {
        uint64_t there = cordon_fork_generation();
        _exit(there != here && cordon_fork_generation() == there ? 0 : 1);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) failing_blame("a fork went unnoticed", 0, 0);
    if (cordon_fork_generation() != here) failing_blame("a child's fork was taken for this process's", 0, 0);
    puts("failed allocations: all");
    return 0;
}
