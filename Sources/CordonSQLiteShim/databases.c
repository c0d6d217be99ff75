#include "sealed.h"

#include <CordonAEADShim.h>
#include <stdlib.h>
#include <string.h>

// Which databases this process has open, and whose key a file gets.

static const char magic[8] = {'C', 'O', 'R', 'D', 'O', 'N', 'S', 'D'};

// How many bytes of a name are its database's: all but the suffix; 0 when it does not end so.
static size_t stem(const char *name, const char *suffix) {
    size_t count = strlen(name), end = strlen(suffix);
    return count > end && strcmp(name + count - end, suffix) == 0 ? count - end : 0;
}

static cordon_database *find(cordon_vfs *vfs, const char *path, size_t count, const uint8_t *header) {
    for (cordon_database *next = vfs->databases; next; next = next->next) {
        if (strncmp(next->path, path, count) != 0 || next->path[count] != 0) continue;
        // The block size stands in the last byte and comes later than the rest.
        if (!header || memcmp(next->header, header, HEADER_SIZE - 1) == 0) return next;
    }
    return NULL;
}

static void free_database(cordon_database *database) {
    cordon_page_key_release(database->key);
    free(database->path);
    free(database->header);
    free(database);
}

// Makes the entry of a database that is not open yet, key included.
static int make_database(cordon_vfs *vfs, const char *path, const uint8_t *header, cordon_database **made) {
    cordon_database *database = calloc(1, sizeof *database);
    if (!database) return SQLITE_NOMEM;
    database->vfs = vfs;
    database->path = strdup(path);
    database->header = malloc(HEADER_SIZE);
    if (!database->path || !database->header) {
        free_database(database);
        return SQLITE_NOMEM;
    }
    memcpy(database->header, header, HEADER_SIZE);
    database->key = vfs->host.unlock(vfs->host.state, path, header);
    if (!database->key) {
        free_database(database);
        return SQLITE_IOERR_AUTH;
    }
    database->next = vfs->databases;
    vfs->databases = database;
    *made = database;
    return SQLITE_OK;
}

static void attach(cordon_file *file, cordon_database *database) {
    file->database = database;
    file->key = database->key;
    database->files++;
    cordon_page_key_retain(file->key);
    if (file->kind == KIND_JOURNAL) {
        file->next = database->journals;
        database->journals = file;
    }
}

static int key_of_database(cordon_file *file, const char *path) {
    cordon_vfs *vfs = file->vfs;
    uint8_t *header = malloc(HEADER_SIZE);
    if (!header) return SQLITE_NOMEM;
    int result = file->real->pMethods->xRead(file->real, header, HEADER_SIZE, 0);
    if (result == SQLITE_IOERR_SHORT_READ || (result == SQLITE_OK && memcmp(header, magic, sizeof magic) != 0)) {
        result = SQLITE_NOTADB;
    }
    if (result == SQLITE_OK) {
        pthread_mutex_lock(&vfs->lock);
        cordon_database *database = find(vfs, path, strlen(path), header);
        if (!database) result = make_database(vfs, path, header, &database);
        if (result == SQLITE_OK) {
            attach(file, database);
            if (database->files == 1) vfs->host.opened(vfs->host.state, path, header);
        }
        pthread_mutex_unlock(&vfs->lock);
    }
    free(header);
    return result;
}

// A part of a path as a name of its own, 8 bytes into memory for the caller to free: SQLite expects zeros before and after.
static char *name_apart(const char *path, size_t count) {
    char *room = calloc(1, count + 16);
    if (room) memcpy(room + 8, path, count);
    return room;
}

// Reads the start of a file that is not open here. The base file system opens it, because closing a descriptor of our own
// would drop the locks that this process may hold. An SQLite code.
static int read_start(cordon_vfs *vfs, const char *name, int kind, uint8_t *out, int count, int *promises) {
    sqlite3_file *real = calloc(1, (size_t)vfs->base->szOsFile);
    if (!real) return SQLITE_NOMEM;
    int result = vfs->base->xOpen(vfs->base, name, real, SQLITE_OPEN_READONLY | kind, NULL);
    if (result == SQLITE_OK) {
        if (promises) *promises = real->pMethods->xDeviceCharacteristics(real);
        result = real->pMethods->xRead(real, out, count, 0);
        real->pMethods->xClose(real);
    }
    free(real);
    return result;
}

// The key of a database that is not open: when a transaction over several databases is undone, SQLite looks into the
// journals of all of them. Also what its device promises, unless NULL. An SQLite code.
static int key_of_closed(cordon_vfs *vfs, const char *name, cordon_page_key **key, int *promises) {
    uint8_t *header = malloc(HEADER_SIZE);
    if (!header) return SQLITE_NOMEM;
    int result = read_start(vfs, name, SQLITE_OPEN_MAIN_DB, header, HEADER_SIZE, promises);
    if (result == SQLITE_OK && memcmp(header, magic, sizeof magic) == 0) {
        *key = vfs->host.unlock(vfs->host.state, name, header);
    }
    free(header);
    // What is there and does not open may need the super-journal, which SQLite leaves where it is after an error.
    if (result == SQLITE_OK || result == SQLITE_IOERR_SHORT_READ) return *key ? SQLITE_OK : SQLITE_IOERR_AUTH;
    if ((result & 0xff) != SQLITE_CANTOPEN) return result;
    int is_there = 1;
    int asked = vfs->base->xAccess(vfs->base, name, SQLITE_ACCESS_EXISTS, &is_there);
    if (asked != SQLITE_OK) return asked;
    if (is_there) return result;
    // A journal whose database is gone has nothing to say, and reads as zeros under any key.
    *key = vfs->host.ephemeral(vfs->host.state);
    return *key ? SQLITE_OK : SQLITE_NOMEM;
}

static int key_of_companion(cordon_file *file, const char *name, size_t count, int flags) {
    cordon_vfs *vfs = file->vfs;
    pthread_mutex_lock(&vfs->lock);
    cordon_database *database = find(vfs, name, count, NULL);
    if (database) attach(file, database);
    pthread_mutex_unlock(&vfs->lock);
    if (database) return SQLITE_OK;
    if (!(flags & SQLITE_OPEN_SUPER_JOURNAL)) return SQLITE_CANTOPEN;
    char *room = name_apart(name, count);
    int result = room ? key_of_closed(vfs, room + 8, &file->key, NULL) : SQLITE_NOMEM;
    free(room);
    return result;
}

// A journal's name, as it goes into a super-journal: its database must be one of ours, or gone, or without a journal.
static int check_journal(cordon_vfs *vfs, const char *name, size_t count) {
    size_t database = name[count - 1] == 0 ? stem(name, "-journal") : 0;
    if (database == 0) return SQLITE_PERM;
    pthread_mutex_lock(&vfs->lock);
    int is_open = find(vfs, name, database, NULL) != NULL;
    pthread_mutex_unlock(&vfs->lock);
    if (is_open) return SQLITE_OK;
    cordon_page_key *key = NULL;
    int promises = 0;
    char *room = name_apart(name, database);
    int result = room ? key_of_closed(vfs, room + 8, &key, &promises) : SQLITE_NOMEM;
    free(room);
    cordon_page_key_release(key);
    if (result != SQLITE_IOERR_AUTH) return result;
    // SQLite names every database that is locked for writing. One in WAL mode, say, or not written to, has no journal that
    // needs the super-journal. Where writes are atomic SQLite may only make the journal later in the commit.
    if (promises & SQLITE_IOCAP_BATCH_ATOMIC) return SQLITE_PERM;
    int is_there = 1;
    result = vfs->base->xAccess(vfs->base, name, SQLITE_ACCESS_EXISTS, &is_there);
    return result == SQLITE_OK && is_there ? SQLITE_PERM : result;
}

// A super-journal's name, as it goes into a journal: it must be sealed with the account's key for these.
static int check_super_journal(cordon_vfs *vfs, const char *part, size_t count) {
    uint8_t slot[JOURNAL_BLOCK + JOURNAL_COUNT + TRAILER];
    char *room = name_apart(part, count);
    int result = room ? read_start(vfs, room + 8, SQLITE_OPEN_SUPER_JOURNAL, slot, sizeof slot, NULL) : SQLITE_NOMEM;
    free(room);
    if (result == SQLITE_IOERR_SHORT_READ) return SQLITE_PERM;
    if (result != SQLITE_OK) return result;
    if (!cordon_key_enter(vfs->beside)) return SQLITE_IOERR_AUTH;
    cordon_place place = {KIND_SUPER, 12, 0};
    int is_ours = cordon_open_block(vfs->beside, place, slot, slot, JOURNAL_BLOCK + JOURNAL_COUNT);
    cordon_key_leave(vfs->beside);
    return is_ours ? SQLITE_OK : SQLITE_PERM;
}

// What SQLite writes into a journal is numbers, pages, which are no shorter than the longest path and do not begin with a
// slash, and at the end of a transaction over several databases the path that ends in "-mj", six digits, 9 and two more.
static int is_super_journal(const cordon_vfs *vfs, const uint8_t *in, int count) {
    return count > 12 && count <= vfs->vfs.mxPathname && in[0] == '/' && memcmp(in + count - 12, "-mj", 3) == 0 &&
           in[count - 3] == '9' && !memchr(in, 0, (size_t)count);
}

int cordon_check_member(cordon_file *file, const uint8_t *in, int count) {
    if (file->kind == KIND_SUPER && count > 0) return check_journal(file->vfs, (const char *)in, (size_t)count);
    if (file->kind == KIND_JOURNAL && is_super_journal(file->vfs, in, count)) {
        return check_super_journal(file->vfs, (const char *)in, (size_t)count);
    }
    return SQLITE_OK;
}

int cordon_give_key(cordon_file *file, const char *name, int flags) {
    if (file->kind == KIND_PAGE) return key_of_database(file, name);
    if (file->kind == KIND_JOURNAL) return key_of_companion(file, name, stem(name, "-journal"), flags);
    if (file->kind == KIND_FRAME) return key_of_companion(file, name, stem(name, "-wal"), flags);
    if (file->kind == KIND_SUPER) {
        file->key = file->vfs->beside;
        cordon_page_key_retain(file->key);
        return SQLITE_OK;
    }
    file->key = file->vfs->host.ephemeral(file->vfs->host.state);
    return file->key ? SQLITE_OK : SQLITE_NOMEM;
}

static void detach(cordon_file *file) {
    cordon_vfs *vfs = file->vfs;
    cordon_database *database = file->database;
    pthread_mutex_lock(&vfs->lock);
    for (cordon_file **next = &database->journals; *next; next = &(*next)->next) {
        if (*next != file) continue;
        *next = file->next;
        break;
    }
    if (file->held_changed) atomic_fetch_sub(&database->held_back, 1);
    if (--database->files == 0) {
        for (cordon_database **next = &vfs->databases; *next; next = &(*next)->next) {
            if (*next != database) continue;
            *next = database->next;
            break;
        }
        vfs->host.closed(vfs->host.state, database->path, database->header);
        free_database(database);
    }
    pthread_mutex_unlock(&vfs->lock);
}

void cordon_forget_file(cordon_file *file) {
    cordon_vfs *vfs = file->vfs;
    if (file->database) detach(file);
    cordon_page_key_release(file->key);
    if (file->has_lock) pthread_mutex_destroy(&file->lock);
    cordon_map_forget(file);
    if (file->slot) cordon_zero(file->slot, file->slot_size);
    if (file->held) cordon_zero(file->held, file->block);
    free(file->slot);
    free(file->held);
    cordon_vfs_closed_file(vfs);
}
