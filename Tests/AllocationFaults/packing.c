#include "failing.h"

#include <CordonZlibShim.h>
#include <stdio.h>
#include <string.h>

// Packing and unpacking with every allocation failing in turn: right bytes or want of memory, never data that is called damaged.

enum { most = 40000 };
static uint8_t plain[most], packed[most + 1000], out[most + 1];
static size_t gzipped, deflated;
static uint8_t gzip[most + 1000], raw[most + 1000];

static int is_plain(ptrdiff_t count) { return count == most && memcmp(out, plain, most) == 0; }

// Each says whether it went well; what is neither that nor want of memory is blamed.
static int pack_gzip(void) {
    size_t count = cordon_gzip(packed, sizeof packed, plain, most);
    return count == gzipped && memcmp(packed, gzip, count) == 0 ? 1 : count == 0 ? 0 : -1;
}

static int pack_raw(void) {
    size_t count = cordon_deflate(packed, sizeof packed, plain, most);
    return count == deflated && memcmp(packed, raw, count) == 0 ? 1 : count == 0 ? 0 : -1;
}

static int unpack_gzip(void) {
    ptrdiff_t count = cordon_gunzip(out, sizeof out, gzip, gzipped);
    return is_plain(count) ? 1 : count == CORDON_GUNZIP_NO_MEMORY ? 0 : -1;
}

static int unpack_raw(void) {
    ptrdiff_t count = cordon_inflate(out, sizeof out, raw, deflated);
    return is_plain(count) ? 1 : count == CORDON_GUNZIP_NO_MEMORY ? 0 : -1;
}

static int unpack_in_pieces(void) {
    cordon_inflater *inflater = cordon_inflater_make();
    if (!inflater) return 0;
    size_t taken = 0, made = 0;
    int status = CORDON_INFLATE_GOES_ON;
    while (status == CORDON_INFLATE_GOES_ON) {
        uint32_t in = deflated - taken < 500 ? (uint32_t)(deflated - taken) : 500;
        uint32_t room = most - made < 1000 ? (uint32_t)(most - made) + 1 : 1000;
        status = cordon_inflater_step(inflater, out + made, &room, raw + taken, &in);
        taken += in;
        made += room;
    }
    cordon_inflater_free(inflater);
    if (status == CORDON_INFLATE_ENDED && is_plain((ptrdiff_t)made)) return 1;
    return status == CORDON_INFLATE_NO_MEMORY ? 0 : -1;
}

int main(void) {
    static int (*const works[])(void) = {pack_gzip, pack_raw, unpack_gzip, unpack_raw, unpack_in_pieces};
    uint32_t next = 1;
    for (size_t place = 0; place < most; place++) {
        next = next * 1664525 + 1013904223;
        plain[place] = (uint8_t)("cordon"[next >> 29 & 3] + (place % 97 == 0 ? next >> 8 : 0));
    }
    gzipped = cordon_gzip(gzip, sizeof gzip, plain, most);
    deflated = cordon_deflate(raw, sizeof raw, plain, most);
    cordon_inflater_free(NULL);
    long all = 0;
    for (size_t work = 0; work < sizeof works / sizeof *works; work++) {
        for (int for_good = 0; for_good < 2; for_good++) {
            for (long number = 1;; number++) {
                long before = failing_living();
                failing_begin(number, for_good);
                int well = works[work]();
                long failures = failing_end();
                if (well < 0) failing_blame("neither the bytes nor want of memory", number, for_good);
                if (failing_living() != before) failing_blame("memory was lost", number, for_good);
                if (failures == 0 && well != 1) failing_blame("no failure, and yet no result", number, for_good);
                if (failures == 0) break;
                all += failures;
            }
        }
    }
    printf("failed allocations: %ld\n", all);
    return all < 10;
}
