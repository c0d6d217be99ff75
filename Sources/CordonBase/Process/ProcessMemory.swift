#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// What a process can do for all of its memory at once.
package enum ProcessMemory {
    /// No core file; on Linux no other program of this user may attach either.
    package static func forbidDumps() -> Bool {
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        #if canImport(Glibc)
            let isLimited = setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none) == 0
        #else
            let isLimited = setrlimit(RLIMIT_CORE, &none) == 0
        #endif
        #if os(Linux)
            return isLimited && isUndumpable()
        #else
            return isLimited
        #endif
    }

    #if os(Linux)
        private typealias ProcessControl = @convention(c) (Int32, UInt, UInt, UInt, UInt) -> Int32
        /// `PR_SET_DUMPABLE` and `PR_GET_DUMPABLE`.
        private static let (setDumpable, getDumpable): (Int32, Int32) = (4, 3)

        /// `prctl` takes a variable number of arguments, which Swift cannot call; by its address it can, since integers
        /// are passed alike on every Linux that Swift runs on.
        private static func isUndumpable() -> Bool {
            guard let program = dlopen(nil, RTLD_NOW), let address = dlsym(program, "prctl") else { return false }
            let control = unsafeBitCast(address, to: ProcessControl.self)
            return control(setDumpable, 0, 0, 0, 0) == 0 && control(getDumpable, 0, 0, 0, 0) == 0
        }
    #endif

    /// Locked pages stay in memory; only where the limit allows everything, since a lock that runs out ends the process.
    package static func lockMemory() -> Bool {
        #if os(Linux)
            var limit = rlimit()
            #if canImport(Glibc)
                let isKnown = getrlimit(__rlimit_resource_t(__RLIMIT_MEMLOCK.rawValue), &limit) == 0
            #else
                let isKnown = getrlimit(RLIMIT_MEMLOCK, &limit) == 0
            #endif
            guard isKnown, limit.rlim_cur == .max || geteuid() == 0 else { return false }
            // Pages are locked when they are first used (`MCL_ONFAULT`, 4): stacks reserve far more than they need.
            return mlockall(MCL_CURRENT | MCL_FUTURE | 4) == 0
        #else
            // Swap is encrypted on Apple platforms.
            return true
        #endif
    }
}
