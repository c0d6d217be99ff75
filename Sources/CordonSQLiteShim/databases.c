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
    if (file->kind == KIND_FRAME) atomic_fetch_add(&database->logs, 1);
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

// The key of a database that is not open: when a transaction over several databases is undone, SQLite looks into the
// journals of all of them. The base file system opens it, because closing a descriptor of our own would drop the locks
// that this process may hold.
static cordon_page_key *key_of_closed(cordon_vfs *vfs, const char *path, size_t count) {
    // SQLite expects zeros before and after a name.
    char *name = calloc(1, count + 16);
    sqlite3_file *real = calloc(1, (size_t)vfs->base->szOsFile);
    uint8_t *header = malloc(HEADER_SIZE);
    cordon_page_key *key = NULL;
    if (name && real && header) {
        memcpy(name + 8, path, count);
        int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_MAIN_DB;
        if (vfs->base->xOpen(vfs->base, name + 8, real, flags, NULL) == SQLITE_OK) {
            if (real->pMethods->xRead(real, header, HEADER_SIZE, 0) == SQLITE_OK &&
                memcmp(header, magic, sizeof magic) == 0) {
                key = vfs->host.unlock(vfs->host.state, name + 8, header);
            }
            real->pMethods->xClose(real);
        }
    }
    free(name);
    free(real);
    free(header);
    return key;
}

static int key_of_companion(cordon_file *file, const char *name, size_t count, int flags) {
    cordon_vfs *vfs = file->vfs;
    pthread_mutex_lock(&vfs->lock);
    cordon_database *database = find(vfs, name, count, NULL);
    if (database) attach(file, database);
    pthread_mutex_unlock(&vfs->lock);
    if (database) return SQLITE_OK;
    if (!(flags & SQLITE_OPEN_SUPER_JOURNAL)) return SQLITE_CANTOPEN;
    file->key = key_of_closed(vfs, name, count);
    // A journal whose database is gone has nothing to say, and reads as zeros under any key.
    if (!file->key) file->key = vfs->host.ephemeral(vfs->host.state);
    return file->key ? SQLITE_OK : SQLITE_NOMEM;
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
    if (file->kind == KIND_FRAME) atomic_fetch_sub(&database->logs, 1);
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
