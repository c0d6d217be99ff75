#include <sqlite3.h>

// SQLite's TCL test program shuts SQLite down and starts it again, which makes the system's file system the default once
// more. Called at each start (SQLITE_EXTRA_INIT).
int cordon_default(const char *unused) {
    (void)unused;
    sqlite3_vfs *vfs = sqlite3_vfs_find("cordon");
    return vfs ? sqlite3_vfs_register(vfs, 1) : SQLITE_OK;
}
