import Foundation

/// What linking costs a program that starts and ends, against one that links nothing of Cordon (P14).
struct Launches {
    static let nothing = "--nothing"
    private static let count = 40
    let rounds: Int

    func run() throws {
        var ratios: [Double] = []
        for _ in 0..<rounds {
            let plain = try seconds { _ = try Program.plain.output(["0"]) }
            let linked = try seconds { _ = try Program.own.output([Self.nothing]) }
            ratios.append(linked / plain)
        }
        Meter.say("P14 start of a program with identity and dispatch linked, times without", ratios)
    }

    /// CPU time of child processes that work took.
    private func seconds(_ work: () throws -> Void) throws -> Double {
        let before = Self.childTime
        for _ in 0..<Self.count { try work() }
        return Self.childTime - before
    }

    /// `RUSAGE_CHILDREN`, whose type differs by platform.
    private static let children: Int32 = -1

    private static var childTime: Double {
        var usage = rusage()
        getrusage(children, &usage)
        return Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
            + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6
    }
}
