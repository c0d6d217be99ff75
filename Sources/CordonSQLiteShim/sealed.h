#ifndef CORDON_SEALED_H
#define CORDON_SEALED_H

#include "CordonSQLiteShim.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>

#define HEADER_SIZE 4096
// The header's last byte: the block size as a power of two, 0 before the first page was written.
#define BLOCK_BYTE (HEADER_SIZE - 1)
// After every block: nonce (12) and tag (16).
#define TRAILER 28
#define JOURNAL_BLOCK 4096
// Sealed with a journal's block: how many of its bytes count.
#define JOURNAL_COUNT 2
#define LOG_HEADER 32
#define FRAME_HEADER 24
#define LARGEST_PAGE 65536

// What a block is, bound into its context; numbers as in docs/vault-format.md.
enum { KIND_PAGE = 3, KIND_JOURNAL = 4, KIND_LOG_HEADER = 5, KIND_FRAME = 6, KIND_TEMPORARY = 7, KIND_SUPER = 8 };

struct cordon_page_key {
    cordon_cipher cipher;
    uint8_t digest[32];
    atomic_int owners, users, revoked, destroyed;
    pthread_mutex_t lock;
    uint8_t prefix[10];
    uint32_t left;
    uint64_t generation;
};

typedef struct cordon_place {
    uint8_t kind, level;
    int64_t index;
} cordon_place;

// Brackets every use of the cipher; 0 when the key was revoked.
int cordon_key_enter(cordon_page_key *key);
void cordon_key_leave(cordon_page_key *key);

// Seals `count` bytes into a slot of `count + TRAILER`. 1 on success.
int cordon_seal_block(cordon_page_key *key, cordon_place place, uint8_t *slot, const uint8_t *in, size_t count);

// Opens a slot; `out` may be the slot itself. 1 on success; else `out` holds zeros.
int cordon_open_block(cordon_page_key *key, cordon_place place, uint8_t *out, const uint8_t *slot, size_t count);

typedef struct cordon_file cordon_file;
typedef struct cordon_vfs cordon_vfs;

// One database that this process has open, by however many connections.
typedef struct cordon_database {
    struct cordon_database *next;
    cordon_vfs *vfs;
    char *path;
    cordon_page_key *key;
    uint8_t *header;
    int files;
    // Of its journals, which hold something back.
    atomic_int held_back;
    cordon_file *journals;
} cordon_database;

struct cordon_vfs {
    sqlite3_vfs vfs;
    sqlite3_vfs *base;
    cordon_vfs_host host;
    cordon_page_key *beside;
    pthread_mutex_t lock;
    cordon_database *databases;
    int files, is_abandoned;
};

// A file less; the last one of an abandoned file system releases its host and keys.
void cordon_vfs_closed_file(cordon_vfs *vfs);

// What a file knows of the map that its base file keeps.
typedef struct cordon_map {
    // How long the map is, 0 for none, and the file under this lock, -1 when not known.
    int64_t length, end;
    // Which parts were read once without an error, a bit each.
    uint8_t *seen;
    // Reads since the last map that found none.
    uint32_t misses;
    int is_off;
} cordon_map;

struct cordon_file {
    sqlite3_file file;
    sqlite3_file *real;
    cordon_vfs *vfs;
    cordon_database *database;
    cordon_file *next;
    cordon_page_key *key;
    uint8_t kind;
    // Whether `lock` was made; journals are flushed by other threads of the process.
    int has_lock;
    pthread_mutex_t lock;
    // Where blocks begin on disk, how long one is, and how many bytes of plaintext there are; -1 when not known.
    int64_t start, length;
    uint32_t block;
    // Whether this file has written a database's block size since a sync failed; a size that was only read may be in memory alone.
    int has_put_block;
    // Memory for one slot, and how much there is.
    uint8_t *slot;
    uint32_t slot_size;
    // One block in the clear that is not on disk yet, or a copy of one that is; journals and temporary files only.
    uint8_t *held;
    int64_t held_index;
    uint32_t held_count;
    int held_changed;
    // A log's frame header that waits for its page, and the frame that the slot holds whole in the clear; -1 for none.
    uint8_t pending[FRAME_HEADER];
    int64_t pending_index, whole_index;
    // A journal that a kill or a cut left: opened to be played back, and not written since.
    atomic_int is_hot;
    // Databases only.
    cordon_map map;
};

// Reads out of the database's map. 1 when it did; 0 says to read otherwise.
int cordon_map_read(cordon_file *file, uint8_t *out, int64_t count, int64_t offset);

// Frees what belongs to the map; the base file unmaps when it closes.
void cordon_map_forget(cordon_file *file);

// How many reads a file must see before it is mapped, so that a short life pays for no map; tests lower it.
extern uint32_t cordon_map_after;

// Memory for slots of that many bytes. An SQLite code.
int cordon_need_slot(cordon_file *file, uint32_t size);

// Files cut into blocks: databases, journals, temporary files. SQLite codes. The caller has entered the key.
int cordon_blocks_read(cordon_file *file, uint8_t *out, int count, int64_t offset);
int cordon_blocks_write(cordon_file *file, const uint8_t *in, int count, int64_t offset);
int cordon_blocks_truncate(cordon_file *file, int64_t size);
int cordon_blocks_length(cordon_file *file, int64_t *size);
int cordon_blocks_flush(cordon_file *file);

// Write-ahead logs, sealed frame by frame.
int cordon_log_read(cordon_file *file, uint8_t *out, int count, int64_t offset);
int cordon_log_write(cordon_file *file, const uint8_t *in, int count, int64_t offset);
int cordon_log_truncate(cordon_file *file, int64_t size);
int cordon_log_length(cordon_file *file, int64_t *size);
int cordon_log_flush(cordon_file *file);

// Puts on disk what the database's journals hold back. An SQLite code.
int cordon_flush_journals(cordon_database *database);

// Gives a file its key: a database by its header, what belongs to a database by that database, the rest by what they
// are. An SQLite code.
int cordon_give_key(cordon_file *file, const char *name, int flags);

// Refuses what would make databases that this file system does not seal part of one transaction: a name that is about to
// be written into a super-journal, or a super-journal's into a journal. An SQLite code. The caller has no lock.
int cordon_check_member(cordon_file *file, const uint8_t *in, int count);

// The database whose log this thread opened last, until SQLite has asked what its device promises.
extern _Thread_local cordon_database *cordon_opened_log;

// Gives back everything that a file has but its base file.
void cordon_forget_file(cordon_file *file);

extern const sqlite3_io_methods cordon_io_methods;

#endif
