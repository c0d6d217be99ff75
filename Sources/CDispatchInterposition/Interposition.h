#ifndef CORDON_INTERPOSITION_H
#define CORDON_INTERPOSITION_H

#include <stddef.h>
#include <stdint.h>

// Private to this target. The types of libdispatch, declared here because its headers are not on every include path.

typedef void (^cordon_block)(void);
typedef void *cordon_object;

// The identity of the scope around the caller, 0 for none; defined in Swift by CordonDispatch.
extern uintptr_t cordon_identity_now(void);

// Runs a function under an identity and restores the thread's own afterwards; defined in Swift by CordonDispatch.
extern void cordon_identity_run(uintptr_t identity, void (*work)(void *), void *context);

// The same for work that runs later, where the identity in force is hardly ever the one to run under.
extern void cordon_identity_run_later(uintptr_t identity, void (*work)(void *), void *context);

// The library's own function of a name, looked up once; ends the process where there is none, since the work that was
// handed over could then be neither run nor refused.
void *cordon_library_function(_Atomic(void *) *cache, const char *name);

// Whether a block that is handed to a queue is to be wrapped. Not when there is nothing to carry, unless the queue is the
// main one, whose blocks may run inside somebody's scope when a run loop is nested. Never when the block is a work item:
// it carries its maker's identity, and would lose its flags in a wrapper.
int cordon_is_carried(uintptr_t identity, cordon_object queue, cordon_block block);

// Runs a block; for cordon_identity_run.
void cordon_call(void *block);

#define CORDON_ENTRY __attribute__((weak, visibility("default")))

// Calls the library's own function of the same name as an entry point.
#define CORDON_LIBRARY(name, type) \
    static _Atomic(void *) library_##name; \
    static inline type *own_##name(void) { return (type *)cordon_library_function(&library_##name, #name); }

// A block that runs another under an identity.
#define CORDON_WRAP(identity, block) ^{ cordon_identity_run(identity, cordon_call, (void *)block); }

#endif
