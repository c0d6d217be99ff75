#include "sealed.h"

#include <stdlib.h>
#include <string.h>

// The file system as SQLite registers it: opening is ours, names and everything else are the base file system's.

static uint8_t kind_of(const char *name, int flags) {
    if (flags & SQLITE_OPEN_MAIN_DB) return KIND_PAGE;
    if (flags & SQLITE_OPEN_WAL) return KIND_FRAME;
    if (flags & SQLITE_OPEN_MAIN_JOURNAL) return KIND_JOURNAL;
    if (flags & SQLITE_OPEN_SUPER_JOURNAL) {
        size_t count = strlen(name);
        return count > 8 && strcmp(name + count - 8, "-journal") == 0 ? KIND_JOURNAL : KIND_SUPER;
    }
    return KIND_TEMPORARY;
}

_Thread_local cordon_database *cordon_opened_log;

// One file more; 0 when the file system was given up and its keys are gone. A connection that has no file is not counted,
// and may still come.
static int begin_file(cordon_vfs *vfs) {
    pthread_mutex_lock(&vfs->lock);
    int is_there = !vfs->is_abandoned || vfs->files > 0;
    vfs->files += is_there;
    pthread_mutex_unlock(&vfs->lock);
    return is_there;
}

static int refuse(cordon_vfs *vfs, int result) {
    cordon_vfs_closed_file(vfs);
    return result;
}

static int on_open(sqlite3_vfs *opened, const char *name, sqlite3_file *out, int flags, int *out_flags) {
    cordon_vfs *vfs = (cordon_vfs *)opened;
    cordon_file *file = (cordon_file *)out;
    memset(file, 0, sizeof *file);
    if (!name && flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL)) {
        return SQLITE_CANTOPEN;
    }
    if (!begin_file(vfs)) return SQLITE_IOERR_AUTH;
    file->vfs = vfs;
    file->real = (sqlite3_file *)(file + 1);
    file->kind = kind_of(name, flags);
    file->start = file->kind == KIND_PAGE ? HEADER_SIZE : 0;
    file->block = file->kind == KIND_PAGE || file->kind == KIND_FRAME ? 0 : JOURNAL_BLOCK;
    file->length = file->held_index = file->pending_index = file->whole_index = file->map.end = -1;
    // A transaction makes its journal, or takes the one that it kept; what only reads one changes nothing.
    atomic_init(&file->is_hot, file->kind == KIND_JOURNAL && flags & SQLITE_OPEN_READWRITE && !(flags & SQLITE_OPEN_CREATE));
    int asked = flags;
    if (file->kind == KIND_PAGE && flags & SQLITE_OPEN_CREATE) {
        int prepared = vfs->host.prepare(vfs->host.state, name);
        if (prepared != SQLITE_OK) return refuse(vfs, prepared);
        // The header is there by now; an empty file must never be.
        asked &= ~(SQLITE_OPEN_CREATE | SQLITE_OPEN_EXCLUSIVE);
    }
    int result = vfs->base->xOpen(vfs->base, name, file->real, asked, out_flags);
    if (result != SQLITE_OK) return refuse(vfs, result);
    if (file->kind == KIND_JOURNAL) file->has_lock = pthread_mutex_init(&file->lock, NULL) == 0;
    result = cordon_give_key(file, name, flags);
    if (result == SQLITE_OK && file->kind != KIND_PAGE && file->kind != KIND_FRAME) {
        result = cordon_need_slot(file, JOURNAL_BLOCK + JOURNAL_COUNT + TRAILER);
    }
    if (result != SQLITE_OK) {
        file->real->pMethods->xClose(file->real);
        cordon_forget_file(file);
        return result;
    }
    file->file.pMethods = &cordon_io_methods;
    if (file->kind == KIND_FRAME) cordon_opened_log = file->database;
    if (out_flags && flags & SQLITE_OPEN_CREATE) *out_flags |= SQLITE_OPEN_CREATE;
    return SQLITE_OK;
}

static sqlite3_vfs *base_of(sqlite3_vfs *vfs) { return ((cordon_vfs *)vfs)->base; }

static int on_delete(sqlite3_vfs *vfs, const char *name, int sync) {
    return base_of(vfs)->xDelete(base_of(vfs), name, sync);
}

static int on_access(sqlite3_vfs *vfs, const char *name, int flags, int *out) {
    return base_of(vfs)->xAccess(base_of(vfs), name, flags, out);
}

static int on_full_pathname(sqlite3_vfs *vfs, const char *name, int count, char *out) {
    return base_of(vfs)->xFullPathname(base_of(vfs), name, count, out);
}

static void *on_dl_open(sqlite3_vfs *vfs, const char *name) { return base_of(vfs)->xDlOpen(base_of(vfs), name); }

static void on_dl_error(sqlite3_vfs *vfs, int count, char *message) {
    base_of(vfs)->xDlError(base_of(vfs), count, message);
}

static void (*on_dl_sym(sqlite3_vfs *vfs, void *handle, const char *symbol))(void) {
    return base_of(vfs)->xDlSym(base_of(vfs), handle, symbol);
}

static void on_dl_close(sqlite3_vfs *vfs, void *handle) { base_of(vfs)->xDlClose(base_of(vfs), handle); }

static int on_randomness(sqlite3_vfs *vfs, int count, char *out) {
    return base_of(vfs)->xRandomness(base_of(vfs), count, out);
}

static int on_sleep(sqlite3_vfs *vfs, int microseconds) { return base_of(vfs)->xSleep(base_of(vfs), microseconds); }

static int on_current_time(sqlite3_vfs *vfs, double *out) { return base_of(vfs)->xCurrentTime(base_of(vfs), out); }

static int on_get_last_error(sqlite3_vfs *vfs, int count, char *message) {
    return base_of(vfs)->xGetLastError(base_of(vfs), count, message);
}

static int on_current_time_int64(sqlite3_vfs *vfs, sqlite3_int64 *out) {
    return base_of(vfs)->xCurrentTimeInt64(base_of(vfs), out);
}

sqlite3_vfs *cordon_vfs_new(const char *name, sqlite3_vfs *base, cordon_vfs_host host, cordon_page_key *beside) {
    cordon_vfs *vfs = calloc(1, sizeof *vfs);
    char *kept = strdup(name);
    if (!vfs || !kept) {
        free(vfs);
        free(kept);
        return NULL;
    }
    vfs->base = base;
    vfs->host = host;
    vfs->beside = beside;
    cordon_page_key_retain(beside);
    pthread_mutex_init(&vfs->lock, NULL);
    vfs->vfs = (sqlite3_vfs){
        .iVersion = base->iVersion < 2 ? base->iVersion : 2,
        .szOsFile = (int)sizeof(cordon_file) + base->szOsFile,
        .mxPathname = base->mxPathname,
        .zName = kept,
        .xOpen = on_open,
        .xDelete = on_delete,
        .xAccess = on_access,
        .xFullPathname = on_full_pathname,
        .xDlOpen = on_dl_open,
        .xDlError = on_dl_error,
        .xDlSym = on_dl_sym,
        .xDlClose = on_dl_close,
        .xRandomness = on_randomness,
        .xSleep = on_sleep,
        .xCurrentTime = on_current_time,
        .xGetLastError = on_get_last_error,
        .xCurrentTimeInt64 = on_current_time_int64,
    };
    return &vfs->vfs;
}

// The file system itself and its name stay: a connection in memory has no file that tells of it, and calls them for the
// time, for temporary files and at its end.
static void release(cordon_vfs *vfs) {
    cordon_page_key_release(vfs->beside);
    if (vfs->host.release) vfs->host.release(vfs->host.state);
}

void cordon_vfs_closed_file(cordon_vfs *vfs) {
    pthread_mutex_lock(&vfs->lock);
    int is_last = --vfs->files == 0 && vfs->is_abandoned;
    pthread_mutex_unlock(&vfs->lock);
    if (is_last) release(vfs);
}

void cordon_vfs_abandon(sqlite3_vfs *opened) {
    cordon_vfs *vfs = (cordon_vfs *)opened;
    pthread_mutex_lock(&vfs->lock);
    vfs->is_abandoned = 1;
    int is_unused = vfs->files == 0;
    pthread_mutex_unlock(&vfs->lock);
    if (is_unused) release(vfs);
}
