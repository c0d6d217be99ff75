internal import CordonBase

/// Keeps what an app has opened out of core dumps and swap, and out of other programs' reach.
///
/// The vault keeps its own keys and buffers out of dumps and swap without it; this covers what the app itself holds. It changes the
/// whole process, so the app decides:
///
/// ```swift
/// let missing = ProcessProtection.apply()  // first thing in main, before a file is opened
/// if missing.contains(.memorySwapped) { logger.notice("memory may be swapped out") }
/// ```
public enum ProcessProtection {
    /// What the system did not allow.
    public enum Shortcoming: Sendable, CaseIterable {
        /// The process may still leave a core file, or be read by other programs of its user.
        case memoryDumped
        /// Pages may still be swapped out: the limit for locked memory does not allow all of them.
        case memorySwapped
    }

    /// Protects the calling process: no core files, on Linux no debugger of the same user, and pages that stay in memory. It cannot be
    /// undone. Any thread.
    ///
    /// On Linux, faults and SIGQUIT end the process at once: Swift's runtime writes neither registers nor the memory that they point to, to
    /// standard error. Install your own handlers for such signals afterwards; an earlier one is taken for the runtime's if Swift is linked
    /// into the program.
    ///
    /// - Returns: What the system did not allow; empty if everything is in force.
    public static func apply() -> Set<Shortcoming> {
        var missing: Set<Shortcoming> = []
        if !ProcessMemory.forbidDumps() { missing.insert(.memoryDumped) }
        if !ProcessMemory.lockMemory() { missing.insert(.memorySwapped) }
        return missing
    }
}
