import Dispatch
import Foundation

/// The limit of `IdentityBenchmark`: the same blocks with nothing in front of libdispatch. Prints the processor's
/// nanoseconds of a block: to the global queue, to a queue that stands still meanwhile, synchronous.
@main
struct PlainDispatch {
    static func main() {
        let count = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 50_000
        guard count > 0 else { return }
        print(Shapes.all(count).map { "\($0)" }.joined(separator: " "))
    }
}
