#include <CordonSQLiteShim.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

// Every call that the sealing file system makes to the one below it, and every allocation of its own, is made to fail in
// turn, once and for good, until a run meets no failure (reliability rows R5 and R6). After each the database opens, is
// whole, and stands between the last commit that returned and the one after it. Linked with host.c; SQLite's own
// allocations do not fail here, SQLite tests those.

static long calls, failing_call, allocations, failing_allocation, living, failures;
static int persistently, tears;

static int fails(void) {
    calls++;
    if (failing_call == 0 || !(calls == failing_call || (persistently && calls > failing_call))) return 0;
    failures++;
    return 1;
}

// MARK: Allocations of the shim alone; the linker sends them here.

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void __real_free(void *memory);

static int refuses(void) {
    allocations++;
    if (failing_allocation == 0 || !(allocations == failing_allocation || (persistently && allocations > failing_allocation)))
        return 0;
    failures++;
    return 1;
}

static void *counted(void *memory) {
    if (memory) living++;
    return memory;
}

void *__wrap_malloc(size_t size) { return refuses() ? NULL : counted(__real_malloc(size)); }
void *__wrap_calloc(size_t count, size_t size) { return refuses() ? NULL : counted(__real_calloc(count, size)); }
void *__wrap_realloc(void *old, size_t size) {
    if (refuses()) return NULL;
    return old ? __real_realloc(old, size) : counted(__real_realloc(old, size));
}
void __wrap_free(void *memory) {
    if (memory) living--;
    __real_free(memory);
}
char *__wrap_strdup(const char *text) {
    char *copy = __wrap_malloc(strlen(text) + 1);
    return copy ? strcpy(copy, text) : NULL;
}

// MARK: A file system that fails.

typedef struct faulty_file {
    sqlite3_file file;
    const sqlite3_io_methods *methods;
    sqlite3_io_methods mine;
} faulty_file;

static sqlite3_vfs faulty, *unix_vfs;

// The unix file follows our part.
static sqlite3_file *below(sqlite3_file *file) { return (sqlite3_file *)((faulty_file *)file + 1); }

static int f_close(sqlite3_file *f) { return below(f)->pMethods->xClose(below(f)); }
static int f_read(sqlite3_file *f, void *out, int n, sqlite3_int64 at) {
    return fails() ? SQLITE_IOERR_READ : below(f)->pMethods->xRead(below(f), out, n, at);
}
static int f_write(sqlite3_file *f, const void *in, int n, sqlite3_int64 at) {
    if (!fails()) return below(f)->pMethods->xWrite(below(f), in, n, at);
    if (tears && n > 1) below(f)->pMethods->xWrite(below(f), in, n / 2, at);
    return SQLITE_FULL;
}
static int f_truncate(sqlite3_file *f, sqlite3_int64 n) {
    return fails() ? SQLITE_IOERR_TRUNCATE : below(f)->pMethods->xTruncate(below(f), n);
}
static int f_sync(sqlite3_file *f, int flags) {
    return fails() ? SQLITE_IOERR_FSYNC : below(f)->pMethods->xSync(below(f), flags);
}
static int f_size(sqlite3_file *f, sqlite3_int64 *n) {
    return fails() ? SQLITE_IOERR_FSTAT : below(f)->pMethods->xFileSize(below(f), n);
}
static int f_lock(sqlite3_file *f, int l) { return fails() ? SQLITE_IOERR_LOCK : below(f)->pMethods->xLock(below(f), l); }
static int f_unlock(sqlite3_file *f, int l) { return below(f)->pMethods->xUnlock(below(f), l); }
static int f_reserved(sqlite3_file *f, int *out) { return below(f)->pMethods->xCheckReservedLock(below(f), out); }
static int f_control(sqlite3_file *f, int op, void *a) { return below(f)->pMethods->xFileControl(below(f), op, a); }
static int f_sector(sqlite3_file *f) { return below(f)->pMethods->xSectorSize(below(f)); }
static int f_device(sqlite3_file *f) { return below(f)->pMethods->xDeviceCharacteristics(below(f)); }
static int f_map(sqlite3_file *f, int p, int n, int x, void volatile **out) {
    return fails() ? SQLITE_IOERR_SHMMAP : below(f)->pMethods->xShmMap(below(f), p, n, x, out);
}
static int f_shm_lock(sqlite3_file *f, int o, int n, int flags) {
    return below(f)->pMethods->xShmLock(below(f), o, n, flags);
}
static void f_barrier(sqlite3_file *f) { below(f)->pMethods->xShmBarrier(below(f)); }
static int f_unmap(sqlite3_file *f, int d) { return below(f)->pMethods->xShmUnmap(below(f), d); }

// A map that fails: none at all, or one of a disk that cannot be read, in which a careless read ends the process.
static uint8_t *hole;
static int is_hole;
static const int64_t hole_size = 1 << 30;

static int f_fetch(sqlite3_file *f, sqlite3_int64 at, int n, void **out) {
    *out = NULL;
    if (!is_hole && fails()) {
        // The first fetch of a map stands for all of it.
        if (at > 0 || calls % 2) return SQLITE_IOERR_MMAP;
        is_hole = 1;
        if (!hole) hole = mmap(NULL, (size_t)hole_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    }
    if (!is_hole) return below(f)->pMethods->xFetch(below(f), at, n, out);
    *out = hole + at;
    return SQLITE_OK;
}
static int f_unfetch(sqlite3_file *f, sqlite3_int64 at, void *p) {
    if (p && hole && (uint8_t *)p >= hole && (uint8_t *)p < hole + hole_size) return SQLITE_OK;
    if (!p) is_hole = 0;
    return below(f)->pMethods->xUnfetch(below(f), at, p);
}

static const sqlite3_io_methods faulty_methods = {
    3, f_close, f_read, f_write, f_truncate, f_sync, f_size, f_lock, f_unlock, f_reserved, f_control, f_sector, f_device,
    f_map, f_shm_lock, f_barrier, f_unmap, f_fetch, f_unfetch};

static int faulty_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out) {
    (void)vfs;
    file->pMethods = NULL;
    if (fails()) return SQLITE_CANTOPEN;
    int result = unix_vfs->xOpen(unix_vfs, name, below(file), flags, out);
    if (result == SQLITE_OK) file->pMethods = &faulty_methods;
    return result;
}

static int faulty_delete(sqlite3_vfs *vfs, const char *name, int sync) {
    (void)vfs;
    return fails() ? SQLITE_IOERR_DELETE : unix_vfs->xDelete(unix_vfs, name, sync);
}

static int faulty_access(sqlite3_vfs *vfs, const char *name, int flags, int *out) {
    (void)vfs;
    return fails() ? SQLITE_IOERR_ACCESS : unix_vfs->xAccess(unix_vfs, name, flags, out);
}

// host.c takes the default file system for its base; this is it by then.
__attribute__((constructor(101))) static void start(void) {
    unix_vfs = sqlite3_vfs_find(NULL);
    faulty = *unix_vfs;
    faulty.zName = "faulty";
    faulty.szOsFile = (int)sizeof(faulty_file) + unix_vfs->szOsFile;
    faulty.xOpen = faulty_open;
    faulty.xDelete = faulty_delete;
    faulty.xAccess = faulty_access;
    sqlite3_vfs_register(&faulty, 1);
}

// MARK: The runs.

static const char *mode;

static int value(sqlite3 *database, const char *sql, char *out, size_t size) {
    sqlite3_stmt *statement = NULL;
    int result = sqlite3_prepare_v2(database, sql, -1, &statement, NULL);
    if (result == SQLITE_OK && (result = sqlite3_step(statement)) == SQLITE_ROW) {
        snprintf(out, size, "%s", (const char *)sqlite3_column_text(statement, 0));
        result = SQLITE_OK;
    }
    sqlite3_finalize(statement);
    return result;
}

// Commits one row after the other; how many commits returned, and whether all did.
static int live(int *commits) {
    sqlite3 *database = NULL;
    char sql[400];
    *commits = 0;
    int result = sqlite3_open("faults.db", &database);
    snprintf(sql, sizeof sql, "PRAGMA cache_size = 3; PRAGMA journal_mode = %s; CREATE TABLE t (id INTEGER PRIMARY KEY, b)", mode);
    if (result == SQLITE_OK) result = sqlite3_exec(database, sql, NULL, NULL, NULL);
    for (int id = 1; id <= 6 && result == SQLITE_OK; id++) {
        snprintf(sql, sizeof sql,
                 "BEGIN; UPDATE t SET b = zeroblob(id * 500 + %d); INSERT INTO t VALUES (%d, zeroblob(9000));"
                 "SAVEPOINT s; DELETE FROM t WHERE id < %d; ROLLBACK TO s; COMMIT", id, id, id);
        result = sqlite3_exec(database, sql, NULL, NULL, NULL);
        if (result == SQLITE_OK) *commits = id;
    }
    if (result == SQLITE_OK) result = sqlite3_exec(database, "VACUUM; PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL, NULL);
    sqlite3_close(database);
    return result;
}

static void remove_all(void) {
    remove("faults.db");
    remove("faults.db-journal");
    remove("faults.db-wal");
    remove("faults.db-shm");
}

static void check(int commits, long at) {
    sqlite3 *database = NULL;
    char found[100] = "", count[100] = "0";
    int result = sqlite3_open("faults.db", &database);
    if (result == SQLITE_OK) result = value(database, "PRAGMA integrity_check", found, sizeof found);
    if (result == SQLITE_OK && value(database, "SELECT 1 FROM sqlite_schema", count, sizeof count) == SQLITE_OK) {
        result = value(database, "SELECT count(*) FROM t", count, sizeof count);
    }
    sqlite3_close(database);
    int rows = atoi(count);
    if (result == SQLITE_OK && strcmp(found, "ok") == 0 && (rows == commits || rows == commits + 1)) return;
    printf("failed: %s, call or allocation %ld, persistently %d, torn %d: %d, %s, %d rows after %d commits\n", mode, at,
           persistently, tears, result, found, rows, commits);
    exit(1);
}

// What a file system is made of, each allocation failing in turn: the cipher is given back, the host's state is not, and nothing is lost.
static int given_back;
static int no_cipher(const void *state, uint8_t *out, uint8_t *tag, const uint8_t *nonce, const uint8_t *in, size_t count,
                     const uint8_t *context, size_t context_count) { return 0; }
static int no_opening(const void *state, uint8_t *out, const uint8_t *tag, const uint8_t *nonce, const uint8_t *in, size_t count,
                      const uint8_t *context, size_t context_count) { return 0; }
static void give_back(void *state) { given_back++; }

static void make(void) {
    static const uint8_t digest[32];
    static int state;
    for (long at = 1;; at++) {
        long before = living;
        given_back = 0;
        allocations = failures = 0;
        failing_allocation = at;
        cordon_page_key *key = cordon_page_key_new((cordon_cipher){&state, no_cipher, no_opening, give_back}, digest);
        sqlite3_vfs *vfs = key ? cordon_vfs_new("made", unix_vfs, (cordon_vfs_host){0}, key) : NULL;
        failing_allocation = 0;
        cordon_page_key_release(key);
        int is_whole = vfs != NULL;
        if (vfs) {
            cordon_vfs_abandon(vfs);
            // Its own memory stays, for connections without a file; there is none.
            __wrap_free((void *)vfs->zName);
            __wrap_free(vfs);
        }
        if (given_back != 1 || living != before || (failures == 0) != is_whole) {
            printf("failed: a file system made with allocation %ld failing: %d given back, %ld kept\n", at, given_back,
                   living - before);
            exit(1);
        }
        if (is_whole) return;
    }
}

int main(void) {
    make();
    static const char *modes[] = {"DELETE", "PERSIST", "TRUNCATE", "WAL"};
    long runs = 0;
    for (int number = 0; number < 4 * 8; number++) {
        mode = modes[number / 8];
        persistently = number & 1;
        tears = number >> 1 & 1;
        int of_memory = number >> 2 & 1;
        for (long at = 1;; at++, runs++) {
            remove_all();
            calls = allocations = failures = 0;
            failing_call = of_memory ? 0 : at;
            failing_allocation = of_memory ? at : 0;
            long before = living;
            int commits;
            int result = live(&commits);
            long met = failures;
            failing_call = failing_allocation = 0;
            if (living != before) {
                printf("failed: %ld allocations leaked at %s, %ld\n", living - before, mode, at);
                return 1;
            }
            check(commits, at);
            if (met == 0) {
                if (result == SQLITE_OK && at > 5) break;
                printf("failed: an undisturbed run came to %d after %ld\n", result, at);
                return 1;
            }
        }
    }
    remove_all();
    printf("faults: %ld failed calls and allocations, each followed by a whole database\n", runs);
    return 0;
}
