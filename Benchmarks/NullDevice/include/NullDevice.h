#ifndef NULL_DEVICE_H
#define NULL_DEVICE_H

/// Sends what this process writes at an offset to the null device from now on, whatever file it names, or stops that. 1 where that can be
/// done. A file that was written meanwhile is empty.
int write_to_null_device(int on);

#endif
