internal import CordonIdentity
internal import Dispatch
internal import Foundation

#if !canImport(Darwin)
    internal import CDispatchInterposition
#endif

/// The identity of work follows it through Grand Central Dispatch and operation queues.
///
/// Linking this library is all there is to switching it on, and it costs next to nothing until an identity is declared. A
/// block runs under the identity of the code that handed it to a queue; a work item under that of its maker; an operation
/// under that of the code that added it. Afterwards the thread's own identity is in force again (SDK-ID-26…29).
public enum DispatchFollowing {
    /// Tries every way by which work reaches another thread, and says by which of them its identity follows.
    ///
    /// Call it once when the app starts; it blocks the caller for some tens of milliseconds. An app that gets an incomplete report is
    /// safe, since work without an identity is denied managed data, but will see such denials: a program that links
    /// libdispatch statically is followed nowhere.
    ///
    /// - Parameter limit: How many seconds to wait for all answers; a way that did not answer counts as not followed.
    public static func selfTest(within limit: Double = 2) -> DispatchReport {
        let probe = DispatchProbe(deadline: .now() + limit)
        IdentityContext.run(as: .probe) { probe.handOver() }
        // The caller may be inside a scope, which would follow what looks for a thread that kept the probe's.
        return DispatchReport(followed: IdentityContext.run(as: .none) { probe.followed() })
    }

    /// Whether this library stands in front of libdispatch in this process; the self-test says what that achieves.
    public static var isInFront: Bool {
        #if canImport(Darwin)
            false
        #else
            cordon_dispatch_is_in_front() != 0
        #endif
    }
}
