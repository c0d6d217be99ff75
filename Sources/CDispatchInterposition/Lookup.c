#if !defined(__APPLE__)

#define _GNU_SOURCE
#include "CDispatchInterposition.h"
#include "Interposition.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

extern void _Block_release(const void *block);

// One symbol of every part of libdispatch that an entry point lies in: a static linker would otherwise take the weak
// definitions here for all that is needed, and leave the part with the real ones out.
extern void dispatch_queue_create(void), dispatch_group_create(void), dispatch_source_create(void), dispatch_apply_f(void);
__attribute__((used)) static void (*const parts[])(void) = {
    dispatch_queue_create, dispatch_group_create, dispatch_source_create, dispatch_apply_f,
};

typedef cordon_block block_create(unsigned long flags, cordon_block block);

struct cordon_known cordon_known;

void *cordon_find_function(_Atomic(void *) *cache, const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) {
        fprintf(stderr, "CordonDispatch: libdispatch has no %s\n", name);
        abort();
    }
    atomic_store_explicit(cache, found, memory_order_release);
    return found;
}

void *cordon_find_value(void) {
    void *value = cordon_identity_value();
    atomic_store_explicit(&cordon_known.value, value, memory_order_release);
    return value;
}

void *cordon_find_main_queue(void) {
    void *queue = dlsym(RTLD_DEFAULT, "_dispatch_main_q");
    atomic_store_explicit(&cordon_known.main_queue, queue, memory_order_release);
    return queue;
}

// The function that runs a work item: the library does not export it, but every work item points to it.
void *cordon_find_work_item_invoke(void) {
    static _Atomic(void *) create;
    cordon_block sample = ((block_create *)cordon_library_function(&create, "dispatch_block_create"))(0, ^{});
    void *invoke = ((struct cordon_block_head *)sample)->invoke;
    _Block_release(sample);
    atomic_store_explicit(&cordon_known.work_item_invoke, invoke, memory_order_release);
    return invoke;
}

void cordon_call(void *block) {
    ((cordon_block)block)();
}

#define DECLARE(name) extern void cordon_entry_##name(void) __attribute__((visibility("hidden")));
CORDON_EACH_ENTRY(DECLARE)

int cordon_dispatch_is_in_front(void) {
#define NAMED(name) {#name, (void *)cordon_entry_##name},
    static const struct { const char *name; void *function; } entries[] = {CORDON_EACH_ENTRY(NAMED)};
    for (size_t index = 0; index < sizeof entries / sizeof *entries; index++) {
        if (dlsym(RTLD_DEFAULT, entries[index].name) != entries[index].function) return 0;
        if (!dlsym(RTLD_NEXT, entries[index].name)) return 0;
    }
#define FORM(name) #name,
    static const char *const forms[] = {CORDON_EACH_FUNCTION_FORM(FORM)};
    for (size_t index = 0; index < sizeof forms / sizeof *forms; index++) {
        if (!dlsym(RTLD_NEXT, forms[index])) return 0;
    }
    return 1;
}

#else

#include "CDispatchInterposition.h"

int cordon_dispatch_is_in_front(void) {
    return 0;
}

#endif
