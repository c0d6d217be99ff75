#ifndef CORDON_ZLIB_SHIM_H
#define CORDON_ZLIB_SHIM_H

#include <stddef.h>
#include <stdint.h>

// gzip (RFC 1952) of whole buffers by the system's zlib, whose own calls are macros and structures that Swift cannot use.

// The most bytes that a gzip file of `count` bytes can have; 0 when `count` is too large.
size_t cordon_gzip_bound(size_t count);

// Packs `count` bytes into `out`; the number of bytes written, 0 when that fails.
size_t cordon_gzip(uint8_t *out, size_t capacity, const uint8_t *in, size_t count);

enum { CORDON_GUNZIP_MALFORMED = -1, CORDON_GUNZIP_TOO_LARGE = -2, CORDON_GUNZIP_NO_MEMORY = -3 };

// Unpacks one gzip file that is the whole of `in` and has at most `capacity` bytes inside; the number of bytes written,
// or one of the codes above.
ptrdiff_t cordon_gunzip(uint8_t *out, size_t capacity, const uint8_t *in, size_t count);

// Unpacks raw deflate data (RFC 1951) at the start of `in`, whatever follows it; otherwise as `cordon_gunzip`.
ptrdiff_t cordon_inflate(uint8_t *out, size_t capacity, const uint8_t *in, size_t count);

// Unpacks raw deflate data that comes and goes in pieces.
typedef struct cordon_inflater cordon_inflater;

// NULL when there is no memory.
cordon_inflater *cordon_inflater_make(void);

enum {
    CORDON_INFLATE_GOES_ON = 0,
    CORDON_INFLATE_ENDED = 1,
    CORDON_INFLATE_MALFORMED = -1,
    CORDON_INFLATE_NO_MEMORY = -2
};

// One piece: takes `*count` bytes of `in` and fills `*capacity` bytes of `out` at most, then puts how many it took and
// how many it made in their place; one of the codes above.
int cordon_inflater_step(cordon_inflater *it, uint8_t *out, uint32_t *capacity, const uint8_t *in, uint32_t *count);

// NULL is ignored.
void cordon_inflater_free(cordon_inflater *it);

// The most bytes that raw deflate data of `count` bytes can have; 0 when `count` is too large.
size_t cordon_deflate_bound(size_t count);

// Packs `count` bytes into raw deflate data; the number of bytes written, 0 when that fails.
size_t cordon_deflate(uint8_t *out, size_t capacity, const uint8_t *in, size_t count);

// The CRC-32 of what `crc` stands for, 0 at the beginning, followed by these bytes.
uint32_t cordon_crc32(uint32_t crc, const uint8_t *in, size_t count);

#endif
