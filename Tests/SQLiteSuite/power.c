#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Power is cut at every write below a sealed database (reliability row R8). A run logs what goes to the disk; then, for
// each place in the log, the files are made anew as a disk may hold them: everything synced, and of the rest some sectors,
// in any order. Each such disk must open, be whole, and hold the last commit that returned, or the one after it.
// `power [STATES_PER_CUT] [SEED]`; linked with host.c.

enum { WRITE, TRUNCATE, SYNC, DELETE, COMMITTED };

typedef struct event {
    int kind, file;
    sqlite3_int64 offset;
    int count;
    unsigned char *bytes;
} event;

typedef struct logged_file {
    sqlite3_file file;
    int number;
} logged_file;

static event *events;
static long event_count, event_room;
static char names[8][300];
static int name_count, logging;
static sqlite3_vfs logged, *unix_vfs;

static int number_of(const char *name) {
    for (int number = 0; number < name_count; number++) {
        if (strcmp(names[number], name) == 0) return number;
    }
    snprintf(names[name_count], sizeof names[0], "%s", name);
    return name_count++;
}

static void note(int kind, int file, sqlite3_int64 offset, const void *bytes, int count) {
    if (!logging) return;
    if (event_count == event_room) {
        event_room = event_room ? event_room * 2 : 1024;
        events = realloc(events, (size_t)event_room * sizeof *events);
    }
    event *next = &events[event_count++];
    *next = (event){kind, file, offset, count, NULL};
    if (bytes) {
        next->bytes = malloc((size_t)count);
        memcpy(next->bytes, bytes, (size_t)count);
    }
}

static sqlite3_file *below(sqlite3_file *file) { return (sqlite3_file *)((logged_file *)file + 1); }
static int number(sqlite3_file *file) { return ((logged_file *)file)->number; }

static int l_close(sqlite3_file *f) { return below(f)->pMethods->xClose(below(f)); }
static int l_read(sqlite3_file *f, void *out, int n, sqlite3_int64 at) {
    return below(f)->pMethods->xRead(below(f), out, n, at);
}
static int l_write(sqlite3_file *f, const void *in, int n, sqlite3_int64 at) {
    note(WRITE, number(f), at, in, n);
    return below(f)->pMethods->xWrite(below(f), in, n, at);
}
static int l_truncate(sqlite3_file *f, sqlite3_int64 n) {
    note(TRUNCATE, number(f), n, NULL, 0);
    return below(f)->pMethods->xTruncate(below(f), n);
}
static int l_sync(sqlite3_file *f, int flags) {
    note(SYNC, number(f), 0, NULL, 0);
    return below(f)->pMethods->xSync(below(f), flags);
}
static int l_size(sqlite3_file *f, sqlite3_int64 *n) { return below(f)->pMethods->xFileSize(below(f), n); }
static int l_lock(sqlite3_file *f, int l) { return below(f)->pMethods->xLock(below(f), l); }
static int l_unlock(sqlite3_file *f, int l) { return below(f)->pMethods->xUnlock(below(f), l); }
static int l_reserved(sqlite3_file *f, int *out) { return below(f)->pMethods->xCheckReservedLock(below(f), out); }
static int l_control(sqlite3_file *f, int op, void *a) { return below(f)->pMethods->xFileControl(below(f), op, a); }
static int l_sector(sqlite3_file *f) { return below(f)->pMethods->xSectorSize(below(f)); }
static int l_device(sqlite3_file *f) { return below(f)->pMethods->xDeviceCharacteristics(below(f)); }
static int l_map(sqlite3_file *f, int p, int n, int x, void volatile **out) {
    return below(f)->pMethods->xShmMap(below(f), p, n, x, out);
}
static int l_shm_lock(sqlite3_file *f, int o, int n, int flags) {
    return below(f)->pMethods->xShmLock(below(f), o, n, flags);
}
static void l_barrier(sqlite3_file *f) { below(f)->pMethods->xShmBarrier(below(f)); }
static int l_unmap(sqlite3_file *f, int d) { return below(f)->pMethods->xShmUnmap(below(f), d); }

static const sqlite3_io_methods logged_methods = {
    2, l_close, l_read, l_write, l_truncate, l_sync, l_size, l_lock, l_unlock, l_reserved, l_control, l_sector, l_device,
    l_map, l_shm_lock, l_barrier, l_unmap, 0, 0};

static int logged_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out) {
    (void)vfs;
    int result = unix_vfs->xOpen(unix_vfs, name, below(file), flags, out);
    file->pMethods = result == SQLITE_OK ? &logged_methods : NULL;
    ((logged_file *)file)->number = name ? number_of(name) : 7;
    return result;
}

static int logged_delete(sqlite3_vfs *vfs, const char *name, int sync) {
    (void)vfs;
    note(DELETE, number_of(name), 0, NULL, 0);
    return unix_vfs->xDelete(unix_vfs, name, sync);
}

// host.c takes the default file system for its base; this is it by then.
__attribute__((constructor(101))) static void start(void) {
    unix_vfs = sqlite3_vfs_find(NULL);
    logged = *unix_vfs;
    logged.zName = "logged";
    logged.szOsFile = (int)sizeof(logged_file) + unix_vfs->szOsFile;
    logged.xOpen = logged_open;
    logged.xDelete = logged_delete;
    sqlite3_vfs_register(&logged, 1);
}

static unsigned long long state;
static unsigned roll(unsigned sides) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)(state >> 33) % sides;
}

// MARK: A disk after the cut.

typedef struct image {
    unsigned char *bytes;
    sqlite3_int64 size;
    int exists;
} image;

static void apply_write(image *disk, sqlite3_int64 offset, const unsigned char *bytes, int count) {
    if (offset + count > disk->size) {
        disk->bytes = realloc(disk->bytes, (size_t)(offset + count));
        memset(disk->bytes + disk->size, 0, (size_t)(offset + count - disk->size));
        disk->size = offset + count;
    }
    memcpy(disk->bytes + offset, bytes, (size_t)count);
    disk->exists = 1;
}

static void apply(image *disk, const event *next) {
    if (next->kind == WRITE) apply_write(disk, next->offset, next->bytes, next->count);
    if (next->kind == TRUNCATE && next->offset < disk->size) disk->size = next->offset;
    if (next->kind == DELETE) *disk = (image){disk->bytes, 0, 0};
}

// Of unsynced writes, sectors arrive one by one or not at all; a cut at `all` lets everything arrive.
static void apply_loose(image *disk, const event *next, int all) {
    if (next->kind != WRITE || all) {
        if (all || next->kind == DELETE || roll(2)) apply(disk, next);
        return;
    }
    int sector = roll(2) ? 512 : 4096;
    for (sqlite3_int64 at = next->offset; at < next->offset + next->count;) {
        sqlite3_int64 end = (at / sector + 1) * sector;
        if (end > next->offset + next->count) end = next->offset + next->count;
        if (roll(2)) apply_write(disk, at, next->bytes + (at - next->offset), (int)(end - at));
        at = end;
    }
}

static void make_disk(long cut, int variant, const image *header) {
    image disks[8] = {{0}};
    apply_write(&disks[0], 0, header->bytes, (int)header->size);
    for (int file = 0; file < name_count && file < 7; file++) {
        long synced = 0;
        for (long at = 0; at < cut; at++) {
            if (events[at].file == file && (events[at].kind == SYNC || events[at].kind == DELETE)) synced = at + 1;
        }
        for (long at = 0; at < cut; at++) {
            if (events[at].file != file || events[at].kind == COMMITTED) continue;
            if (at < synced) apply(&disks[file], &events[at]);
            else apply_loose(&disks[file], &events[at], variant == 0);
        }
    }
    for (int file = 0; file < name_count && file < 7; file++) {
        unlink(names[file]);
        if (!disks[file].exists || strstr(names[file], "-shm")) continue;
        FILE *out = fopen(names[file], "wb");
        fwrite(disks[file].bytes, 1, (size_t)disks[file].size, out);
        fclose(out);
    }
    for (int file = 0; file < 8; file++) free(disks[file].bytes);
}

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

static const char *fault(int commits) {
    static char why[200];
    sqlite3 *database = NULL;
    char found[100] = "", rows[40] = "0", any[40] = "0", sum[40] = "0";
    int result = sqlite3_open("power.db", &database);
    if (result == SQLITE_OK) result = value(database, "PRAGMA integrity_check", found, sizeof found);
    if (result == SQLITE_OK) {
        value(database, "SELECT count(*) FROM sqlite_schema", any, sizeof any);
        if (atoi(any) > 0) result = value(database, "SELECT count(*) FROM t", rows, sizeof rows);
        // Every commit gives every row its own number.
        if (atoi(any) > 0) value(database, "SELECT count(DISTINCT b) FROM t", sum, sizeof sum);
    }
    sqlite3_close(database);
    int is_whole = result == SQLITE_OK && strcmp(found, "ok") == 0 && atoi(sum) <= 1;
    if (is_whole && (atoi(rows) == commits || atoi(rows) == commits + 1)) return NULL;
    snprintf(why, sizeof why, "code %d, %s, %s rows, %s versions, %d commits", result, found, rows, sum, commits);
    return why;
}

// How a database comes to what it does under power cuts.
typedef struct run {
    const char *mode;
    int page_size;
    // Before that its pages were of 4,096 bytes, so that several are in a block; or its connection was opened while
    // another one used a log.
    int shrinks, follows_log;
} run;

static int live(const run *run) {
    sqlite3 *database = NULL, *first = NULL;
    char sql[500];
    int result = SQLITE_OK;
    if (run->follows_log) {
        result = sqlite3_open("power.db", &first);
        if (result == SQLITE_OK) result = sqlite3_exec(first, "PRAGMA journal_mode = WAL; SELECT 1 FROM sqlite_schema", NULL, NULL, NULL);
    }
    if (result == SQLITE_OK) result = sqlite3_open("power.db", &database);
    if (first) {
        if (result == SQLITE_OK) result = sqlite3_exec(database, "SELECT 1 FROM sqlite_schema", NULL, NULL, NULL);
        sqlite3_close(first);
    }
    snprintf(sql, sizeof sql,
             "PRAGMA page_size = %d; PRAGMA cache_size = 4; PRAGMA journal_mode = %s; PRAGMA synchronous = FULL;"
             "CREATE TABLE t (id INTEGER PRIMARY KEY, b INTEGER, c BLOB); PRAGMA wal_autocheckpoint = 12",
             run->page_size, run->mode);
    if (result == SQLITE_OK) result = sqlite3_exec(database, sql, NULL, NULL, NULL);
    note(COMMITTED, 7, 0, NULL, 0);
    for (int id = 1; id <= 7 && result == SQLITE_OK; id++) {
        snprintf(sql, sizeof sql,
                 "BEGIN; INSERT INTO t VALUES (%d, 0, zeroblob(5000)); UPDATE t SET b = %d, c = randomblob(%d); COMMIT", id, id,
                 3000 + id * 700);
        result = sqlite3_exec(database, sql, NULL, NULL, NULL);
        note(COMMITTED, 7, id, NULL, 0);
    }
    sqlite3_close(database);
    return result;
}

int main(int count, char **arguments) {
    static const run runs[] = {
        {"DELETE", 4096, 0, 0},  {"PERSIST", 4096, 0, 0},  {"TRUNCATE", 4096, 0, 0},  {"WAL", 4096, 0, 0},
        {"DELETE", 1024, 0, 0},  {"PERSIST", 1024, 0, 0},  {"TRUNCATE", 1024, 0, 0},  {"WAL", 1024, 0, 0},
        {"DELETE", 16384, 0, 0}, {"PERSIST", 16384, 0, 0}, {"TRUNCATE", 16384, 0, 0}, {"WAL", 16384, 0, 0},
        {"DELETE", 1024, 1, 0},  {"PERSIST", 1024, 1, 0},  {"DELETE", 4096, 0, 1},    {"PERSIST", 4096, 0, 1},
    };
    int states = count > 1 ? atoi(arguments[1]) : 20;
    unsigned long long seed = count > 2 ? strtoull(arguments[2], NULL, 10) : 8;
    state = seed;
    long tried = 0;
    for (const run *next = runs; next < runs + sizeof runs / sizeof *runs; next++) {
        for (int file = 0; file < name_count; file++) unlink(names[file]);
        name_count = 0;
        event_count = 0;
        number_of(realpath(".", names[7]));
        snprintf(names[0], sizeof names[0], "%.280s/power.db", names[7]);
        // The header is durable before SQLite sees the file, and so is what a run begins with.
        sqlite3 *database = NULL;
        unlink("power.db");
        sqlite3_open("power.db", &database);
        sqlite3_exec(database, "SELECT 1 FROM sqlite_schema", NULL, NULL, NULL);
        if (next->shrinks) {
            sqlite3_exec(database, "CREATE TABLE u (a); PRAGMA page_size = 1024; VACUUM; DROP TABLE u", NULL, NULL, NULL);
        }
        sqlite3_close(database);
        static unsigned char bytes[65536];
        FILE *in = fopen("power.db", "rb");
        if (!in) return 1;
        image header = {bytes, (sqlite3_int64)fread(bytes, 1, sizeof bytes, in), 1};
        fclose(in);
        logging = 1;
        if (live(next) != SQLITE_OK) return 1;
        logging = 0;
        int commits = 0;
        for (long cut = 0; cut <= event_count; cut++) {
            if (cut > 0 && events[cut - 1].kind == COMMITTED) commits = (int)events[cut - 1].offset;
            for (int variant = 0; variant < states; variant++, tried++) {
                make_disk(cut, variant, &header);
                const char *why = fault(commits);
                if (!why) continue;
                printf("failed: %s, pages of %d%s%s, cut %ld of %ld, variant %d, seed %llu: %s\n", next->mode, next->page_size,
                       next->shrinks ? " in larger blocks" : "", next->follows_log ? " after a log" : "", cut, event_count,
                       variant, seed, why);
                return 1;
            }
        }
    }
    for (int file = 0; file < name_count; file++) unlink(names[file]);
    printf("power: %ld disks after a cut, each opened with its last commit\n", tried);
    return 0;
}
