#include "CordonZlibShim.h"

#include <limits.h>
#include <zlib.h>

// Asks zlib for the gzip format instead of its own.
#define GZIP_FORMAT 16

size_t cordon_gzip_bound(size_t count) {
    // The larger header and trailer of gzip are not in what compressBound says of zlib's own format.
    return count > UINT_MAX / 2 ? 0 : compressBound(count) + 32;
}

size_t cordon_gzip(uint8_t *out, size_t capacity, const uint8_t *in, size_t count) {
    z_stream stream = {0};
    if (count > UINT_MAX || capacity > UINT_MAX) return 0;
    if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, MAX_WBITS + GZIP_FORMAT, 8, Z_DEFAULT_STRATEGY) != Z_OK) return 0;
    stream.next_in = (Bytef *)in;
    stream.avail_in = (uInt)count;
    stream.next_out = out;
    stream.avail_out = (uInt)capacity;
    size_t written = deflate(&stream, Z_FINISH) == Z_STREAM_END ? stream.total_out : 0;
    deflateEnd(&stream);
    return written;
}

static ptrdiff_t unpack(int format, int is_whole, uint8_t *out, size_t capacity, const uint8_t *in, size_t count) {
    z_stream stream = {0};
    if (count > UINT_MAX || capacity > UINT_MAX - 1) return CORDON_GUNZIP_TOO_LARGE;
    if (inflateInit2(&stream, format) != Z_OK) return CORDON_GUNZIP_MALFORMED;
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
