import Foundation
import Synchronization

/// Measures and says ratios.
enum Meter {
    /// The CPU time of this process that work took.
    static func seconds(_ work: () throws -> Void) rethrows -> Double {
        let start = processTime()
        try work()
        return processTime() - start
    }

    /// The CPU time of this process that asynchronous work took.
    static func seconds(_ work: () async throws -> Void) async rethrows -> Double {
        let start = processTime()
        try await work()
        return processTime() - start
    }

    /// The wall time that work took.
    static func elapsed(_ work: () throws -> Void) rethrows -> Double {
        let start = DispatchTime.now().uptimeNanoseconds
        try work()
        return Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9
    }

    /// Bytes of memory in use.
    static func residentMemory() -> Int {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return 0 }
        return (Int(text.split(separator: " ").dropFirst().first ?? "0") ?? 0) * 4096
    }

    /// Prints the median of a ratio and whether it meets its goal.
    static func say(_ what: String, _ ratios: [Double], atLeast least: Double? = nil, atMost most: Double? = nil) {
        let sorted = ratios.sorted()
        let median = sorted[sorted.count / 2]
        var line = "{\"what\": \"\(what)\", \"ratio\": \(rounded(median))"
        if let least { line += ", \"atLeast\": \(least), \"met\": \(median >= least)" }
        if let most { line += ", \"atMost\": \(most), \"met\": \(median <= most)" }
        print(line + ", \"lowest\": \(rounded(sorted[0])), \"highest\": \(rounded(sorted[sorted.count - 1]))}")
    }

    private static func rounded(_ number: Double) -> Double { (number * 1000).rounded() / 1000 }

    private static func processTime() -> Double { Double(clock()) / Double(CLOCKS_PER_SEC) }
}

/// A moment that an observer notes.
final class Moment: Sendable {
    private let nanoseconds = Mutex<UInt64>(0)
    var value: UInt64 { nanoseconds.withLock { $0 } }
    func set(_ value: UInt64) { nanoseconds.withLock { $0 = value } }
}
