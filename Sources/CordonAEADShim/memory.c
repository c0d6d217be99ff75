#define _GNU_SOURCE
#include "CordonAEADShim.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#if defined(__linux__)
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#endif
#include <unistd.h>

void cordon_zero(void *memory, size_t count) {
    memset(memory, 0, count);
    __asm__ __volatile__("" : : "r"(memory) : "memory");
}

void cordon_leave_undumped(void *memory, size_t count) {
#if defined(MADV_DONTDUMP)
    (void)madvise(memory, count, MADV_DONTDUMP);
#else
    (void)memory;
    (void)count;
#endif
}

void cordon_guard(void *memory, size_t count) {
    (void)mlock(memory, count);
    cordon_leave_undumped(memory, count);
}

void cordon_unguard(void *memory, size_t count) {
    (void)munlock(memory, count);
#if defined(MADV_DODUMP)
    (void)madvise(memory, count, MADV_DODUMP);
#endif
}

size_t cordon_guarded_size(void) {
    long size = sysconf(_SC_PAGESIZE);
    return size > 4096 ? (size_t)size : 4096;
}

// Pages that came back, overwritten with zeros and still guarded: most secrets live for one call, and to make a page, guard it and take the guard
// back costs several times what is done with the secret.
#define MOST_SPARE 8
static cordon_guarded_page spare[MOST_SPARE];
static int spare_count;
// Only ever tried: a child that was forked while another thread had it never gets it. Whoever does not get it makes or gives back a page.
static pthread_mutex_t spare_lock = PTHREAD_MUTEX_INITIALIZER;

cordon_guarded_page cordon_guarded_take(void) {
    size_t size = cordon_guarded_size();
    uint64_t here = cordon_fork_generation() + 1;
    cordon_guarded_page page = {NULL, 0};
    if (pthread_mutex_trylock(&spare_lock) == 0) {
        if (spare_count > 0) page = spare[--spare_count];
        pthread_mutex_unlock(&spare_lock);
    }
    if (!page.bytes) {
        if (posix_memalign(&page.bytes, size, size) != 0) return (cordon_guarded_page){NULL, 0};
        cordon_leave_undumped(page.bytes, size);
        memset(page.bytes, 0, size);
    }
    // The system may have refused before, and a forked child has none of its parent's locks.
    if (page.locked_in != here) page.locked_in = mlock(page.bytes, size) == 0 ? here : 0;
    return page;
}

void cordon_guarded_give_back(cordon_guarded_page page) {
    size_t size = cordon_guarded_size();
    cordon_zero(page.bytes, size);
    int is_kept = 0;
    if (pthread_mutex_trylock(&spare_lock) == 0) {
        is_kept = spare_count < MOST_SPARE;
        if (is_kept) spare[spare_count++] = page;
        pthread_mutex_unlock(&spare_lock);
    }
    if (is_kept) return;
    cordon_unguard(page.bytes, size);
    free(page.bytes);
}

#if defined(__linux__) && defined(FS_IOC_SETFLAGS)

static int flags_of(int descriptor, int *flags) { return ioctl(descriptor, FS_IOC_GETFLAGS, flags) == 0; }

int cordon_set_no_dump(const char *path) {
    int descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) return 0;
    int flags = 0;
    int done = flags_of(descriptor, &flags);
    if (done && !(flags & FS_NODUMP_FL)) {
        flags |= FS_NODUMP_FL;
        done = ioctl(descriptor, FS_IOC_SETFLAGS, &flags) == 0;
    }
    (void)close(descriptor);
    return done;
}

int cordon_has_no_dump(const char *path) {
    int descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) return -1;
    int flags = 0;
    int known = flags_of(descriptor, &flags);
    (void)close(descriptor);
    return known ? (flags & FS_NODUMP_FL) != 0 : -1;
}

#else

int cordon_set_no_dump(const char *path) { (void)path; return 0; }
int cordon_has_no_dump(const char *path) { (void)path; return -1; }

#endif

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
// kernel cannot; the handlers are what there is then, and the process's number where there was no memory for these either.
static uint32_t *same_process;
static int has_handlers;
static pid_t known_process;

static void start(void) {
    known_process = getpid();
    has_handlers = pthread_atfork(NULL, NULL, in_child) == 0;
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
    if (!same_process && !has_handlers) {
        pid_t here = getpid();
        if (__atomic_exchange_n(&known_process, here, __ATOMIC_RELAXED) != here) in_child();
    }
    return __atomic_load_n(&generation, __ATOMIC_RELAXED);
}
