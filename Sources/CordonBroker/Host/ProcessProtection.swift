public import CordonSignIn

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// Keeps the secrets of this process out of core dumps, of other programs' reach and of the swap (SI-208).
public enum ProcessProtection {
    /// Protects the calling process; call it once, before any secret is read.
    ///
    /// - Returns: What the system did not allow; goes to ``BrokerConfiguration/hostWarnings``.
    public static func apply() -> [DeviceInformation.Warning] {
        var warnings: [DeviceInformation.Warning] = []
        if !forbidsDumps() { warnings.append(.memoryDumped) }
        if !locksMemory() { warnings.append(.memorySwapped) }
        return warnings
    }

    /// Begins the program anew with a C library that overwrites memory when it is freed; does nothing the second time, and
    /// where the library is another one.
    ///
    /// Swift's own values are never zeroed: a text with a token in it is freed and stays readable until somebody else gets
    /// the place. The library is told by its environment, which it reads at the start alone, hence the new beginning. Call
    /// it before anything is opened or started.
    public static func overwriteFreedMemory() {
        #if canImport(Glibc)
            guard getenv(mark) == nil else { return }
            let before = getenv("GLIBC_TUNABLES").map { String(cString: $0) + ":" } ?? ""
            // Every freed block gets these bytes; blocks kept aside for the next use would not.
            setenv("GLIBC_TUNABLES", before + "glibc.malloc.perturb=165:glibc.malloc.tcache_count=0", 1)
            setenv(mark, "1", 1)
            execv("/proc/self/exe", CommandLine.unsafeArgv)
        // Without /proc the program goes on as it is.
        #endif
    }

    #if canImport(Glibc)
        /// Says that the program has begun anew already, whatever became of the setting on the way.
        private static let mark = "CORDON_FREED_MEMORY"
    #endif

    /// No core file; on Linux no other program of this user may attach either.
    private static func forbidsDumps() -> Bool {
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
    private static func locksMemory() -> Bool {
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
