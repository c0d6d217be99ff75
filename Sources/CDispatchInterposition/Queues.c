#if !defined(__APPLE__)

#include "Interposition.h"

#include <stdlib.h>

extern void *_Block_copy(const void *block);
extern void _Block_release(const void *block);

// Queues and groups.

typedef void on_queue(cordon_object queue, cordon_block block);
typedef void on_queue_f(cordon_object queue, void *context, void (*work)(void *));
typedef void in_group(cordon_object group, cordon_object queue, cordon_block block);
typedef void in_group_f(cordon_object group, cordon_object queue, void *context, void (*work)(void *));
typedef void after(uint64_t when, cordon_object queue, cordon_block block);
typedef void after_f(uint64_t when, cordon_object queue, void *context, void (*work)(void *));
typedef void (^iteration)(size_t);
typedef void apply(size_t count, cordon_object queue, iteration block);

// What runs later is kept with its identity in one small allocation and goes through the library's plain-function forms,
// which is cheaper than a block around the block.
struct carried {
    uintptr_t identity;
    cordon_block block;
};

static struct carried *carry(uintptr_t identity, cordon_block block) {
    struct carried *carried = malloc(sizeof *carried);
    if (!carried) abort();
    carried->identity = identity;
    carried->block = _Block_copy(block);
    return carried;
}

static void run_carried(void *context) {
    struct carried carried = *(struct carried *)context;
    free(context);
    cordon_identity_run_later(carried.identity, cordon_call, (void *)carried.block);
    _Block_release(carried.block);
}

#define ON_QUEUE_LATER(name) \
    CORDON_LIBRARY(name, on_queue) \
    CORDON_LIBRARY(name##_f, on_queue_f) \
    CORDON_ENTRY void name(cordon_object queue, cordon_block block) { \
        uintptr_t identity = cordon_identity_now(); \
        if (cordon_is_carried(identity, queue, block)) \
            own_##name##_f()(queue, carry(identity, block), run_carried); \
        else \
            own_##name()(queue, block); \
    }

ON_QUEUE_LATER(dispatch_async)
ON_QUEUE_LATER(dispatch_barrier_async)

#define ON_QUEUE_NOW(name) \
    CORDON_LIBRARY(name, on_queue) \
    CORDON_ENTRY void name(cordon_object queue, cordon_block block) { \
        uintptr_t identity = cordon_identity_now(); \
        if (cordon_is_carried(identity, queue, block)) \
            own_##name()(queue, CORDON_WRAP(identity, block)); \
        else \
            own_##name()(queue, block); \
    }

ON_QUEUE_NOW(dispatch_sync)
ON_QUEUE_NOW(dispatch_barrier_sync)
ON_QUEUE_NOW(dispatch_async_and_wait)
ON_QUEUE_NOW(dispatch_barrier_async_and_wait)

#define IN_GROUP(name) \
    CORDON_LIBRARY(name, in_group) \
    CORDON_LIBRARY(name##_f, in_group_f) \
    CORDON_ENTRY void name(cordon_object group, cordon_object queue, cordon_block block) { \
        uintptr_t identity = cordon_identity_now(); \
        if (cordon_is_carried(identity, queue, block)) \
            own_##name##_f()(group, queue, carry(identity, block), run_carried); \
        else \
            own_##name()(group, queue, block); \
    }

IN_GROUP(dispatch_group_async)
IN_GROUP(dispatch_group_notify)

CORDON_LIBRARY(dispatch_after, after)
CORDON_LIBRARY(dispatch_after_f, after_f)
CORDON_ENTRY void dispatch_after(uint64_t when, cordon_object queue, cordon_block block) {
    uintptr_t identity = cordon_identity_now();
    if (cordon_is_carried(identity, queue, block))
        own_dispatch_after_f()(when, queue, carry(identity, block), run_carried);
    else
        own_dispatch_after()(when, queue, block);
}

struct iteration_call {
    iteration block;
    size_t index;
};

static void call_iteration(void *context) {
    struct iteration_call *call = context;
    call->block(call->index);
}

CORDON_LIBRARY(dispatch_apply, apply)
CORDON_ENTRY void dispatch_apply(size_t count, cordon_object queue, iteration block) {
    uintptr_t identity = cordon_identity_now();
    if (identity == 0) {
        own_dispatch_apply()(count, queue, block);
        return;
    }
    own_dispatch_apply()(count, queue, ^(size_t index) {
        struct iteration_call call = {block, index};
        cordon_identity_run(identity, call_iteration, &call);
    });
}

#endif
