#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// What a process can do for all of its memory at once.
package enum ProcessMemory {
    /// No core file, and none of ``endAtFaults()``'s dumps; on Linux no other program of this user may attach either.
    package static func forbidDumps() -> Bool {
        endAtFaults()
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

    /// Has faults and SIGQUIT end the process at once, by the signal.
    ///
    /// On Linux, where the tool chain is installed, Swift's run time handles them otherwise: a helper of its own, which no protection keeps
    /// out, writes registers and the memory that they point to to standard error, and every thread stands still meanwhile. A handler of the
    /// program's own stays, unless Swift is linked into the program: there nothing tells it from the run time's.
    package static func endAtFaults() {
        #if os(Linux)
            guard let runtime = object(of: symbol("swift_retain") ?? #dsohandle) else { return }
            for number in [SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV] {
                var action = sigaction()
                // The handler comes first in the structure, by another name in each C library.
                guard sigaction(number, nil, &action) == 0,
                    let handler = withUnsafeBytes(of: action, { $0.load(as: UnsafeRawPointer?.self) }),
                    object(of: handler) == runtime
                else { continue }
                signal(number, SIG_DFL)
            }
        #endif
    }

    #if os(Linux)
        private typealias AddressLook = @convention(c) (UnsafeRawPointer, UnsafeMutableRawPointer) -> Int32

        /// Where the program or the library is loaded that an address lies in, by `dladdr`, which the C library shows to few.
        private static func object(of address: UnsafeRawPointer) -> UInt? {
            guard let function = symbol("dladdr") else { return nil }
            // Name and place of what was loaded, then of the symbol.
            var found: (UInt, UInt, UInt, UInt) = (0, 0, 0, 0)
            return unsafeBitCast(function, to: AddressLook.self)(address, &found) == 0 ? nil : found.1
        }

        private static func symbol(_ name: String) -> UnsafeRawPointer? {
            dlopen(nil, RTLD_NOW).flatMap { dlsym($0, name) }.map { UnsafeRawPointer($0) }
        }

        private typealias ProcessControl = @convention(c) (Int32, UInt, UInt, UInt, UInt) -> Int32
        /// `PR_SET_DUMPABLE` and `PR_GET_DUMPABLE`.
        private static let (setDumpable, getDumpable): (Int32, Int32) = (4, 3)

        /// `prctl` takes a variable number of arguments, which Swift cannot call; by its address it can, since integers
        /// are passed alike on every Linux that Swift runs on.
        private static func isUndumpable() -> Bool {
            guard let address = symbol("prctl") else { return false }
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
