#ifndef CORDON_AEAD_SHIM_H
#define CORDON_AEAD_SHIM_H

#include <stddef.h>
#include <stdint.h>

// AES-256-GCM with one context per key, through the AEAD functions that swift-crypto links anyway, and the few
// system calls that Swift does not offer. Nothing here allocates per call.

// An expanded AES-256-GCM key; its memory is zeroed when it is freed.
typedef struct cordon_aead cordon_aead;

// Whether this process has the AEAD functions and they give a known answer, checked once. If not, `cordon_aead_new`
// returns NULL, and callers use the public API of Crypto instead.
int cordon_aead_is_available(void);

// Expands a 32-byte key; NULL when that fails or is not available.
cordon_aead *cordon_aead_new(const uint8_t *key);

// Zeroes and frees an expanded key; NULL is ignored.
void cordon_aead_free(cordon_aead *aead);

// Seals `count` bytes; `out` may equal `in`. 12-byte nonce in, 16-byte tag out. 1 on success, else 0.
int cordon_aead_seal(const cordon_aead *aead, uint8_t *out, uint8_t *tag, const uint8_t *nonce, const uint8_t *in,
                     size_t count, const uint8_t *context, size_t context_count);

// Opens `count` bytes; on failure `out` holds zeros. 1 on success, else 0.
int cordon_aead_open(const cordon_aead *aead, uint8_t *out, const uint8_t *tag, const uint8_t *nonce, const uint8_t *in,
                     size_t count, const uint8_t *context, size_t context_count);

// Overwrites memory in a way that no optimiser removes.
void cordon_zero(void *memory, size_t count);

// Keeps memory out of swap and core dumps as far as the system allows; failure is ignored on purpose.
void cordon_guard(void *memory, size_t count);

// Takes the guard back before the memory is reused.
void cordon_unguard(void *memory, size_t count);

// Fills memory with random bytes of the system. 1 on success, else 0.
int cordon_random(void *memory, size_t count);

// Gives a file another name in one step, unless something has that name; 0, or -1 and errno. Where the file system cannot,
// the file has both names for a moment.
int cordon_rename_to_free(const char *from, const char *to);

// A number that changes in the child of every fork of this process.
uint64_t cordon_fork_generation(void);

#endif
