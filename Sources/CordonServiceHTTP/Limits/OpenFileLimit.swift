import Foundation

/// How many files and sockets the process may have open.
enum OpenFileLimit {
    /// What the store, keys, logs and questions to providers need besides the connections of clients.
    private static let others: UInt64 = 128

    /// The most connections that fit, at least one.
    static var connections: Int {
        var limit = rlimit()
        #if canImport(Glibc)
            let isKnown = getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0
        #else
            let isKnown = getrlimit(RLIMIT_NOFILE, &limit) == 0
        #endif
        guard isKnown, limit.rlim_cur < UInt64(Int32.max) else { return Int(Int32.max) }
        return max(1, Int(limit.rlim_cur) - Int(others))
    }
}
