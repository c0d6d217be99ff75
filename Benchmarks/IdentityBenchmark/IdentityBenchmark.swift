import CordonDispatch
import CordonIdentity
import Dispatch
import Foundation

/// What an identity costs, as ratios to the limits of the same run: `IdentityBenchmark [ROUNDS]`.
///
/// CPU time of this process, variants in turn, medians. One JSON object a line: what, the ratio, the goal, whether it was
/// met (performance goals P7 and P14).
@main
struct IdentityBenchmark {
    static func main() throws {
        if CommandLine.arguments.contains(Launches.nothing) { return }
        let rounds = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 9
        let report = DispatchFollowing.selfTest()
        print(
            "{\"what\": \"P7 paths followed\", \"followed\": \(report.followed.count), \"lost\": \(report.notFollowed.count)}"
        )
        Reads(rounds: rounds).run()
        try Blocks(rounds: rounds).run()
        try Launches(rounds: rounds).run()
    }
}

/// Keeps a value from being optimised away.
@inline(never)
func keep<Value>(_ value: Value) {}

/// Reading and opening scopes, against the task-local value of the language.
struct Reads {
    @TaskLocal private static var plain: Identity?
    @TaskLocal private static var number = 0
    private static let identity = Identity.managed("8d3c7f0e-5b1a-4c5e-9f43-2f0d6b7a1e55")
    private static let count = 2_000_000
    let rounds: Int

    func run() {
        var ratios: [String: [Double]] = [:]
        Self.$plain.withValue(Self.identity) {
            Self.$number.withValue(1) {
                IdentityContext.with(Self.identity) {
                    for _ in 0..<rounds {
                        let value = each { for _ in 0..<Self.count { keep(Self.plain) } }
                        let integer = each { for _ in 0..<Self.count { keep(Self.number) } }
                        let current = each { for _ in 0..<Self.count { keep(IdentityContext.current) } }
                        let screen = each { for _ in 0..<Self.count { keep(IdentityContext.currentInterface()) } }
                        ratios["read", default: []].append(current / value)
                        ratios["integer", default: []].append(current / integer)
                        ratios["screen", default: []].append(screen / value)
                    }
                }
            }
        }
        for _ in 0..<rounds {
            let value = each { for _ in 0..<Self.count { Self.$plain.withValue(Self.identity) { keep(0) } } }
            let scope = each { for _ in 0..<Self.count { IdentityContext.with(Self.identity) { keep(0) } } }
            ratios["scope", default: []].append(scope / value)
        }
        Meter.say("P7 read, times a task-local identity", ratios["read"] ?? [], atMost: 1.2)
        Meter.say("read, times a task-local integer", ratios["integer"] ?? [])
        Meter.say("read for the screen, times a task-local identity", ratios["screen"] ?? [])
        Meter.say("scope, times a task-local scope", ratios["scope"] ?? [])
    }

    private func each(_ work: () -> Void) -> Double { Meter.seconds(work) / Double(Self.count) }
}

/// Handing work to a queue, against a program that nothing stands in front of.
struct Blocks {
    private static let count = 50_000
    let rounds: Int

    func run() throws {
        var idle = [[Double]](), carrying = [[Double]]()
        for _ in 0..<rounds {
            let plain = try limits()
            idle.append(zip(Shapes.all(Self.count), plain).map { $0 / $1 })
            carrying.append(
                IdentityContext.with(.managed("a")) { zip(Shapes.all(Self.count), plain).map { $0 / $1 } })
        }
        Meter.say("P7 async with an identity, times plain", carrying.map { $0[0] }, atMost: 1.4)
        Meter.say("P7 async with nothing to carry, times plain", idle.map { $0[0] }, atMost: 1.1)
        Meter.say("async with an identity to a queue that stands still, times plain", carrying.map { $0[1] })
        Meter.say("async with nothing to carry to a queue that stands still, times plain", idle.map { $0[1] })
        Meter.say("sync with an identity, times plain", carrying.map { $0[2] })
    }

    /// Nanoseconds in the program that links no CordonDispatch.
    private func limits() throws -> [Double] {
        let numbers = try Program.plain.output(["\(Self.count)"]).split { $0.isWhitespace }.compactMap { Double($0) }
        guard numbers.count == 3 else { throw CocoaError(.fileReadCorruptFile) }
        return numbers
    }
}
