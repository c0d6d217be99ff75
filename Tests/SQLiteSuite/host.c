#define _GNU_SOURCE
#include <CordonAEADShim.h>
#include <CordonSQLiteShim.h>

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Makes the sealing file system the default of whatever program this is linked into: SQLite's own test programs know
// nothing of it. One fixed key, and headers with nothing but a magic and an id; the vault's host is Swift.

static const uint8_t fixed_key[32] = "a key for tests, known to anyone";

static int prepare(void *state, const char *path) {
    struct stat status;
    (void)state;
    if (stat(path, &status) == 0 && status.st_size > 0) return SQLITE_OK;
    uint8_t header[4096] = "CORDONSD";
    char draft[4200];
    cordon_random(header + 16, 16);
    snprintf(draft, sizeof draft, "%s.%d.draft", path, (int)getpid());
    int file = open(draft, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (file < 0 || write(file, header, sizeof header) != (ssize_t)sizeof header) return SQLITE_CANTOPEN;
    close(file);
    // An empty file that a test made is replaced; of two processes that make one, the first wins.
    if (stat(path, &status) == 0 && status.st_size == 0) unlink(path);
    (void)link(draft, path);
    unlink(draft);
    return SQLITE_OK;
}

static cordon_page_key *unlock(void *state, const char *path, const uint8_t *header) {
    (void)state;
    (void)path;
    return cordon_page_key_new(cordon_direct_cipher(fixed_key), header);
}

static cordon_page_key *ephemeral(void *state) {
    uint8_t key[32];
    (void)state;
    cordon_random(key, sizeof key);
    return cordon_page_key_new(cordon_direct_cipher(key), key);
}

static void ignore(void *state, const char *path, const uint8_t *header) {
    (void)state;
    (void)path;
    (void)header;
}

// Of the shim: after how many reads a database is mapped.
extern uint32_t cordon_map_after;

static sqlite3_vfs *base;
static int (*sealed_open)(sqlite3_vfs *, const char *, sqlite3_file *, int, int *);

static int pass_plain(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out) {
    char start[16] = {0};
    int descriptor = flags & SQLITE_OPEN_MAIN_DB && name ? open(name, O_RDONLY) : -1;
    if (descriptor >= 0) {
        (void)!read(descriptor, start, sizeof start);
        close(descriptor);
    }
    int is_plain = memcmp(start, "SQLite format 3", sizeof start) == 0;
    return is_plain ? base->xOpen(base, name, file, flags, out) : sealed_open(vfs, name, file, flags, out);
}

__attribute__((constructor)) static void start(void) {
    if (getenv("CORDON_PLAIN")) return;
    if (getenv("CORDON_MAP_AFTER")) cordon_map_after = (uint32_t)atoi(getenv("CORDON_MAP_AFTER"));
    cordon_vfs_host host = {NULL, prepare, unlock, ephemeral, ignore, ignore, NULL};
    cordon_page_key *beside = cordon_page_key_new(cordon_direct_cipher(fixed_key), fixed_key);
    base = sqlite3_vfs_find(NULL);
    sqlite3_vfs *vfs = cordon_vfs_new("cordon", base, host, beside);
    if (!vfs || sqlite3_vfs_register(vfs, 1) != SQLITE_OK) abort();
    if (!getenv("CORDON_PASS")) return;
    // fuzzcheck looks for SQLite's magic in its corpora before it opens them, so these stay plain.
    sealed_open = vfs->xOpen;
    vfs->xOpen = pass_plain;
}
