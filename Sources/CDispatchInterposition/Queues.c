#if !defined(__APPLE__)

#include "Interposition.h"

// Queues and groups.

typedef void on_queue(cordon_object queue, cordon_block block);
typedef void on_queue_f(cordon_object queue, void *context, cordon_work *work);
typedef void in_group(cordon_object group, cordon_object queue, cordon_block block);
typedef void in_group_f(cordon_object group, cordon_object queue, void *context, cordon_work *work);
typedef void after(uint64_t when, cordon_object queue, cordon_block block);
typedef void after_f(uint64_t when, cordon_object queue, void *context, cordon_work *work);
typedef void (^iteration)(size_t);
typedef void apply(size_t count, cordon_object queue, iteration block);

#define ON_QUEUE_LATER(name) \
    CORDON_LIBRARY(name, on_queue) \
    CORDON_LIBRARY(name##_f, on_queue_f) \
    CORDON_ENTRY(void, name, (cordon_object queue, cordon_block block)) { \
        uintptr_t identity = cordon_now(); \
        if (cordon_is_carried(identity, queue, block)) { \
            struct cordon_carried carried = cordon_carry(identity, block); \
            own_##name##_f()(queue, carried.context, carried.work); \
        } else \
            own_##name()(queue, block); \
    }

ON_QUEUE_LATER(dispatch_async)
ON_QUEUE_LATER(dispatch_barrier_async)

#define ON_QUEUE_NOW(name) \
    CORDON_LIBRARY(name, on_queue) \
    CORDON_ENTRY(void, name, (cordon_object queue, cordon_block block)) { \
        uintptr_t identity = cordon_now(); \
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
    CORDON_ENTRY(void, name, (cordon_object group, cordon_object queue, cordon_block block)) { \
        uintptr_t identity = cordon_now(); \
        if (cordon_is_carried(identity, queue, block)) { \
            struct cordon_carried carried = cordon_carry(identity, block); \
            own_##name##_f()(group, queue, carried.context, carried.work); \
        } else \
            own_##name()(group, queue, block); \
    }

IN_GROUP(dispatch_group_async)
IN_GROUP(dispatch_group_notify)

CORDON_LIBRARY(dispatch_after, after)
CORDON_LIBRARY(dispatch_after_f, after_f)
CORDON_ENTRY(void, dispatch_after, (uint64_t when, cordon_object queue, cordon_block block)) {
    uintptr_t identity = cordon_now();
    if (cordon_is_carried(identity, queue, block)) {
        struct cordon_carried carried = cordon_carry(identity, block);
        own_dispatch_after_f()(when, queue, carried.context, carried.work);
    } else
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
CORDON_ENTRY(void, dispatch_apply, (size_t count, cordon_object queue, iteration block)) {
    uintptr_t identity = cordon_now();
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
