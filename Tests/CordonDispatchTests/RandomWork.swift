import CordonBase
import CordonIdentity
import CordonTestSupport
import Dispatch
import Foundation

/// Random programs over tasks, queues and scopes, beside a model that is nothing but a parameter: the identity expected.
///
/// Every step compares what the context says with the parameter. A program is a function of its seed.
final class RandomWork: Sendable {
    struct Mismatch: Sendable, CustomStringConvertible {
        let step: String
        let expected: Identity?
        let found: Identity?
        var description: String { "\(step): \(String(describing: found)) instead of \(String(describing: expected))" }
    }

    private struct State {
        var steps = 0
        var mismatches: [Mismatch] = []
    }

    private static let concurrent = DispatchQueue(label: "random.concurrent", attributes: .concurrent)
    private static let serial = DispatchQueue(label: "random.serial")
    private let operations = OperationQueue()
    private let state = Locked(State())
    private let limit: Int
    private let hop = Hop()

    init(limit: Int) {
        self.limit = limit
        operations.maxConcurrentOperationCount = 3
    }

    var steps: Int { state.withLock { $0.steps } }
    var mismatches: [Mismatch] { state.withLock { $0.mismatches } }
    private var isOver: Bool { steps >= limit }

    private func check(_ expected: Identity?, _ step: String) {
        let found = IdentityContext.currentScope
        state.withLock { state in
            state.steps += 1
            if found != expected { state.mismatches.append(Mismatch(step: step, expected: expected, found: found)) }
        }
    }

    /// A tree of asynchronous work.
    func tasks(_ seed: UInt64, depth: Int, as expected: Identity?) async {
        var random = SeededGenerator(seed)
        check(expected, "task")
        guard depth > 0, !isOver else { return }
        for _ in 0..<random.below(4) + 1 {
            let (next, other) = (random.next(), random.identity())
            switch random.below(11) {
            case 0: await IdentityContext.with(other) { await tasks(next, depth: depth - 1, as: other) }
            case 1:
                async let left: Void = tasks(next, depth: depth - 1, as: expected)
                async let right: Void = tasks(next ^ 1, depth: depth - 1, as: expected)
                _ = await (left, right)
            case 2:
                await withTaskGroup(of: Void.self) { group in
                    for child in UInt64(0)..<3 {
                        group.addTask { await self.tasks(next &+ child, depth: depth - 1, as: expected) }
                    }
                }
            case 3: await Task { await tasks(next, depth: depth - 1, as: expected) }.value
            case 4: await Task.detached { await self.tasks(next, depth: depth - 1, as: nil) }.value
            case 5: await Task.yield()
            case 6: await hop.run { await self.tasks(next, depth: depth - 1, as: expected) }
            case 7:
                let task = IdentityContext.with(other) { Task { await tasks(next, depth: depth - 1, as: other) } }
                task.cancel()
                await task.value
            case 8:
                for await number in numbers(3) {
                    check(expected, "sequence \(number)")
                }
            default: await queues(next, depth: depth, as: expected)
            }
            check(expected, "task, afterwards")
        }
    }

    private func numbers(_ count: Int) -> AsyncStream<Int> {
        AsyncStream { continuation in
            Self.concurrent.async {
                for number in 0..<count { continuation.yield(number) }
                continuation.finish()
            }
        }
    }

    /// A tree of blocks; returns when all of them have run.
    private func queues(_ seed: UInt64, depth: Int, as expected: Identity?) async {
        let group = DispatchGroup()
        blocks(seed, depth: depth, as: expected, group)
        await withCheckedContinuation { continuation in
            group.notify(queue: Self.concurrent) {
                self.check(expected, "group notification")
                continuation.resume()
            }
        }
    }

    private func blocks(_ seed: UInt64, depth: Int, as expected: Identity?, _ group: DispatchGroup) {
        var random = SeededGenerator(seed)
        check(expected, "block")
        guard depth > 0, !isOver else { return }
        for _ in 0..<random.below(4) + 1 {
            let (next, other) = (random.next(), random.identity())
            let within = { @Sendable (identity: Identity?) in
                self.blocks(next, depth: depth - 1, as: identity, group)
            }
            switch random.below(12) {
            case 0: IdentityContext.with(other) { within(other) }
            case 1: Self.concurrent.async(group: group) { within(expected) }
            case 2: Self.concurrent.async(group: group, qos: .utility, flags: .barrier) { within(expected) }
            case 3: DispatchQueue(label: "random.sync").sync { within(expected) }
            case 4:
                group.enter()
                Self.concurrent.asyncAfter(deadline: .now() + .microseconds(50)) {
                    within(expected)
                    group.leave()
                }
            case 5:
                DispatchQueue.concurrentPerform(iterations: 3) { index in
                    self.blocks(next &+ UInt64(index), depth: depth - 2, as: expected, group)
                }
            case 6:
                let item = DispatchWorkItem { within(expected) }
                IdentityContext.with(other) { Self.serial.async(group: group, execute: item) }
            case 7:
                let item = IdentityContext.with(other) { DispatchWorkItem(flags: .detached) { within(other) } }
                item.perform()
            case 8:
                group.enter()
                operations.addOperation {
                    within(expected)
                    group.leave()
                }
            case 9:
                group.enter()
                let operation = BlockOperation {
                    within(other)
                    group.leave()
                }
                IdentityContext.with(other) { operations.addOperation(operation) }
            case 10:
                group.enter()
                Task {
                    await self.tasks(next, depth: depth - 2, as: expected)
                    group.leave()
                }
            default:
                let bound = IdentityContext.carrying { within(expected) }
                IdentityContext.with(other) { bound() }
            }
            check(expected, "block, afterwards")
        }
    }

    private actor Hop {
        func run(_ work: @Sendable () async -> Void) async { await work() }
    }
}

extension SeededGenerator {
    mutating func below(_ limit: UInt64) -> UInt64 { next() % limit }

    /// One of 61 accounts, or personal, or none.
    mutating func identity() -> Identity? {
        switch below(63) {
        case 0: nil
        case 1: .personal
        case let number: .managed(AccountID("worker-\(number)@contoso.example"))
        }
    }
}
