#include "CordonAEADShim.h"

#if defined(__linux__)

#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

int cordon_watch_open(void) { return inotify_init1(IN_NONBLOCK | IN_CLOEXEC); }

int cordon_watch_add(int descriptor, const char *path) {
    return inotify_add_watch(
        descriptor, path,
        IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_CLOSE_WRITE | IN_MOVE_SELF | IN_ONLYDIR);
}

void cordon_watch_remove(int descriptor, int number) { (void)inotify_rm_watch(descriptor, number); }

size_t cordon_watch_read(int descriptor, cordon_watch_event *events) {
    // One event with the longest name, or as many as CORDON_WATCH_MOST without one.
    char bytes[sizeof(struct inotify_event) + 256];
    ssize_t count = read(descriptor, bytes, sizeof bytes);
    size_t found = 0;
    for (ssize_t place = 0; place + (ssize_t)sizeof(struct inotify_event) <= count && found < CORDON_WATCH_MOST;) {
        struct inotify_event event;
        memcpy(&event, bytes + place, sizeof event);
        // What was moved away is still watched, wherever it is.
        if (event.mask & IN_MOVE_SELF) cordon_watch_remove(descriptor, event.wd);
        // Without a directory: the queue was full, and what happened since is lost.
        int number = event.mask & IN_Q_OVERFLOW ? CORDON_WATCH_ALL : event.wd;
        events[found++] = (cordon_watch_event){number, (event.mask & (IN_MOVE_SELF | IN_IGNORED)) != 0};
        place += (ssize_t)(sizeof event + event.len);
    }
    return found;
}

#else

int cordon_watch_open(void) { return -1; }
int cordon_watch_add(int descriptor, const char *path) { (void)descriptor; (void)path; return -1; }
void cordon_watch_remove(int descriptor, int number) { (void)descriptor; (void)number; }
size_t cordon_watch_read(int descriptor, cordon_watch_event *events) { (void)descriptor; (void)events; return 0; }

#endif
