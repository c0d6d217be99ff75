internal import Foundation

#if canImport(CoreFoundation)
    // Where another library brings it in, the members of `timespec` are its own.
    internal import CoreFoundation
#endif

/// How long the machine has been up, and since which start: time that cannot be turned back.
package struct BootReading: Sendable, Equatable {
    /// Names one start of the machine, another after every restart; or one process, see ``isOfMachine``.
    package var boot: String
    /// Time since that start, time asleep included.
    package var uptime: Duration

    /// Makes a reading.
    package init(boot: String, uptime: Duration) {
        self.boot = boot
        self.uptime = uptime
    }

    /// Whether it tells of the machine, and not of one process alone: times of two processes that cannot tell say nothing of each other.
    package var isOfMachine: Bool { Self.isOfMachine(boot) }

    /// Whether a name is one of a start of the machine. Versions before put a space into those of time namespaces.
    package static func isOfMachine(_ boot: String) -> Bool { !boot.contains(" ") }

    /// What the system says. A process that cannot tell for certain which start of the machine it is, or that it goes by the machine's
    /// clock, counts from its own first reading.
    package static var current: BootReading {
        if let systemBoot { return BootReading(boot: systemBoot, uptime: systemUptime) }
        let first = ownStart
        return BootReading(boot: first.boot, uptime: systemUptime - first.uptime)
    }

    private static let ownStart = BootReading(boot: "process " + UUID().uuidString, uptime: systemUptime)

    private static let systemBoot: String? = {
        #if canImport(Darwin)
            var size = 0
            guard sysctlbyname("kern.bootsessionuuid", nil, &size, nil, 0) == 0, size > 1 else { return nil }
            var bytes = [UInt8](repeating: 0, count: size)
            guard sysctlbyname("kern.bootsessionuuid", &bytes, &size, nil, 0) == 0 else { return nil }
            return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        #else
            return KernelFolder.machineStart()
        #endif
    }()

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
