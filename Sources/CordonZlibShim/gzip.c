#include "CordonZlibShim.h"

#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

// Asks zlib for the gzip format instead of its own.
#define GZIP_FORMAT 16

size_t cordon_gzip_bound(size_t count) {
    // The larger header and trailer of gzip are not in what compressBound says of zlib's own format.
    return count > UINT_MAX / 2 ? 0 : compressBound(count) + 32;
}

static size_t pack(int level, int format, uint8_t *out, size_t capacity, const uint8_t *in, size_t count) {
    z_stream stream = {0};
    if (count > UINT_MAX || capacity > UINT_MAX) return 0;
    if (deflateInit2(&stream, level, Z_DEFLATED, format, 8, Z_DEFAULT_STRATEGY) != Z_OK) return 0;
    stream.next_in = (Bytef *)in;
    stream.avail_in = (uInt)count;
    stream.next_out = out;
    stream.avail_out = (uInt)capacity;
    size_t written = deflate(&stream, Z_FINISH) == Z_STREAM_END ? stream.total_out : 0;
    deflateEnd(&stream);
    return written;
}

size_t cordon_gzip(uint8_t *out, size_t capacity, const uint8_t *in, size_t count) {
    return pack(Z_BEST_SPEED, MAX_WBITS + GZIP_FORMAT, out, capacity, in, count);
}

size_t cordon_deflate_bound(size_t count) {
    return count > UINT_MAX / 2 ? 0 : compressBound(count);
}

size_t cordon_deflate(uint8_t *out, size_t capacity, const uint8_t *in, size_t count) {
    return pack(Z_DEFAULT_COMPRESSION, -MAX_WBITS, out, capacity, in, count);
}

uint32_t cordon_crc32(uint32_t crc, const uint8_t *in, size_t count) {
    while (count > 0) {
        uInt part = count > UINT_MAX ? UINT_MAX : (uInt)count;
        crc = (uint32_t)crc32(crc, in, part);
        in += part;
        count -= part;
    }
    return crc;
}

struct cordon_inflater {
    z_stream stream;
};

cordon_inflater *cordon_inflater_make(void) {
    cordon_inflater *it = calloc(1, sizeof *it);
    if (it && inflateInit2(&it->stream, -MAX_WBITS) != Z_OK) {
        free(it);
        it = NULL;
    }
    return it;
}

int cordon_inflater_step(cordon_inflater *it, uint8_t *out, uint32_t *capacity, const uint8_t *in, uint32_t *count) {
    it->stream.next_in = (Bytef *)in;
    it->stream.avail_in = *count;
    it->stream.next_out = out;
    it->stream.avail_out = *capacity;
    int status = inflate(&it->stream, Z_NO_FLUSH);
    *count -= it->stream.avail_in;
    *capacity -= it->stream.avail_out;
    if (status == Z_STREAM_END) return CORDON_INFLATE_ENDED;
    if (status == Z_MEM_ERROR) return CORDON_INFLATE_NO_MEMORY;
    // Without progress the data ends early.
    if (status == Z_OK && (*count > 0 || *capacity > 0)) return CORDON_INFLATE_GOES_ON;
    return CORDON_INFLATE_MALFORMED;
}

void cordon_inflater_free(cordon_inflater *it) {
    if (!it) return;
    inflateEnd(&it->stream);
    free(it);
}

static ptrdiff_t unpack(int format, int is_whole, uint8_t *out, size_t capacity, const uint8_t *in, size_t count) {
    z_stream stream = {0};
    if (count > UINT_MAX || capacity > UINT_MAX - 1) return CORDON_GUNZIP_TOO_LARGE;
    int begun = inflateInit2(&stream, format);
    if (begun != Z_OK) return begun == Z_MEM_ERROR ? CORDON_GUNZIP_NO_MEMORY : CORDON_GUNZIP_MALFORMED;
    stream.next_in = (Bytef *)in;
    stream.avail_in = (uInt)count;
    stream.next_out = out;
    stream.avail_out = (uInt)capacity;
    int status = inflate(&stream, Z_FINISH);
    ptrdiff_t result = CORDON_GUNZIP_MALFORMED;
    if (status == Z_STREAM_END && (stream.avail_in == 0 || !is_whole)) {
        result = (ptrdiff_t)stream.total_out;
    } else if ((status == Z_BUF_ERROR || status == Z_OK) && stream.avail_out == 0) {
        result = CORDON_GUNZIP_TOO_LARGE;
    } else if (status == Z_MEM_ERROR) {
        result = CORDON_GUNZIP_NO_MEMORY;
    }
    inflateEnd(&stream);
    return result;
}

ptrdiff_t cordon_gunzip(uint8_t *out, size_t capacity, const uint8_t *in, size_t count) {
    return unpack(MAX_WBITS + GZIP_FORMAT, 1, out, capacity, in, count);
}

ptrdiff_t cordon_inflate(uint8_t *out, size_t capacity, const uint8_t *in, size_t count) {
    return unpack(-MAX_WBITS, 0, out, capacity, in, count);
}
