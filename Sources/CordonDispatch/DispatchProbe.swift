internal import CordonBase
internal import CordonIdentity
internal import Dispatch
internal import Foundation

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Sends a scope that no app declared along every path, and notes where it arrives.
final class DispatchProbe: Sendable {
    private let arrived = Locked(Set<DispatchPath>())
    private let astray = Locked(false)
    private let waiting = DispatchGroup()
    private let queue = DispatchQueue(label: "cordon.dispatch.self-test")
    private let deadline: DispatchTime
    private let submit: @Sendable (DispatchQueue, DispatchWorkItem) -> Void

    /// - Parameter submit: Hands a work item to a queue.
    init(
        deadline: DispatchTime,
        submit: @escaping @Sendable (DispatchQueue, DispatchWorkItem) -> Void = { $0.async(execute: $1) }
    ) {
        self.deadline = deadline
        self.submit = submit
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
        if followsIterations() { note(.concurrentPerform) }
        let isBarrierKept = barrierIsKept()
        expect(.workItem, counts: isBarrierKept) { arrived in
            let item = DispatchWorkItem { arrived() }
            self.expect(.workItemNotification) { arrived in item.notify(queue: self.queue) { arrived() } }
            // Performed outside the scope: what counts is where the item was made.
            IdentityContext.run(as: .none) { self.submit(self.queue, item) }
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

    /// Whether the iterations of a loop that other threads share have the scope on all of them. A busy machine may run every
    /// one on this thread, which proves nothing, so it is tried until another one took part.
    private func followsIterations() -> Bool {
        guard ProcessInfo.processInfo.activeProcessorCount > 1 else { return DispatchFollowing.isInFront }
        let (isLost, isElsewhere) = (Locked(false), Locked(false))
        let caller = ObjectIdentifier(Thread.current)
        repeat {
            DispatchQueue.concurrentPerform(iterations: 64) { _ in
                if IdentityContext.captured != .probe { isLost.withLock { $0 = true } }
                if ObjectIdentifier(Thread.current) != caller { isElsewhere.withLock { $0 = true } }
                sched_yield()
            }
        } while !isElsewhere.withLock { $0 } && !isLost.withLock { $0 } && DispatchTime.now() < deadline
        return isElsewhere.withLock { $0 } && !isLost.withLock { $0 }
    }

    /// Whether a work item that is a barrier still is one: it must not run beside what was queued before it. An item that is
    /// not recognised would be wrapped, and lose its flags.
    private func barrierIsKept() -> Bool {
        let queue = DispatchQueue(label: "cordon.dispatch.self-test.barrier", attributes: .concurrent)
        let (begun, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        queue.async {
            begun.signal()
            gate.wait()
        }
        let item = DispatchWorkItem(flags: .barrier) {}
        guard begun.wait(timeout: deadline) == .success else {
            gate.signal()
            return false
        }
        submit(queue, item)
        let ranBeside = item.wait(timeout: .now() + .milliseconds(20)) == .success
        gate.signal()
        return !ranBeside && item.wait(timeout: deadline) == .success
    }

    /// The paths by which the scope arrived; none when some thread kept it afterwards.
    func followed() -> Set<DispatchPath> {
        _ = waiting.wait(timeout: deadline)
        queue.sync { if IdentityContext.captured != .none { astray.withLock { $0 = true } } }
        return astray.withLock { $0 } ? [] : arrived.withLock { $0 }
    }

    private func expect(
        _ path: DispatchPath, counts: Bool = true, _ handOver: (@escaping @Sendable () -> Void) -> Void
    ) {
        waiting.enter()
        handOver {
            if counts { self.note(path) }
            self.waiting.leave()
        }
    }

    private func note(_ path: DispatchPath) {
        guard IdentityContext.captured == .probe else { return }
        arrived.withLock { _ = $0.insert(path) }
    }
}
