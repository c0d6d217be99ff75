internal import CordonBase
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
        if !ProcessMemory.forbidDumps() { warnings.append(.memoryDumped) }
        if !ProcessMemory.lockMemory() { warnings.append(.memorySwapped) }
        return warnings
    }

    /// Restarts the program with a C library that overwrites memory when it is freed; does nothing the second time, and
    /// where the library is another one.
    ///
    /// Swift's own values are never zeroed: a text with a token in it is freed and stays readable until another value gets
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
        /// Says that the program has restarted already, whatever became of the setting on the way.
        private static let mark = "CORDON_FREED_MEMORY"
    #endif
}
