internal import Foundation

/// What a jailbreak leaves on a device. The owner of a device can hide all of it: what is found counts, what is not found proves little.
///
/// The probes are given, so that the judging is tried without a device.
public struct RootTraces: Sendable {
    private let exists: @Sendable (String) -> Bool
    private let writes: @Sendable (String) -> Bool

    private static let paths = [
        "/Applications/Cydia.app", "/Applications/Sileo.app", "/Library/MobileSubstrate/MobileSubstrate.dylib",
        "/bin/bash", "/etc/apt", "/usr/sbin/sshd", "/usr/bin/sshd", "/var/jb", "/private/var/lib/apt",
        "/private/preboot/jb", "/var/binpack",
    ]

    /// Makes a probe.
    ///
    /// - Parameters:
    ///   - exists: Whether a path is there.
    ///   - writes: Whether a file can be written at a path outside the app's own folders; what was written is removed again.
    public init(exists: @escaping @Sendable (String) -> Bool, writes: @escaping @Sendable (String) -> Bool) {
        self.exists = exists
        self.writes = writes
    }

    /// The traces that were found; empty where there are none.
    public var found: [String] {
        Self.paths.filter(exists)
            + (writes("/private/cordon-probe") ? ["a place outside the app can be written to"] : [])
    }

    /// The probe of this device.
    public static let system = RootTraces(
        exists: { FileManager.default.fileExists(atPath: $0) },
        writes: { path in
            guard (try? Data().write(to: URL(filePath: path))) != nil else { return false }
            try? FileManager.default.removeItem(atPath: path)
            return true
        })
}
