#define _GNU_SOURCE
#include "NullDevice.h"

#if defined(__linux__)
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static atomic_int null_device = -1;

int write_to_null_device(int on) {
    int former = atomic_exchange(&null_device, on ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1);
    if (former >= 0) close(former);
    return !on || atomic_load(&null_device) >= 0;
}

static ssize_t put(int descriptor, const void *bytes, size_t count, off_t offset) {
    int instead = atomic_load_explicit(&null_device, memory_order_relaxed);
    return syscall(SYS_pwrite64, instead >= 0 ? instead : descriptor, bytes, count, offset);
}

// The program's own definitions come before the C library's.
ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
    return put(descriptor, bytes, count, offset);
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off64_t offset) {
    return put(descriptor, bytes, count, offset);
}
#else
int write_to_null_device(int on) { return !on; }
#endif
