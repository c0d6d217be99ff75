#include "failing.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *memory);

static int is_on, persistently;
static long made, failing, failures, living;

static int refuses(void) {
    if (!is_on) return 0;
    made++;
    if (made != failing && !(persistently && made > failing)) return 0;
    failures++;
    errno = ENOMEM;
    return 1;
}

static void *counted(void *memory) {
    if (memory) living++;
    return memory;
}

void *malloc(size_t size) { return refuses() ? NULL : counted(__libc_malloc(size)); }
void *calloc(size_t count, size_t size) { return refuses() ? NULL : counted(__libc_calloc(count, size)); }
void *realloc(void *old, size_t size) {
    if (refuses()) return NULL;
    return old ? __libc_realloc(old, size) : counted(__libc_realloc(NULL, size));
}
int posix_memalign(void **out, size_t alignment, size_t size) {
    if (refuses()) return ENOMEM;
    void *memory = counted(__libc_memalign(alignment, size));
    if (!memory) return ENOMEM;
    *out = memory;
    return 0;
}
void free(void *memory) {
    if (memory) living--;
    __libc_free(memory);
}

void failing_begin(long number, int for_good) {
    made = failures = 0;
    failing = number;
    persistently = for_good;
    is_on = 1;
}

long failing_end(void) {
    is_on = 0;
    return failures;
}

long failing_living(void) { return living; }

void failing_blame(const char *what, long number, int for_good) {
    is_on = 0;
    printf("%s: allocation %ld%s\n", what, number, for_good ? " and all after it" : "");
    exit(1);
}
