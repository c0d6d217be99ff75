#ifndef FAILING_H
#define FAILING_H

// Makes the allocations of a program fail in turn (reliability row R6), for programs that C parts are linked into. The program's own
// `malloc` stands in front of the C library's, so that the libraries that a part uses meet the failures as well.

// From now on the allocation of this number fails, or all from it on.
void failing_begin(long number, int for_good);

// Ends that; how many failed.
long failing_end(void);

// How many allocations are not freed.
long failing_living(void);

// Says what was not as it has to be, and ends the program.
_Noreturn void failing_blame(const char *what, long number, int for_good);

#endif
