#if !defined(__APPLE__)

#define _GNU_SOURCE
#include "CDispatchInterposition.h"
#include "Interposition.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

extern void _Block_release(const void *block);

// One symbol of every part of libdispatch that an entry point lies in: a static linker would otherwise take the weak
// definitions here for all that is needed, and leave the part with the real ones out.
extern void dispatch_queue_create(void), dispatch_group_create(void), dispatch_source_create(void), dispatch_apply_f(void);
__attribute__((used)) static void (*const parts[])(void) = {
    dispatch_queue_create, dispatch_group_create, dispatch_source_create, dispatch_apply_f,
};

// What every block begins with.
struct block_head {
    void *isa;
    int32_t flags;
    int32_t reserved;
    void *invoke;
};

typedef cordon_block block_create(unsigned long flags, cordon_block block);

void *cordon_library_function(_Atomic(void *) *cache, const char *name) {
    void *found = atomic_load_explicit(cache, memory_order_acquire);
    if (found) return found;
    found = dlsym(RTLD_NEXT, name);
    if (!found) {
        fprintf(stderr, "CordonDispatch: libdispatch has no %s\n", name);
        abort();
    }
    atomic_store_explicit(cache, found, memory_order_release);
    return found;
}

// The function that runs a work item: the library does not export it, but every work item points to it.
static void *work_item_invoke(void) {
    static _Atomic(void *) known;
    static _Atomic(void *) create;
    void *invoke = atomic_load_explicit(&known, memory_order_acquire);
    if (invoke) return invoke;
    cordon_block sample = ((block_create *)cordon_library_function(&create, "dispatch_block_create"))(0, ^{});
    invoke = ((struct block_head *)sample)->invoke;
    _Block_release(sample);
    atomic_store_explicit(&known, invoke, memory_order_release);
    return invoke;
}

static cordon_object main_queue(void) {
    static _Atomic(void *) known;
    void *queue = atomic_load_explicit(&known, memory_order_acquire);
    if (queue) return queue;
    queue = dlsym(RTLD_DEFAULT, "_dispatch_main_q");
    atomic_store_explicit(&known, queue, memory_order_release);
    return queue;
}

int cordon_is_carried(uintptr_t identity, cordon_object queue, cordon_block block) {
    if (identity == 0 && queue != main_queue()) return 0;
    return ((struct block_head *)block)->invoke != work_item_invoke();
}

void cordon_call(void *block) {
    ((cordon_block)block)();
}

int cordon_dispatch_is_in_front(void) {
    extern void dispatch_async(cordon_object queue, cordon_block block);
    extern cordon_block dispatch_block_create(unsigned long flags, cordon_block block);
    return dlsym(RTLD_NEXT, "dispatch_async") != NULL
        && dlsym(RTLD_DEFAULT, "dispatch_async") == (void *)dispatch_async
        && dlsym(RTLD_DEFAULT, "dispatch_block_create") == (void *)dispatch_block_create;
}

#else

#include "CDispatchInterposition.h"

int cordon_dispatch_is_in_front(void) {
    return 0;
}

#endif
