#include "sealed.h"

#include <string.h>

// A write-ahead log: a header of 32 bytes, then frames of 24 bytes and a page. Each is sealed into a slot of its own, so
// that no write touches what an earlier one made durable. SQLite writes a frame in two parts; the first waits for the
// second. At the end of a transaction that wrote frames twice it reads them whole and writes first parts alone; those wait
// for nothing.

static int real_read(cordon_file *file, void *out, int64_t count, int64_t offset) {
    return file->real->pMethods->xRead(file->real, out, (int)count, offset);
}

static int real_write(cordon_file *file, const void *in, int64_t count, int64_t offset) {
    return file->real->pMethods->xWrite(file->real, in, (int)count, offset);
}

static int64_t frame_size(const cordon_file *file) { return (int64_t)file->block + FRAME_HEADER; }

static int64_t frame_start(const cordon_file *file, int64_t index) {
    return LOG_HEADER + TRAILER + index * (frame_size(file) + TRAILER);
}

// Takes the page size out of a log's header; 0 when it is none.
static uint32_t page_size(const uint8_t *header) {
    uint32_t size = (uint32_t)header[8] << 24 | (uint32_t)header[9] << 16 | (uint32_t)header[10] << 8 | header[11];
    return size >= 512 && size <= LARGEST_PAGE && (size & (size - 1)) == 0 ? size : 0;
}

static const cordon_place header_place = {KIND_LOG_HEADER, 0, 0};

static cordon_place frame_place(int64_t index) { return (cordon_place){KIND_FRAME, 0, index}; }

// Reads the header; one that is not genuine is zeros, which SQLite takes for an empty log, as after a torn write.
static int read_header(cordon_file *file, uint8_t *header) {
    uint8_t slot[LOG_HEADER + TRAILER];
    int result = real_read(file, slot, sizeof slot, 0);
    if (result != SQLITE_OK) {
        memset(header, 0, LOG_HEADER);
        return result;
    }
    cordon_open_block(file->key, header_place, header, slot, LOG_HEADER);
    return SQLITE_OK;
}

static int know_page(cordon_file *file) {
    if (file->block == 0) {
        uint8_t header[LOG_HEADER];
        int result = read_header(file, header);
        if (result != SQLITE_OK && result != SQLITE_IOERR_SHORT_READ) return result;
        file->block = page_size(header);
        if (file->block == 0) return SQLITE_OK;
    }
    return cordon_need_slot(file, (uint32_t)frame_size(file) + TRAILER);
}

// Brings a frame into the slot in the clear; zeros when it is not there or not genuine.
static int load_frame(cordon_file *file, int64_t index, int *is_genuine) {
    int64_t size = frame_size(file);
    *is_genuine = 0;
    int result = real_read(file, file->slot, size + TRAILER, frame_start(file, index));
    if (result == SQLITE_OK) {
        *is_genuine = cordon_open_block(file->key, frame_place(index), file->slot, file->slot, (size_t)size);
    }
    if (!*is_genuine) memset(file->slot, 0, (size_t)size);
    return result;
}

static int store_frame(cordon_file *file, int64_t index) {
    int64_t size = frame_size(file);
    if (!cordon_seal_block(file->key, frame_place(index), file->slot, file->slot, (size_t)size)) {
        return SQLITE_IOERR_WRITE;
    }
    return real_write(file, file->slot, size + TRAILER, frame_start(file, index));
}

// Changes part of a frame that is on disk, or of one of zeros.
static int change_frame(cordon_file *file, int64_t index, const uint8_t *in, size_t count, int64_t within) {
    int is_genuine;
    int result = load_frame(file, index, &is_genuine);
    if (result != SQLITE_OK && result != SQLITE_IOERR_SHORT_READ) return result;
    memcpy(file->slot + within, in, count);
    return store_frame(file, index);
}

int cordon_log_flush(cordon_file *file) {
    if (file->pending_index < 0) return SQLITE_OK;
    int64_t index = file->pending_index;
    file->pending_index = -1;
    return change_frame(file, index, file->pending, FRAME_HEADER, 0);
}

int cordon_log_read(cordon_file *file, uint8_t *out, int count, int64_t offset) {
    int result = cordon_log_flush(file);
    file->whole_index = -1;
    while (count > 0 && result == SQLITE_OK) {
        int64_t part;
        if (offset < LOG_HEADER) {
            uint8_t header[LOG_HEADER];
            result = read_header(file, header);
            part = LOG_HEADER - offset < count ? LOG_HEADER - offset : count;
            memcpy(out, header + offset, (size_t)part);
        } else {
            result = know_page(file);
            if (result == SQLITE_OK && file->block == 0) result = SQLITE_IOERR_SHORT_READ;
            if (result != SQLITE_OK) break;
            int64_t index = (offset - LOG_HEADER) / frame_size(file);
            int64_t within = (offset - LOG_HEADER) % frame_size(file);
            int is_genuine;
            part = frame_size(file) - within < count ? frame_size(file) - within : count;
            result = load_frame(file, index, &is_genuine);
            memcpy(out, file->slot + within, (size_t)part);
            file->whole_index = result == SQLITE_OK && is_genuine && part == frame_size(file) ? index : -1;
            // A page that the index points at must be there. A reader of whole frames is looking for the log's end.
            if (result == SQLITE_OK && !is_genuine && within == FRAME_HEADER) result = SQLITE_IOERR_DATA;
        }
        if (result != SQLITE_OK) break;
        out += part;
        count -= (int)part;
        offset += part;
    }
    if (result != SQLITE_OK) memset(out, 0, (size_t)count);
    return result;
}

static int write_header(cordon_file *file, const uint8_t *in) {
    uint8_t slot[LOG_HEADER + TRAILER];
    file->block = page_size(in);
    if (!cordon_seal_block(file->key, header_place, slot, in, LOG_HEADER)) return SQLITE_IOERR_WRITE;
    return real_write(file, slot, sizeof slot, 0);
}

int cordon_log_write(cordon_file *file, const uint8_t *in, int count, int64_t offset) {
    int64_t whole_index = file->whole_index;
    file->whole_index = -1;
    if (offset == 0 && count == LOG_HEADER) {
        int result = cordon_log_flush(file);
        return result == SQLITE_OK ? write_header(file, in) : result;
    }
    int result = know_page(file);
    if (result != SQLITE_OK) return result;
    if (file->block == 0 || offset < LOG_HEADER) return SQLITE_IOERR_WRITE;
    while (count > 0 && result == SQLITE_OK) {
        int64_t index = (offset - LOG_HEADER) / frame_size(file);
        int64_t within = (offset - LOG_HEADER) % frame_size(file);
        int64_t part = frame_size(file) - within < count ? frame_size(file) - within : count;
        if (file->pending_index == index && within == FRAME_HEADER && part == file->block) {
            memcpy(file->slot, file->pending, FRAME_HEADER);
            memcpy(file->slot + FRAME_HEADER, in, file->block);
            file->pending_index = -1;
            result = store_frame(file, index);
        } else {
            result = cordon_log_flush(file);
            if (result != SQLITE_OK) break;
            if (within == 0 && part == FRAME_HEADER && index == whole_index) {
                memcpy(file->slot, in, FRAME_HEADER);
                result = store_frame(file, index);
            } else if (within == 0 && part == FRAME_HEADER) {
                memcpy(file->pending, in, FRAME_HEADER);
                file->pending_index = index;
            } else {
                result = change_frame(file, index, in, (size_t)part, within);
            }
        }
        in += part;
        count -= (int)part;
        offset += part;
    }
    return result;
}

int cordon_log_truncate(cordon_file *file, int64_t size) {
    file->pending_index = file->whole_index = -1;
    int result = know_page(file);
    if (result != SQLITE_OK) return result;
    int64_t real = 0;
    if (size >= LOG_HEADER) {
        real = LOG_HEADER + TRAILER;
        // A limit on the log's size may fall inside a frame, which is not needed then.
        if (file->block != 0) real = frame_start(file, (size - LOG_HEADER) / frame_size(file));
    }
    return file->real->pMethods->xTruncate(file->real, real);
}

int cordon_log_length(cordon_file *file, int64_t *size) {
    int result = cordon_log_flush(file);
    sqlite3_int64 real = 0;
    if (result == SQLITE_OK) result = file->real->pMethods->xFileSize(file->real, &real);
    if (result == SQLITE_OK && real >= LOG_HEADER + TRAILER) result = know_page(file);
    if (result != SQLITE_OK) return result;
    *size = 0;
    if (real < LOG_HEADER + TRAILER) return SQLITE_OK;
    *size = LOG_HEADER;
    if (file->block != 0) {
        *size += (real - LOG_HEADER - TRAILER) / (frame_size(file) + TRAILER) * frame_size(file);
    }
    return SQLITE_OK;
}
