#ifndef CORDON_DISPATCH_INTERPOSITION_H
#define CORDON_DISPATCH_INTERPOSITION_H

#include <stdint.h>

// Definitions of the entry points of libdispatch that take a block, in front of the library's own: each wraps the block
// in one that runs under the identity of the code that hands it over, and calls the library's own function.
//
// They are weak, so a program that links libdispatch statically keeps the library's own; then nothing is followed, which
// the self-test of CordonDispatch finds. The forms that take a function and a context are left alone: Swift's
// concurrency runs its jobs through them, and a job carries its task's own identity.

// Whether every entry point here is the one that this process calls by its name, and the library has all that they call. Not
// so where a program has definitions of its own, as the thread sanitizer does.
int cordon_dispatch_is_in_front(void);

#endif
