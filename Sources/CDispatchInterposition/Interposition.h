#ifndef CORDON_INTERPOSITION_H
#define CORDON_INTERPOSITION_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

// Private to this target. The types of libdispatch, declared here because its headers are not on every include path.

typedef void (^cordon_block)(void);
typedef void *cordon_object;
typedef void cordon_work(void *context);

// What every block begins with.
struct cordon_block_head {
    void *isa;
    int32_t flags;
    int32_t reserved;
    void *invoke;
};

// The task-local value that holds the identity of a scope, for the next two; defined in Swift by CordonDispatch.
extern void *cordon_identity_value(void);

// The identity of the scope around the caller, 0 for none; defined in Swift by CordonDispatch.
extern uintptr_t cordon_identity_now(void *value);

// Runs a function under an identity that is hardly ever the one in force, and restores the thread's own afterwards;
// defined in Swift by CordonDispatch.
extern void cordon_identity_run_later(void *value, uintptr_t identity, cordon_work *work, void *context);

// The same for work that runs where it was handed over, or elsewhere.
extern void cordon_identity_run(uintptr_t identity, cordon_work *work, void *context);

// What is looked up once, at first use.
struct cordon_known {
    _Atomic(void *) value;
    _Atomic(void *) main_queue;
    _Atomic(void *) work_item_invoke;
};
extern struct cordon_known cordon_known;

// The look-ups of what is not known yet.
void *cordon_find_function(_Atomic(void *) *cache, const char *name);
void *cordon_find_value(void);
void *cordon_find_main_queue(void);
void *cordon_find_work_item_invoke(void);

// Keeps a block together with its identity until it runs: what to hand to the library's plain-function forms, which is
// cheaper than a block around the block.
struct cordon_carried {
    void *context;
    cordon_work *work;
};
struct cordon_carried cordon_carry(uintptr_t identity, cordon_block block);

// Runs a block; for cordon_identity_run.
void cordon_call(void *block);

// The library's own function of a name; ends the process where there is none, because the submitted work could then neither
// run nor be rejected.
static inline void *cordon_library_function(_Atomic(void *) *cache, const char *name) {
    void *found = atomic_load_explicit(cache, memory_order_acquire);
    return found ? found : cordon_find_function(cache, name);
}

static inline void *cordon_value(void) {
    void *value = atomic_load_explicit(&cordon_known.value, memory_order_acquire);
    return value ? value : cordon_find_value();
}

static inline uintptr_t cordon_now(void) {
    return cordon_identity_now(cordon_value());
}

static inline int cordon_is_main_queue(cordon_object queue) {
    void *known = atomic_load_explicit(&cordon_known.main_queue, memory_order_acquire);
    return queue == (known ? known : cordon_find_main_queue());
}

static inline int cordon_is_work_item(cordon_block block) {
    void *known = atomic_load_explicit(&cordon_known.work_item_invoke, memory_order_acquire);
    return ((struct cordon_block_head *)block)->invoke == (known ? known : cordon_find_work_item_invoke());
}

// Whether a block that is handed to a queue is to be wrapped. Not when there is nothing to carry, unless the queue is the
// main one, whose blocks may run inside another scope when a run loop is nested. Never when the block is a work item:
// it carries its maker's identity, and would lose its flags in a wrapper.
static inline int cordon_is_carried(uintptr_t identity, cordon_object queue, cordon_block block) {
    return (identity != 0 || cordon_is_main_queue(queue)) && !cordon_is_work_item(block);
}

// An entry point: the function itself has a name of its own, to which nothing else can be linked, and the library's name is
// a weak alias of it. Whether this library is in front is asked by comparing what the process resolves with the former.
#define CORDON_ENTRY(result, name, parameters) \
    __attribute__((visibility("hidden"))) result cordon_entry_##name parameters; \
    extern __typeof__(cordon_entry_##name) name __attribute__((weak, visibility("default"), alias("cordon_entry_" #name))); \
    result cordon_entry_##name parameters

// Every entry point, and those that have a form with a function and a context, which what is carried goes through.
#define CORDON_EACH_ENTRY(X) \
    X(dispatch_async) X(dispatch_barrier_async) X(dispatch_sync) X(dispatch_barrier_sync) X(dispatch_async_and_wait) \
    X(dispatch_barrier_async_and_wait) X(dispatch_group_async) X(dispatch_group_notify) X(dispatch_after) \
    X(dispatch_apply) X(dispatch_block_create) X(dispatch_block_create_with_qos_class) X(dispatch_block_notify) \
    X(dispatch_source_set_event_handler) X(dispatch_source_set_cancel_handler) \
    X(dispatch_source_set_registration_handler)
#define CORDON_EACH_FUNCTION_FORM(X) \
    X(dispatch_async_f) X(dispatch_barrier_async_f) X(dispatch_group_async_f) X(dispatch_group_notify_f) X(dispatch_after_f)

// Calls the library's own function of the same name as an entry point.
#define CORDON_LIBRARY(name, type) \
    static _Atomic(void *) library_##name; \
    static inline type *own_##name(void) { return (type *)cordon_library_function(&library_##name, #name); }

// A block that runs another under an identity.
#define CORDON_WRAP(identity, block) ^{ cordon_identity_run(identity, cordon_call, (void *)block); }

#endif
