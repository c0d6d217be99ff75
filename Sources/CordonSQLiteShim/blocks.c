#include "sealed.h"

#include <CordonAEADShim.h>
#include <stdlib.h>
#include <string.h>

// A file of equal blocks, each sealed into a slot of its own. A database's blocks are its pages, written through. A
// journal's block says how many of its bytes count, zeros after them, so that none is ever written again because the next
// one begins; it is held in memory until it is full or must be on disk.

int cordon_need_slot(cordon_file *file, uint32_t size) {
    if (file->slot_size >= size) return SQLITE_OK;
    // Not realloc, which would leave what the smaller one held in freed memory.
    uint8_t *memory = malloc(size);
    if (!memory) return SQLITE_NOMEM;
    if (file->slot) {
        memcpy(memory, file->slot, file->slot_size);
        cordon_zero(file->slot, file->slot_size);
        free(file->slot);
    }
    file->slot = memory;
    file->slot_size = size;
    return SQLITE_OK;
}

static int real_read(cordon_file *file, void *out, int64_t count, int64_t offset) {
    return file->real->pMethods->xRead(file->real, out, (int)count, offset);
}

static int real_write(cordon_file *file, const void *in, int64_t count, int64_t offset) {
    return file->real->pMethods->xWrite(file->real, in, (int)count, offset);
}

// What is sealed of a block: of a journal also the number of bytes that count, little-endian.
static uint32_t sealed_size(const cordon_file *file) {
    return file->kind == KIND_PAGE ? file->block : file->block + JOURNAL_COUNT;
}

static uint32_t slot_size(const cordon_file *file) { return sealed_size(file) + TRAILER; }

static int64_t slot_start(const cordon_file *file, int64_t index) { return file->start + index * (int64_t)slot_size(file); }

static cordon_place place_of(const cordon_file *file, int64_t index) {
    uint8_t level = 0;
    for (uint32_t size = file->block; size > 1; size >>= 1) level++;
    return (cordon_place){file->kind, level, index};
}

static int is_page_size(int64_t size) { return size >= 512 && size <= LARGEST_PAGE && (size & (size - 1)) == 0; }

// Learns a database's block size from its header; it stays 0 until the first page was written.
static int know_block(cordon_file *file) {
    if (file->block == 0) {
        uint8_t level = 0;
        int result = real_read(file, &level, 1, BLOCK_BYTE);
        if (result != SQLITE_OK) return result;
        if (level == 0) return SQLITE_OK;
        if (level > 16 || !is_page_size(1 << level)) return SQLITE_IOERR_DATA;
        file->block = 1u << level;
    }
    return cordon_need_slot(file, slot_size(file));
}

// Writes a database's block size: one byte, which no power cut can tear. Once for each open file and after each failed sync, which
// the system may take for done: with pages on the disk and no size, all of them would be gone.
static int put_block(cordon_file *file) {
    uint8_t level = 0;
    while (1u << level < file->block) level++;
    int result = real_write(file, &level, 1, BLOCK_BYTE);
    file->has_put_block = result == SQLITE_OK;
    return result;
}

// The first page decides the block size for good.
static int choose_block(cordon_file *file, int64_t size) {
    if (!is_page_size(size)) return SQLITE_IOERR_WRITE;
    file->block = (uint32_t)size;
    int result = put_block(file);
    if (result != SQLITE_OK) {
        file->block = 0;
        return result;
    }
    return cordon_need_slot(file, slot_size(file));
}

static void set_changed(cordon_file *file, int changed) {
    if (file->held_changed == changed) return;
    file->held_changed = changed;
    if (file->kind == KIND_JOURNAL && file->database) atomic_fetch_add(&file->database->held_back, changed ? 1 : -1);
}

// Reads a block and opens it, into the slot unless it is a page. What is not genuine is an error in a database or a
// temporary file; in a journal it reads as zeros, because there it is what a power cut leaves of an unfinished write, and
// ends the journal. A super-journal is whole before a journal names it, and one taken for empty would be deleted while
// journals still need it.
static int load(cordon_file *file, int64_t index, uint8_t *out) {
    uint32_t size = sealed_size(file);
    int64_t count = (int64_t)size + TRAILER, start = slot_start(file, index);
    int is_read = file->kind == KIND_PAGE && cordon_map_read(file, file->slot, count, start);
    int result = is_read ? SQLITE_OK : real_read(file, file->slot, count, start);
    if (result != SQLITE_OK) return result;
    if (cordon_open_block(file->key, place_of(file, index), out, file->slot, size)) return SQLITE_OK;
    memset(out, 0, size);
    return file->kind == KIND_JOURNAL ? SQLITE_OK : SQLITE_IOERR_DATA;
}

// Seals a block of which `count` bytes count and writes it; the plaintext may stand in the slot already.
static int store(cordon_file *file, int64_t index, uint32_t count, const uint8_t *in) {
    if (file->kind != KIND_PAGE) {
        if (in != file->slot) memcpy(file->slot, in, count);
        memset(file->slot + count, 0, file->block - count);
        file->slot[file->block] = (uint8_t)count;
        file->slot[file->block + 1] = (uint8_t)(count >> 8);
        in = file->slot;
    }
    uint32_t size = sealed_size(file);
    if (!cordon_seal_block(file->key, place_of(file, index), file->slot, in, size)) return SQLITE_IOERR_WRITE;
    return real_write(file, file->slot, (int64_t)size + TRAILER, slot_start(file, index));
}

static int know_length(cordon_file *file) {
    if (file->length >= 0) return SQLITE_OK;
    sqlite3_int64 size = 0;
    int result = file->real->pMethods->xFileSize(file->real, &size);
    if (result != SQLITE_OK) return result;
    int64_t blocks = size > file->start ? (size - file->start) / slot_size(file) : 0;
    if (file->kind == KIND_SUPER && blocks == 0 && size > 0) return SQLITE_IOERR_DATA;
    if (file->kind != KIND_PAGE && blocks > 0) {
        result = load(file, blocks - 1, file->slot);
        if (result != SQLITE_OK) return result;
        uint32_t count = file->slot[file->block] | (uint32_t)file->slot[file->block + 1] << 8;
        file->length = (blocks - 1) * file->block + (count < file->block ? count : file->block);
    } else {
        file->length = blocks * file->block;
    }
    return SQLITE_OK;
}

int cordon_blocks_flush(cordon_file *file) {
    if (!file->held_changed) return SQLITE_OK;
    int result = store(file, file->held_index, file->held_count, file->held);
    if (result == SQLITE_OK) set_changed(file, 0);
    return result;
}

// How many bytes of plaintext a block has.
static uint32_t count_in(const cordon_file *file, int64_t index) {
    int64_t count = file->length - index * file->block;
    return count <= 0 ? 0 : count > file->block ? file->block : (uint32_t)count;
}

// Brings a block into memory, and what was there before to disk.
static int hold(cordon_file *file, int64_t index) {
    if (file->held_index == index) return SQLITE_OK;
    int result = cordon_blocks_flush(file);
    if (result != SQLITE_OK) return result;
    if (!file->held && !(file->held = malloc(file->block))) return SQLITE_NOMEM;
    file->held_index = -1;
    file->held_count = count_in(file, index);
    if (file->held_count > 0) result = load(file, index, file->slot);
    if (result != SQLITE_OK) return result;
    memcpy(file->held, file->slot, file->held_count);
    memset(file->held + file->held_count, 0, file->block - file->held_count);
    file->held_index = index;
    return SQLITE_OK;
}

int cordon_blocks_read(cordon_file *file, uint8_t *out, int count, int64_t offset) {
    int result = know_block(file);
    if (result != SQLITE_OK) return result;
    int is_page = file->kind == KIND_PAGE;
    if (!is_page && (result = know_length(file)) != SQLITE_OK) return result;
    int is_head = offset == 0 && count < 512;
    while (count > 0 && result == SQLITE_OK) {
        if (file->block == 0) result = SQLITE_IOERR_SHORT_READ;
        if (result != SQLITE_OK) break;
        int64_t index = offset / file->block;
        uint32_t within = (uint32_t)(offset % file->block);
        uint32_t part = file->block - within;
        if (part > (uint32_t)count) part = (uint32_t)count;
        uint32_t have = is_page ? file->block : count_in(file, index);
        if (have <= within) {
            result = SQLITE_IOERR_SHORT_READ;
            break;
        }
        uint32_t given = have - within < part ? have - within : part;
        if (file->held_index != index && !is_page && !file->held_changed && part < file->block) {
            result = hold(file, index);
            if (result != SQLITE_OK) break;
        }
        if (file->held_index == index) {
            memcpy(out, file->held + within, given);
        } else if (is_page && part == file->block) {
            result = load(file, index, out);
        } else if ((result = load(file, index, file->slot)) == SQLITE_OK) {
            memcpy(out, file->slot + within, given);
        }
        if (result != SQLITE_OK) break;
        out += given;
        count -= (int)given;
        offset += given;
        if (given < part) result = SQLITE_IOERR_SHORT_READ;
    }
    if (result != SQLITE_OK) memset(out, 0, (size_t)count);
    // The first look at a database only asks for its page size. If a cut tore the first page, the journal mends it
    // afterwards; a look that failed would keep SQLite from ever getting there.
    if (result == SQLITE_IOERR_DATA && is_page && is_head) return SQLITE_IOERR_SHORT_READ;
    return result;
}

// How long a sector was to the connection that began a journal: SQLite puts all pages of a sector into it. 0 when unknown.
static uint32_t sector_size(cordon_file *journal) {
    uint8_t size[4];
    if (journal->has_lock) pthread_mutex_lock(&journal->lock);
    int result = cordon_blocks_read(journal, size, sizeof size, 20);
    if (journal->has_lock) pthread_mutex_unlock(&journal->lock);
    if (result != SQLITE_OK) return 0;
    return (uint32_t)size[0] << 24 | (uint32_t)size[1] << 16 | (uint32_t)size[2] << 8 | size[3];
}

// Whether every page of a block comes out of a journal now, whatever is on disk. Versions before began journals of shorter
// sectors beside a log. A transaction makes its journal and reads the block's pages first. The caller has entered the key.
static int is_played_back(const cordon_file *file) {
    int is_held = 0;
    pthread_mutex_lock(&file->vfs->lock);
    for (cordon_file *next = file->database->journals; next; next = next->next) {
        if (atomic_load(&next->is_hot)) is_held |= sector_size(next) >= file->block;
    }
    pthread_mutex_unlock(&file->vfs->lock);
    return is_held;
}

// Writes part of one block; NULL stands for zeros.
static int put(cordon_file *file, const uint8_t *in, uint32_t count, int64_t offset) {
    int64_t index = offset / file->block;
    uint32_t within = (uint32_t)(offset % file->block);
    int result = SQLITE_OK;
    if (count == file->block) {
        if (file->held_index == index) {
            set_changed(file, 0);
            file->held_index = -1;
        }
        if (!in) memset(file->slot, 0, count);
        result = store(file, index, count, in ? in : file->slot);
    } else if (file->kind == KIND_PAGE) {
        // Pages smaller than the first one was: their neighbours are sealed anew with them.
        if (count_in(file, index) > 0) {
            result = load(file, index, file->slot);
            // A cut tore it; playing back begins with zeros.
            if (result == SQLITE_IOERR_DATA && is_played_back(file)) result = SQLITE_OK;
        } else {
            memset(file->slot, 0, file->block);
        }
        if (result != SQLITE_OK) return result;
        if (in) memcpy(file->slot + within, in, count);
        else memset(file->slot + within, 0, count);
        result = store(file, index, file->block, file->slot);
    } else {
        result = hold(file, index);
        if (result != SQLITE_OK) return result;
        if (in) memcpy(file->held + within, in, count);
        else memset(file->held + within, 0, count);
        if (within + count > file->held_count) file->held_count = within + count;
        set_changed(file, 1);
        if (within + count == file->block) result = cordon_blocks_flush(file);
    }
    if (result == SQLITE_OK && offset + count > file->length) {
        file->length = offset + count;
        file->map.end = -1;
    }
    return result;
}

// Writes what may span blocks; NULL stands for zeros.
static int put_all(cordon_file *file, const uint8_t *in, int64_t count, int64_t offset) {
    int result = SQLITE_OK;
    while (count > 0 && result == SQLITE_OK) {
        uint32_t part = file->block - (uint32_t)(offset % file->block);
        if (part > count) part = (uint32_t)count;
        result = put(file, in, part, offset);
        if (in) in += part;
        count -= part;
        offset += part;
    }
    return result;
}

// Extends a file up to an offset. What is skipped is sealed zeros, so that a page cannot be emptied unseen; a block that is
// on disk already stays as it is, because it may have been synced.
static int skip(cordon_file *file, int64_t offset) {
    if (file->kind == KIND_PAGE) return put_all(file, NULL, offset - file->length, file->length);
    int64_t begun = (file->length + file->block - 1) / file->block * file->block;
    // Inside one block the memory behind its last byte holds zeros.
    if (offset < begun) return SQLITE_OK;
    file->length = begun;
    return put_all(file, NULL, offset / file->block * file->block - begun, begun);
}

int cordon_blocks_write(cordon_file *file, const uint8_t *in, int count, int64_t offset) {
    int result = know_block(file);
    if (result == SQLITE_OK && file->block == 0) result = choose_block(file, count);
    if (result == SQLITE_OK && file->kind == KIND_PAGE && !file->has_put_block) result = put_block(file);
    if (result == SQLITE_OK) result = know_length(file);
    if (result == SQLITE_OK && offset > file->length) result = skip(file, offset);
    return result == SQLITE_OK ? put_all(file, in, count, offset) : result;
}

int cordon_blocks_truncate(cordon_file *file, int64_t size) {
    int result = know_block(file);
    if (result != SQLITE_OK) return result;
    if (file->block == 0) return SQLITE_OK;
    if ((result = know_length(file)) != SQLITE_OK) return result;
    if (size >= file->length) return put_all(file, NULL, size - file->length, file->length);
    int64_t index = size / file->block;
    uint32_t within = (uint32_t)(size % file->block);
    if (within > 0 && file->kind == KIND_PAGE) {
        index++;
        size = index * file->block;
        within = 0;
    }
    if (within > 0) {
        if ((result = hold(file, index)) != SQLITE_OK) return result;
        memset(file->held + within, 0, file->block - within);
        file->held_count = within;
        set_changed(file, 1);
    } else if (file->held_index >= index) {
        set_changed(file, 0);
        file->held_index = -1;
    }
    file->map.end = -1;
    result = file->real->pMethods->xTruncate(file->real, slot_start(file, index));
    if (result == SQLITE_OK) file->length = size;
    return result;
}

int cordon_blocks_length(cordon_file *file, int64_t *size) {
    int result = know_block(file);
    if (result != SQLITE_OK) return result;
    if (file->kind == KIND_PAGE) file->length = -1;
    result = file->block == 0 ? SQLITE_OK : know_length(file);
    *size = file->block == 0 || result != SQLITE_OK ? 0 : file->length;
    return result;
}
