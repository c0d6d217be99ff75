import CordonBase
import CordonDispatch
import CordonIdentity
import Dispatch
import Foundation
import Testing

/// Rows SDK-ID-26…29 on every way by which work reaches a thread.
@Suite struct QueueTests {
    private let queue = DispatchQueue(label: "test.queue")

    /// Runs a hand-over that calls back once, and gives what the callback saw.
    private func seen(_ handOver: (@escaping @Sendable () -> Void) -> Void) async -> Identity? {
        await withCheckedContinuation { continuation in
            handOver { continuation.resume(returning: IdentityContext.currentScope) }
        }
    }

    @Test func `the self-test finds every path followed on this platform`() {
        let report = DispatchFollowing.selfTest(within: 60)
        #expect(report.notFollowed.isEmpty)
        #expect(DispatchFollowing.isInFront)
    }

    @Test func `the self-test finds every path followed where it is called inside a scope`() {
        IdentityContext.with(.managed("a")) {
            #expect(DispatchFollowing.selfTest(within: 60).notFollowed.isEmpty)
            #expect(IdentityContext.currentScope == .managed("a"))
        }
    }

    @Test func `a block runs under the identity of the code that hands it over, then the worker's own returns`() async {
        let during = await seen { done in
            IdentityContext.with(.managed("a")) { queue.async(execute: done) }
        }
        #expect(during == .managed("a"))
        #expect(await seen { queue.async(execute: $0) } == nil)
    }

    @Test func `delayed, barrier and group blocks carry it too`() async {
        let group = DispatchGroup()
        #expect(
            await seen { done in
                IdentityContext.with(.managed("a")) { queue.asyncAfter(deadline: .now() + 0.001, execute: done) }
            } == .managed("a"))
        #expect(
            await seen { done in
                IdentityContext.with(.managed("b")) { queue.async(flags: .barrier, execute: done) }
            } == .managed("b"))
        #expect(
            await seen { done in
                IdentityContext.with(.personal) { queue.async(group: group, execute: done) }
            } == .personal)
        #expect(
            await seen { done in
                IdentityContext.with(.managed("c")) { group.notify(queue: queue, execute: done) }
            } == .managed("c"))
    }

    #if !canImport(Darwin)
        /// The overlay here has no `asyncAndWait`; a library that calls the C function finds the one that follows.
        @Test func `a block that is handed over and waited for runs under the caller's identity`() throws {
            typealias GlobalQueue = @convention(c) (Int, UInt) -> OpaquePointer?
            typealias AndWait = @convention(c) (OpaquePointer, @convention(block) () -> Void) -> Void
            let find = unsafeBitCast(try #require(dlsym(nil, "dispatch_get_global_queue")), to: GlobalQueue.self)
            let queue = try #require(find(0, 0))
            for name in ["dispatch_async_and_wait", "dispatch_barrier_async_and_wait"] {
                let wait = unsafeBitCast(try #require(dlsym(nil, name)), to: AndWait.self)
                let seen = Locked<[Identity?]>([])
                IdentityContext.with(.managed("waited")) {
                    wait(queue) { seen.withLock { $0.append(IdentityContext.currentScope) } }
                }
                wait(queue) { seen.withLock { $0.append(IdentityContext.currentScope) } }
                #expect(seen.withLock { $0 } == [.managed("waited"), nil], "\(name)")
            }
        }
    #endif

    @Test func `forty identities at once are each carried to their own blocks`() async {
        let identities = (0..<40).map { Identity.managed(AccountID("many-\($0)")) }
        let strays = await withCheckedContinuation { continuation in
            let (group, strays) = (DispatchGroup(), Locked(0))
            for round in 0..<25 {
                for identity in identities {
                    IdentityContext.with(identity) {
                        let check = { @Sendable in
                            if IdentityContext.currentScope != identity { strays.withLock { $0 += 1 } }
                        }
                        DispatchQueue.global().async(group: group, execute: check)
                        if round == 0 { queue.async(group: group, execute: check) }
                    }
                }
            }
            group.notify(queue: queue) { continuation.resume(returning: strays.withLock { $0 }) }
        }
        #expect(strays == 0)
    }

    @Test func `a block with a class of service keeps it and its identity`() async {
        let seen = await withCheckedContinuation { continuation in
            IdentityContext.with(.managed("a")) {
                queue.async(qos: .utility, flags: .enforceQoS) {
                    continuation.resume(returning: IdentityContext.currentScope)
                }
            }
        }
        #expect(seen == .managed("a"))
    }

    @Test func `a synchronous block sees the caller's identity, and its result and error come back`() throws {
        struct Stop: Error {}
        IdentityContext.with(.managed("a")) {
            #expect(queue.sync { IdentityContext.currentScope } == .managed("a"))
            #expect(queue.sync(flags: .barrier) { IdentityContext.currentScope } == .managed("a"))
            #expect(throws: Stop.self) { try queue.sync { throw Stop() } }
            #expect(IdentityContext.currentScope == .managed("a"))
        }
    }

    @Test func `concurrentPerform carries it to every iteration`() {
        let strays = Locked(0)
        IdentityContext.with(.managed("a")) {
            DispatchQueue.concurrentPerform(iterations: 200) { _ in
                if IdentityContext.currentScope != .managed("a") { strays.withLock { $0 += 1 } }
            }
        }
        #expect(strays.withLock { $0 } == 0)
    }

    @Test func `work may change its identity for the rest of that work item only`() async {
        let inner = await seen { done in
            IdentityContext.with(.managed("a")) {
                queue.async { IdentityContext.with(.managed("b")) { done() } }
            }
        }
        #expect(inner == .managed("b"))
        #expect(await seen { queue.async(execute: $0) } == nil)
    }

    @Test func `the handlers of an event source run under the identity that set them`() async {
        let source = DispatchSource.makeUserDataAddSource(queue: queue)
        let event = await seen { done in
            IdentityContext.with(.managed("a")) {
                source.setEventHandler(handler: done)
                source.setCancelHandler {}
            }
            source.activate()
            source.add(data: 1)
        }
        source.cancel()
        #expect(event == .managed("a"))
    }

    @Test func `a task that goes through a queue and back keeps its identity`() async {
        await IdentityContext.with(.managed("a")) {
            let onQueue = await seen { queue.async(execute: $0) }
            #expect(onQueue == .managed("a"))
            #expect(IdentityContext.current == .managed("a"))
        }
    }

    @Test func `a task started from a block inherits the block's identity, a detached one loses it`() async {
        let (child, detached) = await withCheckedContinuation { continuation in
            IdentityContext.with(.managed("a")) {
                queue.async {
                    Task {
                        let child = IdentityContext.currentScope
                        let detached = await Task.detached { IdentityContext.currentScope }.value
                        continuation.resume(returning: (child, detached))
                    }
                }
            }
        }
        #expect(child == .managed("a"))
        #expect(detached == nil)
    }
}
