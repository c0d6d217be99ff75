#include "AllocationCounter.h"

#if defined(__GLIBC__) || defined(__linux__)
#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stddef.h>

// The program's own definitions come before the C library's, which keeps the originals under these names.
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *memory);

static atomic_long calls;
static atomic_long bytes;

static void *counted(void *memory) {
    atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&bytes, (long)malloc_usable_size(memory), memory_order_relaxed);
    return memory;
}

void *malloc(size_t size) { return counted(__libc_malloc(size)); }

void *calloc(size_t number, size_t size) { return counted(__libc_calloc(number, size)); }

void *realloc(void *memory, size_t size) {
    long before = (long)malloc_usable_size(memory);
    void *moved = __libc_realloc(memory, size);
    // Where there is no room, what was there stays; a size of nothing frees it.
    if (moved || size == 0) atomic_fetch_sub_explicit(&bytes, before, memory_order_relaxed);
    return counted(moved);
}

void *aligned_alloc(size_t alignment, size_t size) { return counted(__libc_memalign(alignment, size)); }

int posix_memalign(void **memory, size_t alignment, size_t size) {
    *memory = counted(__libc_memalign(alignment, size));
    return *memory ? 0 : ENOMEM;
}

void free(void *memory) {
    atomic_fetch_sub_explicit(&bytes, (long)malloc_usable_size(memory), memory_order_relaxed);
    __libc_free(memory);
}

long allocation_count(void) { return atomic_load_explicit(&calls, memory_order_relaxed); }

long allocated_bytes(void) { return atomic_load_explicit(&bytes, memory_order_relaxed); }
#else
long allocation_count(void) { return -1; }

long allocated_bytes(void) { return -1; }
#endif
