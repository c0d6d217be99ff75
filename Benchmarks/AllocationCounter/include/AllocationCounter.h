#ifndef ALLOCATION_COUNTER_H
#define ALLOCATION_COUNTER_H

/// Calls of the allocator in this process so far, or -1 where they cannot be counted.
long allocation_count(void);

/// Bytes that the allocator has given to this process and not taken back, or -1 where they cannot be counted.
long allocated_bytes(void);

#endif
