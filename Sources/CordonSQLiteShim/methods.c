#include "sealed.h"

#include <stdlib.h>
#include <string.h>

// What SQLite calls on an open file. Locks, shared memory and the descriptor are the base file system's.

static int begin(cordon_file *file) {
    if (!cordon_key_enter(file->key)) return SQLITE_IOERR_AUTH;
    if (file->has_lock) pthread_mutex_lock(&file->lock);
    return SQLITE_OK;
}

static int end(cordon_file *file, int result) {
    if (file->has_lock) pthread_mutex_unlock(&file->lock);
    cordon_key_leave(file->key);
    return result;
}

// A page must not be on disk before the journal that undoes it, also when the process is killed in between.
int cordon_flush_journals(cordon_database *database) {
    if (!database || atomic_load(&database->held_back) == 0) return SQLITE_OK;
    int result = SQLITE_OK;
    pthread_mutex_lock(&database->vfs->lock);
    for (cordon_file *journal = database->journals; journal && result == SQLITE_OK; journal = journal->next) {
        result = begin(journal);
        if (result == SQLITE_OK) result = end(journal, cordon_blocks_flush(journal));
    }
    pthread_mutex_unlock(&database->vfs->lock);
    return result;
}

static int flush(cordon_file *file) {
    return file->kind == KIND_FRAME ? cordon_log_flush(file) : cordon_blocks_flush(file);
}

static int on_read(sqlite3_file *opened, void *out, int count, sqlite3_int64 offset) {
    cordon_file *file = (cordon_file *)opened;
    int result = begin(file);
    if (result != SQLITE_OK) return result;
    result = file->kind == KIND_FRAME ? cordon_log_read(file, out, count, offset)
                                      : cordon_blocks_read(file, out, count, offset);
    return end(file, result);
}

static int on_write(sqlite3_file *opened, const void *in, int count, sqlite3_int64 offset) {
    cordon_file *file = (cordon_file *)opened;
    int result = file->kind == KIND_PAGE ? cordon_flush_journals(file->database) : cordon_check_member(file, in, count);
    if (result == SQLITE_OK) result = begin(file);
    if (result != SQLITE_OK) return result;
    if (file->kind == KIND_JOURNAL) atomic_store(&file->is_hot, 0);
    result = file->kind == KIND_FRAME ? cordon_log_write(file, in, count, offset)
                                      : cordon_blocks_write(file, in, count, offset);
    // The base file system takes an empty file for none, and a journal whose super-journal is gone is not played back:
    // with synchronous=OFF SQLite asks for no sync before a kill finds it empty.
    int is_due = file->kind == KIND_SUPER;
    // 28 zeros at a journal's start end the transaction. With synchronous=OFF and exclusive locking neither a sync nor an
    // unlock follows. A header begins with zeros too, and comes in parts of at least 512 bytes.
    is_due |= file->kind == KIND_JOURNAL && offset == 0 && count < 512 && *(const uint8_t *)in == 0;
    if (result == SQLITE_OK && is_due) result = cordon_blocks_flush(file);
    return end(file, result);
}

static int on_truncate(sqlite3_file *opened, sqlite3_int64 size) {
    cordon_file *file = (cordon_file *)opened;
    int result = file->kind == KIND_PAGE ? cordon_flush_journals(file->database) : SQLITE_OK;
    if (result == SQLITE_OK) result = begin(file);
    if (result != SQLITE_OK) return result;
    return end(file, file->kind == KIND_FRAME ? cordon_log_truncate(file, size) : cordon_blocks_truncate(file, size));
}

static int on_sync(sqlite3_file *opened, int flags) {
    cordon_file *file = (cordon_file *)opened;
    int result = begin(file);
    if (result != SQLITE_OK) return result;
    result = end(file, flush(file));
    if (result == SQLITE_OK) result = file->real->pMethods->xSync(file->real, flags);
    if (result != SQLITE_OK) file->has_put_block = 0;
    return result;
}

static int on_file_size(sqlite3_file *opened, sqlite3_int64 *size) {
    cordon_file *file = (cordon_file *)opened;
    int64_t found = 0;
    int result = begin(file);
    if (result != SQLITE_OK) return result;
    result = file->kind == KIND_FRAME ? cordon_log_length(file, &found) : cordon_blocks_length(file, &found);
    *size = found;
    return end(file, result);
}

static int on_lock(sqlite3_file *opened, int level) {
    cordon_file *file = (cordon_file *)opened;
    // Another process may have changed the length since.
    file->length = file->map.end = -1;
    return file->real->pMethods->xLock(file->real, level);
}

static int on_unlock(sqlite3_file *opened, int level) {
    cordon_file *file = (cordon_file *)opened;
    int flushed = cordon_flush_journals(file->database);
    int result = file->real->pMethods->xUnlock(file->real, level);
    // A revoked key must not keep a holder from letting go.
    return result == SQLITE_OK && flushed != SQLITE_IOERR_AUTH ? flushed : result;
}

static int on_check_reserved_lock(sqlite3_file *opened, int *out) {
    cordon_file *file = (cordon_file *)opened;
    return file->real->pMethods->xCheckReservedLock(file->real, out);
}

static int on_file_control(sqlite3_file *opened, int operation, void *argument) {
    cordon_file *file = (cordon_file *)opened;
    switch (operation) {
        // Lengths on disk are not lengths of plaintext, memory maps would show ciphertext, and the base file system's
        // atomic writes know nothing of slots.
        case SQLITE_FCNTL_SIZE_HINT:
        case SQLITE_FCNTL_CHUNK_SIZE: return SQLITE_OK;
        case SQLITE_FCNTL_MMAP_SIZE:
        case SQLITE_FCNTL_BEGIN_ATOMIC_WRITE:
        case SQLITE_FCNTL_COMMIT_ATOMIC_WRITE:
        case SQLITE_FCNTL_ROLLBACK_ATOMIC_WRITE: return SQLITE_NOTFOUND;
        default: return file->real->pMethods->xFileControl(file->real, operation, argument);
    }
}

static int on_sector_size(sqlite3_file *opened) {
    (void)opened;
    return JOURNAL_BLOCK;
}

static int on_device_characteristics(sqlite3_file *opened) {
    cordon_file *file = (cordon_file *)opened;
    // Frames have slots of their own, so a log is as safe from torn neighbours as the disk is. Journals are cut into
    // blocks: without this promise SQLite begins a new sector, hence a new block, after every sync. It asks once for a log,
    // when it has just opened it, and once for the journals of a connection, which may leave the log later. Nothing else is
    // passed on: a journal that cannot be deleted while it is open would be kept open, with a block in memory that others
    // change.
    cordon_database *opened_log = cordon_opened_log;
    cordon_opened_log = NULL;
    if (!file->database || file->database != opened_log) return 0;
    return file->real->pMethods->xDeviceCharacteristics(file->real) & SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

static int on_shm_map(sqlite3_file *opened, int page, int size, int extend, void volatile **out) {
    cordon_file *file = (cordon_file *)opened;
    return file->real->pMethods->xShmMap(file->real, page, size, extend, out);
}

static int on_shm_lock(sqlite3_file *opened, int offset, int count, int flags) {
    cordon_file *file = (cordon_file *)opened;
    file->length = file->map.end = -1;
    return file->real->pMethods->xShmLock(file->real, offset, count, flags);
}

static void on_shm_barrier(sqlite3_file *opened) {
    cordon_file *file = (cordon_file *)opened;
    file->real->pMethods->xShmBarrier(file->real);
}

static int on_shm_unmap(sqlite3_file *opened, int delete_flag) {
    cordon_file *file = (cordon_file *)opened;
    return file->real->pMethods->xShmUnmap(file->real, delete_flag);
}

static int on_close(sqlite3_file *opened) {
    cordon_file *file = (cordon_file *)opened;
    int result = SQLITE_OK;
    if (file->kind == KIND_JOURNAL || file->kind == KIND_SUPER || file->kind == KIND_FRAME) {
        if (begin(file) == SQLITE_OK) result = end(file, flush(file));
    }
    // First out of the list of journals, so that no flush goes into a closed file.
    cordon_forget_file(file);
    int closed = file->real->pMethods->xClose(file->real);
    return result == SQLITE_OK ? closed : result;
}

const sqlite3_io_methods cordon_io_methods = {
    // Version 2 has no memory maps.
    .iVersion = 2,
    .xClose = on_close,
    .xRead = on_read,
    .xWrite = on_write,
    .xTruncate = on_truncate,
    .xSync = on_sync,
    .xFileSize = on_file_size,
    .xLock = on_lock,
    .xUnlock = on_unlock,
    .xCheckReservedLock = on_check_reserved_lock,
    .xFileControl = on_file_control,
    .xSectorSize = on_sector_size,
    .xDeviceCharacteristics = on_device_characteristics,
    .xShmMap = on_shm_map,
    .xShmLock = on_shm_lock,
    .xShmBarrier = on_shm_barrier,
    .xShmUnmap = on_shm_unmap,
};
