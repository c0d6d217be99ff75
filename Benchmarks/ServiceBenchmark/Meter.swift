import CordonBase
import Glibc

/// Measures processor time of this process, and says ratios.
enum Meter {
    static func seconds(_ work: () throws -> Void) rethrows -> Double {
        let start = processorTime()
        try work()
        return processorTime() - start
    }

    static func seconds(_ work: () async throws -> Void) async rethrows -> Double {
        let start = processorTime()
        try await work()
        return processorTime() - start
    }

    /// Wall time, for what waits for the disk.
    static func elapsed(_ work: () async throws -> Void) async rethrows -> Double {
        let start = ContinuousClock.now
        try await work()
        return start.duration(to: .now) / .seconds(1)
    }

    private static let missed = Locked(false)

    /// Whether every ratio that was said until now met its goal.
    static var areGoalsMet: Bool { missed.withLock { !$0 } }

    /// Prints the median of a ratio and whether it meets its goal.
    static func say(_ what: String, _ ratios: [Double], atLeast least: Double? = nil, atMost most: Double? = nil) {
        let sorted = ratios.sorted()
        let median = sorted[sorted.count / 2]
        var line = "{\"what\": \"\(what)\", \"ratio\": \(rounded(median))"
        if median < least ?? -.infinity || median > most ?? .infinity { missed.withLock { $0 = true } }
        if let least { line += ", \"atLeast\": \(least), \"met\": \(median >= least)" }
        if let most { line += ", \"atMost\": \(rounded(most)), \"met\": \(median <= most)" }
        print(line + ", \"lowest\": \(rounded(sorted[0])), \"highest\": \(rounded(sorted[sorted.count - 1]))}")
        // A run that is ended by a limit of time leaves what it has found.
        fflush(nil)
    }

    private static func rounded(_ value: Double) -> Double { (value * 1_000).rounded() / 1_000 }

    private static func processorTime() -> Double {
        // Microseconds, as POSIX has it.
        Double(clock()) / 1_000_000
    }
}
