internal import Foundation

#if canImport(CoreFoundation)
    // Where another library brings it in, the members of `timespec` are its own.
    internal import CoreFoundation
#endif

/// How long the machine has been up, and since which start: time that cannot be turned back.
package struct BootReading: Sendable, Equatable {
    /// Names one start of the machine; another after every restart.
    package var boot: String
    /// Time since that start, time asleep included.
    package var uptime: Duration

    /// Makes a reading.
    package init(boot: String, uptime: Duration) {
        self.boot = boot
        self.uptime = uptime
    }

    /// What the system says; a system that does not name its starts counts every process as a new one.
    package static var current: BootReading {
        BootReading(boot: systemBoot, uptime: systemUptime)
    }

    private static let systemBoot: String = {
        #if canImport(Darwin)
            var size = 0
            guard sysctlbyname("kern.bootsessionuuid", nil, &size, nil, 0) == 0, size > 1 else {
                return UUID().uuidString
            }
            var bytes = [UInt8](repeating: 0, count: size)
            guard sysctlbyname("kern.bootsessionuuid", &bytes, &size, nil, 0) == 0 else { return UUID().uuidString }
            return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        #else
            let text = try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
            guard let boot = text?.trimmingCharacters(in: .whitespacesAndNewlines) else { return UUID().uuidString }
            return clockNamespace.map { boot + " " + $0 } ?? boot
        #endif
    }()

    #if !canImport(Darwin)
        /// The time namespace of this process; nil for the machine's own. The user who makes a namespace sets its clock, so times from
        /// two namespaces cannot be compared.
        private static var clockNamespace: String? {
            // The kernel's name for the machine's own (`PROC_TIME_INIT_INO`). Kernels without time namespaces have no such link.
            let own = "time:[4026531834]"
            let name = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/ns/time")
            return name == own ? nil : name
        }
    #endif

    private static var systemUptime: Duration {
        var time = timespec()
        #if canImport(Darwin)
            // The raw clock counts sleep, and no setting of the wall clock reaches it.
            clock_gettime(CLOCK_MONOTONIC_RAW, &time)
        #else
            clock_gettime(CLOCK_BOOTTIME, &time)
        #endif
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
