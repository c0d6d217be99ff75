#ifndef CORDON_ZLIB_SHIM_H
#define CORDON_ZLIB_SHIM_H

#include <stddef.h>
#include <stdint.h>

// gzip (RFC 1952) of whole buffers by the system's zlib, whose own calls are macros and structures that Swift cannot use.

// The most bytes that a gzip file of `count` bytes can have; 0 when `count` is too large.
size_t cordon_gzip_bound(size_t count);

// Packs `count` bytes into `out`; the number of bytes written, 0 when that fails.
size_t cordon_gzip(uint8_t *out, size_t capacity, const uint8_t *in, size_t count);

enum { CORDON_GUNZIP_MALFORMED = -1, CORDON_GUNZIP_TOO_LARGE = -2 };

// Unpacks one gzip file that is the whole of `in` and has at most `capacity` bytes inside; the number of bytes written,
// or one of the codes above.
ptrdiff_t cordon_gunzip(uint8_t *out, size_t capacity, const uint8_t *in, size_t count);

// Unpacks raw deflate data (RFC 1951) at the start of `in`, whatever follows it; otherwise as `cordon_gunzip`.
ptrdiff_t cordon_inflate(uint8_t *out, size_t capacity, const uint8_t *in, size_t count);

#endif
