#include "sealed.h"

#include <stdlib.h>
#include <string.h>

// Reads of a database's sealed pages out of a memory map that the base file system keeps: no system call a page. Only
// ciphertext is mapped, and it is copied before it is opened, so that another writer of the file cannot meanwhile change
// what was checked. A map turns a failing disk into a signal, hence: the first read of a part goes through the kernel, which
// answers with an error; the length of the file is asked anew under every lock; and a file that fails once is read without
// a map from then on.

uint32_t cordon_map_after = 64;

#if defined(__linux__)

#include <sys/mman.h>

#if !defined(MADV_POPULATE_READ)
#define MADV_POPULATE_READ 22
#endif

// As much as SQLite's own limit for maps lets through.
#define LARGEST_MAP 0x7fff0000
#define WINDOW 65536

static void drop(cordon_file *file) {
    cordon_map *map = &file->map;
    if (map->length > 0) file->real->pMethods->xUnfetch(file->real, 0, NULL);
    free(map->seen);
    map->seen = NULL;
    map->length = 0;
}

// No maps for this file any more: of a part that cannot be read, the base file system would read the map as well.
static int give_up(cordon_file *file) {
    sqlite3_int64 none = 0;
    drop(file);
    file->map.is_off = 1;
    file->real->pMethods->xFileControl(file->real, SQLITE_FCNTL_MMAP_SIZE, &none);
    return 0;
}

// Maps the file as long as it is now. 1 when there is a map.
static int make(cordon_file *file) {
    cordon_map *map = &file->map;
    sqlite3_int64 largest = LARGEST_MAP;
    drop(file);
    map->misses = 0;
    map->seen = calloc(1, (size_t)(map->end / WINDOW / 8 + 1));
    if (!map->seen) return 0;
    map->length = map->end < LARGEST_MAP ? map->end : LARGEST_MAP;
    void *start = NULL;
    if (file->real->pMethods->xFileControl(file->real, SQLITE_FCNTL_MMAP_SIZE, &largest) != SQLITE_OK ||
        file->real->pMethods->xFetch(file->real, 0, HEADER_SIZE, &start) != SQLITE_OK || !start) {
        return give_up(file);
    }
    file->real->pMethods->xUnfetch(file->real, 0, start);
    return 1;
}

// Whether the file is still as long as the map; asked once under each lock, since no process may cut it meanwhile.
static int is_whole(cordon_file *file) {
    cordon_map *map = &file->map;
    if (map->end < 0) {
        sqlite3_int64 size = 0;
        if (file->real->pMethods->xFileSize(file->real, &size) != SQLITE_OK) return 0;
        map->end = size;
        if (size < map->length) drop(file);
    }
    return 1;
}

static int is_seen(cordon_file *file, uint8_t *start, int64_t window) {
    cordon_map *map = &file->map;
    uint8_t bit = (uint8_t)(1 << window % 8);
    if (map->seen[window / 8] & bit) return 1;
    int64_t count = map->length - window * WINDOW;
    if (count > WINDOW) count = WINDOW;
    if (madvise(start + window * WINDOW, (size_t)count, MADV_POPULATE_READ) != 0) return 0;
    map->seen[window / 8] |= bit;
    return 1;
}

int cordon_map_read(cordon_file *file, uint8_t *out, int64_t count, int64_t offset) {
    cordon_map *map = &file->map;
    const sqlite3_io_methods *real = file->real->pMethods;
    if (map->is_off || real->iVersion < 3 || !real->xFetch || !is_whole(file) || offset + count > map->end) return 0;
    if (offset + count > map->length) {
        // A file that grows is not mapped again for every page; larger ones less often.
        int64_t patience = cordon_map_after + map->length / WINDOW;
        if (++map->misses < patience || map->end <= map->length || !make(file)) return 0;
    }
    void *part = NULL;
    if (real->xFetch(file->real, offset, (int)count, &part) != SQLITE_OK || !part) return 0;
    uint8_t *start = (uint8_t *)part - offset;
    int is_there = 1;
    for (int64_t window = offset / WINDOW; window <= (offset + count - 1) / WINDOW && is_there; window++) {
        is_there = is_seen(file, start, window);
    }
    if (is_there) memcpy(out, part, (size_t)count);
    real->xUnfetch(file->real, offset, part);
    return is_there ? 1 : give_up(file);
}

void cordon_map_forget(cordon_file *file) {
    free(file->map.seen);
    file->map.seen = NULL;
}

#else

// On Apple platforms a map of a file that the system has locked away would end the process.
int cordon_map_read(cordon_file *file, uint8_t *out, int64_t count, int64_t offset) {
    (void)file; (void)out; (void)count; (void)offset;
    return 0;
}

void cordon_map_forget(cordon_file *file) { (void)file; }

#endif
