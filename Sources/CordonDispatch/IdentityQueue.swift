#if canImport(Darwin)
    internal import CordonIdentity
    public import Dispatch
    public import Foundation

    /// A dispatch queue whose work keeps its identity, for platforms where nothing can stand in front of the system's own
    /// entry points. Never compiled on Linux.
    public struct IdentityQueue: Sendable {
        /// The queue behind.
        public let queue: DispatchQueue

        /// Takes the queue to send work to.
        public init(_ queue: DispatchQueue) {
            self.queue = queue
        }

        /// Runs the work later, under the identity of now (SDK-ID-26).
        public func async(
            group: DispatchGroup? = nil, qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [],
            execute work: @escaping @Sendable () -> Void
        ) {
            let bound = IdentityContext.carrying(work)
            queue.async(group: group, qos: qos, flags: flags) { bound() }
        }

        /// Runs the work after a moment, under the identity of now.
        public func asyncAfter(deadline: DispatchTime, execute work: @escaping @Sendable () -> Void) {
            let bound = IdentityContext.carrying(work)
            queue.asyncAfter(deadline: deadline) { bound() }
        }

        /// A work item that carries the identity of now, wherever it is dispatched (SDK-ID-29).
        public static func workItem(_ work: @escaping @Sendable () -> Void) -> DispatchWorkItem {
            let bound = IdentityContext.carrying(work)
            return DispatchWorkItem { bound() }
        }
    }

    extension OperationQueue {
        /// Adds an operation that carries the identity of now (SDK-ID-27).
        public func addOperationCarryingIdentity(_ work: @escaping @Sendable () -> Void) {
            let bound = IdentityContext.carrying(work)
            addOperation { bound() }
        }
    }
#endif
