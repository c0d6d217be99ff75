#ifndef CORDON_SQLITE_SHIM_H
#define CORDON_SQLITE_SHIM_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

// A virtual file system for SQLite that seals what goes to disk (docs/vault-format.md, "Sealed database"). Keys, owners
// and headers are the host's; here are the bytes of pages, journals and write-ahead logs. Calls no function of
// libsqlite3: everything goes through the file system given as the base, so that it serves a private copy as well.

// AES-256-GCM under one expanded key. `seal` and `open` return 1 on success and may be called from any thread.
typedef struct cordon_cipher {
    void *state;
    int (*seal)(const void *state, uint8_t *out, uint8_t *tag, const uint8_t *nonce, const uint8_t *in, size_t count,
                const uint8_t *context, size_t context_count);
    int (*open)(const void *state, uint8_t *out, const uint8_t *tag, const uint8_t *nonce, const uint8_t *in,
                size_t count, const uint8_t *context, size_t context_count);
    void (*release)(void *state);
} cordon_cipher;

// The key of one database, or of what lies beside all of them, with its nonces; counts its owners.
typedef struct cordon_page_key cordon_page_key;

// Takes the cipher over, also when NULL comes back for want of memory. `digest` has 32 bytes and is part of what every
// block authenticates.
cordon_page_key *cordon_page_key_new(cordon_cipher cipher, const uint8_t *digest);

// One more owner.
void cordon_page_key_retain(cordon_page_key *key);

// One owner less; the last one releases the cipher. NULL is ignored.
void cordon_page_key_release(cordon_page_key *key);

// Whether there is more than one owner.
int cordon_page_key_is_shared(const cordon_page_key *key);

// Ends the key: every later use fails. The cipher is released now, or by the last of the calls under way, which are not waited for.
void cordon_page_key_revoke(cordon_page_key *key);

// What the file system asks its host. Called from any thread.
typedef struct cordon_vfs_host {
    void *state;
    // Puts a database's header at a path where there is nothing, or an empty file. An SQLite code.
    int (*prepare)(void *state, const char *path);
    // The key of the database whose header, 4,096 bytes, is given; NULL when refused.
    cordon_page_key *(*unlock)(void *state, const char *path, const uint8_t *header);
    // A key for one temporary file; NULL when there is none.
    cordon_page_key *(*ephemeral)(void *state);
    // A database was opened, or closed, by this process.
    void (*opened)(void *state, const char *path, const uint8_t *header);
    void (*closed)(void *state, const char *path, const uint8_t *header);
    // The file system is gone: the last call, in which `state` may be given back. May be NULL.
    void (*release)(void *state);
} cordon_vfs_host;

// Makes a file system over another one, not yet registered. `beside` seals super-journals. NULL without memory, and then
// the host's `release` is not called.
sqlite3_vfs *cordon_vfs_new(const char *name, sqlite3_vfs *base, cordon_vfs_host host, cordon_page_key *beside);

// Gives up a file system that is not registered any more: its host and keys are released now, or when its last file is
// closed, and from then on it opens nothing. Its own memory, some hundred bytes, stays for connections without a file.
void cordon_vfs_abandon(sqlite3_vfs *vfs);

// A cipher that goes straight to the AEAD functions; `state` is NULL when they are not available.
cordon_cipher cordon_direct_cipher(const uint8_t *key);

// Extended result codes that Swift cannot compute from SQLite's macros.
static const int cordon_sqlite_ioerr_data = SQLITE_IOERR_DATA;
static const int cordon_sqlite_ioerr_auth = SQLITE_IOERR_AUTH;

#endif
