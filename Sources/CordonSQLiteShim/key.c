#include "sealed.h"

#include <CordonAEADShim.h>
#include <stdlib.h>
#include <string.h>

cordon_page_key *cordon_page_key_new(cordon_cipher cipher, const uint8_t *digest) {
    cordon_page_key *key = calloc(1, sizeof *key);
    if (!key) {
        cipher.release(cipher.state);
        return NULL;
    }
    key->cipher = cipher;
    memcpy(key->digest, digest, sizeof key->digest);
    atomic_init(&key->owners, 1);
    pthread_mutex_init(&key->lock, NULL);
    return key;
}

void cordon_page_key_retain(cordon_page_key *key) { atomic_fetch_add(&key->owners, 1); }

int cordon_page_key_is_shared(const cordon_page_key *key) { return atomic_load(&key->owners) > 1; }

void cordon_page_key_release(cordon_page_key *key) {
    if (!key || atomic_fetch_sub(&key->owners, 1) != 1) return;
    cordon_page_key_revoke(key);
    pthread_mutex_destroy(&key->lock);
    free(key);
}

// Once, by the one who revoked the key or by the last one who used it.
static void destroy(cordon_page_key *key) {
    if (atomic_exchange(&key->destroyed, 1)) return;
    key->cipher.release(key->cipher.state);
    key->cipher.state = NULL;
}

void cordon_page_key_revoke(cordon_page_key *key) {
    if (atomic_exchange(&key->revoked, 1)) return;
    // A thread that is still at a block destroys the key on leaving: a hung disk must not hold up a wipe.
    if (atomic_load(&key->users) == 0) destroy(key);
}

int cordon_key_enter(cordon_page_key *key) {
    atomic_fetch_add(&key->users, 1);
    if (!atomic_load(&key->revoked)) return 1;
    cordon_key_leave(key);
    return 0;
}

void cordon_key_leave(cordon_page_key *key) {
    if (atomic_fetch_sub(&key->users, 1) == 1 && atomic_load(&key->revoked)) destroy(key);
}

// Ten random bytes and a counter of two; new random bytes after 4,096 seals, long before the counter is through, so that a
// machine that is resumed twice from one snapshot soon uses others, and in the child of a fork.
static int next_nonce(cordon_page_key *key, uint8_t *nonce) {
    pthread_mutex_lock(&key->lock);
    uint64_t generation = cordon_fork_generation();
    int drawn = 1;
    if (key->left == 0 || key->generation != generation) {
        drawn = cordon_random(key->prefix, sizeof key->prefix);
        key->generation = generation;
        key->left = drawn ? 4096 : 0;
    }
    if (drawn) {
        uint32_t count = --key->left;
        memcpy(nonce, key->prefix, sizeof key->prefix);
        nonce[10] = (uint8_t)count;
        nonce[11] = (uint8_t)(count >> 8);
    }
    pthread_mutex_unlock(&key->lock);
    return drawn;
}

// kind ‖ block size as a power of two, or 0 ‖ 6 zeros ‖ index ‖ digest: the context of docs/vault-format.md.
static void fill_context(const cordon_page_key *key, cordon_place place, uint8_t *context) {
    memset(context, 0, 8);
    context[0] = place.kind;
    context[1] = place.level;
    for (int byte = 0; byte < 8; byte++) context[8 + byte] = (uint8_t)((uint64_t)place.index >> (8 * byte));
    memcpy(context + 16, key->digest, 32);
}

int cordon_seal_block(cordon_page_key *key, cordon_place place, uint8_t *slot, const uint8_t *in, size_t count) {
    uint8_t context[48];
    uint8_t *trailer = slot + count;
    fill_context(key, place, context);
    return next_nonce(key, trailer) &&
           key->cipher.seal(key->cipher.state, slot, trailer + 12, trailer, in, count, context, sizeof context);
}

int cordon_open_block(cordon_page_key *key, cordon_place place, uint8_t *out, const uint8_t *slot, size_t count) {
    uint8_t context[48];
    const uint8_t *trailer = slot + count;
    fill_context(key, place, context);
    return key->cipher.open(key->cipher.state, out, trailer + 12, trailer, slot, count, context, sizeof context);
}

static int direct_seal(const void *state, uint8_t *out, uint8_t *tag, const uint8_t *nonce, const uint8_t *in,
                       size_t count, const uint8_t *context, size_t context_count) {
    return cordon_aead_seal(state, out, tag, nonce, in, count, context, context_count);
}

static int direct_open(const void *state, uint8_t *out, const uint8_t *tag, const uint8_t *nonce, const uint8_t *in,
                       size_t count, const uint8_t *context, size_t context_count) {
    return cordon_aead_open(state, out, tag, nonce, in, count, context, context_count);
}

static void direct_release(void *state) { cordon_aead_free(state); }

cordon_cipher cordon_direct_cipher(const uint8_t *key) {
    cordon_cipher cipher = {cordon_aead_new(key), direct_seal, direct_open, direct_release};
    return cipher;
}
