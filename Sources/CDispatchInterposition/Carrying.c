#if !defined(__APPLE__)

#include "Interposition.h"

#include <stdlib.h>
#include <time.h>

extern void *_Block_copy(const void *block);
extern void _Block_release(const void *block);

// A plain-function form passes one word of context and a function. The context is the block; the identity is told by which
// function it is: an app serves few identities, so each of the first sixteen gets a function of its own. What is allocated
// for a block is then what the library itself would allocate.
#define EACH_SEAT(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)
enum { seats = 16 };

// The identities by seat, taken from the left and kept for the life of the process. The first belongs to no identity: 0.
static _Atomic(uintptr_t) seated[seats];

static void run_under(uintptr_t identity, void *block) {
    cordon_identity_run_later(cordon_value(), identity, cordon_call, block);
    _Block_release(block);
}

#define RUN_SEAT(number) \
    static void run_##number(void *block) { \
        run_under(atomic_load_explicit(&seated[number], memory_order_relaxed), block); \
    }
EACH_SEAT(RUN_SEAT)

#define NAME_SEAT(number) run_##number,
static cordon_work *const run_seat[seats] = {EACH_SEAT(NAME_SEAT)};

// The function of an identity; null when every seat is another's.
static cordon_work *seat_of(uintptr_t identity) {
    if (identity == 0) return run_seat[0];
    for (size_t number = 1; number < seats; number++) {
        uintptr_t sitting = atomic_load_explicit(&seated[number], memory_order_relaxed);
        if (sitting == 0
            && atomic_compare_exchange_strong_explicit(
                &seated[number], &sitting, identity, memory_order_relaxed, memory_order_relaxed))
            sitting = identity;
        if (sitting == identity) return run_seat[number];
    }
    return NULL;
}

// Beyond the seats, identity and block share a small allocation.
struct pair {
    uintptr_t identity;
    void *block;
};

static void run_pair(void *context) {
    struct pair pair = *(struct pair *)context;
    free(context);
    run_under(pair.identity, pair.block);
}

// What is handed over can neither be refused nor be forgotten, so the library itself waits where there is no memory for it.
static void await_memory(void) {
    struct timespec time = {0, 10000000};
    (void)nanosleep(&time, NULL);
}

struct cordon_carried cordon_carry(uintptr_t identity, cordon_block block) {
    void *copy;
    while (!(copy = _Block_copy(block))) await_memory();
    cordon_work *work = seat_of(identity);
    if (work) return (struct cordon_carried){copy, work};
    struct pair *pair;
    while (!(pair = malloc(sizeof *pair))) await_memory();
    *pair = (struct pair){identity, copy};
    return (struct cordon_carried){pair, run_pair};
}

#endif
