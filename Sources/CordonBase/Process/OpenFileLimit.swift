#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// How many files and sockets the process may have open.
package enum OpenFileLimit {
    /// The most connections that fit beside what else is open, at least one.
    ///
    /// - Parameters:
    ///   - each: How many descriptors a connection takes.
    ///   - others: What the program needs besides: its store, keys, logs, questions to other servers.
    package static func connections(each: Int, beside others: Int) -> Int {
        guard let limit = present, limit.rlim_cur < rlim_t(Int32.max) else { return Int(Int32.max) }
        return max(1, (Int(limit.rlim_cur) - others) / each)
    }

    /// Lets the process have so many files open, as far as the system lets it; never fewer than before.
    package static func raise(to wanted: Int) {
        guard var limit = present, limit.rlim_cur < rlim_t(wanted) else { return }
        limit.rlim_cur = min(rlim_t(wanted), limit.rlim_max)
        #if canImport(Glibc)
            _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        #else
            _ = setrlimit(RLIMIT_NOFILE, &limit)
        #endif
    }

    /// Whether the process, or the system, can open nothing more just now.
    package static var isReached: Bool {
        let probe = open("/", O_RDONLY | O_CLOEXEC)
        guard probe < 0 else {
            close(probe)
            return false
        }
        return errno == EMFILE || errno == ENFILE
    }

    /// What is allowed now and what could be; nil where the system does not tell.
    private static var present: rlimit? {
        var limit = rlimit()
        #if canImport(Glibc)
            let isKnown = getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0
        #else
            let isKnown = getrlimit(RLIMIT_NOFILE, &limit) == 0
        #endif
        return isKnown ? limit : nil
    }
}
