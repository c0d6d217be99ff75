#ifndef CORDON_AEAD_SHIM_H
#define CORDON_AEAD_SHIM_H

#include <stddef.h>
#include <stdint.h>

// AES-256-GCM with one context per key, through the AEAD functions that swift-crypto links anyway, and the few
// system calls that Swift does not offer. Sealing and opening allocate nothing.

// An expanded AES-256-GCM key, in a guarded page of its own.
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

// Asks the processor for memory that is needed soon; goes on at once.
static inline void cordon_prefetch(const void *memory) { __builtin_prefetch(memory); }

// Overwrites memory in a way that no optimiser removes.
void cordon_zero(void *memory, size_t count);

// Keeps memory out of swap and core dumps as far as the system allows; failure is ignored on purpose.
void cordon_guard(void *memory, size_t count);

// Keeps memory out of core dumps alone.
void cordon_leave_undumped(void *memory, size_t count);

// Takes the guard back before the memory is reused.
void cordon_unguard(void *memory, size_t count);

// A page of zeros for a secret, kept out of swap and core dumps as far as the system allows. A page each, because locking and dump
// exclusion work on whole pages, which have 16 or 64 KiB on some machines, and must not be undone by a neighbour.
typedef struct cordon_guarded_page {
    // NULL where there is no memory.
    void *bytes;
    // The process that locked it, by its fork generation; 0 where it is not locked.
    uint64_t locked_in;
} cordon_guarded_page;

// How many bytes such a page has, at least 4,096.
size_t cordon_guarded_size(void);

// Takes a page: one that was given back, or a new one. Waits for no other thread, so that a forked child does not wait for one that it has not.
cordon_guarded_page cordon_guarded_take(void);

// Overwrites a page with zeros and gives it back.
void cordon_guarded_give_back(cordon_guarded_page page);

// Marks a directory as none for backups (the "no dump" flag), where the file system knows that. 1 on success, else 0.
int cordon_set_no_dump(const char *path);

// Whether a directory has the mark: 1 or 0, -1 where that cannot be told.
int cordon_has_no_dump(const char *path);

// A descriptor that becomes readable when a file in one of its directories is made, renamed, removed or written (inotify); -1 where
// there is none of that kind.
int cordon_watch_open(void);

// Adds a directory and gives its number, the same for a directory that was added before; -1 on failure.
int cordon_watch_add(int descriptor, const char *path);

// Takes a directory out.
void cordon_watch_remove(int descriptor, int number);

// Something that happened.
typedef struct cordon_watch_event {
    // The directory's number; CORDON_WATCH_ALL where the system has lost events, so that anything may have happened in any of them.
    int number;
    // Whether the directory was removed, or is at its path no more: its number stands for nothing from now on.
    int is_over;
} cordon_watch_event;

enum { CORDON_WATCH_MOST = 17, CORDON_WATCH_ALL = -1 };

// Takes out what happened, at most that many events. 0 when there is nothing more.
size_t cordon_watch_read(int descriptor, cordon_watch_event *events);

// Fills memory with random bytes of the system. 1 on success, else 0.
int cordon_random(void *memory, size_t count);

// Gives a file another name in one step, unless something has that name; 0, or -1 and errno. Where the file system cannot,
// the file has both names for a moment.
int cordon_rename_to_free(const char *from, const char *to);

// A descriptor that names what is below a folder, reached through no mount, and opens nothing (`O_PATH`); -1 and errno: `EXDEV` where a mount
// stands in the way, `ENOSYS` where the system cannot tell. `follows`: whether what a symbolic link at the end leads to is meant.
int cordon_name_in_mount(int folder, const char *path, int follows);

// Whether an open file is of a `proc` file system (Linux).
int cordon_is_proc(int descriptor);

// A number that changes in the child of every fork of this process.
uint64_t cordon_fork_generation(void);

#endif
