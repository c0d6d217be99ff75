import CordonBase
import CordonIdentity
import Dispatch
import Foundation
import Testing

@testable import CordonDispatch

/// Rows SDK-ID-27 and SDK-ID-29: the identity is that of the code that made the item or added the operation.
@Suite struct WorkItemTests {
    private let queue = DispatchQueue(label: "test.items")

    /// An item made here and run by other code; what it saw.
    private func seen(
        makingUnder maker: Identity?, runBy run: @escaping @Sendable (DispatchWorkItem) -> Void
    ) async -> Identity? {
        await withCheckedContinuation { continuation in
            let item = IdentityContext.with(maker) {
                DispatchWorkItem { continuation.resume(returning: IdentityContext.currentScope) }
            }
            run(item)
        }
    }

    @Test func `a work item carries the identity of the code that made it, not of the code that dispatches it`() async {
        let queue = queue
        let seen = await seen(makingUnder: .managed("maker")) { item in
            IdentityContext.with(.managed("dispatcher")) { queue.async(execute: item) }
        }
        #expect(seen == .managed("maker"))
    }

    @Test func `a work item made without an identity has none, whatever code performs it`() async {
        let queue = queue
        let dispatched = await seen(makingUnder: nil) { item in
            IdentityContext.with(.managed("dispatcher")) { queue.async(execute: item) }
        }
        #expect(dispatched == nil)
        let performed = await seen(makingUnder: nil) { item in
            IdentityContext.with(.managed("performer")) { item.perform() }
        }
        #expect(performed == nil)
    }

    @Test func `a work item keeps what makes it one: cancelling, waiting, notifying`() async {
        let ran = Locked(0)
        let cancelled = IdentityContext.with(.managed("a")) { DispatchWorkItem { ran.withLock { $0 += 1 } } }
        cancelled.cancel()
        #expect(cancelled.isCancelled)
        queue.async(execute: cancelled)
        let item = IdentityContext.with(.managed("a")) {
            DispatchWorkItem(qos: .utility, flags: [.barrier, .enforceQoS]) { ran.withLock { $0 += 1 } }
        }
        let told = await withCheckedContinuation { continuation in
            IdentityContext.with(.managed("observer")) {
                item.notify(queue: queue) { continuation.resume(returning: IdentityContext.currentScope) }
            }
            queue.async(execute: item)
        }
        #expect(item.wait(timeout: .now() + 300) == .success)
        #expect(ran.withLock { $0 } == 1)
        #expect(told == .managed("observer"))
    }

    /// Performed at once, as in a wrapper that has no flags: the identity arrives, the barrier does not.
    @Test func `the self-test does not count work items as followed where they lose their flags`() {
        let probe = DispatchProbe(deadline: .now() + 60) { _, item in item.perform() }
        IdentityContext.run(as: .probe) { probe.handOver() }
        #expect(Set(DispatchPath.allCases).subtracting(probe.followed()) == [.workItem])
    }

    @Test func `an operation runs under the identity its thread had when it was added`() async {
        let operations = OperationQueue()
        operations.maxConcurrentOperationCount = 1
        operations.isSuspended = true
        let seen = Locked([Identity?]())
        // Made under one identity, added under another, started by the completion of the operation before.
        for name in ["a", "b", "c", "d"] {
            let operation = IdentityContext.with(.managed("maker")) {
                BlockOperation { seen.withLock { $0.append(IdentityContext.currentScope) } }
            }
            IdentityContext.with(.managed(AccountID(name))) { operations.addOperation(operation) }
        }
        operations.addOperation { seen.withLock { $0.append(IdentityContext.currentScope) } }
        await withCheckedContinuation { continuation in
            operations.addBarrierBlock { continuation.resume() }
            IdentityContext.with(.managed("starter")) { operations.isSuspended = false }
        }
        #expect(
            seen.withLock { $0 } == [.managed("a"), .managed("b"), .managed("c"), .managed("d"), nil])
    }

    @Test func `dependent operations keep their own identities`() async {
        let operations = OperationQueue()
        let seen = Locked([Identity?]())
        let first = BlockOperation { seen.withLock { $0.append(IdentityContext.currentScope) } }
        let second = BlockOperation { seen.withLock { $0.append(IdentityContext.currentScope) } }
        second.addDependency(first)
        IdentityContext.with(.managed("second")) { operations.addOperation(second) }
        IdentityContext.with(.managed("first")) { operations.addOperation(first) }
        await withCheckedContinuation { continuation in
            operations.addBarrierBlock { continuation.resume() }
        }
        #expect(seen.withLock { $0 } == [.managed("first"), .managed("second")])
    }
}
