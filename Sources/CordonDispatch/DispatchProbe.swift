internal import CordonBase
internal import CordonIdentity
internal import Dispatch
internal import Foundation

/// Sends a scope that nobody declared along every path, and notes where it arrives.
final class DispatchProbe: Sendable {
    private let arrived = Locked(Set<DispatchPath>())
    private let astray = Locked(false)
    private let waiting = DispatchGroup()
    private let queue = DispatchQueue(label: "cordon.dispatch.self-test")
    private let deadline: DispatchTime

    init(deadline: DispatchTime) {
        self.deadline = deadline
    }

    /// Hands work over by every path; the caller is inside the scope.
    func handOver() {
        let note = { @Sendable (path: DispatchPath) in self.note(path) }
        expect(.async) { arrived in self.queue.async { arrived() } }
        queue.sync { note(.sync) }
        expect(.barrier) { arrived in self.queue.async(flags: .barrier) { arrived() } }
        expect(.after) { arrived in self.queue.asyncAfter(deadline: .now()) { arrived() } }
        let group = DispatchGroup()
        expect(.group) { arrived in self.queue.async(group: group) { arrived() } }
        expect(.groupNotification) { arrived in group.notify(queue: self.queue) { arrived() } }
        let elsewhere = Locked(false)
        DispatchQueue.concurrentPerform(iterations: 16) { _ in
            if IdentityContext.captured != .probe { elsewhere.withLock { $0 = true } }
        }
        // A busy machine may run every iteration on this thread, which alone proves nothing.
        if DispatchFollowing.isInFront, !elsewhere.withLock({ $0 }) { note(.concurrentPerform) }
        expect(.workItem) { arrived in
            let item = DispatchWorkItem { arrived() }
            self.expect(.workItemNotification) { arrived in item.notify(queue: self.queue) { arrived() } }
            // Performed outside the scope: what counts is where the item was made.
            IdentityContext.run(as: .none) { self.queue.async(execute: item) }
        }
        expect(.operation) { arrived in
            let operations = OperationQueue()
            operations.addOperation { arrived() }
        }
        expect(.source) { arrived in
            let source = DispatchSource.makeUserDataAddSource(queue: self.queue)
            source.setEventHandler {
                arrived()
                source.cancel()
            }
            source.activate()
            source.add(data: 1)
        }
    }

    /// The paths by which the scope arrived; none when some thread kept it afterwards.
    func followed() -> Set<DispatchPath> {
        _ = waiting.wait(timeout: deadline)
        queue.sync { if IdentityContext.captured != .none { astray.withLock { $0 = true } } }
        return astray.withLock { $0 } ? [] : arrived.withLock { $0 }
    }

    private func expect(_ path: DispatchPath, _ handOver: (@escaping @Sendable () -> Void) -> Void) {
        waiting.enter()
        handOver {
            self.note(path)
            self.waiting.leave()
        }
    }

    private func note(_ path: DispatchPath) {
        guard IdentityContext.captured == .probe else { return }
        arrived.withLock { _ = $0.insert(path) }
    }
}
