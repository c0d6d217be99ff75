#if !defined(__APPLE__)

#include "Interposition.h"

// Work items, which carry the identity of their maker, and event sources.

typedef cordon_block create(unsigned long flags, cordon_block block);
typedef cordon_block create_with_class(unsigned long flags, unsigned int qos, int priority, cordon_block block);
typedef void notify(cordon_block item, cordon_object queue, cordon_block block);
typedef void set_handler(cordon_object source, cordon_block handler);

// Wrapped within, so that flags and class stay the item's, and also where there is nothing to carry, so that the item
// never runs as the work of its performer.
CORDON_LIBRARY(dispatch_block_create, create)
CORDON_ENTRY(cordon_block, dispatch_block_create, (unsigned long flags, cordon_block block)) {
    uintptr_t identity = cordon_now();
    return own_dispatch_block_create()(flags, CORDON_WRAP(identity, block));
}

CORDON_LIBRARY(dispatch_block_create_with_qos_class, create_with_class)
CORDON_ENTRY(
    cordon_block, dispatch_block_create_with_qos_class,
    (unsigned long flags, unsigned int qos, int priority, cordon_block block)) {
    uintptr_t identity = cordon_now();
    return own_dispatch_block_create_with_qos_class()(flags, qos, priority, CORDON_WRAP(identity, block));
}

CORDON_LIBRARY(dispatch_block_notify, notify)
CORDON_ENTRY(void, dispatch_block_notify, (cordon_block item, cordon_object queue, cordon_block block)) {
    uintptr_t identity = cordon_now();
    if (cordon_is_carried(identity, queue, block))
        own_dispatch_block_notify()(item, queue, CORDON_WRAP(identity, block));
    else
        own_dispatch_block_notify()(item, queue, block);
}

// A handler is set once and runs often, on any queue, the main one included, so it is always bound, also to no identity; taking
// one away is passed on.
#define SET_HANDLER(name) \
    CORDON_LIBRARY(name, set_handler) \
    CORDON_ENTRY(void, name, (cordon_object source, cordon_block handler)) { \
        uintptr_t identity = cordon_now(); \
        if (handler && !cordon_is_work_item(handler)) \
            own_##name()(source, CORDON_WRAP(identity, handler)); \
        else \
            own_##name()(source, handler); \
    }

SET_HANDLER(dispatch_source_set_event_handler)
SET_HANDLER(dispatch_source_set_cancel_handler)
SET_HANDLER(dispatch_source_set_registration_handler)

#endif
