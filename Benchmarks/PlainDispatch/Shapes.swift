import Dispatch
import Foundation

/// The ways of handing empty blocks over that are measured, in the processor's nanoseconds of a block: the best of several
/// runs, because what else the machine does only ever adds.
enum Shapes {
    static func all(_ count: Int) -> [Double] { [global(count), standing(count), synchronous(count)] }

    /// As work is usually handed over: to the global queue, whose threads wake and sleep.
    static func global(_ count: Int) -> Double {
        nanoseconds(count) {
            let group = DispatchGroup()
            for _ in 0..<count { DispatchQueue.global().async(group: group) {} }
            group.wait()
        }
    }

    /// The bare cost: a queue that is filled while it stands still, so that no thread wakes.
    static func standing(_ count: Int) -> Double {
        let queue = DispatchQueue(label: "standing")
        return nanoseconds(count) {
            queue.suspend()
            for _ in 0..<count { queue.async {} }
            queue.resume()
            queue.sync {}
        }
    }

    static func synchronous(_ count: Int) -> Double {
        let queue = DispatchQueue(label: "synchronous")
        return nanoseconds(count) { for _ in 0..<count { queue.sync {} } }
    }

    private static func nanoseconds(_ count: Int, _ work: () -> Void) -> Double {
        (0..<9).reduce(Double.infinity) { best, _ in
            let start = clock()
            work()
            return min(best, Double(clock() - start) / Double(CLOCKS_PER_SEC) / Double(count) * 1e9)
        }
    }
}
