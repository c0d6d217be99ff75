#include "Interposition.h"

#include <stdio.h>
#include <stdlib.h>

// Blocks that are handed to queues and groups while there is no memory for their copies: each runs once, under the identity that it was
// handed over with, as soon as there is. The linker sends the copies and allocations of the part here.

extern void *dispatch_queue_create(const char *label, void *attributes);
extern void dispatch_async(void *queue, cordon_block block);
extern void dispatch_barrier_async(void *queue, cordon_block block);
extern void dispatch_sync(void *queue, cordon_block block);
extern void *dispatch_group_create(void);
extern void dispatch_group_async(void *group, void *queue, cordon_block block);
extern long dispatch_group_wait(void *group, uint64_t timeout);

static _Atomic(uintptr_t) bound, running;
static _Atomic(long) runs, wrong, refused;
static long made, failing, misses;

void *cordon_identity_value(void) { return &bound; }
uintptr_t cordon_identity_now(void *value) { return atomic_load((_Atomic(uintptr_t) *)value); }
void cordon_identity_run(uintptr_t identity, cordon_work *work, void *context) {
    atomic_store(&running, identity);
    work(context);
    atomic_store(&running, 0);
}
void cordon_identity_run_later(void *value, uintptr_t identity, cordon_work *work, void *context) {
    (void)value;
    cordon_identity_run(identity, work, context);
}

static int refuses(void) {
    made++;
    if (made < failing || made >= failing + misses) return 0;
    atomic_fetch_add(&refused, 1);
    return 1;
}

void *__real__Block_copy(const void *block);
void *__wrap__Block_copy(const void *block) { return refuses() ? NULL : __real__Block_copy(block); }
void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size) { return refuses() ? NULL : __real_malloc(size); }

static void hand_over(void *queue, uintptr_t identity, int way) {
    uintptr_t expected = identity;
    cordon_block block = ^{
        if (atomic_load(&running) != expected) atomic_fetch_add(&wrong, 1);
        atomic_fetch_add(&runs, 1);
    };
    atomic_store(&bound, identity);
    void *group = dispatch_group_create();
    switch (way) {
    case 0: dispatch_async(queue, block); break;
    case 1: dispatch_barrier_async(queue, block); break;
    default: dispatch_group_async(group, queue, block); break;
    }
    atomic_store(&bound, 0);
    (void)dispatch_group_wait(group, UINT64_MAX);
    dispatch_sync(queue, ^{});
}

int main(void) {
    void *queue = dispatch_queue_create("carrying", NULL);
    long handed = 0;
    // More identities than have a function of their own.
    for (uintptr_t identity = 1; identity <= 20; identity++) {
        for (int way = 0; way < 3; way++) {
            for (long number = 1;; number++) {
                long before = atomic_load(&refused);
                made = 0;
                failing = number;
                misses = identity % 2 + 1;
                hand_over(queue, identity, way);
                handed++;
                if (atomic_load(&runs) != handed || atomic_load(&wrong) > 0) {
                    printf("identity %lu, way %d, allocation %ld: %ld of %ld ran, %ld under another\n", (unsigned long)identity, way,
                           number, atomic_load(&runs), handed, atomic_load(&wrong));
                    return 1;
                }
                if (atomic_load(&refused) == before) break;
            }
        }
    }
    printf("failed allocations: %ld\n", atomic_load(&refused));
    return atomic_load(&refused) < 60;
}
