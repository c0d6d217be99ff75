#define _GNU_SOURCE
#include "CordonAEADShim.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#if defined(__linux__)
#include <sys/random.h>
#endif
#include <unistd.h>

void cordon_zero(void *memory, size_t count) {
    memset(memory, 0, count);
    __asm__ __volatile__("" : : "r"(memory) : "memory");
}

void cordon_guard(void *memory, size_t count) {
    (void)mlock(memory, count);
#if defined(MADV_DONTDUMP)
    (void)madvise(memory, count, MADV_DONTDUMP);
#endif
}

void cordon_unguard(void *memory, size_t count) {
    (void)munlock(memory, count);
#if defined(MADV_DODUMP)
    (void)madvise(memory, count, MADV_DODUMP);
#endif
}

int cordon_random(void *memory, size_t count) {
#if defined(__linux__)
    uint8_t *next = memory;
    while (count > 0) {
        ssize_t got = getrandom(next, count, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return 0;
        next += got;
        count -= (size_t)got;
    }
#else
    arc4random_buf(memory, count);
#endif
    return 1;
}

static uint64_t generation;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static void in_child(void) { __atomic_add_fetch(&generation, 1, __ATOMIC_RELAXED); }

// 1 in a page that the kernel empties in every child, however it was made: `_Fork` and clone run no handlers. NULL where the
// kernel cannot; the handlers are what there is then.
static uint32_t *same_process;

static void start(void) {
    (void)pthread_atfork(NULL, NULL, in_child);
#if defined(MADV_WIPEONFORK)
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return;
    if (madvise(page, size, MADV_WIPEONFORK) != 0) {
        (void)munmap(page, size);
        return;
    }
    same_process = page;
    __atomic_store_n(same_process, 1, __ATOMIC_RELAXED);
#endif
}

uint64_t cordon_fork_generation(void) {
    (void)pthread_once(&once, start);
    if (same_process && __atomic_load_n(same_process, __ATOMIC_ACQUIRE) == 0) {
        in_child();
        __atomic_store_n(same_process, 1, __ATOMIC_RELEASE);
    }
    return __atomic_load_n(&generation, __ATOMIC_RELAXED);
}
